# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What the thread of a layer was doing in it: running, preempted, blocked, or unknown.

Only layers that belong to one thread (strata.layers.stretches). The four parts add up to the layer
exactly. All that the kernel's events do not cover is unknown; so is, without events of waking, when
a thread was woken: in wake-up, blocked and preempted cannot be told apart then, as something was
there to wake it from the begin on.

While a thread is preempted it waits in the queue of a CPU: by whom it is preempted is who had that
CPU meanwhile, `IDLE` where nobody had (the CPU was leaving idle, or the thread was moved). Of
executor wait that is told of the time outside of callbacks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from strata.layers.links import Links
from strata.layers.stretches import LAYERS, Occupations, Stretches, find_stretches
from strata.layers.transfers import Transfers
from strata.model.build import Model
from strata.model.clocks import Clock, Overlap
from strata.model.columns import NONE, Ints
from strata.model.scheduling import IDLE, Occupancy
from strata.model.search import overlapping, sums
from strata.model.thread_states import Intervals, State
from strata.schema import layers as names

STATES = (State.RUNNING, State.PREEMPTED, State.BLOCKED)


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

    Of executor wait, to what of that lies outside of callbacks.

    `tid` is the kernel's id of who had the CPU, `IDLE` for nobody, `NONE` when unknown.
    """

    message: Ints
    layer: Ints
    tid: Ints
    name: npt.NDArray[np.object_]
    duration_ns: Ints


def layer_times(model: Model, transfers: Transfers, links: Links) -> tuple[LayerTimes, Preemptions]:
    """Divide the layers of all messages; without events of the kernel there is no row."""
    if not model.scheduling.known:
        empty = np.empty(0, np.int64)
        return LayerTimes(*[empty] * 7), Preemptions(
            empty, empty, empty, np.empty(0, object), empty
        )
    stretches = find_stretches(model, transfers, links)
    waits = model.clocks.waits
    intervals = model.scheduling.intervals
    running, preempted, blocked = (_spent(stretches, intervals, s, model, waits) for s in STATES)
    if not model.scheduling.woken:
        # They may have been in the queue of a CPU.
        blocked = np.where(stretches.layer == LAYERS.index(names.WAKE_UP), 0, blocked)
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
    return times, _preemptions(model, stretches)


def _spent(
    stretches: Stretches, intervals: Intervals, state: State, model: Model, waits: Clock
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


def _preemptions(model: Model, stretches: Stretches) -> Preemptions:
    """Add up who had the CPU while the thread of each stretch was preempted."""
    intervals, occupancy = model.scheduling.intervals, model.scheduling.occupancy
    own = np.flatnonzero(intervals.state == State.PREEMPTED)
    row, piece = overlapping(
        (stretches.thread, stretches.begin_ns, stretches.end_ns),
        (intervals.thread[own], intervals.start_ns[own], intervals.end_ns[own]),
    )
    piece = own[piece]
    begin_ns = np.maximum(stretches.begin_ns[row], intervals.start_ns[piece])
    end_ns = np.minimum(stretches.end_ns[row], intervals.end_ns[piece])
    inner, had = overlapping(
        (intervals.cpu[piece], begin_ns, end_ns),
        (occupancy.cpu, occupancy.start_ns, occupancy.end_ns),
    )
    had_begin = np.maximum(begin_ns[inner], occupancy.start_ns[had])
    had_end = np.minimum(end_ns[inner], occupancy.end_ns[had])
    did = Occupations(model)
    known = stretches.apart(row[inner], did, had_begin, had_end)
    whole = stretches.apart(row, did, begin_ns, end_ns)
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


def _added_up(
    model: Model, stretches: Stretches, row: Ints, tid: Ints, name: Ints, duration_ns: Ints
) -> Preemptions:
    kept = duration_ns > 0
    row = row[kept]
    keys = np.stack([stretches.message[row], stretches.layer[row], tid[kept], name[kept]])
    groups, inverse = np.unique(keys, axis=1, return_inverse=True)
    total = sums(inverse.reshape(-1), duration_ns[kept], groups.shape[1])
    words = np.append(model.scheduling.names, "")
    return Preemptions(groups[0], groups[1], groups[2], words[groups[3]], total)
