# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a program did, by its own clock: CLOCK_MONOTONIC in ns, written when it ends."""

from __future__ import annotations

import contextlib
import csv
import sys
import threading
import time
from pathlib import Path

import rclpy
from rclpy.executors import Executor, ExternalShutdownException
from rclpy.node import Node


def spin_for(seconds: float) -> None:
    """Compute until a time has passed by the clock, whoever had the CPU meanwhile."""
    end_ns = time.monotonic_ns() + int(seconds * 1e9)
    while time.monotonic_ns() < end_ns:
        pass


def spin_until_closed(node: Node, executor: Executor) -> None:
    """Spin a node alone in an executor, until the process that started this one closes the pipe."""
    executor.add_node(node)
    threading.Thread(target=lambda: (sys.stdin.read(), rclpy.shutdown()), daemon=True).start()
    with contextlib.suppress(ExternalShutdownException):
        executor.spin()


class TruthFile:
    """Rows of (node, what, topic, number, begin_ns, end_ns)."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows: list[tuple[str, str, str, int, int, int]] = []

    def add(
        self, node: str, what: str, topic: str, number: int, begin_ns: int, end_ns: int = 0
    ) -> None:
        """Add what began at `begin_ns` and has just ended, or did so at `end_ns`."""
        end_ns = end_ns or time.monotonic_ns()
        self.rows.append((node, what, topic, number, begin_ns, end_ns))

    def write(self) -> None:
        """Write all rows."""
        with self.path.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["node", "what", "topic", "number", "begin_ns", "end_ns"])
            writer.writerows(self.rows)
