# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Where each pixel is: a table of directions, and which columns of an image lie above each other.

Source of the formulas: software user guide 1.13.0, section 4.3 (lidar coordinate frame: the sensor
turns clockwise seen from above, so y has a minus), and the 2020 ros2_ouster driver for the offsets.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lidar_pipeline.sensor.packet import PIXELS

_STAGGER = np.array([0, 1, 2, 3])


def directions(
    columns: int, azimuths: npt.NDArray[np.float64], altitudes: npt.NDArray[np.float64]
) -> npt.NDArray[np.float32]:
    """Give unit vectors per mm of range, in m: (3, columns, channels)."""
    turn = 2 * np.pi * np.arange(columns)[:, None] / columns
    horizontal = np.radians(azimuths)[None, :] + turn
    vertical = np.broadcast_to(np.radians(altitudes)[None, :], horizontal.shape)
    level = np.cos(vertical)
    vectors = np.stack([level * np.cos(horizontal), -level * np.sin(horizontal), np.sin(vertical)])
    return (vectors * 1e-3).astype(np.float32)


def image_offsets(columns: int) -> npt.NDArray[np.int64]:
    """Give how many columns later each channel looks where channel 0 looked: (channels)."""
    return np.tile(_STAGGER * (3 * columns // 512), PIXELS // len(_STAGGER))


def level_channel(altitudes: npt.NDArray[np.float64]) -> int:
    """Give the channel nearest to the horizon; the first when two are as near."""
    return int(np.argmin(np.abs(altitudes)))
