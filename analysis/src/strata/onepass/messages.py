# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Publications, takes and which publication each take is of, from the engine's rows."""

from __future__ import annotations

import numpy as np

from strata.model.columns import NONE, Ints
from strata.model.matching import Matches
from strata.model.traffic import Publications, Takes
from strata.onepass.numbers import Numbers, positions
from strata.onepass.tables import EngineTables


def find_publications(tables: EngineTables, numbers: Numbers) -> Publications:
    """Return the publications of the application."""

    def column(name: str) -> Ints:
        return tables.ints("publishes", name)[numbers.publish_order]

    return Publications(
        position=positions(column("thread"), column("at")),
        publisher=column("publisher"),
        rmw_handle=column("rmw_handle"),
        thread=column("thread"),
        client_ns=column("client_ns"),
        rmw_publish_ns=column("ns"),
        source_timestamp=column("stamp"),
        execution=numbers.execution_number[column("execution")],
    )


def find_takes(tables: EngineTables, numbers: Numbers) -> Takes:
    """Return the takes of messages."""

    def column(name: str) -> Ints:
        return tables.ints("takes", name)[numbers.take_order]

    count = len(numbers.take_order)
    return Takes(
        position=positions(column("thread"), column("at")),
        subscription=column("subscription"),
        rmw_handle=column("rmw_handle"),
        thread=column("thread"),
        picked_ns=column("picked_ns"),
        rmw_take_ns=column("ns"),
        dequeue_ns=np.full(count, NONE, np.int64),
        source_timestamp=column("stamp"),
        execution=numbers.execution_number[column("execution")],
        duplicate=np.zeros(count, bool),
        loaned=column("loaned") == 1,
    )


def find_matches(tables: EngineTables, numbers: Numbers) -> Matches:
    """Return which publication each take is of."""
    take = numbers.take_number[tables.ints("matches", "take")]
    publication = numbers.publication_number[tables.ints("matches", "publish")]
    order = np.argsort(take, kind="stable")
    counts = dict.fromkeys(("ambiguous_matches", "unmatched_takes", "out_of_order_matches"), 0)
    for code, _, _, count, _, _ in tables.engine.findings:
        if code in counts:
            counts[code] += count
    return Matches(
        publication[order],
        take[order],
        tables.ints("matches", "method")[order],
        np.full(len(take), NONE, np.int64),
        counts["ambiguous_matches"],
        counts["unmatched_takes"] + counts["out_of_order_matches"],
        doubtful=(
            numbers.take_number[tables.ints("doubtful_takes", "take")],
            numbers.publication_number[tables.ints("doubtful_takes", "publish")],
        ),
    )
