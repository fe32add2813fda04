# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What the thread of a layer was doing in it: running, preempted, blocked, or unknown.

Only layers that belong to one thread: of the publishing thread client publish and hold, and driver
where the same thread read the data; of the taking thread wake-up, executor wait, take and client
take, and of the thread of the callback the callback. The four parts add up to the layer exactly.
All that the kernel's events do not cover is unknown.

Wake-up and executor wait are the same stretch of time, from the instant at which the message could
have been picked to the pick, divided by whether the executor was idle (strata.layers.waiting); so
are their parts. Where the message's callback group excludes itself (multi-threaded executors), they
are not divided here, and have no rows.

While a thread is preempted it waits in the queue of a CPU: by whom it is preempted is who had that
CPU meanwhile, `IDLE` where nobody had (the CPU was leaving idle, or the thread was moved).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from strata.layers.links import KINDS, Links
from strata.layers.transfers import Transfers
from strata.model.build import Model
from strata.model.clocks import Clock, Overlap
from strata.model.columns import NONE, Ints
from strata.model.scheduling import IDLE, Occupancy
from strata.model.search import GroupedSearch, spread, sums
from strata.model.thread_states import Intervals, State
from strata.schema import layers as names
from strata.schema.layers import Layer

STATES = (State.RUNNING, State.PREEMPTED, State.BLOCKED)
LAYERS: tuple[Layer, ...] = (
    names.DRIVER,
    names.CLIENT_PUBLISH,
    names.WAKE_UP,
    names.EXECUTOR_WAIT,
    names.TAKE,
    names.CLIENT_TAKE,
    names.CALLBACK,
    names.HOLD,
)
"""The layers that belong to one thread; `LayerTimes.layer` is an index of it."""


@dataclass(frozen=True)
class LayerTimes:
    """Rows of (message, layer); the times add up to the layer's. `thread` is of the model."""

    message: Ints
    layer: Ints
    thread: Ints
    running_ns: Ints
    preempted_ns: Ints
    blocked_ns: Ints
    unknown_ns: Ints


@dataclass(frozen=True)
class Preemptions:
    """Rows of (message, layer, by whom); the times of a message's layer add up to `preempted_ns`.

    `tid` is the kernel's id of who had the CPU, `IDLE` for nobody, `NONE` when unknown.
    """

    message: Ints
    layer: Ints
    tid: Ints
    name: npt.NDArray[np.object_]
    duration_ns: Ints


@dataclass(frozen=True)
class _Stretches:
    """Stretches of time of a message and layer on a thread.

    `lane` is the thread's executor. `idle`: 1 when only the time counts in which the executor was
    idle, 0 when only the rest does, `NONE` when all.
    """

    message: Ints
    layer: Ints
    thread: Ints
    begin_ns: Ints
    end_ns: Ints
    lane: Ints
    idle: Ints

    def counted(self, rows: Ints, waits: Clock, begin_ns: Ints, end_ns: Ints) -> Ints:
        """Return how much of pieces of stretches counts."""
        idle, whole = self.idle[rows], end_ns - begin_ns
        waited = waits.within(self.lane[rows], begin_ns, end_ns)
        return np.where(idle == NONE, whole, np.where(idle == 1, waited, whole - waited))


def layer_times(model: Model, transfers: Transfers, links: Links) -> tuple[LayerTimes, Preemptions]:
    """Divide the layers of all messages; without events of the kernel there is no row."""
    if not model.scheduling.known:
        empty = np.empty(0, np.int64)
        return LayerTimes(*[empty] * 7), Preemptions(
            empty, empty, empty, np.empty(0, object), empty
        )
    stretches = _stretches(model, transfers, links)
    waits = model.clocks.waits
    intervals = model.scheduling.intervals
    running, preempted, blocked = (_spent(stretches, intervals, s, model, waits) for s in STATES)
    every = np.arange(len(stretches.message))
    whole = stretches.counted(every, waits, stretches.begin_ns, stretches.end_ns)
    times = LayerTimes(
        stretches.message,
        stretches.layer,
        stretches.thread,
        running,
        preempted,
        blocked,
        whole - running - preempted - blocked,
    )
    return times, _preemptions(model, stretches, waits)


def _stretches(model: Model, transfers: Transfers, links: Links) -> _Stretches:
    """Return the stretches of the layers that each message has."""
    publisher = model.publications.thread[transfers.publication]
    taker = model.takes.thread[transfers.take]
    ran = transfers.execution != NONE
    runner = np.full(len(transfers), NONE, np.int64)
    runner[ran] = model.executions.thread[transfers.execution[ran]]
    ready_ns, picked_ns = transfers.waiting_from_ns, transfers.picked_ns
    held_from_ns, held_ns = _holds(transfers, links)
    start_ns, end_ns = transfers.callback_start_ns, transfers.callback_end_ns
    origin = transfers.origin
    reader = np.where(origin.thread == publisher, publisher, NONE)
    rows = {
        names.DRIVER: (reader, origin.read_ns, transfers.publish_ns),
        names.CLIENT_PUBLISH: (publisher, transfers.publish_ns, transfers.handed_ns),
        names.WAKE_UP: (taker, ready_ns, picked_ns),
        names.EXECUTOR_WAIT: (taker, ready_ns, picked_ns),
        names.TAKE: (taker, picked_ns, transfers.taken_ns),
        names.CLIENT_TAKE: (taker, transfers.taken_ns, start_ns),
        names.CALLBACK: (runner, start_ns, end_ns),
        names.HOLD: (publisher, held_from_ns, held_from_ns + held_ns),
    }
    alone = transfers.waiting.group == NONE
    none = np.full(len(transfers), NONE, np.int64)
    parts = []
    for number, layer in enumerate(LAYERS):
        thread, begin_ns, until_ns = rows[layer]
        idle = {names.WAKE_UP: 1, names.EXECUTOR_WAIT: 0}.get(layer, NONE)
        ns = held_ns if layer is names.HOLD else transfers.durations.get(layer.column, none)
        whole = until_ns - begin_ns == ns if idle == NONE else alone & (until_ns >= begin_ns)
        there = (ns != NONE) & (thread != NONE) & (begin_ns != NONE) & whole
        message = np.flatnonzero(there).astype(np.int64)
        parts.append(
            (
                message,
                np.full(len(message), number, np.int64),
                thread[there],
                begin_ns[there],
                until_ns[there],
                transfers.waiting.lane[there],
                np.full(len(message), idle, np.int64),
            )
        )
    return _Stretches(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _holds(transfers: Transfers, links: Links) -> tuple[Ints, Ints]:
    """Begin and duration of the hold in which each message was published; or `NONE`."""
    own = np.flatnonzero(links.kind == KINDS.index("callback"))
    begin_ns = np.full(len(transfers), NONE, np.int64)
    hold_ns = np.full(len(transfers), NONE, np.int64)
    begin_ns[links.child[own]] = transfers.callback_start_ns[links.parent[own]]
    hold_ns[links.child[own]] = links.hold_ns[own]
    return begin_ns, hold_ns


def _spent(
    stretches: _Stretches, intervals: Intervals, state: State, model: Model, waits: Clock
) -> Ints:
    """How long the thread was in a state in each stretch, as far as it counts."""
    own = intervals.state == state
    clock = Clock(intervals.thread[own], intervals.start_ns[own], intervals.end_ns[own])
    within = Overlap(clock, waits, model.executors.lane(clock.lane))
    thread, begin_ns, end_ns = stretches.thread, stretches.begin_ns, stretches.end_ns
    whole = clock.within(thread, begin_ns, end_ns)
    idle = within.within(thread, stretches.lane, begin_ns, end_ns)
    some = np.where(stretches.idle == 1, idle, whole - idle)
    return np.where(stretches.idle == NONE, whole, some)


def _preemptions(model: Model, stretches: _Stretches, waits: Clock) -> Preemptions:
    """Add up who had the CPU while the thread of each stretch was preempted."""
    intervals, occupancy = model.scheduling.intervals, model.scheduling.occupancy
    own = np.flatnonzero(intervals.state == State.PREEMPTED)
    asked = np.flatnonzero(stretches.idle != 0)
    row, piece = _overlapping(
        (stretches.thread[asked], stretches.begin_ns[asked], stretches.end_ns[asked]),
        (intervals.thread[own], intervals.start_ns[own], intervals.end_ns[own]),
    )
    row, piece = asked[row], own[piece]
    begin_ns = np.maximum(stretches.begin_ns[row], intervals.start_ns[piece])
    end_ns = np.minimum(stretches.end_ns[row], intervals.end_ns[piece])
    inner, had = _overlapping(
        (intervals.cpu[piece], begin_ns, end_ns),
        (occupancy.cpu, occupancy.start_ns, occupancy.end_ns),
    )
    had_begin = np.maximum(begin_ns[inner], occupancy.start_ns[had])
    had_end = np.minimum(end_ns[inner], occupancy.end_ns[had])
    known = stretches.counted(row[inner], waits, had_begin, had_end)
    whole = stretches.counted(row, waits, begin_ns, end_ns)
    seen = sums(inner, known, len(row))
    # Where nobody is known to have had the CPU: its first and last moments, and lost events.
    none = np.full(len(row), NONE, np.int64)
    return _added_up(
        model,
        stretches,
        np.concatenate([row[inner], row]),
        np.concatenate([occupancy.tid[had], none]),
        np.concatenate([_named(occupancy, had), none]),
        np.concatenate([known, whole - seen]),
    )


def _named(occupancy: Occupancy, rows: Ints) -> Ints:
    there = (occupancy.tid[rows] != NONE) & (occupancy.tid[rows] != IDLE)
    return np.where(there, occupancy.name[rows], NONE)


_Spans = tuple[Ints, Ints, Ints]


def _overlapping(asked: _Spans, spans: _Spans) -> tuple[Ints, Ints]:
    """Return the pairs of rows of one group that overlap; `spans` of a group never do.

    Both are (group, begin, end).
    """
    started = GroupedSearch(spans[0], spans[1])
    ended = GroupedSearch(spans[0], spans[2])
    first = ended.position(asked[0], asked[1], after_equal=True)
    last = started.position(asked[0], asked[2], after_equal=False)
    place, row = spread(first, last - first)
    return row, started.order[place]


def _added_up(
    model: Model, stretches: _Stretches, row: Ints, tid: Ints, name: Ints, duration_ns: Ints
) -> Preemptions:
    kept = duration_ns > 0
    row = row[kept]
    keys = np.stack([stretches.message[row], stretches.layer[row], tid[kept], name[kept]])
    groups, inverse = np.unique(keys, axis=1, return_inverse=True)
    total = sums(inverse.reshape(-1), duration_ns[kept], groups.shape[1])
    words = np.append(model.scheduling.names, "")
    return Preemptions(groups[0], groups[1], groups[2], words[groups[3]], total)
