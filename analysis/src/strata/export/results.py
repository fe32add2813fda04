# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The tables of an analysis as Parquet files, one a table.

The directory that is written holds `tables.json` beside them, as that of events does
(strata.export.parquet): the file of each table, its rows, and the version of the schema.
"""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from strata import __version__
from strata.analysis import Analysis
from strata.export.parquet import Written
from strata.export.target import CONTENTS, FORMAT, failure, replacing
from strata.printable import path_text
from strata.schema.arrow import arrow_table
from strata.schema.tables import TABLES
from strata.schema.version import VERSION


def write_results(analysis: Analysis, target: Path, *, force: bool = False) -> Written:
    """Write every declared table as Parquet (zstd) into the directory `target`, all or nothing.

    A table without rows has a file, too. Raises OutputError.
    """
    counts = {}
    with replacing(target, force=force) as fresh:
        for table in TABLES:
            found = arrow_table(analysis.rows(table.name))
            try:
                # Opened here: pyarrow takes no path that is not UTF-8.
                with (fresh / f"{table.name}.parquet").open("wb") as file:
                    pq.write_table(found, file, compression="zstd")
            except pa.ArrowException as error:
                raise failure(target, error) from error
            counts[table.name] = len(found)
        contents = {
            "format": FORMAT,
            "schema": VERSION,
            "strata": __version__,
            "source": path_text(Path(analysis.trace.path).resolve()),
            "tables": {
                name: {"file": f"{name}.parquet", "rows": rows} for name, rows in counts.items()
            },
        }
        (fresh / CONTENTS).write_text(f"{json.dumps(contents, indent=1)}\n", encoding="utf-8")
        size = sum(path.stat().st_size for path in fresh.iterdir())
    return Written(target, len(counts), sum(counts.values()), size)
