# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The sensor's clocks, as offsets to CLOCK_MONOTONIC of this host."""

from __future__ import annotations

import time


class SensorClock:
    """Time stamps by timestamp mode.

    TIME_FROM_INTERNAL_OSC: since the sensor was switched on. TIME_FROM_SYNC_PULSE_IN: the same, for
    no pulse comes to it. TIME_FROM_PTP_1588: the master's time, here CLOCK_REALTIME of this
    host as it was when the emulator began; later steps of that clock are not followed.
    """

    def __init__(self) -> None:
        self._on_ns = time.monotonic_ns()
        self._ptp_ns = time.time_ns() - time.monotonic_ns()

    def offset_ns(self, timestamp_mode: str) -> int:
        """Return what to add to CLOCK_MONOTONIC."""
        return self._ptp_ns if timestamp_mode == "TIME_FROM_PTP_1588" else -self._on_ns

    def since_on_ns(self) -> int:
        """Return the time since the sensor was switched on."""
        return time.monotonic_ns() - self._on_ns
