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

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from std_msgs.msg import String

SECONDS = 6
RATE_HZ = 50


def spin(node: Node, seconds: float) -> None:
    """Spin a node for some seconds."""
    executor = SingleThreadedExecutor()
    executor.add_node(node)
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
    """Compute in pure Python."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        sum(range(1000))


def talk() -> None:
    """Publish, in a process of its own."""
    rclpy.init()
    spin(Talker(), SECONDS)


def main() -> None:
    """Start the talker, and listen beside the computation."""
    start = multiprocessing.get_context("spawn").Process
    worker = start if "--process" in sys.argv[1:] else threading.Thread
    computation, talker = worker(target=compute), start(target=talk)
    rclpy.init()
    listener = Listener()
    talker.start()
    computation.start()
    spin(listener, SECONDS + 2)
    computation.join()
    talker.join()


if __name__ == "__main__":
    main()
