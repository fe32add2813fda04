# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Notices a sensor that falls silent, or sends what it was not told to."""

from __future__ import annotations

from lidar_pipeline.driver.assembly import AssemblyCounts
from lidar_pipeline.driver.udp_source import UdpSource

WATCH_S = 2.0
"""From one look to the next."""


class SensorWatch:
    """Compares what came between two looks; a state is told once, when it begins."""

    def __init__(self, udp: UdpSource, counts: AssemblyCounts) -> None:
        self._udp, self._counts = udp, counts
        self._received, self._wrong = udp.received, counts.wrong
        self._told = ""

    def look(self) -> str:
        """Give a sentence when something is wrong that was not so at the last look, else none."""
        came = self._udp.received - self._received
        wrong = self._counts.wrong - self._wrong
        self._received += came
        self._wrong += wrong
        port = f"UDP port {self._udp.port}"
        if not came:
            kind = "silent"
            text = f"No packet on {port} for {WATCH_S:g} s. Check the sensor, and computer_ip."
        elif wrong:
            kind = "wrong"
            text = (
                f"{wrong} of {came} packets on {port} are not of the lidar mode. Another client "
                "may have set the sensor up, or another one sends to this port."
            )
        else:
            kind = text = ""
        told, self._told = self._told, kind
        return text if kind != told else ""
