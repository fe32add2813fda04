# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What was there before a recording, as the init session of `strata daemon` recorded it.

`announced.json` in the directory of a recording has the init events of the processes that ran when
it began, by event name and column. Bytes are hexadecimal digits.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from strata.documents import decode, parse_json, read_bytes
from strata.errors import TraceError
from strata.lazy import pyarrow as pa
from strata.marks import ANNOUNCED_FORMAT
from strata.read.columns import declared_schema
from strata.read.manifest import session_of
from strata.schema.event import Phase
from strata.schema.events import CATALOGUE

ANNOUNCED = "announced.json"
"""The file's name."""
ANNOUNCEMENTS = frozenset(
    name
    for name, event in CATALOGUE.items()
    if event.phase is Phase.INIT and event.provider in ("ros2", "dds", "driver")
)
"""Names of the events that introduce what others name."""
_MOST_BYTES = 256 << 20


def read_announced(path: Path) -> dict[str, pa.Table]:
    """Return the event tables of what was there before the recording at, or around, a path.

    Empty where the recording keeps none. Raises TraceError when the file is not what Strata wrote.
    """
    session = session_of(path)
    file = session / ANNOUNCED if session else None
    if file is None or not file.is_file():
        return {}
    try:
        content = parse_json(decode(read_bytes(file, _MOST_BYTES)))
        return {
            name: _table(name, columns)
            for name, columns in _events_of(content).items()
            if name in ANNOUNCEMENTS
        }
    except OSError as error:
        raise TraceError(
            f"Cannot read {file}: {error.strerror}. Check its permissions and the disk."
        ) from error
    except (ValueError, KeyError, TypeError, AttributeError, pa.ArrowException) as error:
        raise TraceError(
            f"Cannot read {file}: not in the form that Strata writes ({error!r}). Restore it from "
            "a copy of the recording, or delete it; what is older than the recording has no names "
            "then."
        ) from error


def _events_of(content: dict[str, Any]) -> dict[str, Any]:
    if content["format"] != ANNOUNCED_FORMAT:
        raise ValueError(f"format {content['format']!r}")
    return dict(content["events"])


def announced_text(tables: dict[str, pa.Table]) -> str:
    """Return the content of the file for event tables of what is there before a recording."""
    events = {
        name: {column: _plain(table[column].to_pylist()) for column in table.column_names}
        for name, table in sorted(tables.items())
        if len(table)
    }
    return json.dumps({"format": ANNOUNCED_FORMAT, "events": events}) + "\n"


def _plain(values: list[Any]) -> list[Any]:
    return [value.hex() if isinstance(value, bytes) else value for value in values]


def _table(name: str, columns: dict[str, list[Any]]) -> pa.Table:
    schema = declared_schema(name, {"pid_ns": pa.int64()})
    rows = len(columns["timestamp"])
    arrays = []
    for field in schema:
        values = columns.get(field.name, [None] * rows)
        if pa.types.is_binary(field.type):
            values = [None if value is None else bytes.fromhex(value) for value in values]
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        arrays.append(pa.array(values, kind).cast(field.type))
    return pa.Table.from_arrays(arrays, schema=schema)
