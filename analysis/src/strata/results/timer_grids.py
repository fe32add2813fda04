# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The grids of timers, carried on from window to window.

A window does not have the event by which a timer was made, so its first fire there counts as on
time (strata.layers.timer_fires), which it hardly was. The grid of the window before is known, and
goes on: it is moved there, by less than half a period, until a fire that begins a new grid.
"""

from __future__ import annotations

import numpy as np

from strata.schema.rows import NONE, Ints, Rows


class TimerGrids:
    """The newest known point of each timer's grid, by the number of the timer."""

    def __init__(self) -> None:
        self._newest_ns: dict[int, int] = {}

    def know(self, timers: Ints, expected_ns: Ints) -> None:
        """Take points of grids, in the order of time."""
        known = expected_ns != NONE
        self._newest_ns.update(
            zip(timers[known].tolist(), expected_ns[known].tolist(), strict=True)
        )

    def carried_on(
        self, fires: Rows, timers: Ints, period_ns: Ints, since_ns: int, until_ns: int
    ) -> Rows:
        """Return the table `timer_fires` of a window with the grids of the windows before.

        `timers` has the number of the timer of each fire, `period_ns` its period. Fires are in the
        order of timer and time. Those after `since_ns` and up to `until_ns` are known afterwards.
        """
        expected_ns = fires["expected_ns"].copy()
        for timer in np.unique(timers).tolist():
            own = np.flatnonzero(timers == timer)
            newest_ns = self._newest_ns.get(timer)
            if newest_ns is not None:
                self._carry_on(expected_ns, own, newest_ns, int(period_ns[own[0]]))
        start_ns = fires["start_ns"]
        counted = (start_ns > since_ns) & (start_ns <= until_ns)
        self.know(timers[counted], expected_ns[counted])
        lateness_ns = np.where(expected_ns != NONE, start_ns - expected_ns, NONE)
        return fires.with_columns({"expected_ns": expected_ns, "lateness_ns": lateness_ns})

    def _carry_on(self, expected_ns: Ints, own: Ints, newest_ns: int, period_ns: int) -> None:
        """Move the first grid of one timer's fires in place."""
        known = expected_ns[own] != NONE
        if not known.any() or period_ns <= 0:
            return
        first = int(known.argmax())
        # A fire that is not expected begins a new grid.
        end = first + int(np.append(~known[first:], True).argmax())
        grid = own[first:end]
        half = period_ns // 2
        moved_ns = (newest_ns - int(expected_ns[grid[0]]) + half) % period_ns - half
        expected_ns[grid] += moved_ns
