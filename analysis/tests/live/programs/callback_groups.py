# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`callback_groups.py ARRANGEMENT`: a quick and a slow callback of one node, arranged in four ways.

/scan has 50 messages per second and a callback of less than a millisecond; /map has five per second
and a callback that sleeps 60 ms. ARRANGEMENT is one of

    single     SingleThreadedExecutor
    exclusive  MultiThreadedExecutor, both callbacks in the node's default group
    separate   MultiThreadedExecutor, a mutually exclusive group for each callback
    apart      a node for each callback, each in a SingleThreadedExecutor with its own thread
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import threading
import time
from collections.abc import Sequence

import rclpy
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.executors import (
    Executor,
    ExternalShutdownException,
    MultiThreadedExecutor,
    SingleThreadedExecutor,
)
from rclpy.node import Node
from std_msgs.msg import String
from until_closed import spin_until_closed

ARRANGEMENTS = ("single", "exclusive", "separate", "apart")
SECONDS = 4.0
SCAN_PERIOD_S = 0.02
MAP_PERIOD_S = 0.2
MAP_WORK_S = 0.06
DEPTH = 100


class Taker(Node):
    """Takes /scan, /map, or both; in the node's default group, or in a group of its own each."""

    def __init__(self, name: str, topics: Sequence[str], *, own_groups: bool = False) -> None:
        super().__init__(name)
        callbacks = {"/scan": self.on_scan, "/map": self.on_map}
        for topic in topics:
            group = MutuallyExclusiveCallbackGroup() if own_groups else None
            self.create_subscription(String, topic, callbacks[topic], DEPTH, callback_group=group)

    def on_scan(self, message: String) -> None:
        pass

    def on_map(self, message: String) -> None:
        time.sleep(MAP_WORK_S)


class Sensors(Node):
    """Publishes both."""

    def __init__(self) -> None:
        super().__init__("sensors")
        self.scan = self.create_publisher(String, "/scan", DEPTH)
        self.map = self.create_publisher(String, "/map", DEPTH)
        while not (self.scan.get_subscription_count() and self.map.get_subscription_count()):
            time.sleep(0.01)
        # The two sides discover each other at different times.
        time.sleep(1.0)
        self.create_timer(SCAN_PERIOD_S, lambda: self.scan.publish(String(data="scan")))
        self.create_timer(MAP_PERIOD_S, lambda: self.map.publish(String(data="map")))


def take(arrangement: str) -> None:
    if arrangement == "apart":
        planner = Taker("planner", ["/map"])
        executor = SingleThreadedExecutor()
        executor.add_node(planner)
        threading.Thread(target=spin, args=(executor,), daemon=True).start()
        spin_until_closed(Taker("mapper", ["/scan"]), SingleThreadedExecutor())
        return
    mapper = Taker("mapper", ["/scan", "/map"], own_groups=arrangement == "separate")
    single = arrangement == "single"
    spin_until_closed(
        mapper, SingleThreadedExecutor() if single else MultiThreadedExecutor(num_threads=4)
    )


def spin(executor: Executor) -> None:
    with contextlib.suppress(ExternalShutdownException):
        executor.spin()


def publish() -> None:
    executor = SingleThreadedExecutor()
    executor.add_node(Sensors())
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        executor.spin_once(timeout_sec=0.1)


def main(arrangement: str) -> None:
    line = [sys.executable, __file__, arrangement, "take"]
    with subprocess.Popen(line, stdin=subprocess.PIPE):
        publish()
        time.sleep(2 * MAP_WORK_S)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3) or sys.argv[1] not in ARRANGEMENTS:
        raise SystemExit(__doc__)
    rclpy.init()
    if len(sys.argv) == 2:
        main(sys.argv[1])
    else:
        take(sys.argv[1])
