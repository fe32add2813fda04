# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Times the emitting functions and a patched callback; prints {name: ns} as JSON."""

from __future__ import annotations

import json
import sys
import time
import types

import rclpy.executors
from rclpy.subscription import Subscription

from rclpy_tracepoints import _emit, patches

CALLS = 2000
ROUNDS = 50


def least(function) -> float:
    """Return the nanoseconds a call of the fastest round."""
    rounds = []
    for _ in range(ROUNDS):
        began = time.perf_counter_ns()
        for _ in range(CALLS):
            function()
        rounds.append((time.perf_counter_ns() - began) / CALLS)
        # Lets the consumer daemon empty the buffers: a lost event would be a cheap one.
        time.sleep(0.02)
    return min(rounds)


class Handle:
    """A handle that always has a message."""

    pointer = 1

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None

    def take_message(self, *_):
        """Return a message and its information."""
        return "message", None


class Messages(Subscription):
    """A subscription without a middleware."""

    handle = Handle()
    msg_type, raw = str, False

    def __init__(self):
        self.callback = lambda _: None


def callback_of(take, executor, subscription):
    """Return what an executor does for one message."""

    def once():
        try:
            take(executor, subscription)().send(None)
        except StopIteration:
            return

    return once


class Publisher:
    """A publisher that publishes nothing."""

    handle = Handle()

    def publish(self, msg):
        """Return at once."""


class WaitSet:
    """A wait set that is always ready."""

    def wait(self, timeout):
        """Return at once."""


def main() -> None:
    """Measure and print."""
    assert _emit.bind() == 12
    executors = rclpy.executors
    executor, subscription = object(), Messages()
    take, run = executors.Executor._take_subscription, executors.await_or_execute
    figures = {
        "empty Python call": least(lambda: None),
        "callback_start": least(lambda: _emit.callback_start(16)),
        "execute": least(lambda: _emit.execute(1, 16, None)),
        "get_next_ready": least(lambda: _emit.get_next_ready()),
    }
    for name in ("callback_start", "execute", "get_next_ready"):
        figures[name] -= figures["empty Python call"]
    patched = least(callback_of(take, executor, subscription))
    executors.await_or_execute = run.__wrapped__
    plain = least(callback_of(take.__wrapped__, executor, subscription))
    figures["a callback, added"] = patched - plain
    wait_set = WaitSet()
    plain = least(lambda: wait_set.wait(-1))
    patches.trace_waits(types.SimpleNamespace(_rclpy=types.SimpleNamespace(WaitSet=WaitSet)))
    figures["a wait, added"] = least(lambda: wait_set.wait(-1)) - plain
    publisher = Publisher()
    plain = least(lambda: publisher.publish(None))
    patches.trace_publishes(types.SimpleNamespace(Publisher=Publisher))
    figures["a publish(), added"] = least(lambda: publisher.publish(None)) - plain
    sys.stdout.write(json.dumps(figures))


main()
