# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The point cloud as the 2020 driver laid it out: 64 rows of 48-byte points, filled in place."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lidar_pipeline.driver.assembly import Scan
from lidar_pipeline.sensor.packet import COLUMN, PIXELS, RANGE_MASK

POINT = np.dtype(
    {
        "names": ["x", "y", "z", "intensity", "t", "reflectivity", "ring", "noise", "range"],
        "formats": ["<f4", "<f4", "<f4", "<f4", "<u4", "<u2", "u1", "<u2", "<u4"],
        "offsets": [0, 4, 8, 16, 20, 24, 26, 28, 32],
        "itemsize": 48,
    }
)
"""x, y, z: m. intensity: signal photons. t: ns since the scan's stamp. range: mm. The gaps come of
the 16-byte alignment of PCL's points."""

LAYOUTS = ("column", "row")
_HEAD_WORDS = COLUMN.fields["pixels"][1] // 4 if COLUMN.fields else 0
_PIXEL_WORDS = 3


def used_channels(scan: Scan) -> npt.NDArray[np.int64]:
    """Give the channels with any value that is not zero in any column."""
    words = scan.columns.view("<u4").reshape(len(scan.columns), -1)
    pixels = words[:, _HEAD_WORDS : _HEAD_WORDS + PIXELS * _PIXEL_WORDS]
    together = np.bitwise_or.reduce(pixels, axis=0).reshape(PIXELS, _PIXEL_WORDS)
    return np.flatnonzero(together.any(axis=1))


class PointFiller:
    """Writes scans over each other into the same memory; only what may differ is written."""

    def __init__(self, memory: memoryview, vectors: npt.NDArray[np.float32], layout: str) -> None:
        """Take the message's memory. In `layout` row a ring's points lie side by side.

        In `layout` column those of a column do: the 2020 driver declared rows and wrote columns.
        """
        columns = vectors.shape[1]
        flat = np.frombuffer(memory, POINT)
        self._points = (
            flat.reshape(columns, PIXELS) if layout == "column" else flat.reshape(PIXELS, columns).T
        )
        self._vectors = vectors
        self._rings = np.arange(PIXELS, dtype=np.uint8)
        self._channels = np.zeros(0, np.int64)
        self._table: npt.NDArray[np.float32] = vectors[:, :, :0]
        self._blank = np.ones(columns, np.bool_)

    def fill(self, scan: Scan) -> None:
        """Write a scan's points; those of columns that did not come are all zero."""
        points = self._points
        self._choose(used_channels(scan))
        came_back = self._blank & scan.valid
        if came_back.any():
            points["ring"][came_back] = self._rings
        pixels = scan.columns["pixels"][:, self._channels]
        distance = pixels["range"] & RANGE_MASK
        chosen = self._slice()
        for axis, name in enumerate("xyz"):
            points[name][:, chosen] = self._table[axis] * distance
        points["range"][:, chosen] = distance
        points["intensity"][:, chosen] = pixels["signal"]
        points["reflectivity"][:, chosen] = pixels["reflectivity"]
        points["noise"][:, chosen] = pixels["noise"]
        since = (scan.columns["timestamp"] - np.uint64(scan.stamp_ns)).astype(np.uint32)
        points["t"] = since[:, None]
        self._blank = ~scan.valid
        if self._blank.any():
            points[self._blank] = np.zeros((), POINT)

    def _choose(self, channels: npt.NDArray[np.int64]) -> None:
        if np.array_equal(channels, self._channels):
            return
        gone = np.setdiff1d(self._channels, channels)
        for name in ("x", "y", "z", "range", "intensity", "reflectivity", "noise"):
            self._points[name][:, gone] = 0
        self._channels = channels
        self._table = np.ascontiguousarray(self._vectors[:, :, channels])

    def _slice(self) -> slice | npt.NDArray[np.int64]:
        """Give the channels as a slice where they are evenly spaced: it is written much faster."""
        channels = self._channels
        if len(channels) < 2:
            return channels
        steps = np.diff(channels)
        if (steps != steps[0]).any():
            return channels
        return slice(int(channels[0]), int(channels[-1]) + 1, int(steps[0]))
