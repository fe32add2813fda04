# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The events executor calls a timer's callback three times."""

import rclpy
from rclpy.experimental import EventsExecutor

rclpy.init()
node = rclpy.create_node("events")
done = rclpy.Future()
calls = []


def on_timer():
    calls.append(1)
    if len(calls) == 3:
        done.set_result(None)


node.create_timer(0.01, on_timer)
executor = EventsExecutor()
executor.add_node(node)
executor.spin_until_future_complete(done)
print(len(calls))
