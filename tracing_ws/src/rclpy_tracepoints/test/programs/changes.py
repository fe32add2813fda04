# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Callbacks that change, entities that go, a rate, and a callback that raises at the end."""

import threading

import rclpy
from rclpy.node import Node
from std_msgs.msg import String


class Changes(Node):
    def __init__(self):
        super().__init__("changes")
        self.count = 0
        self.timer = self.create_timer(0.01, self.first)
        self.gone = self.create_subscription(String, "gone", print, 1)

    def first(self):
        self.timer.callback = self.second

    def second(self):
        self.count += 1
        if self.count == 3:
            self.destroy_timer(self.timer)
            self.destroy_subscription(self.gone)
            self.create_timer(0.01, self.last)

    def last(self):
        raise ValueError("the program's own error")


rclpy.init()
node = Changes()
rate = node.create_rate(100)
slept = []
threading.Thread(target=lambda: (rate.sleep(), slept.append(True)), daemon=True).start()
try:
    rclpy.spin(node)
except ValueError as error:
    print(type(error).__name__, error, node.count, slept)
