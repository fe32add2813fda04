# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A node whose callback hands each message to a thread, which works and publishes.

usage: worker.py MESSAGES WORK_MS
"""

import queue
import sys
import threading
import time

import rclpy
from rclpy.executors import SingleThreadedExecutor
from std_msgs.msg import String

MESSAGES, WORK_S = int(sys.argv[1]), float(sys.argv[2]) / 1000

rclpy.init()
executor = SingleThreadedExecutor()
source, worker, sink = (rclpy.create_node(name) for name in ("source", "worker", "sink"))
for node in (source, worker, sink):
    executor.add_node(node)
given = source.create_publisher(String, "given", MESSAGES)
made = worker.create_publisher(String, "made", MESSAGES)
left, received = queue.Queue(), []
worker.create_subscription(String, "given", left.put, MESSAGES)
sink.create_subscription(String, "made", received.append, MESSAGES)


def work():
    for _ in range(MESSAGES):
        message = left.get()
        time.sleep(WORK_S)
        made.publish(message)


while not (given.get_subscription_count() and made.get_subscription_count()):
    time.sleep(0.01)
thread = threading.Thread(target=work, name="worker")
thread.start()
numbers = iter(range(MESSAGES))


def on_timer():
    if next(numbers, None) is not None:
        given.publish(String(data="x"))


timer = source.create_timer(0.03, on_timer)
while len(received) < MESSAGES:
    executor.spin_once(timeout_sec=0.1)
thread.join()
