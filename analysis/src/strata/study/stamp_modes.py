# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Where a message's stamp is taken, and by whose clock, in each stamp mode of a lidar's driver.

The mode and how the driver closes a scan are settings of the cell's scenario (`timestamp_mode`,
`closing`); a scenario without such settings has no mode, and nothing is said of its stamps.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from strata.campaign.cells import settings_at
from strata.errors import StrataError
from strata.read.manifest import read_manifest
from strata.study.campaign_results import FINISHED, Outcome, Results

RECEPTION = "ROS_RECEPTION"
"""Of ros2_ouster: when the packet that closes a scan was read."""
FIRST_RECEPTION = "ROS_TIME"
"""Of ouster-ros: when a scan's first packet was read."""

_PREFIX = "TIME_FROM_"
_SENSOR_CLOCKS = {
    "INTERNAL_OSC": "its oscillator's time since it was switched on",
    "SYNC_PULSE_IN": "its time since the last pulse of the synchronisation input",
    "PTP_1588": "the time of its PTP master",
}
_CLOSED_BY = {
    "next": "the first packet of the next scan",
    "complete": "the scan's last packet",
}


@dataclass(frozen=True)
class StampMode:
    """A stamp mode: `name` as the firmware has it, without TIME_FROM_; `closing` of the driver.

    `closing` is empty where the settings do not tell, and where it does not matter.
    """

    name: str
    closing: str = ""

    @property
    def is_of_sensor(self) -> bool:
        """Tell whether the sensor stamps; otherwise the driver does, at reception."""
        return self.name in _SENSOR_CLOCKS

    @property
    def is_of_two_clocks(self) -> bool:
        """Tell whether a latency by such stamps has the error of synchronised clocks in it."""
        return self.name == "PTP_1588"

    @property
    def where(self) -> str:
        """Say where the stamp is taken, and by which clock."""
        if self.is_of_sensor:
            clock = _SENSOR_CLOCKS[self.name]
            return f"sensor, at the first column of the scan: {clock}"
        if self.name == FIRST_RECEPTION:
            return "driver, after the read of the scan's first packet, by the host's clock"
        if self.name != RECEPTION:
            return f"not known of mode {self.name}"
        closed = _CLOSED_BY.get(self.closing)
        packet = f"the packet that closes the scan, {closed}," if closed else "a packet of the scan"
        return f"driver, after the read of {packet} by the host's clock"

    @property
    def no_age(self) -> str:
        """Say why the points of such messages have no age; empty where they have one."""
        if self.is_of_two_clocks:
            return ""
        if self.name in (RECEPTION, FIRST_RECEPTION):
            return (
                "the stamp is of reception by the host's clock, the points' times are since the "
                "scan's first column by the sensor's: their sum is no time"
            )
        if self.is_of_sensor:
            return f"the stamp is {_SENSOR_CLOCKS[self.name]}, which is not the host's clock"
        return f"it is not known by which clock mode {self.name} stamps"


def parse_mode(settings: Mapping[str, Any]) -> StampMode | None:
    """Return the mode of a scenario's settings; null where they have none."""
    stated = settings.get("timestamp_mode")
    if not isinstance(stated, str) or not stated:
        return None
    name = stated.removeprefix(_PREFIX)
    closing = str(settings.get("closing") or "") if name == RECEPTION else ""
    return StampMode(name, closing)


def mode_of_session(directory: Path) -> StampMode | None:
    """Return the mode of a recorded cell, by the settings in its manifest; null without one."""
    scenario = (read_manifest(directory) or {}).get("scenario") or {}
    return parse_mode(scenario.get("settings") or {})


def mode_at(results: Results, study: str, levels: Mapping[str, str]) -> StampMode | None:
    """Return the mode of the cells with these levels, by the campaign's file; null without one."""
    try:
        return parse_mode(settings_at(results.directory.loaded, study, levels))
    except StrataError:
        # A scenario that was removed since, or cannot be used here.
        return None


def modes_of(results: Results, study: str) -> dict[StampMode, list[dict[str, str]]]:
    """Return the levels of each mode that a study has, in the order of its cells.

    A cell that ran has the mode that it ran with, any other that of the campaign's file.
    """
    found: dict[StampMode, list[dict[str, str]]] = {}
    for levels, outcomes in _by_levels(results.study(study).outcomes):
        ran = next((one for one in outcomes if one.status == FINISHED), None)
        mode = mode_of_session(ran.directory) if ran else mode_at(results, study, levels)
        if mode is not None:
            found.setdefault(mode, []).append(levels)
    return found


def _by_levels(outcomes: Iterable[Outcome]) -> list[tuple[dict[str, str], list[Outcome]]]:
    groups: dict[str, list[Outcome]] = {}
    for one in outcomes:
        groups.setdefault(one.cell.group, []).append(one)
    return [(dict(some[0].cell.levels), some) for some in groups.values()]
