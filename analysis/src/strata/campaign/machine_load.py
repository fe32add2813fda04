# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""How busy the machine is just before a cell begins."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from strata.campaign.machine_description import load_average, read_line, read_number

BUSY_PERCENT = 20.0
"""A cell that begins while others use more of all CPUs than this is marked."""

_TURN_S = 0.1


@dataclass(frozen=True)
class Moment:
    """What `CellState` tells of a cell's beginning; null for what the machine does not tell."""

    load_average: list[float] | None
    busy_percent: float | None
    frequency_khz: list[int] | None

    @property
    def busy(self) -> bool:
        """Tell whether others have more of the machine than they should."""
        return self.busy_percent is not None and self.busy_percent > BUSY_PERCENT


def look(seconds: float, turn: Callable[[], bool]) -> Moment:
    """Watch the machine for a time; `turn` is called meanwhile, and ends it by false."""
    before = _ticks()
    until = time.monotonic() + seconds
    while turn() and time.monotonic() < until:
        time.sleep(max(0.0, min(_TURN_S, until - time.monotonic())))
    after = _ticks()
    busy = None
    if before and after and after[1] > before[1]:
        busy = round(100 * (after[0] - before[0]) / (after[1] - before[1]), 1)
    return Moment(load_average(), busy, _frequencies())


def _ticks() -> tuple[int, int] | None:
    """Give the clock ticks that all CPUs were busy, and those that passed, since boot."""
    text = read_line(Path("/proc/stat"))
    if text is None:
        return None
    user, nice, system, idle, wait, *rest = map(int, text.splitlines()[0].split()[1:])
    # Of the rest, interrupts and what the hypervisor took count; guests are in user already.
    busy = user + nice + system + sum(rest[:3])
    return busy, busy + idle + wait


def _frequencies() -> list[int] | None:
    paths = sorted(Path("/sys/devices/system/cpu").glob("cpu[0-9]*/cpufreq/scaling_cur_freq"))
    told = [one for path in paths if (one := read_number(path)) is not None]
    if told:
        return told
    lines = (read_line(Path("/proc/cpuinfo")) or "").splitlines()
    mhz = [line.partition(":")[2] for line in lines if line.startswith("cpu MHz")]
    return [round(float(one) * 1000) for one in mhz] or None
