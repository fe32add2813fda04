# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Fires of timers against the grid of their period.

rcl keeps a timer's next call time on a grid: made at b with period p, it is due at b + p; when it
is called, its next call time moves by p, and further to the next point of the grid where that has
passed (`rcl_timer_call` in rcl's timer.c). So it is a maximum over the calls before, for whole
columns at once.

no event marks a cancel, a reset or another period. They show as fires that the grid does not
explain, and from such a fire a new grid begins:

    found                                             cause       the fire        the grid
    called before it was due                          early       not expected    begins anew
    periods skipped, executor idle, another grid on   paused      not expected    begins anew
    periods skipped, its executor was busy            overrun     late            goes on
    periods skipped, cannot be told                   undecided   late            goes on

An executor that waits for work would have taken a live timer at once (strata.layers.waiting says
what idle means): idle for more than a period and a wake-up looks like a pause, for less than half a
period it was an overrun. What lies between cannot be told, nor what has no recorded waits, or where
events (waits or fires among them) were lost meanwhile.

A thread that gets no CPU looks idle, too. So a new grid has to be shown: the fires after it agree
on it, and none of them lies on the grid before, which one fire at least had agreed with. Where
nothing agreed with the begin of a grid (the thread may have lost its CPU before the init event),
fires before they were due tell that the grid began earlier.

A reset that moves the grid by less than a period, and not before a point of the old one, is not
seen: until the next grid its fires look late by as much.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from strata.layers.waiting import maybe_lost
from strata.model.build import Model
from strata.model.columns import NONE, Ints
from strata.schema.quality import Finding, Findings

Flags = npt.NDArray[np.bool_]

ON_GRID, OVERRUN, UNDECIDED, PAUSED, EARLY, IRREGULAR = range(6)
CAUSES = (None, "overrun", "undecided", "paused", "early", "irregular")
"""Why a fire departs from its grid, by its number in `TimerFires.cause`."""

TOLERANCE_NS = 1_000_000
"""How much before its point of the grid a fire may be, at most a quarter of the period.

rcl_timer_init fires after rcl read the clock, and a grid that begins with a late fire lies late.
"""
WAKE_UP_NS = 10_000_000
"""How much longer than a period an executor must be idle while a timer is due, to tell a pause.

A wait includes the time until the operating system runs the thread.
"""
WITNESSES = 8
"""So many fires from a pause on are asked whether they lie on the grid before."""
FIRES_AT_ONCE = 512
"""So many fires are looked at for the end of a grid, and four times as many until it is found.

The cost of many short grids is that of their fires, not of all that come after each.
"""
MOST_GRIDS = 64
"""So many grids of a timer are followed; its fires after them are irregular.

Simulated time, or a period that changes.
"""


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


def find_timer_fires(model: Model) -> tuple[TimerFires, Findings]:
    """Return all fires of the model's timers; departures from the grid are counted."""
    executions, timers = model.executions, model.entities.timers
    timer = np.append(model.entities.callbacks.timer, NONE)[executions.callback]
    rows = np.flatnonzero((timer != NONE) & ~executions.resumed)
    rows = rows[np.lexsort((executions.start_ns[rows], timer[rows]))]
    timer, start_ns = timer[rows], executions.start_ns[rows]
    picked_ns = model.facts.timer_picks(timer, rows)
    called_ns = np.where(picked_ns != NONE, picked_ns, start_ns)
    idleness = _idleness(model, rows)
    fires = TimerFires(
        timer,
        rows,
        np.full(len(rows), NONE, np.int64),
        picked_ns,
        start_ns,
        np.zeros(len(rows), np.int64),
        np.full(len(rows), ON_GRID, np.int64),
    )
    bounds = np.searchsorted(timer, np.arange(len(timers) + 1))
    was_there = model.was_there(timers, np.arange(len(timers)))
    for number, (begin, end) in enumerate(pairwise(bounds)):
        grid = _Grid(int(timers.period_ns[number]), called_ns[begin:end], idleness.of(begin, end))
        begin_ns = int(timers.begin_ns[number])
        if was_there[number] and end > begin:
            begin_ns = _begin_of_older(model, number, int(start_ns[begin]), int(called_ns[begin]))
        grid.place(begin_ns, model.dropped_until_ns)
        fires.expected_ns[begin:end] = grid.expected_ns
        fires.skipped[begin:end] = grid.skipped
        fires.cause[begin:end] = grid.cause
    return fires, Findings(
        Finding("timers_without_callback", timers.left_out),
        Finding("rebased_timers", int(np.isin(fires.cause, (PAUSED, EARLY)).sum())),
        Finding("irregular_timers", len(np.unique(timer[fires.cause == IRREGULAR]))),
    )


_NO_FIRES = np.empty(0, np.int64)


def _begin_of_older(model: Model, timer: int, start_ns: int, called_ns: int) -> int:
    """Return a period before when the first fire was due of a timer that is older than the trace.

    By the fires before, where these are known; else nobody says when it was made, and it is on
    time.
    """
    timers, processes = model.entities.timers, model.processes
    period_ns, process = int(timers.period_ns[timer]), int(timers.process[timer])
    place = (processes.host[process], int(processes.vpid[process]), int(timers.handle[timer]))
    starts_ns, due_ns = model.timers_due.get(place, (_NO_FIRES, _NO_FIRES))
    before = int(np.searchsorted(starts_ns, start_ns, side="right")) - 1
    if before < 0 or period_ns <= 0:
        return called_ns - period_ns
    if starts_ns[before] == start_ns:
        return int(due_ns[before]) - period_ns
    # The last point of the grid that had passed.
    return called_ns - (called_ns - int(due_ns[before])) % period_ns - period_ns


@dataclass(frozen=True)
class _Idleness:
    """How long the executor of each fire was idle: one row a fire."""

    model: Model
    thread: Ints
    lane: Ints
    group: Ints

    def of(self, begin: int, end: int) -> _Idleness:
        """Return that of a range of rows."""
        own = slice(begin, end)
        return _Idleness(self.model, self.thread[own], self.lane[own], self.group[own])

    def told(self, at: Ints, begin_ns: Ints, end_ns: Ints) -> Flags:
        """Tell for some rows whether all waits of the executor are known."""
        lost = maybe_lost(self.model, self.thread[at], begin_ns, end_ns)
        return self.model.clocks.waits.known(self.lane[at]) & ~lost

    def within(self, at: Ints, begin_ns: Ints, end_ns: Ints) -> Ints:
        """Return ns in which the executor was idle and could have picked the callback."""
        return self.model.clocks.idle(self.lane[at], self.group[at], begin_ns, end_ns)


def _idleness(model: Model, rows: Ints) -> _Idleness:
    """Return how long the executors of some executions were idle."""
    thread, callback = model.executions.thread[rows], model.executions.callback[rows]
    groups = np.append(model.groups.of_callback, NONE)
    return _Idleness(model, thread, model.executors.lane(thread), groups[callback])


class _Grid:
    """The grids of one timer, over its fires in order of time; `place` fills the columns."""

    def __init__(self, period_ns: int, called_ns: Ints, idleness: _Idleness) -> None:
        count = len(called_ns)
        self._period_ns = period_ns
        self._tolerance_ns = min(TOLERANCE_NS, period_ns // 4)
        self._called_ns = called_ns
        self._idleness = idleness
        self.expected_ns = np.full(count, NONE, np.int64)
        self.skipped = np.zeros(count, np.int64)
        self.cause = np.full(count, ON_GRID, np.int64)

    def place(self, begin_ns: int, dropped_until_ns: int) -> None:
        """Find when each fire was due, on the grid from `begin_ns` and on those after it.

        Fires before `dropped_until_ns` were dropped: the first that is there skipped no period.
        """
        if self._period_ns <= 0:
            # Always ready: never due.
            self.cause[:] = IRREGULAR
            return
        first, base = 0, begin_ns
        if begin_ns < dropped_until_ns and len(self._called_ns):
            since_ns = int(self._called_ns[0]) + self._tolerance_ns - begin_ns
            base += max(0, since_ns // self._period_ns - 1) * self._period_ns
        for _ in range(MOST_GRIDS):
            stop = self._place_one(first, base)
            if stop == len(self.cause):
                return
            first, base = stop + 1, int(self._called_ns[stop])
        self.cause[first:] = IRREGULAR

    def _place_one(self, first: int, base: int) -> int:
        """Place the fires from `first` on, up to one that begins a new grid; return which that is.

        Of that one only the cause is filled in.
        """
        count, found = FIRES_AT_ONCE, None
        while found is None:
            called = self._called_ns[first : first + count]
            found = self._departures(first, base, called)
            count *= 4
        due, cause, late, stop = found
        length = len(called) if stop == NONE else stop
        kept = slice(first, first + length)
        # A grid that a fire began lies late by that fire's own lateness; the most punctual fire on
        # it tells by how much at least.
        punctual = int((called[:length] - due[:length]).min(initial=0))
        self.expected_ns[kept] = due[:length] + (punctual if first else 0)
        self.skipped[kept] = late[:length]
        self.cause[first : first + length + 1] = cause[: length + 1]
        return first + length

    def _departures(
        self, first: int, base: int, called: Ints
    ) -> tuple[Ints, Ints, Ints, int] | None:
        """When fires from `first` on are due, their causes, periods skipped, and which fire begins
        a new grid, or `NONE`; a grid that began later than its fires tell is moved.

        `called` are the calls of the first of these fires. None: these do not say where the grid
        ends, as more follow.
        """
        more = first + len(called) < len(self._called_ns)
        moved_by: list[int] = []
        while True:
            due = self._due(base, called)
            late = np.maximum((called - due) // self._period_ns, 0)
            cause = self._why(first, called, due, late)
            phase = called - due - late * self._period_ns
            # A little before a point that passed is on the grid, as a little before a due one is.
            phase[phase >= self._period_ns - self._tolerance_ns] -= self._period_ns
            agreed = self._agreed(phase, moved_by)
            paused = np.flatnonzero(cause == PAUSED)
            shown = agreed[paused] & self._elsewhere(phase, paused)
            cause[paused[~shown]] = UNDECIDED
            ends = np.flatnonzero(np.isin(cause, (PAUSED, EARLY)))
            stop = int(ends[0]) if len(ends) else NONE
            if more and (stop == NONE or stop >= len(called) - WITNESSES):
                return None
            begun_early = stop != NONE and cause[stop] == EARLY and not agreed[stop]
            if not begun_early or len(moved_by) == MOST_GRIDS:
                return due, cause, late, stop
            base += int(phase[stop])
            moved_by.append(stop)

    def _agreed(self, phase: Ints, moved_by: list[int]) -> Flags:
        """Tell for each fire whether one before it agreed with the begin of the grid.

        Those that the grid was moved by agree with themselves only.
        """
        near = np.abs(phase) <= self._tolerance_ns
        near[moved_by] = False
        out = np.zeros(len(phase), bool)
        out[1:] = np.logical_or.accumulate(near)[:-1]
        return out

    def _elsewhere(self, phase: Ints, at: Ints) -> Flags:
        """Tell for some fires whether each and those after it agree on another grid."""
        far = np.iinfo(np.int64).max
        padded = np.concatenate([phase, np.full(WITNESSES, far)])
        windows = padded[at[:, None] + np.arange(WITNESSES)]
        near = np.sort(windows, axis=1)[:, :2]
        apart = near[:, 0] > self._tolerance_ns
        agree = (near[:, 1] < far) & (near[:, 1] - near[:, 0] <= self._tolerance_ns)
        return np.asarray(apart & agree)

    def _due(self, base: int, called_ns: Ints) -> Ints:
        """The next call time of rcl before each call: on the grid, after both the call before and
        the time that one was due at.
        """
        last = np.r_[np.int64(base), called_ns[:-1]][: len(called_ns)]
        after = (last - base) // self._period_ns + 1
        # k[i] = max(after[i], k[i - 1] + 1), as k[i] - i = max(after[j] - j) over j <= i.
        number = np.arange(len(after))
        return base + self._period_ns * (np.maximum.accumulate(after - number) + number)

    def _why(self, first: int, called: Ints, due: Ints, late: Ints) -> Ints:
        out = np.where(called < due - self._tolerance_ns, EARLY, ON_GRID)
        at = np.flatnonzero(late > 0)
        idle = self._idleness.within(first + at, due[at], called[at])
        told = self._idleness.told(first + at, due[at], called[at])
        out[at] = np.where(told & (idle < self._period_ns // 2), OVERRUN, UNDECIDED)
        out[at[told & (idle >= self._period_ns + WAKE_UP_NS)]] = PAUSED
        return out
