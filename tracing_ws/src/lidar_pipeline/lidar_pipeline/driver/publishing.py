# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""From a scan or an IMU packet to published messages; only what somebody listens to is made."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.lifecycle import LifecycleNode
from rclpy.logging import get_logger
from sensor_msgs.msg import Image, Imu, LaserScan, PointCloud2

import driver_tracepoints
from lidar_pipeline.driver.assembly import Scan
from lidar_pipeline.driver.images import NAMES
from lidar_pipeline.driver.messages import Cloud, Inertia, Picture, Plane
from lidar_pipeline.driver.sensor_client import ROS_RECEPTION, Metadata
from lidar_pipeline.driver.settings import Settings


class Publishers:
    """The topics that proc_mask asks for, in the order in which the 2020 driver served them."""

    def __init__(self, node: LifecycleNode, settings: Settings) -> None:
        self._node = node
        self._all: list[Any] = []
        mask, qos = settings.proc_mask, settings.qos

        def make(wanted: str, kind: type, topic: str) -> Any:
            if wanted not in mask:
                return None
            self._all.append(node.create_lifecycle_publisher(kind, topic, qos))
            return self._all[-1]

        self.points = make("PCL", PointCloud2, "points")
        self.images = {name: make("IMG", Image, f"{name}_image") for name in NAMES}
        self.scan = make("SCAN", LaserScan, "scan")
        self.imu = make("IMU", Imu, "imu")

    def listened(self) -> int:
        """Count the subscriptions on the topics made of scans."""
        return sum(
            publisher.get_subscription_count()
            for publisher in self._all
            if publisher is not self.imu
        )

    def destroy(self) -> None:
        """Take the topics away."""
        for publisher in self._all:
            self._node.destroy_publisher(publisher)
        self._all = []


class ScanPublisher:
    """Fills and publishes the messages of scans, on whichever thread calls it."""

    def __init__(
        self, publishers: Publishers, settings: Settings, metadata: Metadata, source: int
    ) -> None:
        mode, frame = settings.connection.mode, settings.laser_frame
        self._source = source
        self._by_reception = settings.connection.timestamp_mode == ROS_RECEPTION
        cloud = Cloud(mode, metadata, frame, settings.cloud_layout)
        plane = Plane(mode, metadata, frame)
        pictures = [(publishers.images[name], Picture(mode, frame, name).fill) for name in NAMES]
        candidates: list[tuple[Any, Callable[[Scan, int], Any]]] = [
            (publishers.points, cloud.fill),
            *pictures,
            (publishers.scan, plane.fill),
        ]
        self._products = [(topic, fill) for topic, fill in candidates if topic is not None]
        self.scans = self.published = self.unheard = self.messages = self.refused = 0

    def publish(self, scan: Scan, closed_ns: int) -> None:
        """Publish a scan that was closed at a time of CLOCK_REALTIME."""
        at_ns = closed_ns if self._by_reception else scan.stamp_ns
        before = self.messages
        ready = False
        for publisher, fill in self._products:
            if not publisher.get_subscription_count():
                continue
            message = fill(scan, at_ns)
            if not ready:
                data = getattr(message, "data", None)
                size = len(data) if data is not None else 4 * len(message.ranges)
                driver_tracepoints.cloud_ready(self._source, scan.number, size)
                ready = True
            if _is_taken(publisher, message, warned=self.refused > 0):
                self.messages += 1
            else:
                self.refused += 1
        self.scans += 1
        self.published += self.messages > before
        self.unheard += not ready


class ImuPublisher:
    """Fills and publishes IMU messages; each packet is a frame of its own."""

    def __init__(self, publishers: Publishers, settings: Settings, source: int) -> None:
        self._publisher = publishers.imu
        self._message = Inertia(settings.imu_frame)
        self._source = source
        self._by_reception = settings.connection.timestamp_mode == ROS_RECEPTION
        self.packets = self.refused = 0

    def publish(self, packet: memoryview, sequence: int) -> None:
        """Publish a sample."""
        driver_tracepoints.frame_boundary(self._source, self.packets, 1, 0, sequence, sequence)
        self.packets += 1
        if self._publisher is not None and self._publisher.get_subscription_count():
            at_ns = time.time_ns() if self._by_reception else None
            message = self._message.fill(packet, at_ns)
            self.refused += not _is_taken(self._publisher, message, warned=self.refused > 0)


def _is_taken(publisher: Any, message: Any, *, warned: bool) -> bool:
    """Publish, and tell whether the middleware took it.

    With iceoryx it refuses what finds no free chunk. An exception would end the thread.
    """
    try:
        publisher.publish(message)
    except rclpy_implementation.RCLError as error:
        if not warned:
            get_logger("ouster_driver").warning(
                f"A message on {publisher.topic_name} is refused, and lost, as later ones may be: "
                f"{error}"
            )
        return False
    return True
