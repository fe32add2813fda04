# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""How rows of the model are numbered, as the engine numbers what comes as it comes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from strata.engine.groups import is_ascending, ordered_by, values_at
from strata.engine.tables import EngineTables
from strata.model.columns import NONE, Ints
from strata.schema.rows import Flags, row_numbers


@dataclass(frozen=True)
class Order:
    """The engine's row of each of the model's rows, and the other way round (`NONE` for none).

    `is_same`: all rows are in the order of the engine's, and `other_number` is empty. `is_partial`:
    some of the model's rows have none of the engine's.
    """

    rows: Ints
    other_number: Ints
    is_same: bool
    is_partial: bool = False

    @property
    def number(self) -> Ints:
        """The model's row of each of the engine's; one more, for null."""
        return np.append(self.rows, NONE) if self.is_same else self.other_number

    def numbers_of(self, rows: npt.NDArray[np.integer]) -> Ints:
        """Return the model's rows of some of the engine's; `NONE` for `NONE`."""
        if self.is_same:
            return rows.astype(np.int64, copy=False)
        return values_at(self.other_number, rows)

    def of(self, values: npt.NDArray[np.integer]) -> Ints:
        """Return a column of the engine's in the order of the model's; null for none."""
        return self.narrow(values).astype(np.int64, copy=False)

    def narrow(self, values: npt.NDArray[np.integer]) -> npt.NDArray[np.integer]:
        """Return a column as `of` does, in the type that it has where the order is the same."""
        return values if self.is_same else values_at(values, self.rows)

    def flags(self, values: Flags) -> Flags:
        """Return flags of the engine's rows in the order of the model's; false for none."""
        if self.is_same:
            return values
        return (np.append(values, False) if self.is_partial else values)[self.rows]


@dataclass(frozen=True)
class Within:
    """What went through ring buffers, of publications or takes.

    `rows` is the engine's row of each of the model's in a table of theirs, `NONE` of what only the
    middleware had. `number` is the model's of each row of the engine's table of all messages.
    """

    table: str
    rows: Ints
    number: Ints

    def fill(self, tables: EngineTables, column: str, values: npt.NDArray[np.integer]) -> Ints:
        """Return a column of the model's: `values`, and a column of these."""
        own = np.append(tables.ints(self.table, column), NONE)[self.rows]
        return np.where(self.rows != NONE, own, values)


@dataclass(frozen=True)
class Numbers:
    """How rows of the model are numbered.

    Executions are in order of thread and time, publications and takes in order of time; publishes
    that are no publications of the application have no number. `calls` are publications that stayed
    in their process, `dequeues` takes from ring buffers; None without any.
    """

    executions: Order
    publications: Order
    takes: Order
    calls: Within | None = None
    dequeues: Within | None = None

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
    # Of all columns of row numbers the longest is made first: the others are parts of it.
    longest = row_numbers(max(map(tables.size, ("executions", "publishes", "takes"))))
    numbers = _numbers(tables)
    del longest
    return numbers


def _numbers(tables: EngineTables) -> Numbers:
    # The engine's executions are in order of their start.
    threads = len(tables.thread_order)
    executions = ordered_by(tables.ints("executions", "thread"), threads)
    order = _order(executions, tables.size("executions"))
    if tables.size("intra_publishes") or tables.size("dequeues"):
        return Numbers(order, *_number_all(tables))
    publishes = _in_time(*_places(tables, "publishes"))
    own = tables.rows["publishes"]["of_application"] == 1
    if not own.all():
        publishes = publishes[own[publishes]]
    return Numbers(
        order,
        _order(publishes, tables.size("publishes")),
        _order(_in_time(*_places(tables, "takes")), tables.size("takes")),
    )


def _number_all(tables: EngineTables) -> tuple[Order, Order, Within, Within]:
    """Publications and takes of the middleware and of ring buffers."""
    published = (tables.ints("published_messages", name) for name in ("publish", "call"))
    taken = (tables.ints("taken_messages", name) for name in ("take", "dequeue"))
    publications, calls = _join(tables, ("publishes", "intra_publishes"), *published)
    takes, dequeues = _join(tables, ("takes", "dequeues"), *taken)
    return publications, takes, calls, dequeues


def _join(
    tables: EngineTables, names: tuple[str, str], outside: Ints, inside: Ints
) -> tuple[Order, Within]:
    """Messages in the order of the engine's, each a row of one of two tables."""
    inside = np.where(outside == NONE, inside, NONE)
    first, second = (_places(tables, name) for name in names)
    ns, thread, at = (
        np.where(outside != NONE, np.append(one, NONE)[outside], np.append(other, NONE)[inside])
        for one, other in zip(first, second, strict=True)
    )
    # Of one instant those of ring buffers come last; what was dequeued then, as it came.
    threads = len(tables.thread_order)
    by_thread = np.zeros_like(thread) if names[1] == "dequeues" else thread
    order = _in_time(ns, np.where(outside == NONE, threads + by_thread, thread), at)
    number = np.full(len(order) + 1, NONE, np.int64)
    number[order] = np.arange(len(order))
    return _order(outside[order], tables.size(names[0])), Within(names[1], inside[order], number)


def _order(rows: Ints, count: int) -> Order:
    own = rows != NONE
    is_partial = not own.all()
    if not is_partial and len(rows) == count and is_ascending(rows):
        return Order(row_numbers(count), np.empty(0, np.int64), True)
    number = np.full(count + 1, NONE, np.int64)
    number[rows[own]] = np.flatnonzero(own)
    return Order(rows, number, False, is_partial)


def _places(tables: EngineTables, table: str) -> tuple[Ints, Ints, Ints]:
    return tables.ints(table, "ns"), tables.ints(table, "thread"), tables.ints(table, "at")


def _in_time(ns: Ints, thread: Ints, at: Ints) -> Ints:
    """Of one instant by thread, and then as they came."""
    later = np.diff(ns)
    if (later > 0).all() or not len(ns):
        return row_numbers(len(ns))
    if is_ascending(ns) and (later[np.diff(thread) < 0] > 0).all():
        return row_numbers(len(ns))
    return np.lexsort((at, thread, ns)).astype(np.int64)


_PLACES = 1 << 40
"""More than any trace has events."""


def positions(thread: Ints, at: Ints) -> Ints:
    """Positions of events in one order by thread and time; `at` are their places among all."""
    return np.asarray(thread * _PLACES + at, np.int64)
