# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Publishes three clouds of one layout, of which the second lacks most of its data."""

from __future__ import annotations

import struct
import sys
import time

import rclpy
from rclpy.qos import QoSPresetProfiles
from sensor_msgs.msg import PointCloud2, PointField

WIDTH, HEIGHT, STEP = 512, 4, 16

rclpy.init(args=sys.argv)
node = rclpy.create_node("sending")
publisher = node.create_publisher(PointCloud2, "points", QoSPresetProfiles.SENSOR_DATA.value)
cloud = PointCloud2(width=WIDTH, height=HEIGHT, point_step=STEP, row_step=WIDTH * STEP)
cloud.fields = [
    PointField(name="t", offset=0, datatype=PointField.UINT32, count=1),
    PointField(name="ring", offset=4, datatype=PointField.UINT8, count=1),
]
whole = b"".join(
    struct.pack("<IB11x", 1000 * column, row) for row in range(HEIGHT) for column in range(WIDTH)
)
until = time.monotonic() + 20
while not publisher.get_subscription_count() and time.monotonic() < until:
    time.sleep(0.05)
# The other side may learn of it later.
time.sleep(1)
for data in (whole, whole[:STEP], whole):
    cloud.data = data
    publisher.publish(cloud)
    time.sleep(0.3)
time.sleep(1)
rclpy.shutdown()
