# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A camera that publishes 8 images per second, and a bumper with 50 readings per second."""

from __future__ import annotations

import rclpy
from rclpy.node import Node
from std_msgs.msg import Bool, UInt8MultiArray

SECONDS = 10
IMAGE_BYTES = 320 * 240


class Sensors(Node):
    """Publishes /image and /bumper."""

    def __init__(self) -> None:
        super().__init__("sensors")
        self.images = self.create_publisher(UInt8MultiArray, "image", 10)
        self.bumper = self.create_publisher(Bool, "bumper", 10)
        self.create_timer(0.125, self.publish_image)
        self.create_timer(0.02, self.publish_bumper)

    def publish_image(self) -> None:
        """Publish a grey image."""
        self.images.publish(UInt8MultiArray(data=bytes(IMAGE_BYTES)))

    def publish_bumper(self) -> None:
        """Publish that nothing was hit."""
        self.bumper.publish(Bool(data=False))


def main() -> None:
    """Publish for ten seconds."""
    rclpy.init()
    node = Sensors()
    end = node.get_clock().now().nanoseconds + SECONDS * 10**9
    while node.get_clock().now().nanoseconds < end:
        rclpy.spin_once(node, timeout_sec=0.1)
    node.destroy_node()
    rclpy.shutdown()


if __name__ == "__main__":
    main()
