# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Takes a driver through the transitions of the parameter `transitions`, numbers of Transition.

Prints for each whether it succeeded.
"""

from __future__ import annotations

import json
import sys

import rclpy
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState

rclpy.init(args=sys.argv)
asking = rclpy.create_node("asking")
wanted = asking.declare_parameter("transitions", "1").value
client = asking.create_client(ChangeState, "/ouster_driver/change_state")
assert client.wait_for_service(20)
told = []
for number in str(wanted).split(" "):
    future = client.call_async(ChangeState.Request(transition=Transition(id=int(number))))
    rclpy.spin_until_future_complete(asking, future, timeout_sec=20)
    told.append(future.done() and bool(future.result().success))
sys.stdout.write(json.dumps(told) + "\n")
rclpy.shutdown()
