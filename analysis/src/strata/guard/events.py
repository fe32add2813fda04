# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Conditions on tracepoints: one occurred, and a field or context of it is as said."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from strata.guard.conditions import COMPARISONS, Event
from strata.guard.occurrence import BOUND, Fault
from strata.live.judged import Seen
from strata.schema.rows import Flags, Floats, Ints

if TYPE_CHECKING:
    import pyarrow as pa

_CONTEXTS = ("timestamp", "procname", "vpid")


def occurred(condition: Event, seen: Seen) -> Iterator[Fault]:
    """Yield an event a process: the first, or the one that went the furthest beyond the bound.

    One without that field, or with a text in it where a number is asked for (or the other way
    round), is not meant.
    """
    window, name, field = seen.window, condition.event, condition.field
    columns = dict.fromkeys((*_CONTEXTS, *([field] if field else [])))
    table = seen.trace.tables([name], columns, window.since_ns + 1, window.until_ns + 1).get(name)
    if table is None or (field and field not in table.column_names):
        return
    there, severity = np.ones(len(table), bool), np.zeros(len(table))
    if field:
        there, severity = _compared(table[field], condition)
    for row in _worst(table, np.flatnonzero(there), severity):
        own = {column: table[column][row].as_py() for column in table.column_names}
        process = f"process {own.get('vpid', '(unknown)')}"
        named = f"{own['procname']} ({process})" if own.get("procname") else process
        text = f"{name} occurred in {named}"
        if field:
            text = f"{text} with {field} {_shown(own[field], condition)}"
        yield Fault(f"{name} in {process}", own["timestamp"], text, float(severity[row]))


def _worst(table: pa.Table, rows: Ints, severity: Floats) -> list[int]:
    """Return the row of each process that went the furthest, of equals the first; in order."""
    process = np.zeros(len(rows), np.int64)
    if "vpid" in table.column_names:
        process = table["vpid"].to_numpy()[rows]
    order = np.lexsort((rows, -severity[rows], process))
    first = np.unique(process[order], return_index=True)[1]
    return sorted(rows[order[first]].tolist())


def _shown(value: Any, condition: Event) -> str:
    """Say a field's value, and what it was compared with: "500, more than 400"."""
    shown = f'"{value}"' if isinstance(value, str) else str(value)
    if condition.limit == "==":
        return shown
    word = "not" if condition.limit == "!=" else BOUND[condition.limit or ">"]
    return f"{shown}, {word} {condition.value_text}"


def _compared(column: pa.ChunkedArray, condition: Event) -> tuple[Flags, Floats]:
    """Tell which values are as is asked for, and how far each went: null is no value."""
    import pyarrow as pa

    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    texts = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    numbers = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    there = column.is_valid().to_numpy()
    severity = np.zeros(len(column))
    value: Any = condition.value
    if not (texts if isinstance(value, str) else numbers):
        return np.zeros(len(column), bool), severity
    if isinstance(value, str):
        values = np.asarray(column.to_pylist(), object)
    else:
        value = int(value) if value == int(value) else float(value)
        values = column.fill_null(0).to_numpy()
        sign = {">": 1.0, ">=": 1.0, "<": -1.0, "<=": -1.0}.get(condition.limit or "", 0.0)
        severity = sign * values.astype(np.float64)
    found = COMPARISONS[condition.limit or "=="](values, value)
    return np.asarray(there & np.asarray(found, bool)), severity
