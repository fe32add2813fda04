# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What the sensor tells of itself, in the words of both of its interfaces."""

from __future__ import annotations

import time
from typing import Any

from lidar_pipeline.sensor import intrinsics
from lidar_pipeline.sensor.clock import SensorClock
from lidar_pipeline.sensor.configuration import Configuration
from lidar_pipeline.sensor.packet import TIMESTAMP_MODES


class Status:
    """Answers about the sensor, from its configuration and its clock."""

    def __init__(self, configuration: Configuration, clock: SensorClock, firmware: str) -> None:
        self.configuration = configuration
        self.clock = clock
        self.firmware = firmware

    def sensor_info(self) -> dict[str, Any]:
        """Names, versions and state."""
        return intrinsics.sensor_info(self.firmware)

    def time_info(self) -> dict[str, Any]:
        """Clocks, and the state of the synchronisation."""
        configuration = self.configuration
        mode = configuration.get("active", "timestamp_mode")
        now = time.monotonic_ns()
        seconds = {name: (now + self.clock.offset_ns(name)) / 1e9 for name in TIMESTAMP_MODES}
        internal, pulse, ptp = (int(seconds[name]) for name in TIMESTAMP_MODES)
        return {
            "timestamp": {
                "time": seconds[mode],
                "mode": mode,
                "time_options": {
                    "sync_pulse_in": pulse,
                    "internal_osc": internal,
                    "ptp_1588": ptp,
                },
            },
            "sync_pulse_in": {
                "locked": 0,
                "diagnostics": {"last_period_nsec": 0, "count_unfiltered": 1, "count": 0},
                "polarity": configuration.get("active", "sync_pulse_in_polarity"),
            },
            "multipurpose_io": {
                "mode": configuration.get("active", "multipurpose_io_mode"),
                "sync_pulse_out": {
                    "pulse_width_ms": configuration.get("active", "sync_pulse_out_pulse_width"),
                    "angle_deg": configuration.get("active", "sync_pulse_out_angle"),
                    "frequency_hz": configuration.get("active", "sync_pulse_out_frequency"),
                    "polarity": configuration.get("active", "sync_pulse_out_polarity"),
                },
                "nmea": {
                    "locked": 0,
                    "baud_rate": configuration.get("active", "nmea_baud_rate"),
                    "diagnostics": {
                        "io_checks": {
                            "bit_count": 1,
                            "bit_count_unfilterd": 0,
                            "start_char_count": 0,
                            "char_count": 0,
                        },
                        "decoding": {
                            "last_read_message": "",
                            "date_decoded_count": 0,
                            "not_valid_count": 0,
                            "utc_decoded_count": 0,
                        },
                    },
                    "leap_seconds": configuration.get("active", "nmea_leap_seconds"),
                    "ignore_valid_char": configuration.get("active", "nmea_ignore_valid_char"),
                    "polarity": configuration.get("active", "nmea_in_polarity"),
                },
            },
        }

    def alerts(self) -> dict[str, Any]:
        """No alert: an emulator has no hardware that could fail."""
        return {"next_cursor": 0, "active": [], "log": []}

    def metadata(self) -> dict[str, Any]:
        """All that firmware 2 and later tells at once; its clients configure themselves from it."""
        beams = intrinsics.beam_intrinsics() | {
            "lidar_origin_to_beam_origin_mm": intrinsics.LIDAR_ORIGIN_TO_BEAM_ORIGIN_MM
        }
        return {
            "sensor_info": self.sensor_info() | {"initialization_id": 1},
            "beam_intrinsics": beams,
            "imu_intrinsics": intrinsics.imu_intrinsics(),
            "lidar_intrinsics": intrinsics.lidar_intrinsics(),
            "lidar_data_format": intrinsics.lidar_data_format(self.configuration.mode),
            "imu_data_format": {"imu_measurements_per_packet": 0, "imu_packets_per_frame": 0},
            "calibration_status": {},
            "config_params": self.configuration.later("active"),
        }
