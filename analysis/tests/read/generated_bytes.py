# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The bytes of a generated trace, and the rows that must be read from them.

Values are as Python has them; a variant's is a pair (name of the option, value) and a text's are
its bytes, as long as the field.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from generated_layout import (
    UUID,
    Array,
    Event,
    Field,
    Int,
    Layout,
    Real,
    Stream,
    String,
    Struct,
    Text,
    Variant,
)

Row = dict[str, Any]


@dataclass(frozen=True)
class Record:
    """An event: `clock` is the whole value, of which its header may hold the last bits."""

    event: int
    clock: int
    extended: bool
    common: Row
    specific: Row
    payload: Row


@dataclass(frozen=True)
class Packet:
    """A packet. `extra` are the values of fields of its context that say nothing to readers."""

    begin: int
    end: int
    records: tuple[Record, ...]
    padding: int
    extra: Row


@dataclass(frozen=True)
class File:
    """A data stream file."""

    name: str
    stream: int
    instance: int
    packets: tuple[Packet, ...]


@dataclass(frozen=True)
class Recording:
    """All of a generated trace."""

    layout: Layout
    files: tuple[File, ...]


class Bits:
    """Bytes that are written bit by bit."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.at = 0

    def align(self, alignment: int) -> None:
        """Go on to the next multiple of so many bits."""
        self.at = -(-self.at // alignment) * alignment
        self._reach(self.at)

    def integer(self, value: int, bits: int, big: bool) -> None:
        """Write the last `bits` of a value."""
        value &= (1 << bits) - 1
        first, shift = divmod(self.at, 8)
        count = (shift + bits + 7) // 8
        moved = value << (count * 8 - shift - bits) if big else value << shift
        self.at += bits
        self._reach(self.at)
        for place, byte in enumerate(moved.to_bytes(count, "big" if big else "little")):
            self.data[first + place] |= byte

    def octets(self, data: bytes) -> None:
        """Write bytes from the next byte on."""
        self.align(8)
        self.data += data
        self.at += 8 * len(data)

    def _reach(self, at: int) -> None:
        self.data += bytes((at + 7) // 8 - len(self.data))


def write_field(bits: Bits, field: Field, value: Any) -> None:
    """Append a value of any class."""
    bits.align(field.align)
    if isinstance(field, Int):
        bits.integer(value, field.bits, field.big)
    elif isinstance(field, Real):
        form = "f" if field.bits == 32 else "d"
        number = int.from_bytes(struct.pack(f"<{form}", value), "little")
        bits.integer(number, field.bits, field.big)
    elif isinstance(field, String):
        bits.octets(value.encode() + b"\0")
    elif isinstance(field, Text):
        bits.octets(value)
    elif isinstance(field, Array):
        for item in value:
            write_field(bits, field.element, item)
    elif isinstance(field, Struct):
        for name, part in field.members:
            write_field(bits, part, value[name])
    else:
        chosen, inner = value
        write_field(bits, dict(field.options)[chosen], inner)


def expected_value(field: Field, value: Any) -> Any:
    """Return what a table must hold for a value."""
    if isinstance(field, Text):
        return value.split(b"\0")[0].decode()
    if isinstance(field, Array):
        if replace_layout(field.element) == Int(8):
            return bytes(value)
        return [expected_value(field.element, item) for item in value]
    if isinstance(field, Struct):
        return {name: expected_value(part, value[name]) for name, part in field.members}
    if isinstance(field, Variant):
        return {
            name: expected_value(part, value[1]) if name == value[0] else None
            for name, part in field.options
        }
    return value


def replace_layout(field: Field) -> Field:
    """Return an integer without what says only where its bits are."""
    return replace(field, align=1, big=False) if isinstance(field, Int) else field


def write_packet(recording: Recording, file: File, number: int) -> bytes:
    """Return the bytes of a packet: written twice, as its context tells its size."""
    bits = _packet_bits(recording, file, number, 0, 0)
    total = len(bits.data) + file.packets[number].padding
    bits = _packet_bits(recording, file, number, bits.at, total * 8)
    return bytes(bits.data).ljust(total, b"\xee")


def _packet_bits(recording: Recording, file: File, number: int, content: int, total: int) -> Bits:
    bits = Bits()
    layout, packet = recording.layout, file.packets[number]
    stream = layout.streams[file.stream]
    if layout.header is not None:
        header = {"magic": 0xC1FC1FC1, "uuid": UUID, "stream_id": stream.number}
        write_field(bits, layout.header, header | {"stream_instance_id": file.instance})
    context = {
        "timestamp_begin": packet.begin,
        "timestamp_end": packet.end,
        "content_size": content,
        "packet_size": total,
        "packet_seq_num": number,
        "events_discarded": 3 * number,
    }
    write_field(bits, stream.packet, context | packet.extra)
    for record in packet.records:
        event = stream.events[record.event]
        write_field(bits, stream.header, _header_value(stream, event, record))
        if stream.context is not None:
            write_field(bits, stream.context, record.common)
        if event.context is not None:
            write_field(bits, event.context, record.specific)
        write_field(bits, event.payload, record.payload)
    return bits


def _header_value(stream: Stream, event: Event, record: Record) -> Row:
    members = dict(stream.header.members)
    if "id" not in members:
        return {"timestamp": record.clock}
    if "v" not in members:
        return {"id": event.number, "timestamp": record.clock}
    number = members["id"]
    assert isinstance(number, Int)
    if record.extended:
        inner = {"id": event.number, "timestamp": record.clock}
        return {"id": number.range[1], "v": ("extended", inner)}
    return {"id": event.number, "v": ("compact", {"timestamp": record.clock})}


def write_trace(recording: Recording, directory: Path, metadata: bytes) -> None:
    """Write a trace directory."""
    directory.mkdir(parents=True)
    (directory / "metadata").write_bytes(metadata)
    for file in recording.files:
        packets = (write_packet(recording, file, i) for i in range(len(file.packets)))
        (directory / file.name).write_bytes(b"".join(packets))


def expected_tables(recording: Recording) -> dict[str, list[Row]]:
    """Return the rows of every event, in their order."""
    layout = recording.layout
    found: list[tuple[tuple[int, ...], str, Row]] = []
    for place, file in enumerate(recording.files):
        stream = layout.streams[file.stream]
        for packet in file.packets:
            for record in packet.records:
                row = _expected_row(layout, stream, packet, record)
                key = (row["timestamp"], place)
                found.append((key, stream.events[record.event].name, row))
    tables: dict[str, list[Row]] = {}
    for _, name, row in sorted(found, key=lambda item: item[0]):
        tables.setdefault(name, []).append(row)
    return tables


def _expected_row(layout: Layout, stream: Stream, packet: Packet, record: Record) -> Row:
    event = stream.events[record.event]
    cycles = (record.clock + layout.offset) * 10**9
    row: Row = {"timestamp": layout.offset_s * 10**9 + cycles // layout.frequency}
    row["host"] = layout.hostname or "(unknown)"
    for scope, values in (
        (stream.context, record.common),
        (event.context, record.specific),
        (stream.packet, packet.extra),
    ):
        if scope is not None:
            members = [(name, part) for name, part in scope.members if name in values]
            row |= {name: expected_value(part, values[name]) for name, part in members}
    for name, part in event.payload.members:
        # A field that is called as a column of every event.
        column = f"_{name}" if name in ("vpid", "cpu_id", "timestamp") else name
        row[column] = expected_value(part, record.payload[name])
    return row
