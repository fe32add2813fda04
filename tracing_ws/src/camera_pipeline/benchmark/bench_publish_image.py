# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""How long rclpy takes to publish an image, by how its pixels get into the message.

Run it in the workspace's environment: python3 bench_publish_image.py [IMAGES]. No subscription:
what is measured ends with the serialized image in the writer's history.
"""

from __future__ import annotations

import array
import statistics
import sys
import time
from collections.abc import Callable

import rclpy
from rclpy.qos import QoSProfile
from sensor_msgs.msg import Image

SIZES = {"640x480": 921_600, "1280x720": 2_764_800, "1920x1080": 6_220_800, "3840x2160": 24_883_200}


def new_array(message: Image, pixels: memoryview) -> None:
    """As a program does that has the pixels as bytes."""
    made = array.array("B")
    made.frombytes(pixels)
    message.data = made


def same_array(message: Image, pixels: memoryview) -> None:
    """Into the array that the message has."""
    if len(message.data) != len(pixels):
        message.data = array.array("B", bytes(len(pixels)))
    memoryview(message.data)[:] = pixels


def slot(message: Image, pixels: memoryview) -> None:
    """No copy: the conversion reads the pixels where they are (what camera_source does)."""
    message._data = pixels


WAYS: tuple[Callable[[Image, memoryview], None], ...] = (new_array, same_array, slot)


def main() -> None:
    """Print the median time of each way and size, in ms."""
    images = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    rclpy.init()
    node = rclpy.create_node("bench_publish_image")
    publisher = node.create_publisher(Image, "bench_image", QoSProfile(depth=1))
    heads = "".join(f"{way.__name__:>16}" for way in WAYS)
    sys.stdout.write(f"{'ms: fill + publish':<20}{heads}\n")
    for name, size in SIZES.items():
        pixels = memoryview(b"\x55" * size)
        cells = []
        for way in WAYS:
            message = Image(encoding="rgb8")
            times = []
            for _ in range(images):
                began = time.perf_counter()
                way(message, pixels)
                filled = time.perf_counter()
                publisher.publish(message)
                times.append((filled - began, time.perf_counter() - filled))
            fill, publish = (1e3 * statistics.median(part) for part in zip(*times, strict=True))
            cells.append(f"{fill:>8.2f} +{publish:>6.2f}")
        sys.stdout.write(f"{name:<20}{''.join(cells)}\n")
    rclpy.shutdown()


if __name__ == "__main__":
    main()
