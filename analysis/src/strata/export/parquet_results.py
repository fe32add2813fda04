# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The tables of an analysis as Parquet files, one a table."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from strata.export.chosen import Chosen
from strata.export.table_directory import write_tables
from strata.export.written import Written


def write(chosen: Chosen, target: Path, *, force: bool = False) -> Written:
    """Write every declared table as Parquet (zstd) into the directory `target`, all or nothing.

    Raises OutputError.
    """
    return write_tables(chosen, target, ".parquet", _write_table, force=force)


def _write_table(table: pa.Table, file: BinaryIO) -> None:
    pq.write_table(table, file, compression="zstd")
