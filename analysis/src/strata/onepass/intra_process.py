# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Messages within one process, from the engine's rows of ring buffers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from strata.model.columns import NONE, Ints
from strata.model.matching import Matches
from strata.model.ring_buffers import Passages
from strata.onepass.numbers import Within
from strata.onepass.tables import EngineTables
from strata.onepass.when_asked import when_asked

Column = Callable[[], npt.NDArray[np.generic]]


def takes_of_buffers(
    tables: EngineTables, within: Within, column: Callable[[str], Callable[[], Ints]]
) -> dict[str, Column]:
    """Return what makes the columns of takes that name a buffer, or copies of what came by one.

    `column` makes a column of the takes from the middleware.
    """

    def of_buffer(name: str, ours: str) -> Column:
        def made() -> Ints:
            buffer = within.fill(tables, "buffer", np.full(len(within.rows), NONE, np.int64))
            own = np.append(tables.ints("ring_buffers", name), NONE)[buffer]
            return np.where(within.rows != NONE, own, column(ours)())

        return made

    def duplicate() -> npt.NDArray[np.bool_]:
        out = np.zeros(len(within.rows), bool)
        out[within.number[:-1]] = tables.rows["taken_messages"]["duplicate"] == 1
        return out

    none = np.full(len(within.rows), NONE, np.int64)
    return {
        "subscription": of_buffer("subscription", "subscription"),
        "rmw_handle": of_buffer("address", "rmw_handle"),
        "dequeue_ns": lambda: within.fill(tables, "ns", none),
        "duplicate": duplicate,
    }


def with_ring_buffers(
    tables: EngineTables, calls: Within, dequeues: Within, matches: Matches
) -> Matches:
    """Return matches of the middleware without copies, and those of ring buffers."""
    take = dequeues.number[tables.ints("matched_messages", "taken")]
    publication = calls.number[tables.ints("matched_messages", "published")]
    enqueue = tables.ints("matched_messages", "enqueue")
    order = np.argsort(take, kind="stable")
    enqueue_ns = np.append(tables.ints("enqueues", "ns"), NONE)[enqueue]
    unmatched = tables.size("dequeues") - int((enqueue != NONE).sum())
    return replace(
        matches,
        publication=publication[order],
        take=take[order],
        method=tables.ints("matched_messages", "method")[order],
        enqueue_ns=enqueue_ns[order],
        unmatched_take_count=matches.unmatched_take_count + unmatched,
        overwritten=_overwritten(tables, calls),
    )


def _overwritten(tables: EngineTables, calls: Within) -> tuple[Ints, Ints]:
    """Publications that a full buffer lost, each with the subscription of the buffer."""
    call = tables.ints("enqueues", "call")
    lost = (tables.rows["enqueues"]["displaced"] == 1) & (call != NONE)
    of_call = np.full(tables.size("intra_publishes") + 1, NONE, np.int64)
    of_call[tables.ints("published_messages", "call")] = calls.number[:-1]
    return of_call[call[lost]], _subscriptions(tables, "enqueues")[lost]


def _subscriptions(tables: EngineTables, table: str) -> Ints:
    return tables.ints("ring_buffers", "subscription")[tables.ints(table, "buffer")]


def find_passages(tables: EngineTables) -> Passages:
    """Return what went through ring buffers."""

    def pairs() -> Ints:
        return np.flatnonzero(tables.rows["dequeues"]["enqueue"] != NONE)

    return when_asked(
        Passages,
        {
            "enqueue": lambda: tables.ints("dequeues", "enqueue")[pairs()],
            "dequeue": pairs,
            "subscription": lambda: _subscriptions(tables, "enqueues"),
            "taker": lambda: _subscriptions(tables, "dequeues"),
            "buffer": lambda: tables.ints("enqueues", "buffer"),
            "source": lambda: tables.ints("dequeues", "buffer"),
            "stored": lambda: tables.rows["enqueues"]["stored"] == 1,
            "displaced": lambda: tables.rows["enqueues"]["displaced"] == 1,
        },
    )
