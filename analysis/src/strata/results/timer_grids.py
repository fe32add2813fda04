# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The grids of timers, carried on from window to window.

A window does not have the event by which a timer was made. When its fires were due is known from
the window before.
"""

from __future__ import annotations

import numpy as np

from strata.model.columns import NONE, Ints
from strata.schema.rows import Rows
from strata.stats.partition import partition

Due = tuple[Ints, Ints]
"""Starts of a timer's fires, ascending, and when each was due, in ns since the epoch."""


class TimerGrids:
    """When the fires of each timer were due in the last window, by host, process id and handle."""

    def __init__(self) -> None:
        self.due: dict[tuple[str, int, int], Due] = {}

    def know(self, timers: Rows, fires: Rows) -> None:
        """Take the tables `timers` and `timer_fires` of a window."""
        known = fires.take(fires["expected_ns"] != NONE)
        before, self.due = self.due, {}
        for host, vpid, handle in zip(
            timers.texts("host"), timers["vpid"].tolist(), timers["handle"].tolist(), strict=True
        ):
            if (host, vpid, handle) in before:
                self.due[host, vpid, handle] = before[host, vpid, handle]
        hosts = timers.words("host")
        start_ns, expected_ns = known["start_ns"], known["expected_ns"]
        for timer, rows in partition(known["timer_id"]):
            place = (str(hosts.at(timer)), int(timers["vpid"][timer]), int(timers["handle"][timer]))
            order = rows[np.argsort(start_ns[rows], kind="stable")]
            self.due[place] = start_ns[order], expected_ns[order]
