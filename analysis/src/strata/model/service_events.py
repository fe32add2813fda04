# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Requests and responses as they were sent and taken, with what ran around them.

On the client's thread: [callback_start] .. rmw_send_request, and later rmw_take_response. On the
service's thread: [execute] -> rmw_take_request -> [callback_start] -> [callback_end] ->
rmw_send_response; a service may also answer later, from anywhere. rclcpp emits no execute for a
service, and neither library one for a client.

Fast DDS writes the request before rmw_send_request (which tells its number, known only then); where
the events of the middleware were recorded, its write_begin is known, too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from strata.engine.tables import EngineTables
from strata.model.columns import NONE, Ints
from strata.model.numbers import Numbers

SENT, TAKEN, ANSWERED, GOT = range(4)
"""StepKind of native/model/service_steps.hpp."""


@dataclass(frozen=True)
class ServiceEvents:
    """Events of one kind, in time order.

    `owner` numbers the client (send_request, take_response) or the service: rows of theirs, then
    those that no init event introduced. `gid` is a row of the GIDs, `NONE` where the event has
    none; `stamp` the response's source timestamp, `NONE` on requests. `told` is the rule that told
    an event which was not recorded (native/model/dds/calls.hpp), 0 for one that was.
    """

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


@dataclass(frozen=True)
class Owners:
    """Clients or services: the known, then `unknown` ones.

    `number` is the number of each owner of the engine's, which numbers the unknown as they come;
    one more for null.
    """

    unknown: UnknownOwners
    number: Ints


def find_owners(tables: EngineTables, known: str) -> Owners:
    """Return the owners of events of a table, `clients` or `services`."""
    count = tables.size(known)
    process = tables.ints(f"nameless_{known}", "process")
    handle = tables.ints(f"nameless_{known}", "rmw_handle")
    order = np.lexsort((handle, process))
    number = np.full(count + len(order) + 1, NONE, np.int64)
    number[:count] = np.arange(count)
    number[count + order] = count + np.arange(len(order))
    return Owners(UnknownOwners(process[order], handle[order]), number)


def steps_by_kind(tables: EngineTables) -> list[Ints]:
    """Return the engine's steps of each kind: `SENT`, `TAKEN`, `ANSWERED`, `GOT`."""
    kind = tables.ints("service_steps", "kind")
    return [np.flatnonzero(kind == one) for one in range(4)]


def find_exchange(
    tables: EngineTables, numbers: Numbers, clients: Owners, services: Owners, gid_number: Ints
) -> Exchange:
    """Return what clients and services sent and took.

    `gid_number` is the number of each GID of the engine's; one more for null.
    """
    rows = steps_by_kind(tables)
    owners = (clients, services, services, clients)
    sent, taken, answered, got = (
        _events(tables, of, one.number, gid_number) for of, one in zip(rows, owners, strict=True)
    )
    execution = numbers.execution_number[tables.ints("service_steps", "execution")]
    before_ns = tables.ints("service_steps", "before_ns")
    return Exchange(
        sent,
        taken,
        answered,
        got,
        clients.unknown,
        services.unknown,
        execution[rows[SENT]],
        before_ns[rows[SENT]],
        execution[rows[TAKEN]],
        before_ns[rows[TAKEN]],
    )


def _events(
    tables: EngineTables, rows: Ints, owner_number: Ints, gid_number: Ints
) -> ServiceEvents:
    def column(name: str) -> Ints:
        return tables.ints("service_steps", name)[rows]

    return ServiceEvents(
        column("ns"),
        column("thread"),
        owner_number[column("owner")],
        gid_number[column("gid")],
        column("sequence"),
        column("stamp"),
        column("told"),
    )
