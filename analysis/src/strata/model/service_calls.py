# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Which events are of one service call.

    client    rmw_send_request (sequence number)           rmw_take_response (sequence, timestamp)
                     \\                                        /
    service     rmw_take_request (GID, sequence) .. rmw_send_response (GID, sequence, timestamp)

A client numbers its requests; its GID and that number travel with the request and the response.
So the four events of a call have one client and one sequence number, exactly. Handles and GIDs that
are used again are distinguished by the lifetimes of their clients.

* Several services may answer to one name: each of them takes the request. A response belongs to the
  serving with its source timestamp. The call goes with the serving whose response was taken first
  (none was: with the one that took it first); the other servings are rows of their own, counted.
* A client whose GID is unknown (the trace began late) is known by its responses: sequence number
  and source timestamp of a response are the same where it is sent and where it is taken, and one
  such pair tells the client's GID. Pairs that disagree tell nothing.
* Two requests of one client with one number, or two takes of one by one service, cannot be told
  apart (an init event was lost): they stay unmatched.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from strata.engine.tables import EngineTables
from strata.model.columns import NONE, EventColumns, Ints
from strata.model.entities import Callbacks
from strata.model.numbers import Numbers
from strata.model.service_events import (
    Exchange,
    Owners,
    find_exchange,
    find_owners,
    steps_by_kind,
)
from strata.model.services import (
    Clients,
    Gids,
    Services,
    find_clients,
    find_gids,
    find_services,
)
from strata.schema.rows import Flags

_ONE_SIDE = 255
"""CallMethod::none of native/model/service_calls.hpp."""

METHODS = (
    "gid+sequence",
    "client+sequence",
    "response timestamp",
    "dds identity",
    "thread order",
)
CONFIDENCES = ("exact", "exact", "inferred", "exact", "inferred")
"""What decided a match, and how sure that is, by `Calls.method`."""


@dataclass(frozen=True)
class Calls:
    """One row a call, in order of its first event; each column is a row of that kind's events.

    `client` and `service` number the owners, `NONE` where none is known; `gid` is the client's.
    `method` is a row of `METHODS`, `NONE` for a call of which one side was seen. `further` rows are
    no calls of their own: of another row's call, what another service of the name served.
    """

    request: Ints
    taken: Ints
    response: Ints
    taken_response: Ints
    client: Ints
    service: Ints
    gid: Ints
    method: Ints
    further: Flags

    def __len__(self) -> int:
        return len(self.request)


@dataclass(frozen=True)
class ServiceTraffic:
    """Services, clients, what they sent and took, and their calls."""

    services: Services
    clients: Clients
    gids: Gids
    exchange: Exchange
    calls: Calls


def find_traffic(
    tables: EngineTables, numbers: Numbers, events: EventColumns, callbacks: Callbacks
) -> ServiceTraffic:
    """Return services, clients, what they sent and took, and their calls."""
    gids, gid_number = find_gids(tables)
    clients, services = find_owners(tables, "clients"), find_owners(tables, "services")
    return ServiceTraffic(
        find_services(tables, events, callbacks),
        find_clients(tables, gid_number),
        gids,
        find_exchange(tables, numbers, clients, services, gid_number),
        _calls(tables, clients, services, gid_number),
    )


def _calls(tables: EngineTables, clients: Owners, services: Owners, gid_number: Ints) -> Calls:
    """Calls, whose steps are numbered within their kind."""

    def column(name: str) -> Ints:
        return tables.ints("service_calls", name)

    place = np.full(tables.size("service_steps") + 1, NONE, np.int64)
    for of in steps_by_kind(tables):
        place[of] = np.arange(len(of))
    method = column("method")
    return Calls(
        place[column("request")],
        place[column("taken")],
        place[column("response")],
        place[column("taken_response")],
        clients.number[column("client")],
        services.number[column("service")],
        gid_number[column("gid")],
        np.where(method == _ONE_SIDE, NONE, method),
        column("further") == 1,
    )
