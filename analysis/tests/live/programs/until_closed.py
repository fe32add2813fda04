# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Nodes that spin until the process that started theirs closes the pipe to it."""

from __future__ import annotations

import contextlib
import sys
import threading

import rclpy
from rclpy.executors import Executor, ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from std_msgs.msg import String


def spin_until_closed(node: Node, executor: Executor) -> None:
    """Spin a node alone in an executor."""
    executor.add_node(node)
    threading.Thread(target=lambda: (sys.stdin.read(), rclpy.shutdown()), daemon=True).start()
    with contextlib.suppress(ExternalShutdownException):
        executor.spin()


def listen(topic: str, depth: int) -> None:
    """Be a node that takes a topic's messages."""
    rclpy.init()
    node = Node("listener")
    node.create_subscription(String, topic, lambda _: None, depth)
    spin_until_closed(node, SingleThreadedExecutor())
