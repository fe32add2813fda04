# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Run nodes in this process until they are done or a signal ends them."""

from __future__ import annotations

import sys

import rclpy
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor, SingleThreadedExecutor
from rclpy.task import Future

from relay_chain.nodes import ChainNode, Distractor, Relay, Sink, Source

KINDS = {"source": Source, "relay": Relay, "sink": Sink, "distractor": Distractor}


def make_executor(kind: str, threads: int) -> SingleThreadedExecutor | MultiThreadedExecutor:
    """Make an executor; 0 threads means one a CPU."""
    if kind == "single":
        return SingleThreadedExecutor()
    return MultiThreadedExecutor(num_threads=threads or None)


def spin(
    nodes: list[ChainNode], until: Future, executor: SingleThreadedExecutor | MultiThreadedExecutor
) -> None:
    """Run nodes until a future completes or a signal comes, then write their stamps."""
    for node in nodes:
        executor.add_node(node)
    try:
        # No timeout: with one, rclpy makes a timer for every turn.
        executor.spin_until_future_complete(until)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    finally:
        for node in nodes:
            node.truth.write()


def run_node(kind: str, arguments: list[str] | None = None) -> None:
    """Run one node in this process; a sink ends by itself, the others by a signal."""
    rclpy.init(args=sys.argv if arguments is None else arguments)
    node = KINDS[kind]()
    executor = make_executor(
        str(node.setting("executor", "single")), int(node.setting("threads", 0))
    )
    until = node.done if kind == "sink" else Future()
    spin([node], until, executor)
    if kind == "sink":
        sys.stderr.write(f"sink: {node.received} messages received\n")
    rclpy.try_shutdown()


if __name__ == "__main__":
    run_node(sys.argv.pop(1))
