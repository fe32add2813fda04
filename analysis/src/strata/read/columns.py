# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Columns of one event type while they are read, and the Arrow table that they become."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from strata.schema.events import CATALOGUE, CONTEXT_COLUMNS

_TYPES = {
    "int64": pa.int64(),
    "uint64": pa.uint64(),
    "float64": pa.float64(),
    "binary": pa.binary(),
    "dictionary": pa.dictionary(pa.int32(), pa.string()),
    "list<uint64>": pa.list_(pa.uint64()),
    "list<int64>": pa.list_(pa.int64()),
}


@dataclass
class EventColumns:
    """Values of one event type of one trace, in the order of reading."""

    event: str
    host: str
    timestamps: list[int] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    values: dict[str, list[Any]] = field(default_factory=dict)
    by_source: dict[str, list[tuple[str, Callable[[Any], Any], list[Any]]]] = field(
        default_factory=dict
    )

    def add(
        self, name: str, kind: str, convert: Callable[[Any], Any], *, source: tuple[str, str]
    ) -> None:
        """Declare a column of a kind (a name in `_TYPES`) read from `source` (scope, field)."""
        self.names[name] = kind
        self.values[name] = []
        self.by_source.setdefault(source[0], []).append((source[1], convert, self.values[name]))

    def table(self) -> pa.Table:
        """Return the columns as Arrow, timestamp and contexts first."""
        count = len(self.timestamps)
        arrays: dict[str, pa.Array] = {"timestamp": pa.array(self.timestamps, pa.int64())}
        host = pa.array([self.host] * count, pa.string()).dictionary_encode()
        arrays["host"] = host
        for name, kind in self.names.items():
            if kind == "dictionary":
                arrays[name] = pa.array(self.values[name], pa.string()).dictionary_encode()
            else:
                arrays[name] = pa.array(self.values[name], _TYPES[kind])
        return pa.table(arrays)


def declared_schema(event: str, found: dict[str, pa.DataType]) -> pa.Schema:
    """Return the columns that the table of an event has: contexts, declared fields, then others.

    A context or field that no trace recorded is there and all null. The type of a declared field
    is the catalogue's, whatever integer width a trace gave it; `found` gives the types of the rest.
    """
    fields = [pa.field(name, _TYPES[kind]) for name, kind, _ in CONTEXT_COLUMNS]
    declared = CATALOGUE[event].fields if event in CATALOGUE else ()
    fields += [pa.field(item.column or item.name, _TYPES[item.kind.arrow]) for item in declared]
    taken = {item.name for item in fields}
    fields += [pa.field(name, kind) for name, kind in found.items() if name not in taken]
    return pa.schema(fields)


def join(event: str, parts: list[pa.Table]) -> pa.Table:
    """Put the tables of one event type of several traces into one, ordered by time.

    Tie rule: events of one timestamp keep the order of the traces (sorted by directory), and
    within a trace the order of the reader.
    """
    found = {name: column.type for part in parts for name, column in _columns(part)}
    schema = declared_schema(event, found)
    aligned = []
    for part in parts:
        arrays = [
            part[item.name].cast(item.type)
            if item.name in part.column_names
            else pa.nulls(len(part), item.type)
            for item in schema
        ]
        aligned.append(pa.Table.from_arrays(arrays, schema=schema))
    table = pa.concat_tables(aligned).unify_dictionaries().combine_chunks()
    if len(aligned) > 1:
        # Arrow's sort is not stable: the row number keeps the tie rule.
        rows = pa.array(range(len(table)), pa.int64())
        keyed = table.append_column("row", rows)
        table = keyed.sort_by([("timestamp", "ascending"), ("row", "ascending")]).drop(["row"])
    return table


def _columns(table: pa.Table) -> list[tuple[str, Any]]:
    return list(zip(table.column_names, table.columns, strict=True))
