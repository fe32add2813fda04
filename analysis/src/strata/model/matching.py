# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Which publication each take took.

A message's source timestamp is set once by its publisher and travels with it; where the middleware
names the sample on both sides, that decides, too. The engine has the rules
(native/model/matching.hpp, inference.hpp).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from strata.engine.groups import is_ascending
from strata.engine.tables import EngineTables
from strata.model.columns import NONE, Ints
from strata.model.numbers import Numbers, Within
from strata.schema.rows import nulls, one_if_equal, row_numbers

EXACT, INFERRED, IDENTITY, RING_BUFFER, PUBLISH_TIME, RING_BUFFER_LOSSES = range(6)
METHODS = (
    "topic+timestamp",
    "timestamp",
    "guid+sequence",
    "ring buffer",
    "publish time",
    "ring buffer, with losses",
)
"""What decided a match, by its number in `Matches.method`."""

CONFIDENCES = ("exact", "inferred")
"""How sure a match is, by its number in `Matches.confidence`."""

_CONFIDENCE_OF = np.array([0, 1, 0, 0, 1, 1], np.int64)


Pairs = tuple[Ints, Ints]
"""Rows of two tables that belong together; see `Matches`."""

_NO_PAIRS: Pairs = (np.empty(0, np.int64), np.empty(0, np.int64))


@dataclass(frozen=True)
class Matches:
    """One row a matched take; `method` is a row of `METHODS`.

    `enqueue_ns` is when an intra-process message was stored in its ring buffer, `NONE` for others.
    `doubtful` are takes without a match of which a publication is known that they may be of, each
    with one such publication; `overwritten` are publications that a full ring buffer lost, each
    with the subscription of the buffer.
    """

    publication: Ints
    take: Ints
    method: Ints
    enqueue_ns: Ints
    ambiguous_count: int
    unmatched_take_count: int
    doubtful: Pairs = _NO_PAIRS
    overwritten: Pairs = _NO_PAIRS

    @property
    def confidence(self) -> Ints:
        """Rows of `CONFIDENCES`; the method alone decides."""
        return confidence_of(self.method)


def confidence_of(method: Ints) -> Ints:
    """Return rows of `CONFIDENCES` for rows of `METHODS`."""
    return _CONFIDENCE_OF[method]


def find_matches(tables: EngineTables, numbers: Numbers) -> Matches:
    """Return which publication each take is of."""
    take = numbers.takes.numbers_of(tables.rows["matches"]["take"])
    publication = numbers.publications.numbers_of(tables.rows["matches"]["publish"])
    method = one_if_equal(tables.ints("matches", "method"))
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
    return _with_ring_buffers(tables, numbers.calls, numbers.dequeues, found)


def _with_ring_buffers(
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
    return of_call[call[lost]], subscriptions_of(tables, "enqueues")[lost]


def subscriptions_of(tables: EngineTables, table: str) -> Ints:
    """Return the subscription of the buffer of each enqueue or dequeue; `NONE` for none."""
    return tables.ints("ring_buffers", "subscription")[tables.ints(table, "buffer")]
