# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Bring the decoded columns of an event to the table that the catalogue declares."""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

from strata.lazy import arrow_compute as pc
from strata.lazy import pyarrow as pa
from strata.schema.events import CATALOGUE, CONTEXT_COLUMNS


@cache
def _types() -> dict[str, pa.DataType]:
    """The types that the catalogue names."""
    return {
        "int64": pa.int64(),
        "uint64": pa.uint64(),
        "float64": pa.float64(),
        "binary": pa.binary(),
        "dictionary": pa.dictionary(pa.int32(), pa.string()),
        "list<uint64>": pa.list_(pa.uint64()),
        "list<int64>": pa.list_(pa.int64()),
    }


@cache
def _bounds() -> dict[pa.DataType, tuple[float, float]]:
    """The floats between which each type's numbers are: the first is one of them, the last not."""
    return {
        pa.int64(): (-(2.0**63), 2.0**63),
        pa.uint64(): (0.0, 2.0**64),
        pa.float64(): (-float("inf"), float("inf")),
    }


def declared_schema(
    event: str, found: dict[str, pa.DataType], wanted: frozenset[str] | None = None
) -> pa.Schema:
    """Return the columns that the table of an event has: contexts, declared fields, then others.

    A context or field that no trace recorded is there and all null. The type of a declared field
    is the catalogue's, whatever integer width a trace gave it; `found` gives the types of the rest.
    Only columns of `wanted`, when it is given.
    """
    types = _types()
    fields = [pa.field(name, types[kind]) for name, kind, _ in CONTEXT_COLUMNS]
    declared = CATALOGUE[event].fields if event in CATALOGUE else ()
    fields += [pa.field(item.column or item.name, types[item.kind.arrow]) for item in declared]
    taken = {item.name for item in fields}
    fields += [pa.field(name, kind) for name, kind in found.items() if name not in taken]
    return pa.schema([item for item in fields if wanted is None or item.name in wanted])


def conform(batch: pa.RecordBatch, schema: pa.Schema) -> tuple[pa.RecordBatch, int]:
    """Return a batch with exactly the columns of `schema`, and how many values had no place in it.

    Columns that the batch lacks are null. So is each value that cannot be had as the type of its
    column: of a producer whose field is another thing than the catalogue, or another trace, says.
    What becomes of a value does not depend on those beside it.
    """
    names = batch.schema.names
    arrays = []
    misfits = 0
    for item in schema:
        if item.name not in names:
            arrays.append(pa.nulls(len(batch), item.type))
            continue
        recorded = batch.column(names.index(item.name))
        if recorded.type == item.type:
            arrays.append(recorded)
            continue
        array = _as(recorded, item.type)
        misfits += array.null_count - recorded.null_count
        arrays.append(array)
    return pa.RecordBatch.from_arrays(arrays, schema=schema), misfits


def _as(array: pa.Array, kind: pa.DataType) -> pa.Array:
    """Convert an array; null for each value that cannot be converted."""
    if array.type == kind:  # a part of what is to be converted may have the type already
        return array
    # Signedness is a matter of the producer's C type: the same 64 bits, not another number.
    if {array.type, kind} == {pa.int64(), pa.uint64()}:
        return array.view(kind)
    if pa.types.is_list(array.type) and pa.types.is_list(kind):
        return _list_as(array, kind)
    if pa.types.is_struct(array.type) and pa.types.is_struct(kind):
        return _struct_as(array, kind)
    try:
        return array.cast(kind)
    except pa.ArrowNotImplementedError:
        return pa.nulls(len(array), kind)
    except pa.ArrowInvalid:
        return _one_by_one(array, kind)


def _one_by_one(array: pa.Array, kind: pa.DataType) -> pa.Array:
    if pa.types.is_dictionary(array.type):
        return _as(array.dictionary, kind).take(array.indices)
    if array.type in _bounds() and kind in _bounds():
        return _fitting_numbers(array, kind)
    if pa.types.is_binary(array.type) and pa.types.is_dictionary(kind):
        texts = pa.array(map(_decoded, array.to_pylist()), pa.string())
        return texts.dictionary_encode().cast(kind)
    if len(array) == 1:
        return pa.nulls(1, kind)
    middle = len(array) // 2
    return pa.concat_arrays([_as(array[:middle], kind), _as(array[middle:], kind)])


def _fitting_numbers(array: pa.Array, kind: pa.DataType) -> pa.Array:
    """Convert numbers, between integers and floats; null where that gives another number."""
    least, most = _bounds()[kind if array.type == pa.float64() else array.type]
    floats = array.cast(pa.float64(), safe=False)
    # Beyond these bounds a conversion to an integer is not defined.
    inside = pc.and_(pc.greater_equal(floats, least), pc.less(floats, most))
    bounded = pc.if_else(inside, array, pa.scalar(None, array.type))
    converted = bounded.cast(kind, safe=False)
    same = pc.equal(converted.cast(array.type, safe=False), bounded)
    return pc.if_else(same, converted, pa.scalar(None, kind))


def _list_as(array: pa.Array, kind: pa.ListType) -> pa.Array:
    """Convert lists; one with an element that cannot be converted is null."""
    values = _as(array.values, kind.value_type)
    found = pa.ListArray.from_buffers(
        kind, len(array), array.buffers()[:2], offset=array.offset, children=[values]
    )
    if values.null_count == array.values.null_count:
        return found
    misfits = np.r_[0, np.cumsum(_newly_null(array.values, values))]
    offsets = array.offsets.to_numpy()
    whole = misfits[offsets[1:]] == misfits[offsets[:-1]]
    return pc.if_else(pa.array(whole), found, pa.scalar(None, kind))


def _struct_as(array: pa.Array, kind: pa.StructType) -> pa.Array:
    """Convert structures; one with a member that cannot be converted is null."""
    misfit = array.is_null().to_numpy(zero_copy_only=False)
    members = []
    for item in kind:
        index = array.type.get_field_index(item.name)
        if index < 0:
            members.append(pa.nulls(len(array), item.type))
            continue
        member = array.field(index)
        members.append(_as(member, item.type))
        misfit = misfit | _newly_null(member, members[-1])
    return pa.StructArray.from_arrays(members, fields=list(kind), mask=pa.array(misfit))


def _newly_null(before: pa.Array, after: pa.Array) -> npt.NDArray[np.bool_]:
    missing: npt.NDArray[np.bool_] = pc.and_(before.is_valid(), after.is_null()).to_numpy(
        zero_copy_only=False
    )
    return missing


def _decoded(content: bytes | None) -> str | None:
    try:
        return None if content is None else content.decode()
    except UnicodeDecodeError:
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
