# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Takes a driver through its transitions and services; prints what it told at each step."""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import rclpy
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from rclpy.qos import QoSPresetProfiles
from sensor_msgs.msg import PointCloud2
from std_srvs.srv import Empty, Trigger

rclpy.init(args=sys.argv)
asking = rclpy.create_node("asking")
clouds = 0


def on_points(_message: PointCloud2) -> None:
    global clouds
    clouds += 1


asking.create_subscription(PointCloud2, "points", on_points, QoSPresetProfiles.SENSOR_DATA.value)


def call(kind: Any, name: str, request: Any = None) -> Any:
    client = asking.create_client(kind, f"/ouster_driver/{name}")
    assert client.wait_for_service(20)
    future = client.call_async(request or kind.Request())
    rclpy.spin_until_future_complete(asking, future, timeout_sec=20)
    return future.result()


def change(transition: int) -> bool:
    request = ChangeState.Request(transition=Transition(id=transition))
    return bool(call(ChangeState, "change_state", request).success)


def spin(seconds: float) -> None:
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        rclpy.spin_once(asking, timeout_sec=left)


def come(more: int) -> bool:
    """Tell whether so many more clouds come."""
    wanted, until = clouds + more, time.monotonic() + 20
    while clouds < wanted and time.monotonic() < until:
        rclpy.spin_once(asking, timeout_sec=0.1)
    return clouds >= wanted


told: dict[str, Any] = {"before": call(Trigger, "get_metadata").success}
told["transitions"] = [
    change(each) for each in (Transition.TRANSITION_CONFIGURE, Transition.TRANSITION_ACTIVATE)
]
told["first"] = come(3)
told["metadata"] = json.loads(call(Trigger, "get_metadata").message)
call(Empty, "reset")
told["reset"] = come(3)
told["transitions"] += [change(Transition.TRANSITION_DEACTIVATE)]
spin(0.3)  # What is under way still comes.
still = clouds
spin(0.3)
told["inactive"] = clouds - still
told["transitions"] += [change(Transition.TRANSITION_ACTIVATE)]
told["again"] = come(3)
told["transitions"] += [
    change(each)
    for each in (
        Transition.TRANSITION_DEACTIVATE,
        Transition.TRANSITION_CLEANUP,
        Transition.TRANSITION_CONFIGURE,
        Transition.TRANSITION_ACTIVATE,
    )
]
told["anew"] = come(2)
sys.stdout.write(json.dumps(told) + "\n")
rclpy.shutdown()
