# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What the thread of a layer was doing in it: running, preempted, blocked, or unknown.

Only layers that belong to one thread (strata.layers.stretches). The four parts add up to the layer
exactly. All that the kernel's events do not cover is unknown; so is, without events of waking, when
a thread was woken: in wake-up, blocked and preempted cannot be distinguished then, as something was
there to wake it from the begin on.

While a thread is preempted it waits in the queue of a CPU: by whom it is preempted is who had that
CPU meanwhile, `IDLE` where nobody had (the CPU was leaving idle, or the thread was moved). Of
executor wait that is told of the time outside of callbacks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from strata.engine import _model as engine
from strata.layers.links import Links
from strata.layers.stretches import (
    LAYERS,
    Columns,
    Occupations,
    Stretches,
    find_stretches,
    occupations,
    threads_of,
)
from strata.layers.transfers import Transfers
from strata.model.build import Model
from strata.model.columns import Ints
from strata.schema import layers as names


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


class Scheduled(NamedTuple):
    """What the kernel's scheduler did with threads.

    `states`: thread, begin, end, state (of strata.model.thread_states) and CPU, by thread and time.
    `occupancy`: CPU, begin, end, tid and name of who had each CPU, at least while a thread was
    preempted on it; names are numbers of `words`, or `NONE`. `woken`: there are events of waking.
    """

    states: Columns
    occupancy: Columns
    words: npt.NDArray[np.object_]
    woken: bool


def scheduled_of_model(model: Model) -> Scheduled | None:
    """Return what the model has of the scheduler; None without its events."""
    if not model.scheduling.known:
        return None
    did, had = model.scheduling.intervals, model.scheduling.occupancy
    return Scheduled(
        (did.thread, did.start_ns, did.end_ns, did.state, did.cpu),
        (had.cpu, had.start_ns, had.end_ns, had.tid, had.name),
        model.scheduling.names,
        model.scheduling.woken,
    )


def layer_times(model: Model, transfers: Transfers, links: Links) -> tuple[LayerTimes, Preemptions]:
    """Divide the layers of all messages; without events of the kernel there is no row."""
    scheduled = scheduled_of_model(model)
    if scheduled is None:
        empty = np.empty(0, np.int64)
        return LayerTimes(*[empty] * 7), Preemptions(
            empty, empty, empty, np.empty(0, object), empty
        )
    own = find_stretches(threads_of(model, transfers), transfers, links)
    return divide(own, occupations(model), scheduled)


def divide(
    own: Stretches, did: Occupations, scheduled: Scheduled
) -> tuple[LayerTimes, Preemptions]:
    """Divide stretches of layers by what their threads did."""
    states = scheduled.states
    running, preempted, blocked, unknown = engine.layer_times(own, states, did.waits, did.lane_of)
    if not scheduled.woken:
        # They may have been in the queue of a CPU.
        unsure = own.layer == LAYERS.index(names.WAKE_UP)
        blocked, unknown = np.where(unsure, 0, blocked), unknown + np.where(unsure, blocked, 0)
    keys = (own.message, own.layer)
    times = LayerTimes(*_joined((*keys, own.thread), (running, preempted, blocked, unknown), keys))
    found = engine.preemptions(own, states, scheduled.occupancy, *did)
    message, layer, tid, name, duration_ns = found
    rows = (message, layer, tid, name)
    message, layer, tid, name, duration_ns = _joined(rows, (duration_ns,), rows)
    words = np.append(scheduled.words, "")
    return times, Preemptions(message, layer, tid, words[name], duration_ns)


def _joined(labels: Columns, amounts: Columns, keys: Columns) -> list[Ints]:
    """Add up the rows of one key: a layer may be two stretches. Others stay as they are."""
    stacked = np.stack(keys)
    distinct, first, of = np.unique(stacked, axis=1, return_index=True, return_inverse=True)
    if distinct.shape[1] == stacked.shape[1]:
        return [*labels, *amounts]
    order = np.argsort(first, kind="stable")
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    sums = []
    for column in amounts:
        total = np.zeros(len(order), np.int64)
        np.add.at(total, place[of.ravel()], column)
        sums.append(total)
    return [*(column[first[order]] for column in labels), *sums]
