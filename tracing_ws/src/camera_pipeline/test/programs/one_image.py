# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Receives images until one is complete, and checks what the camera filled in."""

import sys

import rclpy
from sensor_msgs.msg import CameraInfo, CompressedImage, Image

encoding, topic, begin = sys.argv[1:]
kind = CompressedImage if encoding == "jpeg" else Image
rclpy.init()
node = rclpy.create_node("one_image")
images, infos = [], []
node.create_subscription(kind, topic, images.append, 50)
node.create_subscription(CameraInfo, "camera/camera_info", infos.append, 50)
node.create_publisher(CameraInfo, "camera/ready", 1)
while not images or images[-1].header.stamp not in [info.header.stamp for info in infos]:
    rclpy.spin_once(node, timeout_sec=1.0)
image = images[-1]
assert bytes(image.data[: len(begin) // 2]) == bytes.fromhex(begin), bytes(image.data[:8]).hex()
assert image.header.frame_id == "eye"
if encoding == "jpeg":
    assert image.format == "jpeg"
else:
    assert (image.width, image.height, image.step) == (321, 40, len(image.data) // 40)
    assert (image.encoding, image.is_bigendian) == (encoding, 0)
    assert bytes(image.data[:963]) == bytes.fromhex(begin) * 321
assert (infos[-1].width, infos[-1].height, infos[-1].header.frame_id) == (321, 40, "eye")
rclpy.shutdown()
