# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The driver's messages: each made once, and filled again for every scan."""

from __future__ import annotations

import math
from array import array

import numpy as np
from builtin_interfaces.msg import Time
from sensor_msgs.msg import Image, Imu, LaserScan, PointCloud2, PointField

from lidar_pipeline.driver.assembly import Scan
from lidar_pipeline.driver.images import fill_image
from lidar_pipeline.driver.points import POINT, PointFiller
from lidar_pipeline.driver.projection import directions, level_channel
from lidar_pipeline.driver.sensor_client import Metadata
from lidar_pipeline.sensor.packet import IMU, PIXELS, RANGE_MASK, LidarMode

_STANDARD_G = 9.80665
_TYPES = {
    "<f4": PointField.FLOAT32,
    "<u4": PointField.UINT32,
    "<u2": PointField.UINT16,
    "|u1": PointField.UINT8,
}


def stamp(at_ns: int) -> Time:
    """Make a time message of ns."""
    seconds, rest = divmod(at_ns, 1_000_000_000)
    return Time(sec=seconds, nanosec=rest)


class Cloud:
    """The message of `points`."""

    def __init__(self, mode: LidarMode, metadata: Metadata, frame: str, layout: str) -> None:
        fields = [
            PointField(name=name, offset=offset, datatype=_TYPES[kind.str], count=1)
            for name, (kind, offset, *_) in (POINT.fields or {}).items()
        ]
        self.message = PointCloud2(
            height=PIXELS,
            width=mode.columns,
            fields=fields,
            point_step=POINT.itemsize,
            row_step=POINT.itemsize * mode.columns,
            is_dense=True,
            data=array("B", bytes(POINT.itemsize * PIXELS * mode.columns)),
        )
        self.message.header.frame_id = frame
        vectors = directions(mode.columns, metadata.azimuths, metadata.altitudes)
        self._filler = PointFiller(memoryview(self.message.data), vectors, layout)

    def fill(self, scan: Scan, at_ns: int) -> PointCloud2:
        """Write a scan."""
        self._filler.fill(scan)
        self.message.header.stamp = stamp(at_ns)
        return self.message


class Plane:
    """The message of `scan`: the channel nearest to the horizon, in the order of measurement.

    The sensor turns clockwise, so the angle's increment is negative.
    """

    def __init__(self, mode: LidarMode, metadata: Metadata, frame: str) -> None:
        self._channel = level_channel(metadata.altitudes)
        increment = -2 * math.pi / mode.columns
        first = -math.radians(metadata.azimuths[self._channel])
        self.message = LaserScan(
            angle_min=first,
            angle_max=first + (mode.columns - 1) * increment,
            angle_increment=increment,
            time_increment=1.0 / mode.hz / mode.columns,
            scan_time=1.0 / mode.hz,
            range_min=0.1,
            range_max=120.0,
            ranges=array("f", bytes(4 * mode.columns)),
            intensities=array("f", bytes(4 * mode.columns)),
        )
        self.message.header.frame_id = frame
        self._ranges = np.frombuffer(self.message.ranges, np.float32)
        self._intensities = np.frombuffer(self.message.intensities, np.float32)

    def fill(self, scan: Scan, at_ns: int) -> LaserScan:
        """Write a scan."""
        pixels = scan.columns["pixels"][:, self._channel]
        self._ranges[:] = (pixels["range"] & RANGE_MASK) * 1e-3
        self._intensities[:] = np.minimum(pixels["signal"], 255)
        self.message.header.stamp = stamp(at_ns)
        return self.message


class Picture:
    """The message of one of the images."""

    def __init__(self, mode: LidarMode, frame: str, name: str) -> None:
        self._name = name
        self.message = Image(
            height=PIXELS,
            width=mode.columns,
            step=mode.columns,
            encoding="mono8",
            data=array("B", bytes(PIXELS * mode.columns)),
        )
        self.message.header.frame_id = frame
        self._pixels = np.frombuffer(self.message.data, np.uint8).reshape(PIXELS, mode.columns)

    def fill(self, scan: Scan, at_ns: int) -> Image:
        """Write a scan."""
        fill_image(self._pixels, scan, self._name)
        self.message.header.stamp = stamp(at_ns)
        return self.message


class Inertia:
    """The message of `imu`: no orientation is measured."""

    def __init__(self, frame: str) -> None:
        self.message = Imu()
        self.message.header.frame_id = frame
        self.message.orientation.w = 1.0
        self.message.orientation_covariance[:] = [-1.0] * 9
        self.message.linear_acceleration_covariance[::4] = 0.01
        self.message.angular_velocity_covariance[::4] = 6e-4

    def fill(self, packet: memoryview, at_ns: int | None) -> Imu:
        """Write a sample; without a time it is stamped with the gyroscope's."""
        sample = np.frombuffer(packet, IMU, 1)[0]
        message = self.message
        acceleration = (sample["acceleration"].astype(float) * _STANDARD_G).tolist()
        rate = np.radians(sample["angular_velocity"].astype(float)).tolist()
        force, turn = message.linear_acceleration, message.angular_velocity
        force.x, force.y, force.z = acceleration
        turn.x, turn.y, turn.z = rate
        message.header.stamp = stamp(int(sample["gyroscope"]) if at_ns is None else at_ns)
        return message
