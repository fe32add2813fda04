# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A coroutine callback that awaits, while others run on its thread, and then publishes.

usage: awaits.py single|multi MESSAGES AWAITED_MS
"""

import sys
import time

import rclpy
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import MultiThreadedExecutor, SingleThreadedExecutor
from rclpy.task import Future
from std_msgs.msg import String

MESSAGES, AWAITED_S = int(sys.argv[2]), float(sys.argv[3]) / 1000

rclpy.init()
executor = MultiThreadedExecutor(3) if sys.argv[1] == "multi" else SingleThreadedExecutor()
source, relay, sink = (rclpy.create_node(name) for name in ("source", "relay", "sink"))
for node in (source, relay, sink):
    executor.add_node(node)
given = source.create_publisher(String, "given", MESSAGES)
made = relay.create_publisher(String, "made", MESSAGES)
awaited, received, seen = [], [], []


async def on_given(message):
    future = Future(executor=executor)
    awaited.append((time.monotonic() + AWAITED_S, future))
    await future
    made.publish(message)


def on_tick():
    """Run on the same threads meanwhile, and end what was awaited long enough."""
    while awaited and awaited[0][0] <= time.monotonic():
        awaited.pop(0)[1].set_result(None)


group = ReentrantCallbackGroup()
relay.create_subscription(String, "given", on_given, MESSAGES, callback_group=group)
relay.create_subscription(String, "given", seen.append, MESSAGES, callback_group=group)
sink.create_subscription(String, "made", received.append, MESSAGES)
ticks = relay.create_timer(0.002, on_tick)
while given.get_subscription_count() < 2 or not made.get_subscription_count():
    time.sleep(0.01)
numbers = iter(range(MESSAGES))


def on_timer():
    if next(numbers, None) is not None:
        given.publish(String(data="x"))


# Twice as often as one is answered: two executions are suspended at once.
timer = source.create_timer(AWAITED_S / 2, on_timer)
while len(received) < MESSAGES or len(seen) < MESSAGES:
    executor.spin_once(timeout_sec=0.1)
executor.shutdown()
