# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The slow program of the tutorial: it looks for obstacles in images, and brakes at a contact."""

from __future__ import annotations

import threading
import time

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from std_msgs.msg import Bool, UInt8MultiArray

SECONDS = 13
# How long the result for one image takes.
DETECTION = 0.08


class Detector(Node):
    """Looks for obstacles in /image."""

    def __init__(self) -> None:
        super().__init__("detector")
        self.create_subscription(UInt8MultiArray, "image", self.on_image, 10)

    def on_image(self, _image: UInt8MultiArray) -> None:
        """Wait for the result for an image, as from an accelerator."""
        time.sleep(DETECTION)


class Brake(Node):
    """Brakes when /bumper reports a contact."""

    def __init__(self) -> None:
        super().__init__("brake")
        self.create_subscription(Bool, "bumper", self.on_bumper, 10)

    def on_bumper(self, contact: Bool) -> None:
        """Brake, if there is a contact."""
        if contact.data:
            self.get_logger().warning("braking")


def spin_in_thread(node: Node) -> None:
    """Spin a node in an executor and a thread of its own."""
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    threading.Thread(target=spin, args=(executor,)).start()


def spin(executor: SingleThreadedExecutor) -> None:
    """Spin until the sensors have ended."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        executor.spin_once(timeout_sec=0.1)


def main() -> None:
    """Run both nodes."""
    rclpy.init()
    detector, brake = Detector(), Brake()
    executor = SingleThreadedExecutor()
    executor.add_node(detector)
    executor.add_node(brake)
    spin(executor)


if __name__ == "__main__":
    main()
