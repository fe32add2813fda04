# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Subscribes to all of the driver's topics; prints a digest of each message, by topic and stamp.

Parameter quiet_s: it ends when for so long no message came after the first. Every field is in the
digest, bit by bit.
"""

from __future__ import annotations

import hashlib
import json
import sys
import time
from array import array
from typing import Any

import numpy as np
import rclpy
from rclpy.node import Node
from rclpy.qos import QoSPresetProfiles
from sensor_msgs.msg import Image, Imu, LaserScan, PointCloud2

TOPICS = {"points": PointCloud2, "scan": LaserScan, "imu": Imu} | {
    f"{name}_image": Image for name in ("range", "intensity", "noise", "reflectivity")
}


def digest(message: Any) -> str:
    found = hashlib.sha256()
    for name in message.get_fields_and_field_types():
        value = getattr(message, name)
        kept = value.tobytes() if isinstance(value, array | np.ndarray) else repr(value).encode()
        found.update(kept)
    return found.hexdigest()


class Collector(Node):
    def __init__(self) -> None:
        super().__init__("collector")
        self.quiet_s = self.declare_parameter("quiet_s", 2.0).value
        self.found: dict[str, dict[str, str]] = {}
        self.last: float | None = None
        for topic, kind in TOPICS.items():
            self.create_subscription(
                kind, topic, self.on(topic), QoSPresetProfiles.SENSOR_DATA.value
            )

    def on(self, topic: str):
        def collect(message: Any) -> None:
            stamp = message.header.stamp
            at_ns = str(stamp.sec * 1_000_000_000 + stamp.nanosec)
            self.found.setdefault(topic, {})[at_ns] = digest(message)
            self.last = time.monotonic()

        return collect


rclpy.init()
node = Collector()
end = time.monotonic() + 60
while time.monotonic() < end:
    rclpy.spin_once(node, timeout_sec=0.1)
    if node.last is not None and time.monotonic() - node.last > node.quiet_s:
        break
sys.stdout.write(json.dumps(node.found) + "\n")
