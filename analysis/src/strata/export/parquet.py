# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Event tables as Parquet files, one an event type, whatever the size of the trace.

The directory that is written holds `tables.json` beside the Parquet files: the file of each event,
its rows, the version of the schema, where the events came from, which of them were wanted and what
the trace lost.
"""

from __future__ import annotations

import json
import re
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from strata import __version__
from strata.export.target import CONTENTS, FORMAT, failure, replacing
from strata.printable import path_text
from strata.read import Trace
from strata.read.decoder import EVERYTHING, Selection
from strata.schema.version import VERSION

# A row group is written when a table has this many rows waiting, or all tables this many bytes.
_GROUP_ROWS = 1 << 17
_WAITING_BYTES = 96 << 20
# Values that hardly repeat: differences are smaller than dictionaries, and faster.
_RISING = ("timestamp", "source_timestamp")


@dataclass
class _Table:
    """One file being written, and the batches that wait for it."""

    path: Path
    file: BinaryIO
    writer: pq.ParquetWriter
    waiting: list[pa.RecordBatch] = field(default_factory=list)
    waiting_rows: int = 0
    waiting_bytes: int = 0
    rows: int = 0

    def add(self, batch: pa.RecordBatch) -> None:
        """Take a batch."""
        self.waiting.append(batch)
        self.waiting_rows += len(batch)
        self.waiting_bytes += int(batch.nbytes)
        self.rows += len(batch)

    def flush(self) -> None:
        """Write what waits as one row group."""
        if self.waiting:
            table = pa.Table.from_batches(self.waiting)
            self.writer.write_table(table, row_group_size=max(len(table), 1))
        self.waiting = []
        self.waiting_rows = 0
        self.waiting_bytes = 0

    def close(self) -> None:
        """End the file; it is closed even when that fails."""
        with self.file:
            self.writer.close()


@dataclass(frozen=True)
class Written:
    """What was written: so many tables with so many rows (events) altogether, and bytes."""

    directory: Path
    tables: int
    rows: int
    size: int


def write_parquet(
    trace: Trace, target: Path, selection: Selection = EVERYTHING, *, force: bool = False
) -> Written:
    """Write the selected tables as Parquet (zstd) into the directory `target`, all or nothing.

    The memory needed does not grow with the trace. Raises OutputError and TraceError.
    """
    with replacing(target, force=force) as fresh:
        try:
            tables = _write_tables(trace, fresh, selection)
        except pa.ArrowException as error:
            raise failure(target, error) from error
        text = json.dumps(_contents(trace, tables, selection), indent=1)
        (fresh / CONTENTS).write_text(f"{text}\n", encoding="utf-8")
        size = sum(path.stat().st_size for path in fresh.iterdir())
    return Written(target, len(tables), sum(table.rows for table in tables.values()), size)


def _write_tables(trace: Trace, directory: Path, selection: Selection) -> dict[str, _Table]:
    tables: dict[str, _Table] = {}
    with ExitStack() as files:
        for chunk in trace.chunks(selection):
            for event, batches in chunk.items():
                for batch in batches:
                    if event not in tables:
                        tables[event] = _open(event, batch.schema, directory, tables)
                        files.callback(tables[event].close)
                    tables[event].add(batch)
            waiting_bytes = sum(table.waiting_bytes for table in tables.values())
            everything = waiting_bytes > _WAITING_BYTES
            for table in tables.values():
                if everything or table.waiting_rows >= _GROUP_ROWS:
                    table.flush()
        for table in tables.values():
            table.flush()
    return tables


def _open(event: str, schema: pa.Schema, directory: Path, others: dict[str, _Table]) -> _Table:
    rising = [name for name in _RISING if name in schema.names]
    path = directory / _file_name(event, {table.path.name for table in others.values()})
    # Opened here: pyarrow takes no path that is not UTF-8.
    file = path.open("wb")
    writer = pq.ParquetWriter(
        file,
        schema,
        compression="zstd",
        use_dictionary=[name for name in schema.names if name not in rising],
        column_encoding=dict.fromkeys(rising, "DELTA_BINARY_PACKED"),
    )
    return _Table(path, file, writer)


def _file_name(event: str, taken: set[str]) -> str:
    """Return a file name for an event: `ros2:rmw_take` is ros2.rmw_take.parquet."""
    plain = re.sub(r"[^A-Za-z0-9_.-]", "_", event.replace(":", "."))[:200].lstrip(".") or "event"
    name = f"{plain}.parquet"
    number = 2
    while name in taken:
        name = f"{plain}-{number}.parquet"
        number += 1
    return name


def _contents(trace: Trace, tables: dict[str, _Table], selection: Selection) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "schema": VERSION,
        "strata": __version__,
        "traces": [
            {"directory": path_text(item.directory.resolve()), "uuid": item.metadata.uuid}
            for item in trace.traces
        ],
        "events": None if selection.events is None else sorted(selection.events),
        "losses": trace.loss_rows(),
        "tables": {
            event: {"file": table.path.name, "rows": table.rows} for event, table in tables.items()
        },
    }
