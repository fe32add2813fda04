# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A program that knows nothing of tracing: every kind of callback, counted by the program itself.

usage: everything.py single|multi MESSAGES
Prints {callback symbol: calls} as JSON.
"""

import functools
import json
import sys
import threading
from collections import Counter

import rclpy
from rcl_interfaces.srv import GetParameters
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import MultiThreadedExecutor, SingleThreadedExecutor
from rclpy.node import Node
from std_msgs.msg import String

calls = Counter()
lock = threading.Lock()


def count(name):
    with lock:
        calls[name] += 1


def on_message(message):
    count("__main__.on_message")


def with_prefix(prefix, message):
    count("__main__.with_prefix")


def count_lambda(line):
    count(f"__main__.Everything.__init__.<locals>.<lambda> (everything.py:{line})")


class Callable:
    def __call__(self, message):
        count("__main__.Callable.__call__")


class Everything(Node):
    def __init__(self, messages):
        super().__init__("everything")
        group = ReentrantCallbackGroup()
        self.left = messages
        self.publisher = self.create_publisher(String, "topic", 100)
        for callback in (
            on_message,
            on_message,
            functools.partial(with_prefix, "prefix"),
            Callable(),
            lambda message: count_lambda(sys._getframe().f_code.co_firstlineno),
            self.on_message_and_info,
            self.on_message_later,
        ):
            self.create_subscription(String, "topic", callback, 100, callback_group=group)
        self.timer = self.create_timer(0.01, self.on_timer)
        self.client = self.create_client(GetParameters, "answer", callback_group=group)
        self.create_service(GetParameters, "answer", self.on_request, callback_group=group)
        self.answers = 0
        self.guard = self.create_guard_condition(lambda: count("guard"))

    def on_message_and_info(self, message, info):
        count("__main__.Everything.on_message_and_info")

    async def on_message_later(self, message):
        count("__main__.Everything.on_message_later")
        await self.client.call_async(GetParameters.Request())
        with lock:
            self.answers += 1

    def on_request(self, request, response):
        count("__main__.Everything.on_request")
        return response

    def on_timer(self):
        count("__main__.Everything.on_timer")
        if self.publisher.get_subscription_count() < 7 or not self.client.service_is_ready():
            return
        if self.left == 0:
            self.timer.cancel()
            self.guard.trigger()
            return
        self.left -= 1
        self.publisher.publish(String(data="text"))


def main():
    kind, messages = sys.argv[1], int(sys.argv[2])
    rclpy.init()
    executor = MultiThreadedExecutor(3) if kind == "multi" else SingleThreadedExecutor()
    node = Everything(messages)
    executor.add_node(node)
    done = False
    while not done:
        executor.spin_once(timeout_sec=1.0)
        with lock:
            done = sum(calls.values()) >= 8 * messages and node.answers == messages
            done = done and calls["guard"] > 0
    executor.shutdown()
    if kind == "multi":
        executor._executor.shutdown(wait=True)
    del calls["guard"]
    print(json.dumps(calls))


main()
