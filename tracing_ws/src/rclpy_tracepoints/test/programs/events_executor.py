# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Makes an events executor for a node with a timer; it does not spin."""

import rclpy
from rclpy.experimental import EventsExecutor

rclpy.init()
node = rclpy.create_node("events")


def on_timer():
    pass


node.create_timer(0.01, on_timer)
executor = EventsExecutor()
print(executor.add_node(node), flush=True)
executor.shutdown()
