# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Stored rows of a results directory as declared tables, numbered from 0 in the order of time.

Columns are read when they are asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from strata.read.results import ResultsDirectory
from strata.schema.arrow import no_values, rows_of_arrow, values_of
from strata.schema.rows import NONE, Again, Coded, Ints, Later, Rows, Values
from strata.schema.stored import BY_NAME, Stored
from strata.schema.table import Column, Table


class StoredRows:
    """The tables of strata.schema.stored in one directory."""

    def __init__(self, directory: ResultsDirectory) -> None:
        self._directory = directory
        self._orders: dict[str, Ints] = {}
        self._keys: dict[str, Ints] = {}
        self._numbers: dict[str, Ints] = {}

    def rows(self, name: str, columns: Mapping[str, Values | Later] | None = None) -> Rows:
        """Return a stored table; `columns` replace those that are stored. Raises TraceError."""
        stored = BY_NAME[name]
        order = self._order(stored)
        if not len(order):
            return Rows.none(stored.table)
        found: dict[str, Values | Later] = {
            column.name: Again(partial(self._column, stored, column))
            for column in stored.table.columns
        }
        # One column is there from the begin: it has the number of rows.
        first = stored.key or next(iter(stored.references))
        found[first] = self._column(stored, _declared(stored.table, first))
        return Rows(stored.table, {**found, **(columns or {})})

    def sums(self, table: Table) -> Rows:
        """Return the rows of all windows of a table of sums. Raises TraceError."""
        return rows_of_arrow(table, self._directory.read(table.name, table.names))

    def numbers_of(self, name: str, references: Ints) -> Ints:
        """Return the rows that references are to; `NONE` where one is not there."""
        self._order(BY_NAME[name])
        keys = self._keys[name]
        if not len(keys):
            return np.full(len(references), NONE, np.int64)
        at = np.minimum(np.searchsorted(keys, references), len(keys) - 1)
        return np.where(keys[at] == references, self._numbers[name][at], NONE).astype(np.int64)

    def _order(self, stored: Stored) -> Ints:
        """Return the rows in the directory, in the order of time; of one number the last."""
        if stored.name not in self._orders:
            self._orders[stored.name] = self._find_order(stored)
        return self._orders[stored.name]

    def _find_order(self, stored: Stored) -> Ints:
        if not stored.key:
            return self._sorted(stored)
        keys = self._stored(stored, stored.key)
        by_key = np.argsort(keys, kind="stable").astype(np.int64)
        ascending = keys[by_key]
        last = np.append(ascending[1:] != ascending[:-1], True)[: len(by_key)]
        newest: Ints = by_key[last]
        self._keys[stored.name] = ascending[last]
        if stored.order:
            newest = newest[self._sorted(stored, newest)]
        self._numbers[stored.name] = np.argsort(keys[newest], kind="stable").astype(np.int64)
        return newest

    def _sorted(self, stored: Stored, rows: Ints | None = None) -> Ints:
        """Return some rows, or all, by the columns of their order."""
        columns = []
        for name in reversed(stored.order):
            values = self._ordering(stored, name)
            columns.append(values if rows is None else values[rows])
        return np.lexsort(columns).astype(np.int64)

    def _ordering(self, stored: Stored, name: str) -> Ints:
        values = self._stored(stored, name)
        target = stored.references.get(name)
        if target is None or name == stored.key:
            return values
        return self.numbers_of(target, values)

    def _column(self, stored: Stored, column: Column) -> Values:
        order = self._order(stored)
        if column.name == stored.key:
            return np.arange(len(order), dtype=np.int64)
        values = read_column(self._directory, stored.table, column)
        if isinstance(values, Coded):
            return values.take(order)
        values = values[order]
        target = stored.references.get(column.name)
        return values if target is None else self.numbers_of(target, values)

    def _stored(self, stored: Stored, name: str) -> Ints:
        values = read_column(self._directory, stored.table, _declared(stored.table, name))
        return values.ranks() if isinstance(values, Coded) else values


def read_column(directory: ResultsDirectory, table: Table, column: Column) -> Values:
    """Return a column as it is stored. Raises TraceError."""
    found = directory.read(table.name, [column.name])
    if not found.num_columns:
        return no_values(column)
    return values_of(column, found[column.name])


def _declared(table: Table, name: str) -> Column:
    return next(column for column in table.columns if column.name == name)
