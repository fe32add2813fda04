# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Event tables as Parquet beside the trace, with what they were made from.

A cache is used only when the version of the schema, the reader and every source file (size and time
of change) are the same as when it was written; otherwise it is made again. A directory of the
cache's name that Strata did not write is never touched.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from strata import __version__
from strata.read.discover import CtfTrace
from strata.schema.tables import VERSION

_PROVENANCE = "provenance.json"


def cache_directory(path: Path) -> Path:
    """Where the tables of a trace belong: `tables/` of a session, else a hidden directory."""
    return path / "tables" if (path / "manifest.json").is_file() else path / ".strata-tables"


def provenance(path: Path, traces: list[CtfTrace], reader: str) -> dict[str, Any]:
    """Return what a cache must have been made from to be used today."""
    sources = {}
    for trace in traces:
        for file in [trace.directory / "metadata", *trace.stream_files()]:
            stat = file.stat()
            sources[os.path.relpath(file, path)] = [stat.st_size, stat.st_mtime_ns]
    return {"schema": VERSION, "strata": __version__, "reader": reader, "sources": sources}


def load(directory: Path, wanted: dict[str, Any]) -> dict[str, pa.Table] | None:
    """Return the cached tables by event name; null when there are none of this provenance."""
    try:
        stored = json.loads((directory / _PROVENANCE).read_text())
        if stored.get("made_from") != wanted:
            return None
        return {event: pq.read_table(directory / file) for event, file in stored["tables"].items()}
    except (OSError, ValueError, KeyError, pa.ArrowException):
        return None


def store(directory: Path, made_from: dict[str, Any], tables: dict[str, pa.Table]) -> bool:
    """Write the tables, all or nothing; false when the place is not writable or not ours."""
    if directory.exists() and not (directory / _PROVENANCE).is_file() and any(directory.iterdir()):
        return False
    try:
        fresh = Path(tempfile.mkdtemp(prefix=".strata-tables-", dir=directory.parent))
    except OSError:
        return False
    try:
        files = {event: f"{event.replace(':', '.').replace('/', '_')}.parquet" for event in tables}
        for event, table in tables.items():
            pq.write_table(table, fresh / files[event], compression="zstd")
        text = json.dumps({"made_from": made_from, "tables": files}, indent=1)
        (fresh / _PROVENANCE).write_text(text)
        fresh.chmod(0o755)
        if directory.exists():
            shutil.rmtree(directory)
        fresh.rename(directory)
    except (OSError, pa.ArrowException):
        shutil.rmtree(fresh, ignore_errors=True)
        return False
    return True
