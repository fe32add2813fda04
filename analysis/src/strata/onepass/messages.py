# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Publications, takes and which publication each take is of, from the engine's rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from strata.engine.groups import is_ascending
from strata.model.columns import Ints
from strata.model.matching import Matches
from strata.model.traffic import Publications, Takes
from strata.onepass.intra_process import takes_of_buffers, with_ring_buffers
from strata.onepass.numbers import Numbers, positions
from strata.onepass.tables import EngineTables
from strata.onepass.when_asked import when_asked
from strata.schema.rows import nulls, row_numbers


def find_publications(tables: EngineTables, numbers: Numbers) -> Publications:
    """Return the publications of the application."""

    def column(name: str, of_call: str | None = None) -> Callable[[], Ints]:
        def made() -> Ints:
            values = numbers.publications.of(tables.ints("publishes", name))
            if numbers.calls is None or of_call is None:
                return values
            return numbers.calls.fill(tables, of_call, values)

        return made

    thread, at, execution = (column(name, name) for name in ("thread", "at", "execution"))
    return when_asked(
        Publications,
        {
            "position": lambda: positions(thread(), at()),
            "publisher": column("publisher", "publisher"),
            "rmw_handle": column("rmw_handle", "handle"),
            "thread": thread,
            "client_ns": column("client_ns", "ns"),
            "rmw_publish_ns": column("ns"),
            "source_timestamp": column("stamp"),
            "execution": lambda: numbers.executions.numbers_of(execution()),
        },
    )


def find_takes(tables: EngineTables, numbers: Numbers) -> Takes:
    """Return the takes of messages."""

    def column(name: str, of_dequeue: str | None = None) -> Callable[[], Ints]:
        def made() -> Ints:
            values = numbers.takes.of(tables.ints("takes", name))
            if numbers.dequeues is None or of_dequeue is None:
                return values
            return numbers.dequeues.fill(tables, of_dequeue, values)

        return made

    thread, at, execution = (column(name, name) for name in ("thread", "at", "execution"))
    within = numbers.dequeues
    count = len(numbers.takes.rows)
    return when_asked(
        Takes,
        {
            "position": lambda: positions(thread(), at()),
            "subscription": column("subscription"),
            "rmw_handle": column("rmw_handle"),
            "thread": thread,
            "picked_ns": column("picked_ns", "ns"),
            "rmw_take_ns": column("ns"),
            "dequeue_ns": lambda: nulls(count),
            "source_timestamp": column("stamp"),
            "execution": lambda: numbers.executions.numbers_of(execution()),
            "duplicate": lambda: np.zeros(count, bool),
            "loaned": lambda: numbers.takes.flags(tables.rows["takes"]["loaned"] == 1),
        }
        | ({} if within is None else takes_of_buffers(tables, within, column)),
    )


def _methods(codes: npt.NDArray[np.integer]) -> Ints:
    """Codes as numbers: one in memory where all are equal."""
    if len(codes) and (codes == codes[0]).all():
        return np.broadcast_to(np.int64(codes[0]), len(codes))
    return codes.astype(np.int64)


def find_matches(tables: EngineTables, numbers: Numbers) -> Matches:
    """Return which publication each take is of."""
    take = numbers.takes.numbers_of(tables.rows["matches"]["take"])
    publication = numbers.publications.numbers_of(tables.rows["matches"]["publish"])
    method = _methods(tables.rows["matches"]["method"])
    if not is_ascending(take):
        order = np.argsort(take, kind="stable")
        take, publication, method = take[order], publication[order], method[order]
    if len(take) == len(numbers.takes.rows) and len(take) and (np.diff(take) == 1).all():
        take = row_numbers(len(take))
    counts = dict.fromkeys(("ambiguous_matches", "unmatched_takes", "out_of_order_matches"), 0)
    for code, _, _, count, _, _ in tables.engine.findings:
        if code in counts:
            counts[code] += count
    found = Matches(
        publication,
        take,
        method,
        nulls(len(take)),
        counts["ambiguous_matches"],
        counts["unmatched_takes"] + counts["out_of_order_matches"],
        doubtful=(
            numbers.take_number[tables.ints("doubtful_takes", "take")],
            numbers.publication_number[tables.ints("doubtful_takes", "publish")],
        ),
    )
    if numbers.calls is None or numbers.dequeues is None:
        return found
    return with_ring_buffers(tables, numbers.calls, numbers.dequeues, found)
