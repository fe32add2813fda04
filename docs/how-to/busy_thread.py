# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A node whose process computes in a Python thread beside the executor.

usage: python3 docs/how-to/busy_thread.py [--process]

With --process it computes in another process. Each runs for six seconds.
"""

from __future__ import annotations

import multiprocessing
import sys
import threading
import time
from collections.abc import Callable

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from std_msgs.msg import String

SECONDS = 6
RATE_HZ = 50


def spin(make: Callable[[], Node], seconds: float) -> None:
    """Spin a node for some seconds."""
    rclpy.init()
    executor = SingleThreadedExecutor()
    executor.add_node(make())
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        executor.spin_once(timeout_sec=0.1)


class Talker(Node):
    """Publishes /chatter."""

    def __init__(self) -> None:
        super().__init__("talker")
        self.chatter = self.create_publisher(String, "chatter", 10)
        self.create_timer(1 / RATE_HZ, lambda: self.chatter.publish(String(data="hello")))


class Listener(Node):
    """Subscribes to /chatter."""

    def __init__(self) -> None:
        super().__init__("listener")
        self.create_subscription(String, "chatter", self.on_chatter, 10)

    def on_chatter(self, _message: String) -> None:
        """Take note of a message."""


def compute() -> None:
    """Compute in pure Python, for two thirds of the time."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        pause = time.monotonic() + 0.02
        while time.monotonic() < pause:
            sum(range(1000))
        time.sleep(0.01)


def main() -> None:
    """Start the talker in a process of its own, and listen beside the computation."""
    start = multiprocessing.get_context("spawn").Process
    talker = start(target=spin, args=(Talker, SECONDS))
    talker.start()
    worker = start if "--process" in sys.argv[1:] else threading.Thread
    computation = worker(target=compute)
    computation.start()
    spin(Listener, SECONDS + 1)
    computation.join()
    talker.join()


if __name__ == "__main__":
    main()
