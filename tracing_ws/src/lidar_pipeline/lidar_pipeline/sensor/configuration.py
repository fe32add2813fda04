# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The sensor's configuration: staged values become active when the sensor is reinitialized.

Names, defaults and values are those of the software user guide 1.13.0, tables 2 to 6, and the few
that firmware 2 added and its clients set.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from typing import Any

from lidar_pipeline.sensor.packet import MODES, TIMESTAMP_MODES, LidarMode


class ConfigurationError(ValueError):
    """A parameter that the sensor does not know, or a value that it does not take."""


def _destination(value: Any) -> str:
    """Give the IPv4 address of a host by its name or address; none stops the sensor."""
    if not value:
        return ""
    # Once, here: a name server that does not answer would hold up every packet.
    try:
        return socket.gethostbyname(str(value))
    except (OSError, UnicodeError) as error:
        raise ValueError(f"{value} is no IPv4 address, and no name of one is known") from error


def _whole(low: int, high: int) -> Callable[[Any], int]:
    def parse(value: Any) -> int:
        number = int(value)
        if not low <= number <= high:
            raise ValueError(f"{number} is not in {low} to {high}")
        return number

    return parse


def _one_of(*choices: str) -> Callable[[Any], str]:
    def parse(value: Any) -> str:
        if value not in choices:
            raise ValueError(f"{value} is none of {', '.join(choices)}")
        return str(value)

    return parse


def _polarity(value: Any) -> str:
    numbered = {"1": "ACTIVE_HIGH", "0": "ACTIVE_LOW"}
    return _one_of("ACTIVE_HIGH", "ACTIVE_LOW")(numbered.get(str(value), value))


def _window(value: Any) -> list[int]:
    if not isinstance(value, list) or len(value) != 2:
        raise ValueError(f"{value} is not a pair of angles")
    return [_whole(0, 360_000)(angle) for angle in value]


_PORT = _whole(0, 65535)
PARAMETERS: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    "udp_ip": ("", _destination),
    "udp_port_lidar": (7502, _PORT),
    "udp_port_imu": (7503, _PORT),
    "lidar_mode": ("1024x10", _one_of(*MODES)),
    "timestamp_mode": (TIMESTAMP_MODES[0], _one_of(*TIMESTAMP_MODES)),
    "sync_pulse_in_polarity": ("ACTIVE_HIGH", _polarity),
    "nmea_in_polarity": ("ACTIVE_HIGH", _polarity),
    "nmea_ignore_valid_char": (0, _whole(0, 1)),
    "nmea_baud_rate": ("BAUD_9600", _one_of("BAUD_9600", "BAUD_115200")),
    "nmea_leap_seconds": (0, _whole(0, 1000)),
    "multipurpose_io_mode": (
        "OFF",
        _one_of(
            "OFF",
            "INPUT_NMEA_UART",
            "OUTPUT_FROM_INTERNAL_OSC",
            "OUTPUT_FROM_SYNC_PULSE_IN",
            "OUTPUT_FROM_PTP_1588",
            "OUTPUT_FROM_ENCODER_ANGLE",
        ),
    ),
    "sync_pulse_out_polarity": ("ACTIVE_HIGH", _polarity),
    "sync_pulse_out_frequency": (1, _whole(1, 1_000_000)),
    "sync_pulse_out_angle": (360, _whole(1, 360)),
    "sync_pulse_out_pulse_width": (10, _whole(1, 1000)),
    "auto_start_flag": (1, _whole(0, 1)),
    "azimuth_window": ([0, 36000], _window),
}
"""Name to default and parser; a parser raises ValueError."""

_LATER: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    "operating_mode": ("NORMAL", _one_of("NORMAL", "STANDBY")),
    "udp_profile_lidar": ("LEGACY", _one_of("LEGACY")),
    "udp_profile_imu": ("LEGACY", _one_of("LEGACY")),
    "columns_per_packet": (16, _whole(16, 16)),
    "signal_multiplier": (1, _whole(1, 1)),
    "phase_lock_enable": (False, bool),
    "phase_lock_offset": (0, _whole(0, 360_000)),
}
_ALIASES = {"udp_dest": "udp_ip"}


class Configuration:
    """Staged and active parameters; safe to use from several threads.

    `generation` counts reinitializations, so that a sender sees that it must start anew.
    """

    def __init__(self, **given: Any) -> None:
        self._lock = threading.Lock()
        self._active = {name: default for name, (default, _) in (PARAMETERS | _LATER).items()}
        self._staged = dict(self._active)
        self.generation = 0
        for name, value in given.items():
            self.stage(name, value)
        self._active = dict(self._staged)

    def stage(self, name: str, value: Any) -> None:
        """Set a staged parameter. Raises ConfigurationError."""
        name = _ALIASES.get(name, name)
        known = PARAMETERS.get(name) or _LATER.get(name)
        if known is None:
            raise ConfigurationError(f"unknown parameter {name}")
        try:
            parsed = known[1](value)
        except (TypeError, ValueError) as error:
            raise ConfigurationError(f"invalid value for {name}: {error}") from error
        with self._lock:
            self._staged[name] = parsed

    def get(self, which: str, name: str) -> Any:
        """Return a parameter, `which` being active or staged. Raises ConfigurationError."""
        name = _ALIASES.get(name, name)
        values = {"active": self._active, "staged": self._staged}.get(which)
        if values is None:
            raise ConfigurationError(f"{which} is neither active nor staged")
        with self._lock:
            if name not in values:
                raise ConfigurationError(f"unknown parameter {name}")
            return values[name]

    def text(self) -> dict[str, Any]:
        """Return what firmware 1.13 tells: the active parameters."""
        with self._lock:
            return {name: self._active[name] for name in PARAMETERS}

    def later(self, which: str) -> dict[str, Any]:
        """Return what firmware 2 and later tells, `which` being active or staged."""
        with self._lock:
            values = dict(self._staged if which == "staged" else self._active)
        # Its later name alone: a client that sends all back would send two that contradict.
        values["udp_dest"] = values.pop("udp_ip")
        return values

    def reinitialize(self) -> None:
        """Make the staged parameters active, and have the sender start anew."""
        with self._lock:
            self._active = dict(self._staged)
            self.generation += 1

    @property
    def mode(self) -> LidarMode:
        """The active lidar mode."""
        return MODES[self.get("active", "lidar_mode")]
