# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What is fixed in the sensor: beam angles, which channels have a beam, transforms, its names."""

from __future__ import annotations

from typing import Any

import numpy as np

from lidar_pipeline.sensor.packet import COLUMNS, PIXELS, LidarMode

ALTITUDES = np.round(np.linspace(16.611, -16.611, PIXELS), 3)
"""Degrees above the horizon, by channel: the nominal angles of a first-generation OS-1-64."""

AZIMUTHS = np.tile([3.164, 1.055, -1.055, -3.164], PIXELS // 4)
"""Degrees beside the encoder's angle, by channel."""

USED_CHANNELS = np.arange(3, PIXELS, 4)
"""The 16 channels with a beam, uniformly spaced. Channel 31, nearest above the horizon, is one of
them: the 2020 driver makes the LaserScan of it."""

IMU_TO_SENSOR = [1, 0, 0, 6.253, 0, 1, 0, -11.775, 0, 0, 1, 7.645, 0, 0, 0, 1]
LIDAR_TO_SENSOR = [-1, 0, 0, 0, 0, -1, 0, 0, 0, 0, 1, 36.18, 0, 0, 0, 1]
"""Row-major 4 x 4 transforms, mm."""

LIDAR_ORIGIN_TO_BEAM_ORIGIN_MM = 15.806
SERIAL = "991900000016"
FIRMWARE = "1.13.0"


def sensor_info(firmware: str) -> dict[str, Any]:
    """Give what `get_sensor_info` answers."""
    return {
        "status": "RUNNING",
        "image_rev": f"ousteros-image-prod-aries-v{firmware}-20190828230129",
        "base_pn": "000-101323-03",
        "prod_sn": SERIAL,
        "proto_rev": "v1.1.1",
        "base_sn": "101900000016",
        "prod_line": "OS-1-16",
        "build_rev": f"v{firmware}",
        "prod_pn": "840-101396-03",
        "build_date": "2019-08-28T22:58:18Z",
    }


def beam_intrinsics() -> dict[str, Any]:
    """Give what `get_beam_intrinsics` answers."""
    return {
        "beam_altitude_angles": ALTITUDES.tolist(),
        "beam_azimuth_angles": AZIMUTHS.tolist(),
    }


def imu_intrinsics() -> dict[str, Any]:
    """Give what `get_imu_intrinsics` answers."""
    return {"imu_to_sensor_transform": IMU_TO_SENSOR}


def lidar_intrinsics() -> dict[str, Any]:
    """Give what `get_lidar_intrinsics` answers."""
    return {"lidar_to_sensor_transform": LIDAR_TO_SENSOR}


def lidar_data_format(mode: LidarMode) -> dict[str, Any]:
    """Give the layout of the packets, as firmware 2 and later describes it."""
    shift = [round((azimuth - AZIMUTHS.min()) * mode.columns / 360) for azimuth in AZIMUTHS]
    return {
        "column_window": [0, mode.columns - 1],
        "columns_per_frame": mode.columns,
        "columns_per_packet": COLUMNS,
        "fps": mode.hz,
        "pixel_shift_by_row": shift,
        "pixels_per_column": PIXELS,
        "udp_profile_imu": "LEGACY",
        "udp_profile_lidar": "LEGACY",
    }
