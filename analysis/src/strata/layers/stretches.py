# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The stretches of time of layers that belong to one thread.

Of the publishing thread client publish and hold, and driver where the same thread read the data; of
the taking thread wake-up, executor wait, take and client take, and of the thread of the callback
the callback.

Wake-up and executor wait are the same stretch of time, from the instant at which the message could
have been picked to when it was found, divided by whether the executor was idle
(strata.layers.waiting); so are their parts. From then on to the pick is executor wait, a stretch of
its own where the two differ. Where the message's callback group excludes itself (multi-threaded
executors), they are not divided here, and have no rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from strata.engine._model import cut_stretches
from strata.layers.links import KINDS, Links
from strata.layers.transfers import Transfers
from strata.model.build import Model
from strata.model.columns import NONE, Ints
from strata.model.search import pick
from strata.schema import layers as names
from strata.schema.layer import Layer

Columns = Sequence[Ints]

LAYERS: tuple[Layer, ...] = names.OF_ONE_THREAD
"""The layers that belong to one thread; `Stretches.layer` is an index of it."""


class Occupations(NamedTuple):
    """What the threads that take messages did, as columns: (lane or thread, begin, end).

    `waits` for work of executors by lane, `callbacks` by thread; `lane_of` is of each thread.
    """

    waits: Columns
    callbacks: Columns
    lane_of: Ints


def occupations(model: Model) -> Occupations:
    """Return what the model's threads did."""
    waits, ran = model.waits, model.executions
    threads = np.arange(len(model.processes.thread_process), dtype=np.int64)
    return occupations_of(
        (waits.thread, waits.start_ns, waits.end_ns),
        (ran.thread, ran.start_ns, ran.end_ns),
        model.executors.lane(threads),
    )


def occupations_of(waits: Columns, executions: Columns, lane_of: Ints) -> Occupations:
    """Return what threads did, of waits for work and executions: thread, begin, end or `NONE`."""
    thread, start_ns, end_ns = executions
    ended = end_ns != NONE
    return Occupations(
        (lane_of[waits[0]], waits[1], waits[2]),
        (thread[ended], start_ns[ended], end_ns[ended]),
        lane_of,
    )


class MessageThreads(NamedTuple):
    """Threads of each message, or `NONE`.

    Which published it, which took it, of its callback, and which told its reader of it.
    """

    publisher: Ints
    taker: Ints
    runner: Ints
    receiver: Ints


def threads_of(model: Model, transfers: Transfers) -> MessageThreads:
    """Return the threads of the model's messages."""
    return MessageThreads(
        model.publications.thread[transfers.publication],
        model.takes.thread[transfers.take],
        pick(model.executions.thread, transfers.execution),
        model.middleware.notified.thread[transfers.take],
    )


class Stretches(NamedTuple):
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


def find_stretches(threads: MessageThreads, transfers: Transfers, links: Links) -> Stretches:
    """Return the stretches of the layers that each message has."""
    publisher, taker, runner, _ = threads
    ready_ns, picked_ns = transfers.waiting_from_ns, transfers.picked_ns
    found_ns = np.where(picked_ns == NONE, NONE, transfers.found_ns)
    held_from_ns, held_ns = _holds(transfers, links)
    start_ns, end_ns = transfers.callback_start_ns, transfers.callback_end_ns
    origin = transfers.origin
    reader = np.where(origin.thread == publisher, publisher, NONE)
    rows = {
        names.DRIVER: (reader, origin.read_ns, transfers.publish_ns),
        names.CLIENT_PUBLISH: (publisher, transfers.publish_ns, transfers.handed_ns),
        names.WAKE_UP: (taker, ready_ns, found_ns),
        names.EXECUTOR_WAIT: (taker, ready_ns, found_ns),
        names.TAKE: (taker, picked_ns, transfers.taken_ns),
        names.CLIENT_TAKE: (taker, transfers.taken_ns, start_ns),
        names.CALLBACK: (runner, start_ns, end_ns),
        names.HOLD: (publisher, held_from_ns, held_from_ns + held_ns),
    }
    none = np.full(len(transfers), NONE, np.int64)
    layers = []
    for number, layer in enumerate(LAYERS):
        idle = {names.WAKE_UP: 1, names.EXECUTOR_WAIT: 0}.get(layer, NONE)
        ns = held_ns if layer is names.HOLD else transfers.durations.get(layer.column, none)
        layers.append((number, idle, *rows[layer], ns))
        if layer is names.EXECUTOR_WAIT and (found_ns < picked_ns).any():
            # Found, and not yet picked: whatever other threads of the executor did meanwhile.
            rest_ns = np.where((ns != NONE) & (found_ns < picked_ns), picked_ns - found_ns, NONE)
            layers.append((number, NONE, taker, found_ns, picked_ns, rest_ns))
    waiting = transfers.waiting
    return Stretches(*cut_stretches(layers, waiting.lane, waiting.group))


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
