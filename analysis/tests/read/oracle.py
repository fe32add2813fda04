# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""libbabeltrace2 reads a trace; Strata's tables must hold the same, field by field and in order.

Order is compared but for runs of equal timestamps, where the two mergers have other tie rules:
there, rows are compared as a multiset.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import bt2

from strata.read import open_trace
from strata.schema.events import CONTEXT_COLUMNS, column_name

Row = dict[str, Any]
_CONTEXTS = {name for name, _, _ in CONTEXT_COLUMNS}
_PACKET_FIELDS = {
    "timestamp_begin",
    "timestamp_end",
    "content_size",
    "packet_size",
    "packet_seq_num",
    "events_discarded",
}


def assert_equal(path: Path) -> int:
    """Compare and return the number of events; fails with the first row that differs."""
    expected = oracle_tables(path)
    tables = open_trace(path).tables()
    assert set(tables) == set(expected)
    for event, rows in expected.items():
        found = tables[event].to_pylist()
        assert len(found) == len(rows), event
        pairs = zip(_canonical(rows), _canonical(map(_without_nulls, found)), strict=True)
        for number, (want, got) in enumerate(pairs):
            assert got == want, f"{event}, row {number}"
    return sum(map(len, expected.values()))


def _canonical(rows: Any) -> Iterator[str]:
    """Rows as text, those of equal time sorted. NaN is equal to NaN there."""
    for _, run in groupby(rows, key=lambda row: row["timestamp"]):
        yield from sorted(repr(sorted(row.items())) for row in run)


def _without_nulls(row: Row) -> Row:
    """Drop columns that the trace does not have; a null below a column is a value."""
    return {name: value for name, value in row.items() if value is not None}


def oracle_tables(path: Path) -> dict[str, list[Row]]:
    """Read every trace at and below `path` with libbabeltrace2, as one."""
    tables: dict[str, list[Row]] = {}
    for message in bt2.TraceCollectionMessageIterator(str(path)):
        if type(message) is bt2._EventMessageConst:
            tables.setdefault(message.event.name, []).append(_row(message))
    return tables


def _row(message: Any) -> Row:
    event = message.event
    row: Row = {"timestamp": _nanoseconds(message)}
    row["host"] = str(event.stream.trace.environment.get("hostname", "(unknown)"))
    for scope in (event.common_context_field, event.specific_context_field):
        _add(row, scope, "")
    if event.stream.cls.supports_packets and event.packet.context_field is not None:
        context = event.packet.context_field
        for name in context:
            if name not in _PACKET_FIELDS:
                _put(row, name, _value(context[name]))
    _add(row, event.payload_field, event.name)
    return row


def _nanoseconds(message: Any) -> int:
    """Exactly: babeltrace2 converts clocks of other frequencies than 1 GHz by doubles."""
    if message.event.stream.cls.default_clock_class is None:
        return 0
    snapshot = message.default_clock_snapshot
    clock = snapshot.clock_class
    cycles = snapshot.value + clock.offset.cycles
    return int(clock.offset.seconds * 10**9 + cycles * 10**9 // clock.frequency)


def _add(row: Row, scope: Any, event: str) -> None:
    for name in scope or ():
        plain = name
        column = column_name(event, plain) if event else plain
        while event and column in _CONTEXTS:
            column = f"_{column}"
        _put(row, column, _value(scope[name]))


def _put(row: Row, name: str, value: Any) -> None:
    while name in row:
        name = f"_{name}"
    row[name] = value


def _value(field: Any) -> Any:
    if isinstance(field, bt2._StringFieldConst):
        return _text(field)
    if isinstance(field, bt2._RealFieldConst):
        return float(field)
    if isinstance(field, (bt2._IntegerFieldConst, bt2._BoolFieldConst)):
        return int(field)
    if isinstance(field, bt2._ArrayFieldConst):
        values = [_value(item) for item in field]
        element = field.cls.element_field_class
        is_byte = type(element) is bt2._UnsignedIntegerFieldClassConst
        return bytes(values) if is_byte and element.field_value_range == 8 else values
    if isinstance(field, bt2._StructureFieldConst):
        return {name: _value(field[name]) for name in field}
    if isinstance(field, bt2._VariantFieldConst):
        return _options(field)
    raise AssertionError(f"no rule for {field.cls}")


def _options(field: Any) -> Row:
    options: Row = dict.fromkeys(name for name in field.cls)
    names = list(field.cls)
    options[names[field.selected_option_index]] = _value(field.selected_option)
    return options


def _text(field: Any) -> str:
    """The string: bt2 2.0 shows an empty one as what an event before it had there."""
    if not len(field):
        return ""
    return str(field).encode("utf-8", "surrogateescape").decode(errors="replace")
