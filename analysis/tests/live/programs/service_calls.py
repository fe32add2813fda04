# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`service_calls.py LOG CALLS`: a client in this process, its server in another one.

The client calls /work from a timer, CALLS times, then five times at once, as often again; then
/mute three times, whose node never spins. The server is kept busy by a timer of its own. Each
writes down what it does as it does it, on CLOCK_MONOTONIC.
"""

from __future__ import annotations

import csv
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import rclpy
from rcl_interfaces.srv import GetParameterTypes
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from until_closed import spin_until_closed

BURST = 5
MUTE = 3
WORK_S = 0.002
BUSY_S = 0.04
BUSY_PERIOD_S = 0.25


class Log:
    """Rows of (event, number of the call, time), written when all is over."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows: list[tuple[str, int, int]] = []

    def add(self, event: str, call: int) -> None:
        self.rows.append((event, call, time.monotonic_ns()))

    def write(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("w", newline="") as file:
            csv.writer(file).writerows([("event", "call", "t_mono_ns"), *self.rows])


class Server(Node):
    def __init__(self, log: Log) -> None:
        super().__init__("server")
        self.log = log
        self.work = self.create_service(GetParameterTypes, "/work", self.on_work)
        self.busy = self.create_timer(BUSY_PERIOD_S, self.on_busy)

    def on_work(self, request: Any, response: Any) -> Any:
        call = int(request.names[0])
        self.log.add("start", call)
        time.sleep(WORK_S)
        response.types = [1]
        self.log.add("end", call)
        return response

    def on_busy(self) -> None:
        time.sleep(BUSY_S)


class Client(Node):
    def __init__(self, log: Log, calls: int) -> None:
        super().__init__("client")
        self.log = log
        self.calls = calls
        self.sent = self.answered = 0
        self.done = threading.Event()
        self.work = self.create_client(GetParameterTypes, "/work")
        self.mute = self.create_client(GetParameterTypes, "/mute")
        if not (self.work.wait_for_service(30.0) and self.mute.wait_for_service(30.0)):
            raise SystemExit("no server")
        self.ticking = self.create_timer(0.02, self.on_tick)

    def call(self) -> None:
        number, self.sent = self.sent, self.sent + 1
        request = GetParameterTypes.Request(names=[str(number)])
        self.log.add("send", number)
        self.work.call_async(request).add_done_callback(lambda _: self.on_response(number))

    def on_tick(self) -> None:
        if self.sent < self.calls:
            self.call()
        elif self.answered == self.sent:
            if self.sent >= 2 * self.calls:
                self.ticking.cancel()
                for _ in range(MUTE):
                    self.mute.call_async(GetParameterTypes.Request())
                self.done.set()
                return
            for _ in range(BURST):
                self.call()

    def on_response(self, number: int) -> None:
        self.answered += 1
        self.log.add("response", number)


def serve(log: str) -> None:
    rclpy.init()
    server, mute = Server(Log(Path(log) / "server.csv")), Node("mute")
    mute.create_service(GetParameterTypes, "/mute", lambda _, response: response)
    spin_until_closed(server, SingleThreadedExecutor())
    server.log.write()


def main(log: str, calls: str) -> None:
    line = [sys.executable, __file__, log]
    with subprocess.Popen(line, stdin=subprocess.PIPE):
        rclpy.init()
        client = Client(Log(Path(log) / "client.csv"), int(calls))
        executor = SingleThreadedExecutor()
        executor.add_node(client)
        while not client.done.is_set():
            executor.spin_once()
        client.log.write()


if __name__ == "__main__":
    main(*sys.argv[1:]) if len(sys.argv) > 2 else serve(sys.argv[1])
