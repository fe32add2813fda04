# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Subscribes to all of the driver's topics and compares each message with the emulated scene.

Parameters: scans (how many messages of each topic to take), mode, layout. Prints what was seen, and
what was wrong, as JSON. Which frame a message is of is told by its stamp, once a cloud was known.
"""

from __future__ import annotations

import json
import sys

import numpy as np
import rclpy
from rclpy.node import Node
from rclpy.qos import QoSPresetProfiles
from rclpy.task import Future
from sensor_msgs.msg import Image, Imu, LaserScan, PointCloud2

from lidar_pipeline.driver.messages import POINT
from lidar_pipeline.driver.projection import image_offsets
from lidar_pipeline.sensor import scene
from lidar_pipeline.sensor.intrinsics import ALTITUDES, AZIMUTHS, USED_CHANNELS
from lidar_pipeline.sensor.packet import MODES

IMAGES = {"range": "range", "intensity": "signal", "noise": "noise", "reflectivity": "reflectivity"}


class Checker(Node):
    def __init__(self) -> None:
        super().__init__("checker")
        self.done = Future()
        self.mode = MODES[self.declare_parameter("mode", "512x10").value]
        self.wanted = self.declare_parameter("scans", 10).value
        self.layout = self.declare_parameter("layout", "column").value
        self.period_ns = 1_000_000_000 // self.mode.hz
        self.first_ns = None
        self.seen = dict.fromkeys(["points", "scan", "imu", *IMAGES], 0)
        self.wrong: list[str] = []
        qos = QoSPresetProfiles.SENSOR_DATA.value
        self.create_subscription(PointCloud2, "points", self.on_points, qos)
        self.create_subscription(LaserScan, "scan", self.on_scan, qos)
        self.create_subscription(Imu, "imu", self.on_imu, qos)
        for name in IMAGES:
            self.create_subscription(Image, f"{name}_image", self.on_image(name), qos)

    def frame(self, stamp: object) -> np.ndarray:
        """Give the pixels of the scan with a stamp: (columns, 16)."""
        at_ns = stamp.sec * 1_000_000_000 + stamp.nanosec
        number = round((at_ns - self.first_ns) / self.period_ns)
        self.expect(abs(at_ns - self.first_ns - number * self.period_ns) < 2, "stamp")
        return scene.pixels(number, 0, self.mode.columns, self.mode.columns)

    def recognize(self, message: PointCloud2) -> None:
        """Find the frame that a cloud is of, and so the time of frame 0."""
        points = np.frombuffer(message.data, POINT)
        ranges = np.sort(points["range"][points["range"] > 0])
        columns = self.mode.columns
        for number in range(200):
            found = scene.pixels(number, 0, columns, columns)["range"]
            if np.array_equal(np.sort(found.ravel()), ranges):
                stamp = message.header.stamp
                at_ns = stamp.sec * 1_000_000_000 + stamp.nanosec
                self.first_ns = at_ns - number * self.period_ns
                return
        self.expect(False, "cloud of no frame")

    def expect(self, true: bool, what: str) -> None:
        if not true:
            self.wrong.append(what)

    def on_points(self, message: PointCloud2) -> None:
        if self.first_ns is None:
            self.recognize(message)
        if self.first_ns is None:
            return
        pixels, columns = self.frame(message.header.stamp), self.mode.columns
        self.expect(
            (message.height, message.width, message.point_step, message.row_step)
            == (64, columns, 48, 48 * columns),
            "cloud layout",
        )
        points = np.frombuffer(message.data, POINT)
        if self.layout == "column":
            points = points.reshape(columns, 64)
        else:
            points = points.reshape(64, columns).T
        used = points[:, USED_CHANNELS]
        for ours, theirs in (
            ("range", "range"),
            ("intensity", "signal"),
            ("reflectivity", "reflectivity"),
            ("noise", "noise"),
        ):
            self.expect((used[ours] == pixels[theirs]).all(), f"points.{ours}")
        turn = 2 * np.pi * np.arange(columns)[:, None] / columns + np.radians(AZIMUTHS)[None, :]
        rise = np.radians(ALTITUDES)[None, :]
        meters = np.zeros((columns, 64))
        meters[:, USED_CHANNELS] = pixels["range"] * 1e-3
        for name, factor in (
            ("x", np.cos(rise) * np.cos(turn)),
            ("y", -np.cos(rise) * np.sin(turn)),
            ("z", np.sin(rise) + 0 * turn),
        ):
            self.expect(np.allclose(points[name], meters * factor, atol=1e-5), f"points.{name}")
        self.expect((points["ring"] == np.arange(64)).all(), "points.ring")
        since = np.arange(columns) * (1e9 / columns / self.mode.hz)
        self.expect(np.abs(points["t"] - since[:, None]).max() <= 1, "points.t")
        self.count("points")

    def on_scan(self, message: LaserScan) -> None:
        if self.first_ns is None:
            return
        pixels = self.frame(message.header.stamp)[:, list(USED_CHANNELS).index(31)]
        self.expect(np.allclose(message.ranges, pixels["range"] * 1e-3), "scan.ranges")
        self.expect((np.minimum(pixels["signal"], 255) == message.intensities).all(), "scan")
        self.count("scan")

    def on_image(self, name: str):
        def check(message: Image) -> None:
            if self.first_ns is None:
                return
            pixels = np.zeros((self.mode.columns, 64), np.int64)
            pixels[:, USED_CHANNELS] = self.frame(message.header.stamp)[IMAGES[name]]
            image = np.frombuffer(message.data, np.uint8).reshape(64, self.mode.columns)
            for row, offset in enumerate(image_offsets(self.mode.columns)):
                value = np.roll(pixels[:, row], -offset)
                if name == "range":
                    step = np.minimum(np.floor(value / 200 + 0.5), 255)
                    value = np.where(value == 0, 0, 255 - step)
                self.expect((np.minimum(value, 255) == image[row]).all(), f"{name}_image")
            self.count(name)

        return check

    def on_imu(self, message: Imu) -> None:
        self.expect(abs(message.linear_acceleration.z - 9.80665) < 1e-6, "imu.z")
        self.expect(message.orientation_covariance[0] == -1, "imu.covariance")
        self.count("imu")

    def count(self, name: str) -> None:
        self.seen[name] += 1
        if min(self.seen.values()) >= self.wanted and not self.done.done():
            self.done.set_result(True)


rclpy.init()
node = Checker()
rclpy.spin_until_future_complete(node, node.done, timeout_sec=60)
sys.stdout.write(json.dumps({"seen": node.seen, "wrong": sorted(set(node.wrong))}) + "\n")
