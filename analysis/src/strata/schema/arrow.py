# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Declared tables as Arrow columns, for queries and files."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from strata.schema.rows import NONE, Coded, Rows
from strata.schema.table import Column

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
