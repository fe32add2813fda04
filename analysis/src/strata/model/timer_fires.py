# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Fires of timers against the grid of their period.

rcl keeps a timer's next call time on a grid: made at b with period p, it is due at b + p; when it
is called, its next call time moves by p, and further to the next point of the grid where that has
passed (`rcl_timer_call` in rcl's timer.c). So a fire after one that was called at t is due at the
first point of the grid after t, whatever was before: no state, whole columns at once.

No event tells of a cancel, a reset or another period. They show as fires that the grid does not
explain, and from such a fire a new grid begins:

    found                                     cause       the fire        the grid
    called before it was due                  early       not expected    begins anew
    periods skipped, its thread waited        paused      not expected    begins anew
    periods skipped, its thread was busy      overrun     late            goes on
    periods skipped, cannot be told           undecided   late            goes on

A thread that waits for work would have taken a live timer at once. Waits are of the taking thread:
with several threads, another one may have been free, and only a wait decides.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from strata.model.columns import NONE, Ints
from strata.model.executions import Executions, Waits
from strata.model.timeline import Kind, Timeline
from strata.schema.quality import Ledger

if TYPE_CHECKING:
    from strata.model.build import Model

ON_GRID, OVERRUN, UNDECIDED, PAUSED, EARLY, IRREGULAR = range(6)
CAUSES = (None, "overrun", "undecided", "paused", "early", "irregular")
"""Why a fire departs from its grid, by its number in `TimerFires.cause`."""

TOLERANCE_NS = 1_000_000
"""How much before its point of the grid a fire may be, at most a quarter of the period.

rcl_timer_init fires after rcl read the clock, and a grid that begins with a late fire lies late.
"""
WAKE_UP_NS = 10_000_000
"""How much longer than a period a thread must have waited while a timer was due, to tell a pause.

A wait includes the time until the operating system runs the thread.
"""
MOST_GRIDS = 64
"""A timer that needs more grids than that keeps none: simulated time, or a changing period."""

_EVENT = "ros2:rclcpp_executor_execute"


@dataclass(frozen=True)
class TimerFires:
    """One row a fire, by timer and time.

    `expected_ns` and `picked_ns` are `NONE` where unknown. `cause` is a row of `CAUSES`.
    """

    timer: Ints
    execution: Ints
    expected_ns: Ints
    picked_ns: Ints
    start_ns: Ints
    skipped: Ints
    cause: Ints

    def __len__(self) -> int:
        return len(self.timer)


def find_timer_fires(model: Model, timeline: Timeline, ledger: Ledger) -> TimerFires:
    """Return all fires of the model's timers; departures from the grid are counted."""
    executions, timers = model.executions, model.entities.timers
    timer = model.entities.callbacks.timer[executions.callback]
    rows = np.flatnonzero(timer != NONE)
    rows = rows[np.lexsort((executions.start_ns[rows], timer[rows]))]
    timer, start_ns = timer[rows], executions.start_ns[rows]
    picked_ns = _picked(model, timeline, executions, timer, rows)
    called_ns = np.where(picked_ns != NONE, picked_ns, start_ns)
    waited = _WaitedTime(model.waits)
    expected = np.full(len(rows), NONE, np.int64)
    skipped = np.zeros(len(rows), np.int64)
    cause = np.full(len(rows), ON_GRID, np.int64)
    bounds = np.searchsorted(timer, np.arange(len(timers) + 1))
    irregular = 0
    for number, (begin, end) in enumerate(zip(bounds[:-1], bounds[1:], strict=True)):
        own = slice(begin, end)
        grid = _Grid(int(timers.period_ns[number]), waited)
        expected[own], skipped[own], cause[own] = grid.place(
            int(timers.begin_ns[number]), called_ns[own], executions.thread[rows[own]]
        )
        irregular += bool((cause[own] == IRREGULAR).any())
    ledger.add("timers_without_callback", timers.left_out)
    ledger.add("rebased_timers", int(np.isin(cause, (PAUSED, EARLY)).sum()))
    ledger.add("irregular_timers", irregular)
    return TimerFires(timer, rows, expected, picked_ns, start_ns, skipped, cause)


def _picked(
    model: Model, timeline: Timeline, executions: Executions, timer: Ints, rows: Ints
) -> Ints:
    """When the executor picked the timer for each execution; `NONE` where that is not recorded."""
    start = executions.start[rows]
    kinds = (Kind.EXECUTE, Kind.CALLBACK_START, Kind.CALLBACK_END, Kind.WAIT, Kind.RMW_TAKE)
    at = timeline.before(start, *kinds)
    is_pick = (at != NONE) & (timeline.kind[np.maximum(at, 0)] == Kind.EXECUTE)
    handles = model.events.ints(_EVENT, "handle")
    row = timeline.row_at(np.where(is_pick, at, NONE))
    named = handles[np.maximum(row, 0)] if len(handles) else row
    own = is_pick & (named == model.entities.timers.handle[timer])
    return timeline.ns_at(np.where(own, at, NONE))


class _WaitedTime:
    """How long a thread waited for work within an interval."""

    def __init__(self, waits: Waits) -> None:
        order = np.lexsort((waits.start_ns, waits.thread))
        self._thread = waits.thread[order]
        self._begin = waits.start_ns[order]
        self._end = waits.end_ns[order]
        self._threads = np.unique(self._thread)

    def known(self, thread: Ints) -> npt.NDArray[np.bool_]:
        """Tell whether any wait of a thread was recorded."""
        return np.isin(thread, self._threads)

    def within(self, thread: Ints, begin_ns: Ints, end_ns: Ints) -> Ints:
        """Return the time that each thread waited in each interval, ns."""
        out = np.zeros(len(thread), np.int64)
        for number in np.unique(thread):
            low, high = np.searchsorted(self._thread, [number, number + 1])
            begin, end = self._begin[low:high], self._end[low:high]
            if low == high:
                continue
            rows = thread == number
            summed = np.r_[0, np.cumsum(end - begin)]
            out[rows] = _until(begin, end, summed, end_ns[rows]) - _until(
                begin, end, summed, begin_ns[rows]
            )
        return out


def _until(begin: Ints, end: Ints, summed: Ints, ns: Ints) -> Ints:
    """How long waits [begin, end), which do not overlap, lasted before each time."""
    whole = np.searchsorted(end, ns, side="right")
    open_one = np.minimum(whole, len(begin) - 1)
    part = np.where(whole < len(begin), np.maximum(ns - begin[open_one], 0), 0)
    return np.asarray(summed[whole] + part, np.int64)


@dataclass(frozen=True)
class _Grid:
    """The grids of one timer, over its fires in order of time."""

    period_ns: int
    waited: _WaitedTime

    @property
    def tolerance_ns(self) -> int:
        return min(TOLERANCE_NS, self.period_ns // 4)

    def place(self, begin_ns: int, called_ns: Ints, thread: Ints) -> tuple[Ints, Ints, Ints]:
        """Return for each fire when it was due or `NONE`, the periods skipped, and the cause."""
        count = len(called_ns)
        expected = np.full(count, NONE, np.int64)
        skipped = np.zeros(count, np.int64)
        cause = np.full(count, ON_GRID, np.int64)
        if self.period_ns <= 0:
            # Always ready: nothing is due.
            return expected, skipped, np.full(count, IRREGULAR, np.int64)
        single = len(np.unique(thread)) == 1
        first, base = 0, begin_ns
        for _ in range(MOST_GRIDS):
            rows = slice(first, count)
            due = self._due(base, called_ns[rows], begin_ns if first == 0 else base)
            late = (called_ns[rows] - due) // self.period_ns
            why = self._why(due, called_ns[rows], late, thread[rows], single=single)
            ends = np.flatnonzero(np.isin(why, (PAUSED, EARLY)))
            stop = first + int(ends[0]) if len(ends) else count
            kept = slice(0, stop - first)
            # A grid that a fire began lies late by that fire's own lateness, of which the most
            # punctual fire of the grid tells the least.
            shift = min(0, int((called_ns[first:stop] - due[kept]).min(initial=0)))
            expected[first:stop] = due[kept] + (shift if first else 0)
            skipped[first:stop] = np.maximum(late[kept], 0)
            cause[first:stop] = why[kept]
            if stop == count:
                return expected, skipped, cause
            cause[stop] = why[stop - first]
            first, base = stop + 1, int(called_ns[stop])
        cause[first:] = IRREGULAR
        return expected, skipped, cause

    def _due(self, base: int, called_ns: Ints, before: int) -> Ints:
        """The first point of the grid after the call before, for each fire."""
        last = np.r_[np.int64(before), called_ns[:-1]]
        since = last - base + self.tolerance_ns
        due = base + (since // self.period_ns + 1) * self.period_ns
        # A call that close to a point of the grid may have been before or after it: the next tells.
        close = since % self.period_ns < 2 * self.tolerance_ns
        close[:1] &= before != base
        before_it = close & (called_ns < due - self.tolerance_ns)
        return np.where(before_it, due - self.period_ns, due)

    def _why(
        self, due: Ints, called_ns: Ints, late: Ints, thread: Ints, *, single: bool
    ) -> Ints:
        out = np.where(called_ns < due - self.tolerance_ns, EARLY, ON_GRID)
        rows = np.flatnonzero(late > 0)
        waited = self.waited.within(thread[rows], due[rows], called_ns[rows])
        told = single & self.waited.known(thread[rows])
        out[rows] = np.where(
            waited >= self.period_ns + WAKE_UP_NS,
            PAUSED,
            np.where(told & (waited < self.period_ns), OVERRUN, UNDECIDED),
        )
        return out
