# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The tables of an analysis as CSV files (RFC 4180, UTF-8, with a head line), one a table."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from strata.export.chosen import Chosen
from strata.export.table_directory import write_tables
from strata.export.written import Written


def write(chosen: Chosen, target: Path, *, force: bool = False) -> Written:
    """Write every declared table as CSV into the directory `target`, all or nothing.

    Text is quoted, null is an empty field, and flags are true and false. Raises OutputError.
    """
    return write_tables(chosen, target, ".csv", _write_table, force=force)


def _write_table(table: pa.Table, file: BinaryIO) -> None:
    pa_csv.write_csv(_plain(table), file)


def _plain(table: pa.Table) -> pa.Table:
    """Return a table whose columns CSV can hold: words in place of codes."""
    for number, column in enumerate(table.columns):
        if pa.types.is_dictionary(column.type):
            plain = pc.cast(column, column.type.value_type)
            table = table.set_column(number, table.column_names[number], plain)
    return table
