# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The layers of every matched message.

    publish    rmw_publish          reader notified  picked  rmw_take  cb_start    cb_end
       |client    |     middleware      |wake-up,      | take  | client  | callback |
       |publish   |(layers/middleware)  |executor wait |       | take    |          |
                  P                     N              E
    taking thread: ===cb X====|..wait......|==cb Y=====|

From the instant at which the message was ready for its reader (N) to the pick (E), time is divided
by what the executor that took it was doing at every instant (layers/waiting.py):

* waiting for work (wait_for_work to get_next_ready): it had not come back yet -> *wake-up*;
* anything else -> *executor wait*: what it ran meanwhile is in `executor_blockers`.

Stock events do not show N. Then the same rule divides the time from rmw_publish (P): while the
executor waited for work nothing was ready for it, so the message was still with the middleware or
on the wire -> *middleware*; while it did anything else, it could not have taken the message however
early it came -> *executor wait*.

An intra-process message is ready as soon as it is stored: N is the enqueue, E the dequeue; there
is neither middleware nor take.

What lies before the publish of a message that a driver made of sensor data is layers/driver.

Where the thread has no waits in the trace (other executors, pool threads), the two are one merged
layer. All sums are exact: each instant of a message belongs to one layer.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from strata.engine import _model as engine
from strata.layers.driver import Origin, cut_origin
from strata.layers.middleware import Passage, cut_middleware
from strata.layers.waiting import Waiting, observe_waiting
from strata.model.build import Model
from strata.model.columns import NONE, Ints
from strata.model.search import column_at, known_or, pick
from strata.schema import checkpoints as at
from strata.schema import layers as names
from strata.schema.checkpoints import CHECKPOINTS
from strata.schema.quality import Findings
from strata.schema.rows import nulls

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Transfers:
    """Checkpoints of the matched messages, in order of take; `NONE` is null.

    `durations` holds one array a layer column (strata.schema.layers), `NONE` where the layer is not
    in the row. `publication` and `take` are rows of the model's. The message was handed over at
    `handed_ns`: rmw_publish, or the enqueue of an intra-process message; it was taken at
    `taken_ns`: rmw_take, or the dequeue. From `found_ns` on (strata.layers.waiting) no executor
    waited for it: the pick, or the take where that was not recorded, at the latest.
    """

    publication: Ints
    take: Ints
    method: Ints
    execution: Ints
    intra_process: Flags
    publish_ns: Ints
    handed_ns: Ints
    ready_ns: Ints
    found_ns: Ints
    picked_ns: Ints
    taken_ns: Ints
    callback_start_ns: Ints
    callback_end_ns: Ints
    origin: Origin
    passage: Passage
    waiting: Waiting
    unsynchronised: Flags
    durations: dict[str, Ints]

    def __len__(self) -> int:
        return len(self.take)

    @property
    def latency_ns(self) -> Ints:
        """From the arrival of sensor data, or the publish, to the last checkpoint."""
        return self.last_ns - self.origin.begin_ns

    @property
    def last_ns(self) -> Ints:
        """The last checkpoint of each row."""
        return np.maximum(np.maximum(self.taken_ns, self.callback_start_ns), self.callback_end_ns)

    @property
    def between_hosts_ns(self) -> Ints:
        """From the last checkpoint of the sender to the first of the reader; may be negative."""
        passage = self.passage
        left_ns = np.maximum(passage.serialize_end_ns, passage.sent_ns)
        came_ns = np.where(passage.received_ns != NONE, passage.received_ns, passage.notified_ns)
        return np.where(came_ns != NONE, came_ns, self.waiting_until_ns) - np.maximum(
            left_ns, self.handed_ns
        )

    @property
    def waiting_from_ns(self) -> Ints:
        """From when on each could have been picked, as far as is known."""
        told = self.passage.notified_ns
        # When another host handed it over is not known by the reader's clock.
        handed_ns = self.handed_ns
        if self.unsynchronised.any():
            handed_ns = np.where(self.unsynchronised, self.waiting_until_ns, handed_ns)
        return known_or(told, handed_ns)

    @property
    def waiting_until_ns(self) -> Ints:
        """When each was picked; where that was not recorded, taken."""
        return known_or(self.picked_ns, self.taken_ns)


@dataclass(frozen=True)
class _Rest:
    """Checkpoints beside those of the middleware; `waiting` is ns, from `begin_ns` to the pick."""

    execution: Ints
    intra_process: Flags
    client_ns: Ints
    handed_ns: Ints
    begin_ns: Ints
    notified: Flags
    picked_ns: Ints
    taken_ns: Ints
    start_ns: Ints
    end_ns: Ints
    suspended_ns: Ints
    waiting: Ints
    split: Flags
    apart: Flags


def cut_layers(model: Model) -> tuple[Transfers, Findings]:
    """Cut every matched message at its checkpoints, and tell what could not be cut."""
    (passage, uncut), waiting = cut_middleware(model), observe_waiting(model)
    publication, take = model.matches.publication, model.matches.take
    rest = _rest(model, passage, waiting)
    until_ns = known_or(rest.picked_ns, rest.taken_ns)
    found_ns = waiting.found(until_ns)
    ready_ns = waiting.last_return(found_ns)
    publish_ns = known_or(rest.client_ns, rest.handed_ns)
    frames, made_of = model.driver.frames, model.driver.made_of
    origin, unread = cut_origin(frames, made_of, publication, publish_ns)
    transfers = Transfers(
        publication,
        take,
        model.matches.method,
        rest.execution,
        rest.intra_process,
        publish_ns,
        rest.handed_ns,
        _kept(ready_ns, rest.split & (ready_ns >= rest.begin_ns)),
        np.minimum(np.maximum(found_ns, rest.begin_ns), until_ns),
        rest.picked_ns,
        rest.taken_ns,
        rest.start_ns,
        rest.end_ns,
        origin,
        passage,
        waiting,
        rest.apart,
        origin.durations | _durations(rest, passage),
    )
    return transfers, uncut + unread


def _kept(values: Ints, flags: Flags) -> Ints:
    """Return values, null where they are not flagged."""
    return values if flags.all() else np.where(flags, values, NONE)


def _rest(model: Model, passage: Passage, waiting: Waiting) -> _Rest:
    publications, takes = model.publications, model.takes
    publication, take = model.matches.publication, model.matches.take
    enqueue_ns = model.matches.enqueue_ns
    within = enqueue_ns != NONE
    handed_ns = known_or(enqueue_ns, column_at(publications.rmw_publish_ns, publication))
    notified = passage.notified_ns != NONE
    begin_ns = known_or(passage.notified_ns, handed_ns)
    picked_ns, taken_ns = column_at(takes.picked_ns, take), column_at(takes.taken_ns, take)
    # By two clocks, nothing divides the time before the pick. And -1 ns would be null.
    apart = model.unsynchronised
    unknown = apart & ~notified
    # Picked before it could be: the entity was ready for an older message of a full queue.
    kept = picked_ns >= begin_ns
    if unknown.any():
        kept = np.where(unknown, picked_ns - begin_ns != NONE, kept)
    picked_ns = _kept(picked_ns, kept)
    until = known_or(picked_ns, taken_ns)
    execution = column_at(takes.execution, take)
    executions = model.executions
    end_ns = pick(executions.finished_ns, execution)
    suspended_ns = pick(executions.suspended_ns, execution)
    return _Rest(
        execution,
        within,
        column_at(publications.client_ns, publication),
        handed_ns,
        begin_ns,
        notified | within,
        picked_ns,
        taken_ns,
        pick(executions.start_ns, execution),
        end_ns,
        suspended_ns if (end_ns != NONE).all() else np.where(end_ns != NONE, suspended_ns, 0),
        waiting.idle(np.where(unknown, until, begin_ns) if unknown.any() else begin_ns, until),
        waiting.known & ~unknown,
        apart,
    )


def _durations(rest: _Rest, passage: Passage) -> dict[str, Ints]:
    """Cut every message at the checkpoints of its route (strata.schema.layers)."""
    instants = {
        at.PUBLISH: rest.client_ns,
        at.RMW_PUBLISH: rest.handed_ns,
        at.SENDABLE: passage.sendable_ns,
        at.SERIALIZE_BEGIN: passage.serialize_begin_ns,
        at.SERIALIZE_END: passage.serialize_end_ns,
        at.SEND: passage.sent_ns,
        at.RECEIVE: passage.received_ns,
        at.NOTIFY: passage.notified_ns,
        at.WOKE: _woke_ns(rest),
        at.PICKED: rest.picked_ns,
        at.TAKE: rest.taken_ns,
        at.START: rest.start_ns,
        at.END: rest.end_ns,
    }
    none = np.empty(0, np.int64)
    columns = [instants.get(point, none) for point in CHECKPOINTS]
    found = engine.cut_layers(_routes(rest, passage), columns)
    never = nulls(len(rest.taken_ns))
    durations = {
        layer.column: never if ns is None else ns
        for layer, ns in zip(names.HOP_LAYERS, found, strict=True)
        if layer not in names.DRIVER_LAYERS
    }
    # A suspension is no interval of its own: a callback has as many as it awaits things.
    suspended = rest.suspended_ns > 0
    if suspended.any():
        ran = durations[names.CALLBACK.column]
        durations[names.CALLBACK.column] = np.where(ran != NONE, ran - rest.suspended_ns, NONE)
        durations[names.SUSPENDED.column] = np.where(suspended, rest.suspended_ns, NONE)
    return durations


def _woke_ns(rest: _Rest) -> Ints:
    """Return until when the executor waited for each message; `NONE` where that is not known."""
    woke_ns = rest.begin_ns + rest.waiting
    if not rest.split.all():
        woke_ns[~rest.split] = NONE
    return woke_ns


def _routes(rest: _Rest, passage: Passage) -> Ints:
    """Return the number of each message's route."""
    lent = passage.lent & (passage.serialize_begin_ns == NONE)
    late = passage.sendable_ns != NONE
    chosen = (
        (names.INTRA_PROCESS, rest.intra_process),
        (names.STOCK, passage.notified_ns == NONE),
        (names.FROM_HISTORY, late & (passage.sent_ns != NONE)),
        (names.FROM_HISTORY_UNSENT, late),
        (names.LOANED, lent),
    )
    routes = np.full(len(rest.taken_ns), names.ROUTES.index(names.TRACED), np.int64)
    # The first that holds of a message is written last.
    for route, flags in reversed(chosen):
        routes[flags] = names.ROUTES.index(route)
    return routes
