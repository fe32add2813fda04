# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`watched.py MESSAGES BUSY_AT BUSY_MS DEPTH`: source -> /a -> worker -> /b -> sink, all apart.

The source publishes each 20 ms. The sink computes for BUSY_MS at message BUSY_AT (none: -1), and
keeps DEPTH messages. Ends when all were published and 1 s is over, or by SIGTERM or SIGINT.
"""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import time

import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from std_msgs.msg import Header

PERIOD_S = 0.02


def source(node: Node, messages: int) -> None:
    publisher = node.create_publisher(Header, "/a", 100)
    sent = 0

    def on_timer() -> None:
        nonlocal sent
        if sent == messages or not publisher.get_subscription_count():
            return
        publisher.publish(Header(frame_id=str(sent)))
        sent += 1
        if sent == messages:
            node.create_timer(1.0, rclpy.shutdown)

    node.create_timer(PERIOD_S, on_timer)


def worker(node: Node) -> None:
    publisher = node.create_publisher(Header, "/b", 100)

    def on_timer() -> None:
        # What it publishes before the sink has a subscription is published for nobody.
        if publisher.get_subscription_count():
            timer.cancel()
            node.create_subscription(Header, "/a", publisher.publish, 100)

    timer = node.create_timer(PERIOD_S, on_timer)


def sink(node: Node, busy_at: int, busy_ms: int, depth: int) -> None:
    def on_message(message: Header) -> None:
        until = time.monotonic() + (busy_ms / 1e3 if int(message.frame_id) == busy_at else 0)
        while time.monotonic() < until:
            pass

    node.create_subscription(Header, "/b", on_message, depth)


def child(name: str, messages: int, *sink_options: int) -> None:
    rclpy.init()
    node = rclpy.create_node(name)
    if name == "source":
        source(node, messages)
    elif name == "worker":
        worker(node)
    else:
        sink(node, *sink_options)
    with contextlib.suppress(KeyboardInterrupt, ExternalShutdownException):
        rclpy.spin(node)


def main(numbers: list[str]) -> int:
    names = ("sink", "worker", "source")
    begun = [subprocess.Popen([sys.executable, __file__, name, *numbers]) for name in names]

    def end(*_: object) -> None:
        for process in begun:
            process.terminate()

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    begun[-1].wait()
    end()
    for process in begun:
        while True:
            try:
                process.wait(2)
                break
            except subprocess.TimeoutExpired:
                # rclpy now and then spins on after a signal, on a busy machine.
                process.terminate()
    return 0


if __name__ == "__main__":
    if sys.argv[1].lstrip("-").isdigit():
        sys.exit(main(sys.argv[1:]))
    child(sys.argv[1], *map(int, sys.argv[2:]))
