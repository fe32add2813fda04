# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Event tables written as CTF: what a tracer would have recorded of them.

    write_tables(directory, tables, streams=2, early=lambda ns: 50 if ns % 3 == 0 else 0)

Streams are files that have no packets. An event class has the fields that are not null; events
that are not declared have none.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from strata.schema.event import Field, Kind
from strata.schema.events import CATALOGUE

_HEAD = """/* CTF 1.8 */
typealias integer {{ size = 8; align = 8; signed = false; }} := u8;
typealias integer {{ size = 32; align = 8; signed = false; }} := u32;
typealias integer {{ size = 32; align = 8; signed = true; }} := s32;
typealias integer {{ size = 64; align = 8; signed = false; }} := u64;
typealias integer {{ size = 64; align = 8; signed = true; }} := s64;
trace {{ major = 1; minor = 8; byte_order = le; }};
env {{ hostname = "{host}"; }};
clock {{ name = c; freq = 1000000000; }};
stream {{
  event.header := struct {{
    u32 id; integer {{ size = 64; align = 8; map = clock.c.value; }} t;
  }};
  event.context := struct {{ s32 _vpid; s32 _vtid; string _procname; }};
}};
"""
_TYPES = {
    Kind.HANDLE: "u64 _{};",
    Kind.INT: "s64 _{};",
    Kind.UINT: "u64 _{};",
    Kind.FLAG: "s64 _{};",
    Kind.STRING: "string _{};",
    Kind.BYTES: "u32 __{0}_length; u8 _{0}[ __{0}_length ];",
    Kind.HANDLES: "u32 __{0}_length; u64 _{0}[ __{0}_length ];",
}


def write_tables(
    directory: Path,
    tables: Mapping[str, pa.Table],
    *,
    streams: int = 1,
    early: Callable[[int], int] = lambda ns: 0,
) -> Path:
    """Write the events of each host as a trace of its own; returns the directory.

    Events of one instant are in the order of the tables, in one stream. `early` tells how long
    before its time an event is written: those that are written behind it, and are of a time before
    it, come late.
    """
    hosts: dict[str, list[tuple[int, str, dict[str, Any]]]] = {}
    for name, table in tables.items():
        for row in table.to_pylist():
            hosts.setdefault(row["host"], []).append((row["timestamp"], name, row))
    for host, events in hosts.items():
        events.sort(key=lambda event: event[0])
        events.sort(key=lambda event: event[0] - early(event[0]))
        _write(directory / host, host, events, streams)
    return directory


def _write(
    directory: Path, host: str, events: list[tuple[int, str, dict[str, Any]]], streams: int
) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    numbers: dict[tuple[str, ...], int] = {}
    content = [b""] * streams
    for ns, name, row in events:
        there = [item for item in _fields(name) if row[item.column or item.name] is not None]
        key = (name, *(item.name for item in there))
        number = numbers.setdefault(key, len(numbers))
        event = struct.pack("<IQii", number, ns, row["vpid"], row["vtid"])
        event += (row["procname"] or "").encode() + b"\0"
        for item in there:
            event += _bytes(item.kind, row[item.column or item.name])
        content[ns % streams] += event
    text = _HEAD.format(host=host)
    for (name, *fields), number in numbers.items():
        kinds = {item.name: item.kind for item in _fields(name)}
        members = " ".join(_TYPES[kinds[item]].format(item) for item in fields)
        text += f'event {{ id = {number}; name = "{name}"; fields := struct {{ {members} }}; }};\n'
    (directory / "metadata").write_text(text)
    for number, stream in enumerate(content):
        (directory / f"stream_{number}").write_bytes(stream)


def _fields(name: str) -> tuple[Field, ...]:
    return CATALOGUE[name].fields if name in CATALOGUE else ()


def _bytes(kind: Kind, value: Any) -> bytes:
    if kind is Kind.STRING:
        return str(value).encode() + b"\0"
    if kind is Kind.BYTES:
        return struct.pack("<I", len(value)) + bytes(value)
    if kind is Kind.HANDLES:
        return struct.pack(f"<I{len(value)}Q", len(value), *value)
    return struct.pack("<Q", value & (1 << 64) - 1)
