# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""An rclpy program that makes and uses every kind of entity.

usage: every_entity.py MESSAGES
Prints what it received, and which libraries of tracing are in the process, as JSON.
"""

import json
import re
import sys
from pathlib import Path

import rclpy
from rcl_interfaces.srv import GetParameters
from rclpy.executors import SingleThreadedExecutor
from rclpy.lifecycle import LifecycleNode
from std_msgs.msg import String

messages = int(sys.argv[1])
received = []
answers = []

rclpy.init()
node = rclpy.create_node("everything", namespace="/space")
machine = LifecycleNode("machine")
publisher = node.create_publisher(String, "topic", 100)
node.create_subscription(String, "topic", lambda message: received.append(message.data), 100)
node.create_service(GetParameters, "ask", lambda request, response: response)
client = node.create_client(GetParameters, "ask")
sent = 0


def on_timer():
    global sent
    if sent == messages or publisher.get_subscription_count() == 0:
        return
    publisher.publish(String(data=f"message {sent}"))
    client.call_async(GetParameters.Request()).add_done_callback(answers.append)
    sent += 1


client.wait_for_service()
machine.trigger_configure()
node.create_timer(0.005, on_timer)
executor = SingleThreadedExecutor()
executor.add_node(node)
executor.add_node(machine)
while len(received) < messages or len(answers) < messages:
    executor.spin_once()
rclpy.shutdown()

maps = Path("/proc/self/maps").read_text()
libraries = sorted(
    set(re.findall(r"/\S*/(?:libtracetools|liblttng-ust-?[0-9a-f]*|libnoust)\.so\S*", maps))
)
print(json.dumps({"received": received, "libraries": libraries}))
