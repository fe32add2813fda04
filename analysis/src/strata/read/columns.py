# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Bring the decoded columns of an event to the table that the catalogue declares."""

from __future__ import annotations

import numpy as np
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


def declared_schema(
    event: str, found: dict[str, pa.DataType], wanted: frozenset[str] | None = None
) -> pa.Schema:
    """Return the columns that the table of an event has: contexts, declared fields, then others.

    A context or field that no trace recorded is there and all null. The type of a declared field
    is the catalogue's, whatever integer width a trace gave it; `found` gives the types of the rest.
    Only columns of `wanted`, when it is given.
    """
    fields = [pa.field(name, _TYPES[kind]) for name, kind, _ in CONTEXT_COLUMNS]
    declared = CATALOGUE[event].fields if event in CATALOGUE else ()
    fields += [pa.field(item.column or item.name, _TYPES[item.kind.arrow]) for item in declared]
    taken = {item.name for item in fields}
    fields += [pa.field(name, kind) for name, kind in found.items() if name not in taken]
    return pa.schema([item for item in fields if wanted is None or item.name in wanted])


def conform(batch: pa.RecordBatch, schema: pa.Schema) -> tuple[pa.RecordBatch, int]:
    """Return a batch with exactly the columns of `schema`, and how many values had no place in it.

    Columns that the batch lacks are null. So are values that cannot be had as the type of their
    column: of a producer whose field is another thing than the catalogue, or another trace, says.
    """
    names = batch.schema.names
    arrays = []
    misfits = 0
    for item in schema:
        recorded = batch.column(names.index(item.name)) if item.name in names else None
        array = None if recorded is None else _as(recorded, item.type)
        if recorded is not None and array is None:
            misfits += len(batch)
        arrays.append(pa.nulls(len(batch), item.type) if array is None else array)
    return pa.RecordBatch.from_arrays(arrays, schema=schema), misfits


def _as(array: pa.Array, kind: pa.DataType) -> pa.Array | None:
    if array.type == kind:
        return array
    # Signedness is a matter of the producer's C type: the same 64 bits, not another number.
    if {array.type, kind} == {pa.int64(), pa.uint64()}:
        return array.view(kind)
    try:
        return array.cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None


def join(batches: list[pa.RecordBatch], schema: pa.Schema, *, ordered: bool) -> pa.Table:
    """Put batches of one schema into one table, in order of time.

    Unless they are `ordered`, rows are sorted; those of one timestamp keep their order.
    """
    table = pa.Table.from_batches(batches, schema=schema)
    if table.num_columns and table["timestamp"].num_chunks > 1:
        table = table.unify_dictionaries().combine_chunks()
    if ordered or len(table) < 2:
        return table
    times = table["timestamp"].to_numpy()
    return table.take(pa.array(np.argsort(times, kind="stable")))
