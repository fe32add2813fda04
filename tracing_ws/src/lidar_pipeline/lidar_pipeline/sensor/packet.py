# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The packets of firmware 1.13 as NumPy types, and the lidar modes.

Source: Ouster OS-1 software user guide 1.13.0, sections 3.4 and 3.5. All values are little endian.
A lidar packet is 16 columns of 788 bytes, whatever the sensor's number of beams: an OS1-16 fills 16
of the 64 pixels of a column and leaves the others zero.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

PIXELS = 64
"""Pixels of a column."""

COLUMNS = 16
"""Columns of a packet."""

PIXEL = np.dtype(
    [
        ("range", "<u4"),  # mm, 20 bits
        ("reflectivity", "<u2"),
        ("signal", "<u2"),  # photons
        ("noise", "<u2"),  # photons
        ("unused", "<u2"),
    ]
)
COLUMN = np.dtype(
    [
        ("timestamp", "<u8"),  # ns, of the clock that timestamp_mode chose
        ("measurement", "<u2"),  # 0 to columns of a scan - 1
        ("frame", "<u2"),  # counts rotations, and wraps
        ("encoder", "<u4"),  # ticks, 0 to 90111
        ("pixels", PIXEL, PIXELS),
        ("status", "<u4"),
    ]
)
IMU = np.dtype(
    [
        ("system", "<u8"),  # ns since boot, for diagnostics
        ("accelerometer", "<u8"),  # ns, of the clock that timestamp_mode chose
        ("gyroscope", "<u8"),
        ("acceleration", "<f4", 3),  # g
        ("angular_velocity", "<f4", 3),  # degrees a second
    ]
)
LIDAR_BYTES = COLUMN.itemsize * COLUMNS
IMU_BYTES = IMU.itemsize
ENCODER_TICKS = 90112
"""Encoder ticks of a revolution."""

GOOD = 0xFFFFFFFF
"""`status` of a column with valid data; 0 else."""

RANGE_MASK = 0xFFFFF
IMU_HZ = 100


@dataclass(frozen=True)
class LidarMode:
    """Columns of a scan, and scans a second."""

    columns: int
    hz: int

    @property
    def name(self) -> str:
        """The name that the sensor's configuration uses, as in `1024x10`."""
        return f"{self.columns}x{self.hz}"

    @property
    def packets(self) -> int:
        """Packets of a scan."""
        return self.columns // COLUMNS

    @property
    def packets_per_second(self) -> int:
        """Packets a second."""
        return self.packets * self.hz


MODES = {
    mode.name: mode
    for mode in (
        LidarMode(512, 10),
        LidarMode(512, 20),
        LidarMode(1024, 10),
        LidarMode(1024, 20),
        LidarMode(2048, 10),
    )
}
TIMESTAMP_MODES = ("TIME_FROM_INTERNAL_OSC", "TIME_FROM_SYNC_PULSE_IN", "TIME_FROM_PTP_1588")
"""What the firmware knows. TIME_FROM_ROS_RECEPTION is the driver's own; others do not exist."""
