# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""How rows of the model are numbered, as the engine numbers what comes as it comes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from strata.model.columns import NONE, Ints
from strata.onepass.tables import EngineTables
from strata.stats.grouped import is_ascending, ordered_by


@dataclass(frozen=True)
class Order:
    """The engine's row of each of the model's rows, and the other way round (`NONE` for none).

    `number` has one more, for null. `is_same`: all rows are in the order of the engine's.
    """

    rows: Ints
    number: Ints
    is_same: bool

    def of(self, values: Ints) -> Ints:
        """Return a column of the engine's in the order of the model's."""
        return values if self.is_same else values[self.rows]


@dataclass(frozen=True)
class Numbers:
    """How rows of the model are numbered.

    Executions are in order of thread and time, publications and takes in order of time; publishes
    that are no publications of the application have no number.
    """

    executions: Order
    publications: Order
    takes: Order

    @property
    def execution_order(self) -> Ints:
        """The engine's row of each execution."""
        return self.executions.rows

    @property
    def execution_number(self) -> Ints:
        """The execution of each of the engine's rows."""
        return self.executions.number

    @property
    def publish_order(self) -> Ints:
        """The engine's row of each publication."""
        return self.publications.rows

    @property
    def publication_number(self) -> Ints:
        """The publication of each of the engine's publishes; `NONE` for others."""
        return self.publications.number

    @property
    def take_order(self) -> Ints:
        """The engine's row of each take."""
        return self.takes.rows

    @property
    def take_number(self) -> Ints:
        """The take of each of the engine's rows."""
        return self.takes.number


def number_rows(tables: EngineTables) -> Numbers:
    """Return the order of the model's rows."""
    # The engine's executions are in order of their start.
    threads = len(tables.thread_order)
    executions = ordered_by(tables.ints("executions", "thread"), threads)
    publishes = _in_time(tables, "publishes")
    own = tables.rows["publishes"]["of_application"] == 1
    if not own.all():
        publishes = publishes[own[publishes]]
    return Numbers(
        _order(executions, tables.size("executions")),
        _order(publishes, tables.size("publishes")),
        _order(_in_time(tables, "takes"), tables.size("takes")),
    )


def _order(rows: Ints, count: int) -> Order:
    same = len(rows) == count and is_ascending(rows)
    number = np.full(count + 1, NONE, np.int64)
    number[rows] = np.arange(len(rows))
    return Order(rows, number, same)


def _in_time(tables: EngineTables, table: str) -> Ints:
    """Of one instant by thread, and then as they came."""
    ns, thread = tables.ints(table, "ns"), tables.ints(table, "thread")
    later = np.diff(ns)
    if (later > 0).all() or not len(ns):
        return np.arange(len(ns))
    if is_ascending(ns) and (later[np.diff(thread) < 0] > 0).all():
        return np.arange(len(ns))
    return np.lexsort((tables.ints(table, "at"), thread, ns)).astype(np.int64)


_PLACES = 1 << 40
"""More than any trace has events."""


def positions(thread: Ints, at: Ints) -> Ints:
    """Positions of events in one order by thread and time; `at` are their places among all."""
    return np.asarray(thread * _PLACES + at, np.int64)
