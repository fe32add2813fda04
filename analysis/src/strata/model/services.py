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

from strata.engine.tables import EngineTables
from strata.model.columns import NONE, EventColumns, Ints, Words
from strata.model.entities import Callbacks, take
from strata.model.search import Lifetimes

_GID_BYTES = 16


@dataclass(frozen=True)
class Services:
    """One row a service and life; `of_callback` gives the service of each callback, or `NONE`."""

    process: Ints
    handle: Ints
    rmw_handle: Ints
    node: Ints
    name: npt.NDArray[np.object_]
    begin_ns: Ints
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

    def __len__(self) -> int:
        return len(self.rmw_handle)


class Gids:
    """GIDs of clients by their numbers; zeros are no GID."""

    def __init__(self, words: Words) -> None:
        """Take each as two words."""
        self._words = words

    def __len__(self) -> int:
        return len(self._words)

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


def find_gids(tables: EngineTables) -> tuple[Gids, Ints]:
    """Return the GIDs that rows name, and the number of each of the engine's; one more for null."""
    named = [tables.ints(name, "gid") for name in ("clients", "service_steps", "service_calls")]
    used = np.unique(np.concatenate(named))
    used = used[used != NONE]
    runs = tables.engine.bytes
    words: Words = np.zeros((len(used), 2), np.uint64)
    for row, number in enumerate(used.tolist()):
        words[row] = np.frombuffer(runs[number][:_GID_BYTES], np.uint64)
    number = np.full(int(used.max(initial=NONE)) + 2, NONE, np.int64)
    number[used] = np.arange(len(used))
    return Gids(words), number


def find_services(tables: EngineTables, events: EventColumns, callbacks: Callbacks) -> Services:
    """Return the services, and which callback is of which."""

    def column(name: str) -> Ints:
        return tables.ints("services", name)

    process, handle, begin_ns = column("process"), column("handle"), column("begin_ns")
    return Services(
        process,
        handle,
        column("rmw_handle"),
        column("node"),
        tables.text("services", "name"),
        begin_ns,
        _of_callbacks(events, callbacks, Lifetimes(process, handle, begin_ns)),
    )


def find_clients(tables: EngineTables, gid_number: Ints) -> Clients:
    """Return the clients; `gid_number` is the number of each GID of the engine's."""

    def column(name: str) -> Ints:
        return tables.ints("clients", name)

    return Clients(
        column("process"),
        column("handle"),
        column("rmw_handle"),
        column("node"),
        tables.text("clients", "name"),
        gid_number[column("gid")],
        column("begin_ns"),
    )


def _of_callbacks(events: EventColumns, callbacks: Callbacks, services: Lifetimes) -> Ints:
    """Return the service of each callback, by the callback_added event nearest to its begin."""
    added = "ros2:rclcpp_service_callback_added"
    process, at_ns = events.process(added), events.timestamps(added)
    links = Lifetimes(process, events.ints(added, "callback"), at_ns)
    link = links.nearest(callbacks.process, callbacks.address, callbacks.begin_ns, at_ns)
    service = services.find(process, events.ints(added, "service_handle"), at_ns)
    if not len(service):
        return link
    return np.where((link != NONE) & (callbacks.kind == "service"), service[link], NONE)
