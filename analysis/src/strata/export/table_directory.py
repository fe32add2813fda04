# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The tables of an analysis as a directory of files, one a table, whatever the format.

The directory that is written holds `tables.json` beside them, as that of events does
(strata.export.parquet): the file of each table, its rows, and the version of the schema.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import BinaryIO, cast

import pyarrow as pa

from strata import __version__
from strata.export.chosen import Chosen
from strata.export.file_target import BoundedFile
from strata.export.target import CONTENTS, FORMAT, failure, replacing
from strata.export.written import Written
from strata.printable import path_text
from strata.schema.arrow import arrow_table
from strata.schema.tables import TABLES
from strata.schema.version import VERSION


def write_tables(
    chosen: Chosen,
    target: Path,
    suffix: str,
    write: Callable[[pa.Table, BinaryIO], None],
    *,
    force: bool,
) -> Written:
    """Write every declared table into the directory `target`, all or nothing.

    The file of a table is its name and `suffix`; `write` fills it. A table without rows has a file,
    too. Raises OutputError.
    """
    tables = ((table.name, arrow_table(chosen.rows(table.name))) for table in TABLES)
    return write_directory(chosen, target, tables, suffix, write, force=force)


def write_directory(
    chosen: Chosen,
    target: Path,
    tables: Iterable[tuple[str, pa.Table]],
    suffix: str,
    write: Callable[[pa.Table, BinaryIO], None],
    *,
    force: bool,
) -> Written:
    """Write tables with their names into the directory `target`, as `write_tables` does."""
    counts = {}
    size = 0
    with replacing(target, force=force) as fresh:
        for name, table in tables:
            path = fresh / f"{name}{suffix}"
            try:
                # Opened here: pyarrow takes no path that is not UTF-8.
                with path.open("wb") as opened:
                    file = BoundedFile(opened, target, chosen.choice.max_bytes, before=size)
                    write(table, cast("BinaryIO", file))
            except pa.ArrowException as error:
                raise failure(target, error) from error
            counts[name] = len(table)
            size += file.size
        text = f"{json.dumps(_contents(chosen, counts, suffix), indent=1)}\n"
        (fresh / CONTENTS).write_text(text, encoding="utf-8")
    return Written(target, size + len(text), {"rows": sum(counts.values()), "tables": len(counts)})


def _contents(chosen: Chosen, counts: dict[str, int], suffix: str) -> dict[str, object]:
    return {
        "format": FORMAT,
        "schema": VERSION,
        "strata": __version__,
        "source": path_text(Path(chosen.analysis.trace.path).resolve()),
        "choice": _choice(chosen),
        "tables": {
            name: {"file": f"{name}{suffix}", "rows": rows} for name, rows in counts.items()
        },
    }


def _choice(chosen: Chosen) -> dict[str, object] | None:
    """What was chosen, as in strata.export.chosen.Choice; null for everything."""
    choice = chosen.choice
    if choice.is_everything:
        return None
    return {
        "chains": choice.chains,
        "begin_ns": choice.begin_ns,
        "end_ns": choice.end_ns,
        "slowest": choice.slowest,
    }
