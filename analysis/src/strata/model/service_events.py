# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Requests and responses as they were sent and taken, with what ran around them.

On the client's thread: [callback_start] .. rmw_send_request, and later rmw_take_response. On the
service's thread: [execute] -> rmw_take_request -> [callback_start] -> [callback_end] ->
rmw_send_response; a service may also answer later, from anywhere. rclcpp emits no execute for a
service, and neither library one for a client.

Fast DDS writes the request before rmw_send_request (which tells its number, known only then); where
the events of the middleware were recorded, its write_begin is known, too.

A callback_start belongs to a taken request when no other take, execute, wait or response lies
between, and its callback is that service's (or nobody's, as far as the trace tells). Nothing
reaches over a time in which events were lost.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from strata.model.columns import NONE, EventColumns, Ints
from strata.model.entities import Callbacks, take
from strata.model.executions import Executions, first_after
from strata.model.joins import Flags
from strata.model.search import Lifetimes, pick
from strata.model.services import Clients, Gids, Services, numbered
from strata.model.timeline import EVENT_OF, Kind, Timeline
from strata.model.windows import NO_LOSSES, Windows, touched
from strata.schema.quality import Ledger


@dataclass(frozen=True)
class ServiceEvents:
    """Events of one kind, in time order.

    `owner` numbers the client (send_request, take_response) or the service: rows of theirs, then
    those that no init event introduced. `gid` is a row of the GIDs, `NONE` where the event has
    none; `stamp` the response's source timestamp, `NONE` on requests. `told` is the rule that told
    an event which was not recorded (strata.model.dds.calls), 0 for one that was.
    """

    position: Ints
    ns: Ints
    thread: Ints
    owner: Ints
    gid: Ints
    sequence: Ints
    stamp: Ints
    told: Ints

    def __len__(self) -> int:
        return len(self.ns)


@dataclass(frozen=True)
class UnknownOwners:
    """Clients or services without an init event, by their process and handle of the middleware."""

    process: Ints
    handle: Ints

    def __len__(self) -> int:
        return len(self.handle)


@dataclass(frozen=True)
class Exchange:
    """The four kinds of events, and the number of owners.

    `unknown_clients` and `unknown_services` are numbered after the known. `caller` is the execution
    in which each request was sent, `written_ns` when the middleware began to write it; `execution`
    the one that a taken request started, `picked_ns` its execute; or `NONE`.
    """

    sent_requests: ServiceEvents
    taken_requests: ServiceEvents
    sent_responses: ServiceEvents
    taken_responses: ServiceEvents
    unknown_clients: UnknownOwners
    unknown_services: UnknownOwners
    caller: Ints
    written_ns: Ints
    execution: Ints
    picked_ns: Ints


_BEFORE_TAKE = (
    Kind.RMW_TAKE,
    Kind.TAKE_REQUEST,
    Kind.TAKE_RESPONSE,
    Kind.SEND_RESPONSE,
    Kind.CALLBACK_START,
    Kind.CALLBACK_END,
    Kind.WAIT,
    Kind.READY,
)
"""What a thread does not do between picking a service and taking its request."""


def find_exchange(
    events: EventColumns,
    timeline: Timeline,
    executions: Executions,
    callbacks: Callbacks,
    services: Services,
    clients: Clients,
    gids: Gids,
    ledger: Ledger,
    losses: Windows = NO_LOSSES,
) -> Exchange:
    """Return what was sent and taken; takes of nothing are counted and left out."""
    reader = _Reader(events, timeline, gids, ledger)
    kinds = (Kind.SEND_REQUEST, Kind.TAKE_REQUEST, Kind.SEND_RESPONSE, Kind.TAKE_RESPONSE)
    sent, asked, answered, got = (reader.positions(kind) for kind in kinds)
    of_client, no_client = _owners(
        clients.by_rmw_handle,
        len(clients),
        [reader.named(sent, "rmw_client_handle"), reader.named(got, "rmw_client_handle")],
    )
    of_service, no_service = _owners(
        services.by_rmw_handle,
        len(services),
        [reader.named(asked, "rmw_service_handle"), reader.named(answered, "rmw_service_handle")],
    )
    known = np.where(of_service[0] < len(services), of_service[0], NONE)
    execution = first_after(timeline, executions, asked, losses)
    execution = _own(executions, callbacks, services, execution, known)
    execution[_taken_at_once(timeline, services, asked, known)] = NONE
    requests = reader.read(sent, of_client[0])
    written = _written(events, timeline, requests, clients, gids)
    picked = _picked(events, timeline, services, asked, known)
    for before, at in ((written, sent), (picked, asked)):
        before[touched(losses, timeline.ns_at(before), timeline.ns[at])] = NONE
    return Exchange(
        requests,
        reader.read(asked, of_service[0]),
        reader.read(answered, of_service[1]),
        reader.read(got, of_client[1]),
        no_client,
        no_service,
        executions.enclosing(sent),
        timeline.ns_at(written),
        execution,
        timeline.ns_at(picked),
    )


@dataclass(frozen=True)
class _Reader:
    """Reads columns of events by their positions, which are all of one kind."""

    events: EventColumns
    timeline: Timeline
    gids: Gids
    ledger: Ledger

    def positions(self, kind: Kind) -> Ints:
        """Positions in time order, without takes of nothing."""
        at = self.timeline.positions(kind)
        if kind in (Kind.TAKE_REQUEST, Kind.TAKE_RESPONSE):
            something = self._ints(at, "taken") == 1
            self.ledger.add("empty_service_takes", int((~something).sum()))
            at = at[something]
        return at[np.argsort(self.timeline.ns[at], kind="stable")]

    def named(self, at: Ints, column: str) -> tuple[Ints, Ints, Ints]:
        """Process, handle and time."""
        process = self.events.process(self._event(at))
        return process[self.timeline.row[at]], self._ints(at, column), self.timeline.ns[at]

    def read(self, at: Ints, owner: Ints) -> ServiceEvents:
        none = np.full(len(at), NONE, np.int64)
        kind = Kind(self.timeline.kind[at[0]]) if len(at) else None
        stamped = kind in (Kind.SEND_RESPONSE, Kind.TAKE_RESPONSE)
        named = kind in (Kind.TAKE_REQUEST, Kind.SEND_RESPONSE)
        return ServiceEvents(
            at,
            self.timeline.ns[at],
            self.timeline.thread[at],
            owner,
            self.gids.of(self._event(at))[self.timeline.row[at]] if named else none,
            self._ints(at, "sequence_number"),
            self._ints(at, "source_timestamp") if stamped else none,
            pick(self.events.stand_ins(self._event(at)).astype(np.int64), self.timeline.row[at]),
        )

    def _event(self, at: Ints) -> str:
        return EVENT_OF[Kind(self.timeline.kind[at[0]])] if len(at) else ""

    def _ints(self, at: Ints, column: str) -> Ints:
        return pick(self.events.ints(self._event(at), column), self.timeline.row[at])


_PREFIX = np.uint64(0xFFFF_FFFF)
"""The first 12 bytes of a GUID, its participant, are the first word and these of the second."""


def _written(
    events: EventColumns,
    timeline: Timeline,
    requests: ServiceEvents,
    clients: Clients,
    gids: Gids,
) -> Ints:
    """Position of the write_begin of each request that was written before its event, or `NONE`.

    The last sample that the thread added to a history is the request's if it has its number and
    its client's participant, and was not written for a publication: that has its own write after
    its event. Other middlewares write after the event, and have other GIDs.
    """
    event = EVENT_OF[Kind.WRITER_HISTORY_ADD]
    at = requests.position
    before = timeline.before(at, Kind.SEND_REQUEST, Kind.SEND_RESPONSE, Kind.RMW_PUBLISH)
    added = timeline.before(at, Kind.WRITER_HISTORY_ADD)
    begin = timeline.before(np.maximum(added, 0), Kind.WRITE_BEGIN)
    row = timeline.row_at(added)
    client = np.where(requests.owner < len(clients), requests.owner, NONE)
    own = gids.words(pick(clients.gid, client))
    writer = np.zeros((len(at), 2), np.uint64)
    writer[row != NONE] = events.words(event, "writer_guid")[row[row != NONE]]
    same = (own[:, 0] == writer[:, 0]) & (own[:, 1] & _PREFIX == writer[:, 1] & _PREFIX)
    same &= (own[:, 0] != 0) & (
        pick(events.ints(event, "sequence_number"), row) == requests.sequence
    )
    calling = timeline.before(np.maximum(begin, 0), Kind.RMW_PUBLISH, Kind.WRITE_BEGIN)
    published = (calling != NONE) & (timeline.kind[calling] == Kind.RMW_PUBLISH)
    return np.where(same & (added != NONE) & (begin > before) & ~published, begin, NONE)


_Named = tuple[Ints, Ints, Ints]


def _owners(
    lives: Lifetimes, count: int, named: list[_Named]
) -> tuple[tuple[Ints, Ints], UnknownOwners]:
    """Number the owners of two kinds of events as one, known ones by their rows."""
    process, handle, ns = (np.concatenate(parts) for parts in zip(*named, strict=True))
    number, unknown = numbered(lives.find(process, handle, ns), process, handle, count)
    size = len(named[0][0])
    process, handle = (unknown[name].to_numpy(np.int64) for name in ("process", "handle"))
    return (number[:size], number[size:]), UnknownOwners(process, handle)


def _own(
    executions: Executions, callbacks: Callbacks, services: Services, execution: Ints, service: Ints
) -> Ints:
    """Return the executions that may be of a callback of their service, else `NONE`."""
    callback = pick(executions.callback, execution)
    owner = pick(services.of_callback, callback)
    kind = take(callbacks.kind, callback, "unknown")
    unowned = np.isin(kind, ("unknown", "action")) | ((kind == "service") & (owner == NONE))
    fits = unowned | ((kind == "service") & ((owner == service) | (service == NONE)))
    return np.where(fits, execution, NONE)


def _taken_at_once(timeline: Timeline, services: Services, at: Ints, service: Ints) -> Flags:
    """Return the requests of actions whose callback cannot be told.

    Results are given without a callback. And an action server takes what has come, a goal, then a
    cancel, and then runs their callbacks: the one that follows both takes is the goal's.
    """
    names = take(services.name, service, "")
    canceled, result = (
        np.asarray([name.endswith(f"/_action/{end}") for name in names], bool)
        for end in ("cancel_goal", "get_result")
    )
    before = timeline.before(at, Kind.TAKE_REQUEST)
    other = timeline.before(at, Kind.CALLBACK_START, Kind.SEND_RESPONSE, Kind.WAIT, Kind.READY)
    order = np.argsort(at)
    place = np.searchsorted(at[order], np.maximum(before, 0)).clip(max=max(len(at) - 1, 0))
    goal = np.asarray([name.endswith("/_action/send_goal") for name in names], bool)
    at_once = (before != NONE) & (before > other) & goal[order[place]] if len(at) else goal
    return np.asarray(result | (canceled & at_once), bool)


def _picked(
    events: EventColumns, timeline: Timeline, services: Services, at: Ints, service: Ints
) -> Ints:
    """Position of the execute of each taken request, or `NONE`."""
    execute = timeline.before(at, Kind.EXECUTE)
    barrier = timeline.before(at, *_BEFORE_TAKE)
    near = (execute != NONE) & (execute > barrier) & (service != NONE)
    named = pick(events.ints(EVENT_OF[Kind.EXECUTE], "handle"), timeline.row_at(execute))
    return np.where(near & (named == pick(services.handle, service)), execute, NONE)
