# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Makes every kind of entity, says so, and then does what it is told by lines of stdin.

usage: lasting_entities.py
`more` makes a further publisher, `fork` a child that makes a context by itself; the end of stdin
ends the program. After each a line of what was done is printed.
"""

import ctypes
import os
import sys

import rclpy
from rcl_interfaces.srv import GetParameters
from rclpy.lifecycle import LifecycleNode
from std_msgs.msg import String

rclpy.init()
node = rclpy.create_node("everything", namespace="/space")
machine = LifecycleNode("machine")
kept = [
    node.create_publisher(String, "topic", 100),
    node.create_subscription(String, "topic", lambda message: None, 100),
    node.create_service(GetParameters, "ask", lambda request, response: response),
    node.create_client(GetParameters, "ask"),
    node.create_timer(3600.0, lambda: None),
]
print("made", flush=True)
for line in sys.stdin:
    if line == "more\n":
        kept.append(node.create_publisher(String, "late", 1))
    elif line == "fork\n":
        child = os.fork()
        if child == 0:
            ctypes.CDLL(None).ros_trace_rcl_init(ctypes.c_void_p(0x1234))
            print(f"child {os.getpid()}", flush=True)
            sys.stdin.read()
            os._exit(0)
    print("done", flush=True)
rclpy.shutdown()
