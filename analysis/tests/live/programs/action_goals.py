# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`action_goals.py LOG`: two clients of one action in this process, its server in another one.

Client `alone` sends goals one after the other; the last but one is refused, the last one canceled.
Client `many` sends three goals at once. The order of a goal says what to do with it: its tens are
the number of feedback messages, 1000 and more are refused. Each side writes down what it does as
it does it, on CLOCK_MONOTONIC: event, client, number of the goal, time.
"""

from __future__ import annotations

import csv
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import rclpy
from rclpy.action import ActionClient, ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import (
    MultiThreadedExecutor,
    SingleThreadedExecutor,
)
from rclpy.node import Node
from test_msgs.action import Fibonacci
from until_closed import spin_until_closed

STEP_S = 0.01
STEPS = 3
ALONE = 6
REFUSED, CANCELED = ALONE - 2, ALONE - 1
MANY = 3


class Log:
    """Rows of (event, client, number of the goal, time), written when all is over."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows: list[tuple[str, int, int]] = []

    def add(self, event: str, goal: int) -> None:
        self.rows.append((event, goal, time.monotonic_ns()))

    def write(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("w", newline="") as file:
            csv.writer(file).writerows([("event", "goal", "t_mono_ns"), *self.rows])


class Server(Node):
    """Goals are numbered by their order: 100 and more are of `many`."""

    def __init__(self, log: Log) -> None:
        super().__init__("server")
        self.log = log
        group = ReentrantCallbackGroup()
        self.action = ActionServer(
            self,
            Fibonacci,
            "/count",
            execute_callback=self.on_execute,
            goal_callback=self.on_goal,
            cancel_callback=self.on_cancel,
            callback_group=group,
        )

    def on_goal(self, request: Any) -> GoalResponse:
        self.log.add("asked", request.order)
        return GoalResponse.REJECT if request.order == REFUSED else GoalResponse.ACCEPT

    def on_cancel(self, goal: Any) -> CancelResponse:
        self.log.add("cancel", goal.request.order)
        return CancelResponse.ACCEPT

    def on_execute(self, goal: Any) -> Any:
        number = goal.request.order
        self.log.add("start", number)
        result = Fibonacci.Result(sequence=[number])
        for _ in range(100 if number == CANCELED else STEPS):
            time.sleep(STEP_S)
            if goal.is_cancel_requested:
                goal.canceled()
                self.log.add("end", number)
                return result
            self.log.add("feedback", number)
            goal.publish_feedback(Fibonacci.Feedback(sequence=[number]))
        goal.succeed()
        self.log.add("end", number)
        return result


class Client(Node):
    def __init__(self, name: str, log: Log) -> None:
        super().__init__(name)
        self.log = log
        self.pending = 0
        self.action = ActionClient(self, Fibonacci, "/count")
        if not self.action.wait_for_server(30.0):
            raise SystemExit("no server")

    def send(self, number: int) -> None:
        self.pending += 1
        self.log.add("send", number)
        goal = Fibonacci.Goal(order=number)
        sent = self.action.send_goal_async(goal, feedback_callback=self.on_feedback)
        sent.add_done_callback(lambda future: self.on_accepted(number, future.result()))

    def on_accepted(self, number: int, goal: Any) -> None:
        self.log.add("accepted" if goal.accepted else "refused", number)
        if not goal.accepted:
            self.pending -= 1
            return
        goal.get_result_async().add_done_callback(lambda _: self.on_result(number))
        if number == CANCELED:
            self.canceling = self.create_timer(0.05, lambda: self.cancel(goal))

    def cancel(self, goal: Any) -> None:
        self.canceling.cancel()
        self.log.add("cancel", CANCELED)
        goal.cancel_goal_async()

    def on_feedback(self, message: Any) -> None:
        self.log.add("heard", message.feedback.sequence[0])

    def on_result(self, number: int) -> None:
        self.log.add("result", number)
        self.pending -= 1


def serve(log: str) -> None:
    rclpy.init()
    server = Server(Log(Path(log) / "server.csv"))
    spin_until_closed(server, MultiThreadedExecutor(num_threads=4))
    server.log.write()


def main(log: str) -> None:
    line = [sys.executable, __file__, log, "serve"]
    with subprocess.Popen(line, stdin=subprocess.PIPE):
        rclpy.init()
        executor = SingleThreadedExecutor()
        alone, many = (Client(name, Log(Path(log) / f"{name}.csv")) for name in ("alone", "many"))
        executor.add_node(alone)
        executor.add_node(many)
        for number in range(ALONE):
            alone.send(number)
            while alone.pending:
                executor.spin_once()
        for number in range(100, 100 + MANY):
            many.send(number)
        while many.pending:
            executor.spin_once()
        alone.log.write()
        many.log.write()


if __name__ == "__main__":
    main(sys.argv[1]) if len(sys.argv) == 2 else serve(sys.argv[1])
