# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Declared tables as Arrow columns, for queries and files."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from strata.schema.rows import NONE, Coded, Rows, Values
from strata.schema.table import Column, Table

_TYPES = {
    "int64": pa.int64(),
    "uint64": pa.uint64(),
    "float64": pa.float64(),
    "bool": pa.bool_(),
}
_TEXT = pa.dictionary(pa.int32(), pa.string())


def arrow_table(rows: Rows) -> pa.Table:
    """Return rows as an Arrow table; null is null, integers are exact, text is a dictionary."""
    return pa.table({column.name: _array(rows, column) for column in rows.table.columns})


def _array(rows: Rows, column: Column) -> pa.Array:
    if column.dtype == "string":
        return _text(rows.words(column.name))
    values: Any = rows[column.name]
    null = ~rows.there(column.name) if column.null else None
    if column.dtype == "bool":
        values = values == 1 if column.null else values
    return pa.array(values, _TYPES[column.dtype], mask=null)


def _text(column: Coded) -> pa.Array:
    codes = pa.array(column.codes.astype(np.int32), mask=column.codes == NONE)
    return pa.DictionaryArray.from_arrays(codes, pa.array(column.words, pa.string())).cast(_TEXT)


def rows_of_arrow(table: Table, found: pa.Table) -> Rows:
    """Return Arrow columns as rows, the reverse of `arrow_table`; without any column, no row.

    Text is a dictionary.
    """
    if not found.num_columns:
        return Rows.none(table)
    columns = {one.name: values_of(one, found[one.name]) for one in table.columns}
    return Rows(table, columns)


def values_of(column: Column, found: pa.ChunkedArray) -> Values:
    """Return an Arrow column as rows have it; text is a dictionary, the same in all chunks."""
    if column.dtype == "string":
        if not found.num_chunks:
            return Coded.of([])
        codes = [chunk.indices.fill_null(NONE).to_numpy() for chunk in found.chunks]
        words = found.chunk(0).dictionary.to_pylist()
        return Coded(np.concatenate(codes).astype(np.int64), tuple(words))
    if column.dtype == "float64":
        return np.asarray(found.fill_null(float("nan")).to_numpy(), np.float64)
    if column.dtype == "bool":
        flags = found.cast(pa.int8()).fill_null(NONE).to_numpy()
        return np.asarray(flags, np.int8 if column.null else np.bool_)
    if column.dtype == "uint64":
        return np.asarray(found.to_numpy(), np.uint64)
    return np.asarray(found.fill_null(NONE).to_numpy(), np.int64)


def no_values(column: Column) -> Values:
    """Return a column without rows."""
    if column.dtype == "string":
        return Coded.of([])
    return values_of(column, pa.chunked_array([], _TYPES[column.dtype]))
