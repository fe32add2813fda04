# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`service.py TRUTH CALLS WORK_MS BUSY_MS`: a client, and a server in another process.

The server needs WORK_MS for each call of /plan. Just before each call a message keeps its executor
busy for BUSY_MS.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from std_msgs.msg import UInt32
from std_srvs.srv import Trigger
from truth import TruthFile, spin_for, spin_until_closed

PERIOD_S = 0.1


class Server(Node):
    """Answers, and takes messages that keep it busy."""

    def __init__(self, truth: TruthFile, work_ms: float, busy_ms: float) -> None:
        super().__init__("planner")
        self.truth, self.work_s, self.busy_s = truth, work_ms / 1e3, busy_ms / 1e3
        self.create_subscription(UInt32, "/map", self.on_map, 10)
        self.create_service(Trigger, "/plan", self.on_plan)

    def on_map(self, message: UInt32) -> None:
        """Be busy."""
        begin_ns = time.monotonic_ns()
        spin_for(self.busy_s)
        self.truth.add("planner", "busy", "/map", message.data, begin_ns)

    def on_plan(self, _: Any, response: Any) -> Any:
        """Serve a call."""
        begin_ns = time.monotonic_ns()
        spin_for(self.work_s)
        self.truth.add("planner", "work", "/plan", 0, begin_ns)
        return response


class Client(Node):
    """Calls at a rate, one call at a time."""

    def __init__(self, truth: TruthFile, calls: int, *, map_first: bool) -> None:
        super().__init__("commander")
        self.truth, self.calls, self.map_first = truth, calls, map_first
        self.number = 0
        self.answered = 0
        self.map = self.create_publisher(UInt32, "/map", 10)
        self.client = self.create_client(Trigger, "/plan")
        while not (self.client.wait_for_service(1.0) and self.map.get_subscription_count()):
            pass
        self.create_timer(PERIOD_S, self.on_timer)

    def on_timer(self) -> None:
        """Call once."""
        if self.number >= self.calls:
            return
        self.number += 1
        if self.map_first:
            self.map.publish(UInt32(data=self.number))
        begin_ns = time.monotonic_ns()
        self.truth.add("commander", "sent", "/plan", self.number, begin_ns)
        future = self.client.call_async(Trigger.Request())
        future.add_done_callback(lambda _: self.on_response(begin_ns))

    def on_response(self, begin_ns: int) -> None:
        """Take an answer."""
        self.answered += 1
        self.truth.add("commander", "call", "/plan", self.answered, begin_ns)


def serve(place: str, work_ms: str, busy_ms: str) -> None:
    """Be the server, until the client's process closes the pipe."""
    rclpy.init()
    truth = TruthFile(Path(place) / "planner.csv")
    server = Server(truth, float(work_ms), float(busy_ms))
    spin_until_closed(server, SingleThreadedExecutor())
    truth.write()


def main(place: str, calls: str, work_ms: str, busy_ms: str) -> None:
    """Run both."""
    line = [sys.executable, __file__, place, work_ms, busy_ms]
    with subprocess.Popen(line, stdin=subprocess.PIPE):
        rclpy.init()
        truth = TruthFile(Path(place) / "commander.csv")
        client = Client(truth, int(calls), map_first=float(busy_ms) > 0)
        executor = SingleThreadedExecutor()
        executor.add_node(client)
        while client.answered < int(calls):
            executor.spin_once(timeout_sec=0.2)
        truth.write()


if __name__ == "__main__":
    main(*sys.argv[1:]) if len(sys.argv) == 5 else serve(*sys.argv[1:])
