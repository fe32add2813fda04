# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""How rows of the model are numbered, as the engine numbers what comes as it comes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from strata.model.columns import NONE, Ints
from strata.onepass.tables import EngineTables


@dataclass(frozen=True)
class Numbers:
    """How rows of the model are numbered: the engine's row of each, and the other way round.

    Executions are in order of thread and time, publications and takes in order of time; `NONE` for
    publishes that are no publications of the application.
    """

    execution_order: Ints
    execution_number: Ints
    publish_order: Ints
    publication_number: Ints
    take_order: Ints
    take_number: Ints


def inverse(order: Ints, count: int) -> Ints:
    """Rows by the engine's; one more for null."""
    out = np.full(count + 1, NONE, np.int64)
    out[order] = np.arange(len(order))
    return out


def number_rows(tables: EngineTables) -> Numbers:
    """Return the order of the model's rows."""
    executions = np.lexsort(
        (tables.ints("executions", "start_at"), tables.ints("executions", "thread"))
    )
    publishes = _in_time(tables, "publishes")
    publishes = publishes[tables.rows["publishes"]["of_application"][publishes] == 1]
    takes = _in_time(tables, "takes")
    return Numbers(
        executions,
        inverse(executions, tables.size("executions")),
        publishes,
        inverse(publishes, tables.size("publishes")),
        takes,
        inverse(takes, tables.size("takes")),
    )


def _in_time(tables: EngineTables, table: str) -> Ints:
    """Of one instant by thread, and then as they came."""
    columns = (tables.ints(table, name) for name in ("at", "thread", "ns"))
    return np.lexsort(tuple(columns)).astype(np.int64)


_PLACES = 1 << 40
"""More than any trace has events."""


def positions(thread: Ints, at: Ints) -> Ints:
    """Positions of events in one order by thread and time; `at` are their places among all."""
    return np.asarray(thread * _PLACES + at, np.int64)
