# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Every way to publish in rclpy; prints the instants at which each publish() was entered, as JSON.

usage: publishes.py MESSAGES
The messages of /nested hold a thousand small ones: making their C form takes milliseconds.
"""

import json
import sys
import threading
import time

import rclpy
from rcl_interfaces.msg import Parameter, ParameterEvent, ParameterValue
from rclpy.serialization import serialize_message
from std_msgs.msg import String

MESSAGES = int(sys.argv[1])
PARAMETERS = [Parameter(name=f"p{i}", value=ParameterValue(integer_value=i)) for i in range(1000)]
NESTED = ParameterEvent(node="/talker", new_parameters=PARAMETERS)

rclpy.init()
node = rclpy.create_node("talker")
publishers = {
    "/nested": node.create_publisher(ParameterEvent, "nested", MESSAGES),
    "/raw": node.create_publisher(String, "raw", MESSAGES),
    "/raised": node.create_publisher(String, "raised", MESSAGES),
    "/thread": node.create_publisher(ParameterEvent, "thread", MESSAGES),
}
entered = {topic: [] for topic in publishers}
received = []
for topic, publisher in publishers.items():
    kind = publisher.msg_type
    node.create_subscription(kind, topic, lambda message: received.append(message), MESSAGES)


def publish(topic, message):
    entered[topic].append(time.monotonic_ns())
    publishers[topic].publish(message)


def refused(message):
    """Publish what cannot be, and say so: the log is a publication of rcl's own."""
    try:
        publish("/raised", message)
    except (TypeError, UnicodeError) as error:
        node.get_logger().info(f"refused: {type(error).__name__}")
    else:
        raise AssertionError(message)


def on_timer():
    publish("/nested", NESTED)
    publish("/raw", serialize_message(String(data="raw")))
    refused("no message")
    refused(String(data="\ud800"))
    publish("/raised", String(data="right"))


def work():
    for _ in range(MESSAGES):
        publish("/thread", NESTED)
        time.sleep(0.03)


while any(publisher.get_subscription_count() == 0 for publisher in publishers.values()):
    time.sleep(0.01)
timer = node.create_timer(0.03, on_timer)
thread = threading.Thread(target=work)
thread.start()
while len(received) < 4 * MESSAGES:
    rclpy.spin_once(node, timeout_sec=0.1)
    if len(entered["/nested"]) == MESSAGES:
        timer.cancel()
thread.join()
print(json.dumps(entered))
