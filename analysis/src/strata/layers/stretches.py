# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The stretches of time of layers that belong to one thread.

Of the publishing thread client publish and hold, and driver where the same thread read the data; of
the taking thread wake-up, executor wait, take and client take, and of the thread of the callback
the callback.

Wake-up and executor wait are the same stretch of time, from the instant at which the message could
have been picked to the pick, divided by whether the executor was idle (strata.layers.waiting); so
are their parts. Where the message's callback group excludes itself (multi-threaded executors), they
are not divided here, and have no rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from strata.layers.links import KINDS, Links
from strata.layers.transfers import Transfers
from strata.model.build import Model
from strata.model.clocks import Clock, Overlap
from strata.model.columns import NONE, Ints
from strata.model.search import pick
from strata.schema import layers as names
from strata.schema.layers import Layer

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
"""The layers that belong to one thread; `Stretches.layer` is an index of it."""


class Occupations:
    """What the threads that take messages did: executors' waits, and callbacks on each thread."""

    def __init__(self, model: Model) -> None:
        ran = model.executions
        ended = ran.end_ns != NONE
        self.waits = model.clocks.waits
        self._callbacks = Clock(ran.thread[ended], ran.start_ns[ended], ran.end_ns[ended])
        lane = model.executors.lane(self._callbacks.lane)
        self._both = Overlap(self._callbacks, self.waits, lane)

    def in_callbacks(self, thread: Ints, lane: Ints, begin_ns: Ints, end_ns: Ints) -> Ints:
        """Return ns in which a thread ran callbacks, and its executor was not idle."""
        whole = self._callbacks.within(thread, begin_ns, end_ns)
        return whole - self._both.within(thread, lane, begin_ns, end_ns)


@dataclass(frozen=True)
class Stretches:
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

    def apart(self, rows: Ints, did: Occupations, begin_ns: Ints, end_ns: Ints) -> Ints:
        """Return how much of pieces counts; of executor wait, without the callbacks that ran.

        These have their own rows, under the messages that they are of.
        """
        counted = self.counted(rows, did.waits, begin_ns, end_ns)
        ran = did.in_callbacks(self.thread[rows], self.lane[rows], begin_ns, end_ns)
        return counted - np.where(self.idle[rows] == 0, ran, 0)


def find_stretches(model: Model, transfers: Transfers, links: Links) -> Stretches:
    """Return the stretches of the layers that each message has."""
    publisher = model.publications.thread[transfers.publication]
    taker = model.takes.thread[transfers.take]
    runner = pick(model.executions.thread, transfers.execution)
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
    return Stretches(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _holds(transfers: Transfers, links: Links) -> tuple[Ints, Ints]:
    """Begin and duration of the hold in which each message was published; or `NONE`.

    A hold with a suspension in it is no stretch: its thread did other things in between.
    """
    own = np.flatnonzero((links.kind == KINDS.index("callback")) & (links.suspended_ns == NONE))
    begin_ns = np.full(len(transfers), NONE, np.int64)
    hold_ns = np.full(len(transfers), NONE, np.int64)
    begin_ns[links.child[own]] = transfers.callback_start_ns[links.parent[own]]
    hold_ns[links.child[own]] = links.hold_ns[own]
    return begin_ns, hold_ns
