# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Conditions on tracepoints: one occurred, and a field or context of it is as said."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from strata.guard.conditions import COMPARISONS, Event
from strata.guard.occurrence import BOUND, Fault
from strata.live.judged import Seen
from strata.schema.rows import Flags

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
    values = _comparable(table[field], condition) if field else None
    there = np.ones(len(table), bool) if field is None else _meant(values, condition)
    severity = _severity(values, condition, len(table))
    for row in np.flatnonzero(there).tolist():
        own = {column: table[column][row].as_py() for column in table.column_names}
        process = f"process {own.get('vpid', '(unknown)')}"
        named = f"{own['procname']} ({process})" if own.get("procname") else process
        text = f"{name} occurred in {named}"
        if field is not None:
            text = f"{text} with {field} {_shown(own[field], condition)}"
        yield Fault(f"{name} in {process}", own["timestamp"], text, float(severity[row]))


def _shown(value: Any, condition: Event) -> str:
    """Say a field's value, and what it was compared with: "500, more than 400"."""
    shown = f'"{value}"' if isinstance(value, str) else str(value)
    if condition.limit == "==":
        return shown
    word = "not" if condition.limit == "!=" else BOUND[condition.limit or ">"]
    return f"{shown}, {word} {condition.value_text}"


def _comparable(column: pa.ChunkedArray, condition: Event) -> npt.NDArray[Any] | None:
    """Return values of the kind that is asked for; null where the field is of another kind."""
    import pyarrow as pa

    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if isinstance(condition.value, str):
        if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
            return None
        return np.asarray(column.to_pylist(), object)
    numeric = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    return np.asarray(column.to_numpy()) if numeric else None


def _meant(values: npt.NDArray[Any] | None, condition: Event) -> Flags:
    if values is None:
        return np.zeros(0, bool)
    value: Any = condition.value
    if not isinstance(value, str) and value is not None:
        value = int(value) if value == int(value) else float(value)
    found = np.asarray(COMPARISONS[condition.limit or "=="](values, value), bool)
    # Null is no value, also not another one.
    absent = [one is None or one != one for one in values] if values.dtype.kind in "Of" else False
    return np.asarray(found & ~np.asarray(absent, bool))


def _severity(
    values: npt.NDArray[Any] | None, condition: Event, count: int
) -> npt.NDArray[np.float64]:
    """Return how far each went: equal where there is no more and less, so that the first counts."""
    sign = {">": 1.0, ">=": 1.0, "<": -1.0, "<=": -1.0}.get(condition.limit or "")
    if values is None or sign is None:
        return np.zeros(count)
    return sign * values.astype(np.float64)
