# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of declared tables from frames that tests make, and back."""

from __future__ import annotations

import pandas as pd

from strata.schema.rows import Rows
from strata.schema.table import Table

_FILLER = {"int64": 0, "uint64": 0, "float64": 0.0, "bool": False, "string": ""}


def rows_of(table: Table, frame: pd.DataFrame) -> Rows:
    """Return the rows of a frame; columns that it lacks hold a filler where null is not allowed."""
    missing = {
        column.name: _FILLER[column.dtype]
        for column in table.columns
        if not column.null and column.name not in frame
    }
    return Rows.of_frame(table, frame.assign(**missing))


def frame_of(rows: Rows) -> pd.DataFrame:
    """Return rows as the frame that an analysis has of the table."""
    return rows.table.frame(rows.frame())
