# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Packets of the scene: each scan is rendered ahead, in parts, so that no packet waits long."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lidar_pipeline.sensor import scene
from lidar_pipeline.sensor.intrinsics import USED_CHANNELS
from lidar_pipeline.sensor.packet import COLUMN, COLUMNS, ENCODER_TICKS, GOOD, IMU, LidarMode

_PARTS = 8
_FRAME_IDS = 1 << 16


class ScanRenderer:
    """Gives the packets of one scan after the other, frame 0 first."""

    def __init__(self, mode: LidarMode) -> None:
        self.mode = mode
        self._now, self._next = self._blank(), self._blank()
        self._part = mode.packets // _PARTS
        self._frame = 0
        for part in range(_PARTS):
            self._render(self._now, 0, part)

    def _blank(self) -> npt.NDArray[np.void]:
        columns = np.zeros((self.mode.packets, COLUMNS), COLUMN)
        measurement = np.arange(self.mode.columns).reshape(columns.shape)
        columns["measurement"] = measurement
        columns["encoder"] = measurement * (ENCODER_TICKS // self.mode.columns)
        columns["status"] = GOOD
        return columns

    def _render(self, into: npt.NDArray[np.void], frame: int, part: int) -> None:
        packets = slice(part * self._part, (part + 1) * self._part)
        begin, end = packets.start * COLUMNS, packets.stop * COLUMNS
        found = scene.pixels(frame, begin, end, self.mode.columns)
        shape = (self._part, COLUMNS, len(USED_CHANNELS))
        into["pixels"][packets, :, USED_CHANNELS[0] :: USED_CHANNELS[1] - USED_CHANNELS[0]] = (
            found.reshape(shape)
        )
        into["frame"][packets] = frame % _FRAME_IDS

    def packet(self, number: int, begin_ns: int) -> npt.NDArray[np.void]:
        """Give packet `number`, counted over all scans and called for in order: (16) columns.

        `begin_ns` is the time of its first scan's first column, of the sensor's clock. The array is
        used again two scans later.
        """
        frame, index = divmod(number, self.mode.packets)
        if frame != self._frame:
            self._now, self._next = self._next, self._now
            self._frame = frame
        if index % self._part == 0:
            self._render(self._next, frame + 1, index // self._part)
        packet = self._now[index]
        column = number * COLUMNS
        packet["timestamp"] = begin_ns + _column_times(column, self.mode)
        return packet


def _column_times(first: int, mode: LidarMode) -> npt.NDArray[np.int64]:
    """Give times of 16 columns since the first scan's begin, in ns; exact over any run's length."""
    columns = np.arange(first, first + COLUMNS, dtype=np.int64)
    per_second = mode.columns * mode.hz
    seconds, rest = np.divmod(columns, per_second)
    return seconds * 1_000_000_000 + rest * 1_000_000_000 // per_second


def imu_sample(number: int, system_ns: int, stamp_ns: int) -> npt.NDArray[np.void]:
    """Make an IMU sample: at rest but for a slow sway, as a function of its number."""
    sample = np.zeros((), IMU)
    sway = np.float32(0.01 * np.sin(2 * np.pi * (number % 500) / 500))
    sample["system"] = system_ns
    sample["accelerometer"] = stamp_ns
    sample["gyroscope"] = stamp_ns
    sample["acceleration"] = (sway, -sway, 1.0)
    sample["angular_velocity"] = (0.0, 0.0, 100 * sway)
    return sample
