# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The driver's side of the text protocol on TCP port 7501: sets the sensor up and asks what it is.

The commands and their order are those of the 2020 ros2_ouster driver.
"""

from __future__ import annotations

import json
import socket
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from lidar_pipeline.sensor.packet import MODES, PIXELS, LidarMode

ROS_RECEPTION = "TIME_FROM_ROS_RECEPTION"
_TIMEOUT_S = 5.0
_LONGEST_ANSWER = 1 << 20
"""Far above any answer: the longest has some KB."""


class SensorError(Exception):
    """The sensor cannot be reached, or refuses what it is told."""


@dataclass(frozen=True)
class Connection:
    """How the sensor is to be reached, and where it is to send."""

    lidar_ip: str
    computer_ip: str
    tcp_port: int
    lidar_port: int
    imu_port: int
    lidar_mode: str
    timestamp_mode: str

    @property
    def mode(self) -> LidarMode:
        """The lidar mode."""
        return MODES[self.lidar_mode]


@dataclass(frozen=True)
class Metadata:
    """What the sensor said of itself."""

    values: dict[str, Any]

    @property
    def azimuths(self) -> npt.NDArray[np.float64]:
        """Degrees, by channel."""
        return self._angles("beam_azimuth_angles")

    @property
    def altitudes(self) -> npt.NDArray[np.float64]:
        """Degrees, by channel."""
        return self._angles("beam_altitude_angles")

    def _angles(self, name: str) -> npt.NDArray[np.float64]:
        angles = np.asarray(self.values.get(name, ()), np.float64)
        if angles.shape != (PIXELS,):
            raise SensorError(
                f"Cannot use the sensor: it has {angles.size} {name}, not {PIXELS}. "
                "It must have firmware 1.13's format."
            )
        return angles


def set_up(connection: Connection) -> Metadata:
    """Configure the sensor, restart it, and return what it is. Raises SensorError."""
    parameters = {
        "udp_ip": connection.computer_ip,
        "udp_port_lidar": connection.lidar_port,
        "udp_port_imu": connection.imu_port,
        "lidar_mode": connection.lidar_mode,
    }
    if connection.timestamp_mode != ROS_RECEPTION:
        parameters["timestamp_mode"] = connection.timestamp_mode
    at = f"{connection.lidar_ip}:{connection.tcp_port}"
    try:
        address = (connection.lidar_ip, connection.tcp_port)
        with (
            socket.create_connection(address, _TIMEOUT_S) as stream,
            stream.makefile("rw") as lines,
        ):
            values: dict[str, Any] = {}
            for name, value in parameters.items():
                _command(lines, at, f"set_config_param {name} {value} ")
            for query in (
                "get_sensor_info",
                "get_beam_intrinsics",
                "get_imu_intrinsics",
                "get_lidar_intrinsics",
            ):
                values |= json.loads(_ask(lines, query))
            _command(lines, at, "reinitialize ")
    except (OSError, ValueError) as error:
        raise SensorError(
            f"Cannot set the sensor at {at} up: {error}. Check lidar_ip, and its power."
        ) from error
    return Metadata(values)


def _ask(lines: Any, command: str) -> str:
    lines.write(f"{command}\n")
    lines.flush()
    answer: str = lines.readline(_LONGEST_ANSWER)
    if len(answer) == _LONGEST_ANSWER:
        raise ValueError(f"it answers {command.strip()!r} without an end of line")
    return answer.strip()


def _command(lines: Any, at: str, command: str) -> None:
    answer = _ask(lines, command)
    if answer != command.split()[0]:
        raise SensorError(f"Cannot set the sensor at {at} up: {command.strip()!r} gave {answer!r}.")
