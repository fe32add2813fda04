# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`action.py TRUTH GOALS WORK_MS BUSY_MS`: a client of an action, its server in another process.

The server needs WORK_MS to execute a goal of /drive. Just before each goal a message keeps its
executor busy for BUSY_MS.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import rclpy
from rclpy.action import ActionClient, ActionServer, GoalResponse
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from std_msgs.msg import UInt32
from test_msgs.action import Fibonacci
from truth import TruthFile, spin_for, spin_until_closed

PERIOD_S = 0.15


class Server(Node):
    """Accepts and executes goals, and takes messages that keep it busy."""

    def __init__(self, truth: TruthFile, work_ms: float, busy_ms: float) -> None:
        super().__init__("driver")
        self.truth, self.work_s, self.busy_s = truth, work_ms / 1e3, busy_ms / 1e3
        self.create_subscription(UInt32, "/map", lambda _: spin_for(self.busy_s), 10)
        self.action = ActionServer(
            self, Fibonacci, "/drive", self.on_execute, goal_callback=self.on_goal
        )

    def on_goal(self, request: Any) -> GoalResponse:
        """Accept every goal, which is answered at once."""
        self.truth.add("driver", "asked", "/drive", request.order, time.monotonic_ns())
        return GoalResponse.ACCEPT

    def on_execute(self, goal: Any) -> Any:
        """Execute a goal, with one feedback."""
        begin_ns = time.monotonic_ns()
        goal.publish_feedback(Fibonacci.Feedback(sequence=[goal.request.order]))
        spin_for(self.work_s)
        goal.succeed()
        self.truth.add("driver", "executed", "/drive", goal.request.order, begin_ns)
        return Fibonacci.Result(sequence=[goal.request.order])


class Client(Node):
    """Sends goals at a rate, one at a time."""

    def __init__(self, truth: TruthFile, goals: int, *, map_first: bool) -> None:
        super().__init__("commander")
        self.truth, self.goals, self.map_first = truth, goals, map_first
        self.number = self.ended = 0
        self.map = self.create_publisher(UInt32, "/map", 10)
        self.action = ActionClient(self, Fibonacci, "/drive")
        while not (self.action.wait_for_server(1.0) and self.map.get_subscription_count()):
            pass
        self.create_timer(PERIOD_S, self.on_timer)

    def on_timer(self) -> None:
        """Send one goal."""
        if self.number >= self.goals or self.number > self.ended:
            return
        number = self.number = self.number + 1
        if self.map_first:
            self.map.publish(UInt32(data=number))
            # Of what is ready at once, rclpy would serve the action first.
            time.sleep(0.003)
        begin_ns = time.monotonic_ns()
        self.truth.add("commander", "sent", "/drive", number, begin_ns)
        sent = self.action.send_goal_async(Fibonacci.Goal(order=number))
        sent.add_done_callback(lambda future: self.on_accepted(number, begin_ns, future.result()))

    def on_accepted(self, number: int, begin_ns: int, goal: Any) -> None:
        """Ask for the result."""
        goal.get_result_async().add_done_callback(lambda _: self.on_result(number, begin_ns))

    def on_result(self, number: int, begin_ns: int) -> None:
        """Take a result."""
        self.ended += 1
        self.truth.add("commander", "goal", "/drive", number, begin_ns)


def serve(place: str, work_ms: str, busy_ms: str) -> None:
    """Be the server, until the client's process closes the pipe."""
    rclpy.init()
    truth = TruthFile(Path(place) / "driver.csv")
    server = Server(truth, float(work_ms), float(busy_ms))
    spin_until_closed(server, SingleThreadedExecutor())
    truth.write()


def main(place: str, goals: str, work_ms: str, busy_ms: str) -> None:
    """Run both."""
    line = [sys.executable, __file__, place, work_ms, busy_ms]
    with subprocess.Popen(line, stdin=subprocess.PIPE):
        rclpy.init()
        truth = TruthFile(Path(place) / "commander.csv")
        client = Client(truth, int(goals), map_first=float(busy_ms) > 0)
        executor = SingleThreadedExecutor()
        executor.add_node(client)
        while client.ended < int(goals):
            executor.spin_once(timeout_sec=0.2)
        truth.write()


if __name__ == "__main__":
    main(*sys.argv[1:]) if len(sys.argv) == 5 else serve(*sys.argv[1:])
