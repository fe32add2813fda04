# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The writer and the reader of each service and client, which the DDS hooks see being made.

A client NAME writes the topic rq/NAMERequest and reads rr/NAMEReply; its service the other way
round. rcl_client_init and rcl_service_init come just after both were made, on the same thread. An
entity that was told later (Cyclone DDS tells some at their first use) is found by its topic where
the process has one such object alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from strata.lazy import pandas as pd
from strata.model.columns import NONE, EventColumns, Ints, Words
from strata.model.search import GroupedSearch, Lifetimes, pick

_INIT = {
    "client": ("ros2:rcl_client_init", "rmw_client_handle"),
    "service": ("ros2:rcl_service_init", "rmw_service_handle"),
}
_REQUEST, _REPLY = ("rq", "Request"), ("rr", "Reply")


@dataclass(frozen=True)
class Side:
    """The writers, or the readers, of the endpoints: their handles and GUIDs.

    `lives` finds the row of its create event by handle, `owner_of` has the endpoint of each; or
    `NONE`.
    """

    column: str
    made: Ints
    handle: Ints
    guid: Words
    lives: Lifetimes
    owner_of: Ints

    def used(self, events: EventColumns, event: str) -> tuple[Ints, Ints]:
        """Return the rows of an event that name one of the objects, and whose it is."""
        named = events.ints(event, self.column)
        row = np.flatnonzero(np.isin(named, self.handle)).astype(np.int64)
        ns = events.timestamps(event)[row]
        owner = pick(self.owner_of, self.lives.find(events.process(event)[row], named[row], ns))
        return row[owner != NONE], owner[owner != NONE]


@dataclass(frozen=True)
class Endpoints:
    """One row a client (or service) whose writer and reader are known."""

    rmw_handle: Ints
    writer: Side
    reader: Side

    def __len__(self) -> int:
        return len(self.rmw_handle)


def find_endpoints(events: EventColumns, kind: str, without: Ints) -> Endpoints:
    """Return the endpoints of a kind, but for those of the processes `without`."""
    init, handle = _INIT[kind]
    writes, reads = (_REQUEST, _REPLY) if kind == "client" else (_REPLY, _REQUEST)
    names = events.text(init, "service_name")
    writer = _made(events, _event("writer"), init, names, writes)
    reader = _made(events, _event("reader"), init, names, reads)
    known = (writer != NONE) & (reader != NONE) & ~np.isin(events.process(init), without)
    return Endpoints(
        events.ints(init, handle)[known],
        _side(events, "writer", writer[known]),
        _side(events, "reader", reader[known]),
    )


def _event(column: str) -> str:
    return f"dds:create_{column}"


def _side(events: EventColumns, column: str, made: Ints) -> Side:
    """The writers or readers of the endpoints; `made` are the rows of their create events."""
    event = _event(column)
    handle = events.ints(event, column)
    owner_of = np.full(events.count(event), NONE, np.int64)
    owner_of[made] = np.arange(len(made), dtype=np.int64)
    lives = Lifetimes(events.process(event), handle, events.timestamps(event))
    guid = events.words(event, "gid_prefix", "gid_entity")[made]
    return Side(column, made, handle[made], guid, lives, owner_of)


def _made(
    events: EventColumns, made: str, init: str, names: object, topic: tuple[str, str]
) -> Ints:
    """The row of the writer or reader that each client or service made; `NONE` for none."""
    prefix, suffix = topic
    wanted = [None if name is None else f"{prefix}{name}{suffix}" for name in np.asarray(names)]
    topics = events.text(made, "topic_name")
    codes, _ = pd.factorize(np.concatenate([topics, np.asarray(wanted, object)]))
    codes = codes.astype(np.int64)
    of_made, of_init = codes[: len(topics)], codes[len(topics) :]
    if not len(topics) or not len(of_init):
        return np.full(len(of_init), NONE, np.int64)
    width = int(codes.max()) + 2
    near = _mutual(
        events.thread(made) * width + of_made,
        events.timestamps(made),
        events.thread(init) * width + of_init,
        events.timestamps(init),
    )
    alone = _alone(events.process(made) * width + of_made, events.process(init) * width + of_init)
    return np.where(of_init == NONE, NONE, np.where(near != NONE, near, alone))


def _mutual(group: Ints, ns: Ints, asked: Ints, at_ns: Ints) -> Ints:
    """The last row of the group before each time, if no other time lies between."""
    found = GroupedSearch(group, ns).last_row(asked, at_ns, after_equal=True)
    return nearest_only(found, at_ns, after=False)


def nearest_only(found: Ints, ns: Ints, *, after: bool) -> Ints:
    """Of times at which one row was found, leave it to the nearest: the first after it, or before.

    `after`: the rows are after the times, so that the last of these is the nearest.
    """
    order = np.lexsort((ns if not after else -ns, found))
    ordered = found[order]
    again = np.zeros(len(found), bool)
    again[1:] = (ordered[1:] == ordered[:-1]) & (ordered[1:] != NONE)
    out = found.copy()
    out[order[again]] = NONE
    return out


def _alone(group: Ints, asked: Ints) -> Ints:
    """The one row of each group that is asked for once; `NONE` where either is several."""
    once = ~pd.Series(asked).duplicated(keep=False).to_numpy()
    rows = pd.Series(np.arange(len(group)), index=group)
    rows = rows[~rows.index.duplicated(keep=False)]
    found = rows.reindex(asked).fillna(NONE).to_numpy(np.int64)
    return np.where(once, found, NONE)
