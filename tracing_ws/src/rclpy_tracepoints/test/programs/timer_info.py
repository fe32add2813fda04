# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A timer's callback that asks for the timer's information is called three times."""

import rclpy
from rclpy.timer import TimerInfo

calls = []


def on_timer(info: TimerInfo):
    calls.append(info.actual_call_time)


rclpy.init()
node = rclpy.create_node("timer_info")
node.create_timer(0.01, on_timer)
while len(calls) < 3:
    rclpy.spin_once(node, timeout_sec=1.0)
