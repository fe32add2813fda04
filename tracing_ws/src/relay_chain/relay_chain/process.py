# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Run nodes in this process until they are done or a signal ends them."""

from __future__ import annotations

import sys
from collections.abc import Callable

import rclpy
from rclpy.executors import MultiThreadedExecutor, SingleThreadedExecutor
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future

from relay_chain.node import ChainError, ChainNode
from relay_chain.nodes import Distractor, Listener, Relay, Sink, Source
from relay_chain.ping import Ping
from relay_chain.services import Caller, Forwarder, Responder
from relay_chain.stop import end_in_time, when_signalled

_FAILED = 1
KINDS = {
    "source": Source,
    "relay": Relay,
    "listener": Listener,
    "sink": Sink,
    "distractor": Distractor,
    "ping": Ping,
    "caller": Caller,
    "forwarder": Forwarder,
    "responder": Responder,
}


def run_nodes(
    make: Callable[[], list[ChainNode]], arguments: list[str], *, of_chain: bool = False
) -> int:
    """Run nodes until the sinks or a signal end them, then write what they have; the exit status.

    The first node's parameters tell the executor. The signals must be held already
    (`stop.hold_signals`). `of_chain`: a chain waits for this process to end, which it then does in
    time, unless it failed (`stop.end_in_time`).
    """
    # rclpy's handlers would shut the context down while this thread may be doing so too.
    rclpy.init(args=arguments, signal_handler_options=SignalHandlerOptions.NO)
    nodes: list[ChainNode] = []
    try:
        nodes = make()
        number = _spin(nodes, _executor(nodes[0]))
        status = _report(nodes, number)
    except (ChainError, FileExistsError) as error:
        sys.stderr.write(f"{error}\n")
        return _FAILED
    else:
        # One that was ended by a signal, too: whoever would kill it may be dead.
        if of_chain and status != _FAILED:
            end_in_time()
        return status
    finally:
        rclpy.shutdown()


def _executor(node: ChainNode) -> SingleThreadedExecutor | MultiThreadedExecutor:
    kind = node.setting("executor", "single")
    if kind not in ("single", "multi"):
        raise ChainError(f"Cannot use parameter executor: {kind!r} is neither single nor multi.")
    threads = node.setting("threads", 0, least=0)
    if kind == "single":
        return SingleThreadedExecutor()
    return MultiThreadedExecutor(num_threads=threads or None)


def _spin(
    nodes: list[ChainNode], executor: SingleThreadedExecutor | MultiThreadedExecutor
) -> int | None:
    """Spin until the nodes are done or a signal comes; its number, null when there was none."""
    stop = Future()
    signals: list[int] = []

    def on_signal(number: int) -> None:
        signals.append(number)
        stop.set_result(True)

    def on_done(_: Future) -> None:
        ends_done = all(node.done.done() for node in nodes if node.ends)
        fault = any(node.done.done() for node in nodes if not node.ends)
        if ends_done or fault:
            stop.set_result(True)

    for node in nodes:
        executor.add_node(node)
        node.done.add_done_callback(on_done)
    when_signalled(on_signal)
    # No timeout: with one, rclpy makes a timer for every turn.
    executor.spin_until_future_complete(stop)
    return signals[0] if signals else None


def _report(nodes: list[ChainNode], number: int | None) -> int:
    """Write the stamps and say how it ended; the exit status."""
    status = 0
    for node in nodes:
        # Not the executor's shutdown: rclpy 7 and 9 do not wait for callbacks there.
        with node.calling:
            paths = node.write()
        for path in paths:
            sys.stderr.write(f"{node.get_name()}: wrote {path}\n")
        problem = node.done.result() if node.done.done() else None
        if problem:
            sys.stderr.write(f"{problem}\n")
            status = _FAILED
        if text := node.says():
            sys.stderr.write(f"{node.get_name()}: {text}\n")
        # A chain that was ended before its time did not do what it was asked to.
        if number is not None and node.cut_short():
            status = 128 + number
    return status


def run_node(kind: str, arguments: list[str]) -> int:
    """Run one node; a sink ends by itself, the others by a signal. Returns the exit status."""
    return run_nodes(lambda: [KINDS[kind]()], arguments, of_chain=True)
