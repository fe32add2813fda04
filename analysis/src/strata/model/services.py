# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Services and service clients, each with its lifetime, from the init events.

A client has two init events: rmw_client_init, which knows its GID (Kilted and newer), then
rcl_client_init, which knows its node and name. It lives from the first of the two that was
recorded. A GID names its client in every request and response; it is 16 bytes, of which Cyclone DDS
leaves the last 8 zero.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from strata.lazy import pandas as pd
from strata.model.columns import NONE, EventColumns, Ints, Words
from strata.model.dds.samples import number_words
from strata.model.entities import Callbacks, Nodes, take
from strata.model.search import Lifetimes, pick

_GIDS = (
    ("ros2:rmw_client_init", "gid"),
    ("ros2:rmw_take_request", "client_gid"),
    ("ros2:rmw_send_response", "client_gid"),
)


@dataclass(frozen=True)
class Services:
    """One row a service and life; `of_callback` gives the service of each callback, or `NONE`."""

    process: Ints
    handle: Ints
    rmw_handle: Ints
    node: Ints
    name: npt.NDArray[np.object_]
    begin_ns: Ints
    by_rmw_handle: Lifetimes
    of_callback: Ints

    def __len__(self) -> int:
        return len(self.handle)


@dataclass(frozen=True)
class Clients:
    """One row a client and life; `gid` is a row of the GIDs.

    `handle`, `node` and `gid` are `NONE`, and `name` None, where their init event is missing.
    """

    process: Ints
    handle: Ints
    rmw_handle: Ints
    node: Ints
    name: npt.NDArray[np.object_]
    gid: Ints
    begin_ns: Ints
    by_rmw_handle: Lifetimes

    def __len__(self) -> int:
        return len(self.rmw_handle)


class Gids:
    """Dense numbers of the clients' GIDs, over all events that carry one; zeros are no GID."""

    def __init__(self, events: EventColumns) -> None:
        words = [events.words(event, column) for event, column in _GIDS]
        every = np.concatenate(words)
        codes, self._words = number_words(every)
        codes = np.where((every == 0).all(axis=1), NONE, codes)
        sizes = np.cumsum([len(part) for part in words])[:-1]
        of = [event for event, _ in _GIDS]
        self._codes = dict(zip(of, np.split(codes, sizes), strict=True))

    @classmethod
    def of_words(cls, words: Words) -> Gids:
        """Return the GIDs whose words are known, by row; they are of no event."""
        found = cls.__new__(cls)
        found._words, found._codes = words, {}
        return found

    def __len__(self) -> int:
        return len(self._words)

    def of(self, event: str) -> Ints:
        """Return the number of the GID of each event of a name; `NONE` for none."""
        return self._codes[event]

    def words(self, rows: Ints) -> Words:
        """Return GIDs as two words each; zeros for `NONE`."""
        out = np.zeros((len(rows), 2), np.uint64)
        known = rows != NONE
        out[known] = self._words[rows[known]]
        return out

    def text(self, rows: Ints) -> npt.NDArray[np.object_]:
        """Return GIDs as 32 hex digits; None for `NONE`."""
        names = [row.tobytes().hex() for row in self._words]
        return take(np.asarray(names, dtype=object), rows, None)


def find_services(events: EventColumns, nodes: Nodes, callbacks: Callbacks) -> Services:
    """Return the services of all rcl_service_init events."""
    event = "ros2:rcl_service_init"
    process, begin_ns = events.process(event), events.timestamps(event)
    handle = events.ints(event, "service_handle")
    rmw_handle = events.ints(event, "rmw_service_handle")
    return Services(
        process,
        handle,
        rmw_handle,
        nodes.by_handle.find(process, events.ints(event, "node_handle"), begin_ns),
        events.text(event, "service_name"),
        begin_ns,
        Lifetimes(process, rmw_handle, begin_ns),
        service_of_callbacks(events, callbacks, Lifetimes(process, handle, begin_ns)),
    )


def service_of_callbacks(events: EventColumns, callbacks: Callbacks, services: Lifetimes) -> Ints:
    """Return the service of each callback, by the callback_added event nearest to its begin."""
    added = "ros2:rclcpp_service_callback_added"
    process, at_ns = events.process(added), events.timestamps(added)
    links = Lifetimes(process, events.ints(added, "callback"), at_ns)
    link = links.nearest(callbacks.process, callbacks.address, callbacks.begin_ns, at_ns)
    service = services.find(process, events.ints(added, "service_handle"), at_ns)
    if not len(service):
        return link
    return np.where((link != NONE) & (callbacks.kind == "service"), service[link], NONE)


def find_clients(events: EventColumns, nodes: Nodes, gids: Gids) -> Clients:
    """Return the clients of all rmw_client_init and rcl_client_init events."""
    rmw, rcl = "ros2:rmw_client_init", "ros2:rcl_client_init"
    made = Lifetimes(
        events.process(rmw), events.ints(rmw, "rmw_client_handle"), events.timestamps(rmw)
    )
    process, at_ns = events.process(rcl), events.timestamps(rcl)
    rmw_handle = events.ints(rcl, "rmw_client_handle")
    own = made.find(process, rmw_handle, at_ns)
    # One rmw client is one rcl client: a second one with its handle lacks its own rmw_client_init.
    first = np.lexsort((at_ns, own))
    again = first[1:][own[first[1:]] == own[first[:-1]]] if len(first) else first
    own[again] = NONE
    announced = np.full(events.count(rmw), NONE, np.int64)
    announced[own[own != NONE]] = np.flatnonzero(own != NONE)
    alone = np.flatnonzero(own == NONE)
    row = np.concatenate([announced, alone]).astype(np.int64)

    def both(event_column: str, other: Ints) -> Ints:
        return np.concatenate([other, events.ints(rcl, event_column)[alone]])

    node = nodes.by_handle.find(process, events.ints(rcl, "node_handle"), at_ns)
    all_process = np.concatenate([events.process(rmw), process[alone]])
    all_handle = both("rmw_client_handle", events.ints(rmw, "rmw_client_handle"))
    begin_ns = both("timestamp", events.timestamps(rmw))
    return Clients(
        all_process,
        pick(events.ints(rcl, "client_handle"), row),
        all_handle,
        pick(node, row),
        take(events.text(rcl, "service_name"), row, None),
        np.concatenate([gids.of(rmw), np.full(len(alone), NONE, np.int64)]),
        begin_ns,
        Lifetimes(all_process, all_handle, begin_ns),
    )


def numbered(known: Ints, process: Ints, handle: Ints, count: int) -> tuple[Ints, pd.DataFrame]:
    """Number entities: the known by their row, others by (process, handle) from `count` on.

    Returns the numbers and the others' process and handle.
    """
    nameless = pd.DataFrame({"process": process, "handle": handle})[known == NONE]
    groups = nameless.groupby(["process", "handle"], sort=True)
    out = known.copy()
    out[known == NONE] = count + groups.ngroup().to_numpy(np.int64)
    return out, nameless.drop_duplicates().sort_values(["process", "handle"], ignore_index=True)
