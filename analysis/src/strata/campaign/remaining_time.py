# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""How long cells will take: what they say themselves, corrected by those that ran."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median

from strata.campaign.cells import Cell

# Start of processes and session, its end, and measuring: seen on a machine of 2 CPUs.
_BESIDE_S = 10.0
_UNKNOWN_S = 30.0


class Forecast:
    """Expected times, in seconds: a cell's own plus what the cells so far took beside theirs."""

    def __init__(self) -> None:
        self._beside: dict[str, list[float]] = {}

    def note(self, cell: Cell, took_s: float) -> None:
        """Note what a cell took, all in all."""
        self._beside.setdefault(cell.study, []).append(took_s - _own(cell))

    def of(self, cell: Cell) -> float:
        """Expect the time of a cell: by its study's cells, by all, by what is usual."""
        every = [one for beside in self._beside.values() for one in beside]
        seen = self._beside.get(cell.study) or every
        return max(1.0, _own(cell) + (median(seen) if seen else _BESIDE_S))

    def all(self, cells: Iterable[Cell]) -> float:
        """Expect the time of several cells, one after the other."""
        return sum(map(self.of, cells))


def _own(cell: Cell) -> float:
    return _UNKNOWN_S if cell.expected_s is None else cell.expected_s
