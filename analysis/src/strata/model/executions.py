# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Executions of callbacks and waits of executors: intervals on a thread.

Pairing is a state machine for each (thread, callback), run over whole columns:

    state     event           new state   what it means
    idle      callback_start  running     an execution begins
    running   callback_end    idle        it ends: paired
    running   callback_start  running     the first never ended (an rclcpp callback threw, or its
                                          end was lost): no end, counted
    idle      callback_end    idle        the trace began in mid-callback, or the start was lost:
                                          counted

While events were being lost, an end may be that of a later execution: one that was running then
has no end that is known, and is counted.

A wait of an executor goes from wait_for_work to the next get_next_ready of its thread; a wait that
another wait_for_work, a callback or the end of the trace follows has no end and is left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from strata.engine.groups import values_at
from strata.model.columns import NONE, EventColumns, Ints
from strata.model.entities import Callbacks
from strata.model.naming import callback_places
from strata.model.search import Lifetimes, pick
from strata.model.timeline import EVENT_OF, Kind, Timeline
from strata.model.windows import NO_LOSSES, Windows, first_touching, touched
from strata.schema.quality import Ledger
from strata.schema.rows import are_all


@dataclass(frozen=True)
class Executions:
    """Executions of callbacks in timeline order; `end_ns` is `NONE` for one that never ended.

    `until` bounds an execution for asking what ran inside it: the position of its end, or for one
    without, of the next executor event or callback of its thread, or of its first event after
    others were lost. `until_ns` is when that was, or when the first was lost.

    A coroutine callback of rclpy has one row a piece that ran (strata.model.suspensions). `first`
    and `last` are the rows of the pieces of one execution, `finished_ns` the end of the whole,
    `paused_ns` how long it was suspended before the row's own piece; `resumed` marks pieces that go
    on with an execution, `previous` is the piece before or `NONE`. Of all others first and last are
    the row itself.
    """

    start: Ints
    until: Ints
    start_ns: Ints
    end_ns: Ints
    until_ns: Ints
    thread: Ints
    callback: Ints
    intra_process: Ints
    depth: Ints
    first: Ints
    last: Ints
    previous: Ints
    resumed: npt.NDArray[np.bool_]
    finished_ns: Ints
    paused_ns: Ints

    def __len__(self) -> int:
        return len(self.start)

    @property
    def suspended_ns(self) -> Ints:
        """How long the execution of each row was suspended in all."""
        return self._of_whole(self.paused_ns)

    @property
    def over_ns(self) -> Ints:
        """Until when the execution of each row is known to have gone on, suspensions included."""
        return self._of_whole(self.until_ns)

    def _of_whole(self, values: Ints) -> Ints:
        last = self.last
        return values if are_all(last, len(values)) else values_at(values, last)

    def enclosing(self, at: Ints) -> Ints:
        """Return the innermost execution around each timeline position, by its first piece.

        `NONE` outside of all.
        """
        return pick(self.first, self.innermost(at))

    def innermost(self, at: Ints) -> Ints:
        """Return the innermost piece around each timeline position; `NONE` outside of all."""
        best = np.full(len(at), NONE, np.int64)
        best_start = np.full(len(at), NONE, np.int64)
        for rows in self._disjoint():
            place = np.searchsorted(self.start[rows], at, side="left") - 1
            row = rows[np.maximum(place, 0)]
            inside = (place >= 0) & (self.until[row] > at) & (self.start[row] > best_start)
            best = np.where(inside, row, best)
            best_start = np.where(inside, self.start[row], best_start)
        return best

    def _disjoint(self) -> Iterator[Ints]:
        """Rows of which no two overlap, in order: those of one depth, unless they do not nest."""
        for level in np.unique(self.depth):
            rows = np.flatnonzero(self.depth == level)
            while len(rows):
                over = np.zeros(len(rows), bool)
                over[1:] = self.start[rows[1:]] < np.maximum.accumulate(self.until[rows])[:-1]
                yield rows[~over]
                rows = rows[over]


NEXT_WORK = (
    Kind.RMW_TAKE,
    Kind.TAKE_REQUEST,
    Kind.TAKE_RESPONSE,
    Kind.DEQUEUE,
    Kind.EXECUTE,
    Kind.CALLBACK_END,
    Kind.SEND_RESPONSE,
    Kind.WAIT,
    Kind.READY,
)
"""What a thread does not do between a take and the callback that gets what was taken."""


AFTER_WORK = (
    Kind.CALLBACK_START,
    Kind.CALLBACK_END,
    Kind.WAIT,
    Kind.READY,
    Kind.EXECUTE,
)
"""What a thread does after a callback that has no end, and so bounds it."""


@dataclass(frozen=True)
class Waits:
    """Intervals in which a thread waited for work."""

    start_ns: Ints
    end_ns: Ints
    thread: Ints


def pair_executions(
    events: EventColumns,
    timeline: Timeline,
    callbacks: Callbacks,
    ledger: Ledger,
    losses: Windows = NO_LOSSES,
) -> Executions:
    """Pair callback_start with callback_end; see the module's state machine."""
    at = timeline.positions(Kind.CALLBACK_START, Kind.CALLBACK_END)
    is_start = timeline.kind[at] == Kind.CALLBACK_START
    address = np.empty(len(at), np.int64)
    for kind, mask in ((Kind.CALLBACK_START, is_start), (Kind.CALLBACK_END, ~is_start)):
        values = events.ints(EVENT_OF[kind], "callback")
        address[mask] = values[timeline.row[at[mask]]]
    order = np.lexsort((at, address, timeline.thread[at]))
    sorted_start, sorted_address = is_start[order], address[order]
    sorted_thread = timeline.thread[at[order]]
    same = (sorted_address[1:] == sorted_address[:-1]) & (sorted_thread[1:] == sorted_thread[:-1])
    paired = np.flatnonzero(sorted_start[:-1] & ~sorted_start[1:] & same)
    end_of = np.full(len(at), NONE, np.int64)
    end_of[order[paired]] = at[order[paired + 1]]

    start = at[is_start]
    end = end_of[is_start]
    ledger.add("callback_ends_without_start", int((~is_start).sum() - len(paired)))
    doubtful = (end != NONE) & touched(losses, timeline.ns[start], timeline.ns[end])
    unended = end == NONE
    end[doubtful] = NONE
    until, until_ns = _bounds(timeline, start, end, losses)
    found = _executions(
        events, timeline, callbacks, (start, end, until), until_ns, address[is_start]
    )
    for code, rows in (("callbacks_without_end", unended), ("callbacks_with_losses", doubtful)):
        places = callback_places(callbacks, found.callback[rows])
        ledger.add_each(code, places, found.start_ns[rows])
    return found


def first_after(timeline: Timeline, executions: Executions, at: Ints, losses: Windows) -> Ints:
    """Return the execution that began next after each take, on its thread; or `NONE`.

    Nothing else lies between, and no events were lost meanwhile. `at` are positions in the
    timeline.
    """
    if not len(executions):
        return np.full(len(at), NONE, np.int64)
    start = timeline.after(at, Kind.CALLBACK_START)
    barrier = timeline.after(at, *NEXT_WORK)
    near = (start != NONE) & ((barrier == NONE) | (start < barrier))
    near &= ~touched(losses, timeline.ns[at], timeline.ns_at(start))
    row = np.searchsorted(executions.start, start).clip(max=len(executions) - 1)
    # What goes on with an earlier execution was not started by a take.
    return np.where(near & ~executions.resumed[row], row, NONE)


def _bounds(timeline: Timeline, start: Ints, end: Ints, losses: Windows) -> tuple[Ints, Ints]:
    """Position and time up to which each execution is known to have run."""
    after = timeline.after(start, *AFTER_WORK)
    thread, start_ns = timeline.thread[start], timeline.ns[start]
    last = np.searchsorted(timeline.thread, thread, side="right") - 1
    until = np.where(end != NONE, end, np.where(after != NONE, after, last))
    until_ns = timeline.ns[until]
    if len(losses[0]):
        lost_ns = np.maximum(first_touching(losses, start_ns), start_ns)
        place = timeline.by_thread.position(thread, lost_ns, after_equal=False)
        cut = (end == NONE) & (lost_ns < until_ns)
        until = np.where(cut, np.maximum(place, start + 1), until)
        until_ns = np.where(cut, lost_ns, until_ns)
    return until, until_ns


def _executions(
    events: EventColumns,
    timeline: Timeline,
    callbacks: Callbacks,
    positions: tuple[Ints, Ints, Ints],
    until_ns: Ints,
    address: Ints,
) -> Executions:
    start, end, until = positions
    start_ns = timeline.ns[start]
    lives = Lifetimes(callbacks.process, callbacks.address, callbacks.begin_ns)
    row = timeline.row[start]
    process = events.process(EVENT_OF[Kind.CALLBACK_START])[row]
    found = lives.find(process, address, start_ns)
    intra = events.ints(EVENT_OF[Kind.CALLBACK_START], "is_intra_process")[row]
    every = np.arange(len(start), dtype=np.int64)
    end_ns = np.where(end != NONE, timeline.ns[end], NONE)
    return Executions(
        start,
        until,
        start_ns,
        end_ns,
        until_ns,
        timeline.thread[start],
        found,
        intra,
        _depth(start, until),
        every,
        every,
        np.full(len(start), NONE, np.int64),
        np.zeros(len(start), bool),
        end_ns,
        np.zeros(len(start), np.int64),
    )


def _depth(start: Ints, until: Ints) -> Ints:
    """How many executions are open at each start, itself included; 1 is the outermost."""
    # Both are positions of one timeline in which threads never overlap.
    opened = np.arange(1, len(start) + 1)
    closed = np.searchsorted(np.sort(until), start, side="right")
    # One that is the last event of its thread is not over before it began.
    return (opened - closed + (until <= start)).astype(np.int64)


def pair_waits(events: EventColumns, timeline: Timeline) -> Waits:
    """Return the waits that ended in the trace, those that it began in the midst of included.

    Of a thread without events of an executor, its waits within the middleware, where they were
    recorded.
    """
    executor = _pair(timeline, Kind.WAIT, Kind.READY)
    opening = opening_waits(events, timeline)
    first_ns = np.full(len(opening), timeline.ns.min() if len(timeline) else 0, np.int64)
    middleware = _pair(timeline, Kind.WAIT_BEGIN, Kind.WAIT_END)
    known = np.concatenate([executor.thread, timeline.thread[opening]])
    other = ~np.isin(middleware.thread, known)
    return Waits(
        np.concatenate([executor.start_ns, first_ns, middleware.start_ns[other]]),
        np.concatenate([executor.end_ns, timeline.ns[opening], middleware.end_ns[other]]),
        np.concatenate([known, middleware.thread[other]]),
    )


def open_waits(timeline: Timeline, end_ns: Ints, losses: Windows = NO_LOSSES) -> Waits:
    """Return the waits that were open when the trace ended: the last that their threads did.

    `end_ns` has one row a thread: the last event of its host. Where events were lost after a wait
    began, it is known to have gone on up to the losses only.
    """
    last = np.ones(len(timeline), bool)
    last[:-1] = timeline.thread[1:] != timeline.thread[:-1]
    kind = timeline.kind
    # rclpy's wait holds one of the middleware in it; that one was told of after it.
    inner = np.zeros(len(timeline), bool)
    inner[1:] = (kind[1:] == Kind.WAIT_BEGIN) & (kind[:-1] == Kind.WAIT)
    inner[1:] &= timeline.thread[1:] == timeline.thread[:-1]
    at = np.flatnonzero(last & np.isin(kind, (Kind.WAIT, Kind.WAIT_BEGIN)))
    thread, start_ns = timeline.thread[at], timeline.ns[at - inner[at]]
    until_ns = np.minimum(end_ns[thread], np.maximum(first_touching(losses, start_ns), start_ns))
    return Waits(start_ns, np.maximum(until_ns, start_ns), thread)


def opening_waits(events: EventColumns, timeline: Timeline) -> Ints:
    """Return the positions at which waits end that began before the trace.

    In a process that was there before the trace began, the first that a thread does is to come back
    from a wait, unless the trace began while it did something else.
    """
    event = "ros2:rcl_node_init"
    new = np.isin(events.processes.thread_process[timeline.thread], events.process(event))
    first = np.ones(len(timeline), bool)
    first[1:] = timeline.thread[1:] != timeline.thread[:-1]
    return np.flatnonzero(first & ~new & (timeline.kind == Kind.READY)).astype(np.int64)


def paired_waits(timeline: Timeline, begin: Kind, end: Kind) -> tuple[Ints, Ints]:
    """Return the positions at which waits begin and end.

    Nothing else happens on a thread while it waits: where a callback lies in between, the end of
    the wait was lost.
    """
    at = timeline.positions(begin, end, Kind.EXECUTE, Kind.CALLBACK_START, Kind.CALLBACK_END)
    kind, thread = timeline.kind[at], timeline.thread[at]
    ended = (kind[:-1] == begin) & (kind[1:] == end) & (thread[:-1] == thread[1:])
    found = np.flatnonzero(ended)
    return at[found], at[found + 1]


def _pair(timeline: Timeline, begin: Kind, end: Kind) -> Waits:
    first, last = paired_waits(timeline, begin, end)
    return Waits(timeline.ns[first], timeline.ns[last], timeline.thread[first])
