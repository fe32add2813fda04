# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`service_matrix.py LOG`: three clients, two of them in this process, call two services at once.

The services are a quick one and a slow one, served by two threads of another process, so that
responses come in another order than requests. Each side writes down what it does as it does it, on
CLOCK_MONOTONIC: event, client, service, number of the client's call of that service, time.
"""

from __future__ import annotations

import csv
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import rclpy
from rcl_interfaces.srv import GetParameterTypes
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import (
    MultiThreadedExecutor,
    SingleThreadedExecutor,
)
from rclpy.node import Node
from until_closed import spin_until_closed

CALLS = 25
SETTLED_S = 1.0
PERIOD_S = 0.03
PATIENCE_S = 15.0
WORK_S = {"/quick": 0.001, "/slow": 0.02}


class Log:
    """Rows of (event, client, service, number, time), written when all is over."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows: list[tuple[str, str, str, int, int]] = []

    def add(self, event: str, client: str, service: str, number: int) -> None:
        self.rows.append((event, client, service, number, time.monotonic_ns()))

    def write(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("w", newline="") as file:
            head = ("event", "client", "service", "number", "t_mono_ns")
            csv.writer(file).writerows([head, *self.rows])


class Server(Node):
    def __init__(self, log: Log) -> None:
        super().__init__("server")
        self.log = log
        group = ReentrantCallbackGroup()
        for name, handler in (("/quick", self.on_quick), ("/slow", self.on_slow)):
            self.create_service(GetParameterTypes, name, handler, callback_group=group)

    def on_quick(self, request: Any, response: Any) -> Any:
        return self.serve("/quick", request, response)

    def on_slow(self, request: Any, response: Any) -> Any:
        return self.serve("/slow", request, response)

    def serve(self, service: str, request: Any, response: Any) -> Any:
        client, number = request.names[0], int(request.names[1])
        self.log.add("start", client, service, number)
        time.sleep(WORK_S[service])
        self.log.add("end", client, service, number)
        return response


class Client(Node):
    def __init__(self, name: str, log: Log) -> None:
        super().__init__(name)
        self.log = log
        self.sent = self.answered = 0
        self.callers = {name: self.create_client(GetParameterTypes, name) for name in WORK_S}
        if not all(caller.wait_for_service(30.0) for caller in self.callers.values()):
            raise SystemExit("no server")
        # The server's writer of responses finds the client some time after its reader of requests.
        time.sleep(SETTLED_S)
        self.ticking = self.create_timer(PERIOD_S, self.on_tick)

    def on_tick(self) -> None:
        if self.sent == CALLS:
            return
        number, self.sent = self.sent, self.sent + 1
        for service, caller in self.callers.items():
            request = GetParameterTypes.Request(names=[self.get_name(), str(number)])
            self.log.add("send", self.get_name(), service, number)
            future = caller.call_async(request)
            future.add_done_callback(lambda _, service=service: self.on_response(service, number))

    def on_response(self, service: str, number: int) -> None:
        self.answered += 1
        self.log.add("response", self.get_name(), service, number)


def serve(log: str) -> None:
    server = Server(Log(Path(log) / "server.csv"))
    spin_until_closed(server, MultiThreadedExecutor(num_threads=2))
    server.log.write()


def call(log: str, *names: str) -> None:
    clients = [Client(name, Log(Path(log) / f"{name}.csv")) for name in names]
    executor = SingleThreadedExecutor()
    for client in clients:
        executor.add_node(client)
    # A response may be lost while discovery goes on: its call has none in the truth, either.
    deadline = time.monotonic() + PATIENCE_S
    while any(client.answered < 2 * CALLS for client in clients) and time.monotonic() < deadline:
        executor.spin_once(timeout_sec=1.0)
    for client in clients:
        client.log.write()


def main(log: str) -> None:
    line = [sys.executable, __file__, log]
    with (
        subprocess.Popen([*line, "serve"], stdin=subprocess.PIPE),
        subprocess.Popen([*line, "eve"]),
    ):
        rclpy.init()
        call(log, "ana", "bob")


if __name__ == "__main__":
    if len(sys.argv) == 2:
        main(sys.argv[1])
    else:
        rclpy.init()
        serve(sys.argv[1]) if sys.argv[2] == "serve" else call(*sys.argv[1:])
