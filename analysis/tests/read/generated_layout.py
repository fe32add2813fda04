# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The layout of a generated trace, and its metadata as TSDL (CTF 1.8) and as JSON (CTF 2).

Both forms describe the same bytes. Byte orders and alignments are as CTF wants them: a field whose
byte order is not the trace's begins and ends on a byte.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, TypeAlias

UUID = bytes(range(0x21, 0x31))
CLOCK_ROLES = ("default-clock-timestamp", "packet-end-default-clock-timestamp")


@dataclass(frozen=True)
class Int:
    """An integer; an enumeration when it has labels: (name, first, last)."""

    bits: int
    align: int = 1
    signed: bool = False
    big: bool = False
    labels: tuple[tuple[str, int, int], ...] = ()
    role: str = ""

    @property
    def range(self) -> tuple[int, int]:
        """Least and greatest value."""
        half = 1 << (self.bits - 1)
        return (-half, half - 1) if self.signed else (0, 2 * half - 1)


@dataclass(frozen=True)
class Real:
    """A binary32 or binary64."""

    bits: int
    align: int
    big: bool


@dataclass(frozen=True)
class String:
    """Ends with a NUL."""

    align: int = 8


@dataclass(frozen=True)
class Text:
    """Characters of 8 bits: so many, or as many as the member of that name says."""

    length: int | str
    align: int = 8


@dataclass(frozen=True)
class Array:
    """Elements: so many, or as many as the member of that name says."""

    element: Field
    length: int | str
    role: str = ""

    @property
    def align(self) -> int:
        """That of the elements, also when there are none."""
        return self.element.align


@dataclass(frozen=True)
class Struct:
    """Members by name."""

    members: tuple[tuple[str, Field], ...]
    least_align: int = 1

    @property
    def align(self) -> int:
        """The greatest of the members'."""
        return max([self.least_align, *(field.align for _, field in self.members)])


@dataclass(frozen=True)
class Variant:
    """The option called like the label of the member `tag`."""

    tag: str
    options: tuple[tuple[str, Field], ...]
    align: int = 1  # what is chosen aligns itself


Field: TypeAlias = Int | Real | String | Text | Array | Struct | Variant


@dataclass(frozen=True)
class Event:
    """An event class."""

    number: int
    name: str
    context: Struct | None
    payload: Struct


@dataclass(frozen=True)
class Stream:
    """A data stream class."""

    number: int
    packet: Struct
    header: Struct
    context: Struct | None
    events: tuple[Event, ...]


@dataclass(frozen=True)
class Layout:
    """All that the metadata say. `prefix` goes before names of TSDL, as LTTng writes it."""

    big: bool
    header: Struct | None
    streams: tuple[Stream, ...]
    frequency: int
    offset: int
    offset_s: int
    hostname: str
    prefix: str
    absolute: bool  # CTF 2 locations with an origin, where there is a choice

    @property
    def has_stream_ids(self) -> bool:
        """Whether packets say which class they are of."""
        return self.header is not None


def tsdl(layout: Layout) -> bytes:
    """Write the metadata of CTF 1.8."""
    uuid = UUID.hex()
    uuid = "-".join((uuid[:8], uuid[8:12], uuid[12:16], uuid[16:20], uuid[20:]))
    order = "be" if layout.big else "le"
    header = _assign("packet.header", layout.header, layout.big, "")
    lines = [
        f'/* CTF 1.8 */\ntrace {{ major = 1; minor = 8; uuid = "{uuid}"; byte_order = {order};',
        f"{header}}};",
        f'env {{ hostname = "{layout.hostname}"; }};' if layout.hostname else "",
        f"clock {{ name = clk; freq = {layout.frequency};"
        f" offset_s = {layout.offset_s}; offset = {layout.offset}; }};",
    ]
    for stream in layout.streams:
        lines += _tsdl_stream(layout, stream)
    return "\n".join(lines).encode()


def _tsdl_stream(layout: Layout, stream: Stream) -> list[str]:
    number = f"id = {stream.number}; " if layout.has_stream_ids else ""
    parts = (
        _assign("packet.context", stream.packet, layout.big, ""),
        _assign("event.header", stream.header, layout.big, ""),
        _assign("event.context", stream.context, layout.big, layout.prefix),
    )
    lines = [f"stream {{ {number}{''.join(parts)}}};"]
    number = f"stream_id = {stream.number}; " if layout.has_stream_ids else ""
    for event in stream.events:
        context = _assign("context", event.context, layout.big, layout.prefix)
        fields = _assign("fields", event.payload, layout.big, layout.prefix)
        head = f'event {{ name = "{event.name}"; id = {event.number}; '
        lines.append(f"{head}{number}{context}{fields}}};")
    return lines


def _assign(name: str, field: Struct | None, big: bool, prefix: str) -> str:
    return f"\n  {name} := {_declare(field, '', big, prefix)};\n" if field is not None else ""


def _declare(field: Field, name: str, big: bool, prefix: str) -> str:
    """Return the declaration of a field; `name` has the brackets of arrays around it."""
    if isinstance(field, Array | Text):
        length = field.length if isinstance(field.length, int) else prefix + field.length
        if isinstance(field, Array):
            return _declare(field.element, f"{name}[{length}]", big, prefix)
        return f"integer {{ size = 8; align = 8; encoding = UTF8; }} {name}[{length}]"
    if isinstance(field, Struct | Variant):
        parts = field.members if isinstance(field, Struct) else field.options
        body = " ".join(f"{_declare(part, prefix + key, big, prefix)};" for key, part in parts)
        if isinstance(field, Variant):
            return f"variant <{prefix}{field.tag}> {{ {body} }} {name}"
        align = f" align({field.least_align})" if field.least_align > 1 else ""
        return f"struct {{ {body} }}{align} {name}"
    return f"{_scalar(field, big, prefix)} {name}"


def _scalar(field: Int | Real | String, big: bool, prefix: str) -> str:
    if isinstance(field, String):
        return "string"
    order = "" if field.big == big else f" byte_order = {'be' if field.big else 'le'};"
    if isinstance(field, Real):
        mantissa = 24 if field.bits == 32 else 53
        digits = f"exp_dig = {field.bits - mantissa}; mant_dig = {mantissa};"
        return f"floating_point {{ {digits} align = {field.align};{order} }}"
    clock = " map = clock.clk.value;" if field.role in CLOCK_ROLES else ""
    signed = str(field.signed).lower()
    text = f"size = {field.bits}; align = {field.align}; signed = {signed};{order}{clock}"
    if not field.labels:
        return f"integer {{ {text} }}"
    labels = ", ".join(f'"{prefix}{name}" = {a} ... {b}' for name, a, b in field.labels)
    return f"enum : integer {{ {text} }} {{ {labels} }}"


def ctf2(layout: Layout) -> bytes:
    """Write the metadata of CTF 2."""
    clock = {
        "type": "clock-class",
        "id": "clk",
        "frequency": layout.frequency,
        "origin": "unix-epoch",
        "offset-from-origin": {
            "seconds": layout.offset_s + layout.offset // layout.frequency,
            "cycles": layout.offset % layout.frequency,
        },
    }
    trace: dict[str, Any] = {"type": "trace-class"}
    if layout.hostname:
        trace["environment"] = {"hostname": layout.hostname}
    if layout.header is not None:
        trace["packet-header-field-class"] = _json(layout.header, "")
    fragments = [{"type": "preamble", "version": 2, "uuid": list(UUID)}, trace, clock]
    for stream in layout.streams:
        fragments += _ctf2_stream(layout, stream)
    return b"".join(b"\x1e" + json.dumps(part).encode() for part in fragments)


def _ctf2_stream(layout: Layout, stream: Stream) -> list[dict[str, Any]]:
    origin = "event-record-{}" if layout.absolute else ""
    data: dict[str, Any] = {
        "type": "data-stream-class",
        "id": stream.number,
        "default-clock-class-id": "clk",
        "packet-context-field-class": _json(stream.packet, ""),
        "event-record-header-field-class": _json(stream.header, origin.format("header")),
    }
    if stream.context is not None:
        context = _json(stream.context, origin.format("common-context"))
        data["event-record-common-context-field-class"] = context
    records = []
    for event in stream.events:
        record: dict[str, Any] = {"type": "event-record-class", "name": event.name}
        record |= {"id": event.number, "data-stream-class-id": stream.number}
        if event.context is not None:
            context = _json(event.context, origin.format("specific-context"))
            record["specific-context-field-class"] = context
        record["payload-field-class"] = _json(event.payload, origin.format("payload"))
        records.append(record)
    return [data, *records]


def _json(field: Field, origin: str, siblings: dict[str, Field] | None = None) -> dict[str, Any]:
    """Return a field class; locations have an `origin` where it is given, else are relative."""
    if isinstance(field, Struct):
        # Below the root, paths from the origin would be longer: relative ones there.
        inner = origin if siblings is None else ""
        members = dict(field.members)
        parts = [
            {"name": name, "field-class": _json(part, inner, members)}
            for name, part in field.members
        ]
        aligned = {"minimum-alignment": field.least_align} if field.least_align > 1 else {}
        return {"type": "structure", "member-classes": parts} | aligned
    if isinstance(field, Variant):
        return _json_variant(field, origin, siblings or {})
    if isinstance(field, Array | Text):
        return _json_array(field, origin, siblings or {})
    return _json_scalar(field)


def _location(origin: str, name: str) -> dict[str, Any]:
    return ({"origin": origin} if origin else {}) | {"path": [name]}


def _json_variant(field: Variant, origin: str, siblings: dict[str, Field]) -> dict[str, Any]:
    tag = siblings[field.tag]
    assert isinstance(tag, Int)
    options = [
        {
            "name": name,
            "field-class": _json(part, origin, siblings),
            "selector-field-ranges": [[a, b] for label, a, b in tag.labels if label == name],
        }
        for name, part in field.options
    ]
    location = _location(origin, field.tag)
    return {"type": "variant", "selector-field-location": location, "options": options}


def _json_array(field: Array | Text, origin: str, siblings: dict[str, Field]) -> dict[str, Any]:
    if isinstance(field, Array) and field.role:
        return {"type": "static-length-blob", "length": field.length, "roles": [field.role]}
    if isinstance(field.length, int):
        result: dict[str, Any] = {"type": "static-length-", "length": field.length}
    else:
        place = _location(origin, field.length)
        result = {"type": "dynamic-length-", "length-field-location": place}
    if isinstance(field, Text):
        result["type"] += "string"
        return result
    result["type"] += "array"
    result["element-field-class"] = _json(field.element, origin, siblings)
    return result


def _json_scalar(field: Int | Real | String) -> dict[str, Any]:
    if isinstance(field, String):
        return {"type": "null-terminated-string"}
    order = "big-endian" if field.big else "little-endian"
    result: dict[str, Any] = {"length": field.bits, "byte-order": order}
    if field.align > 1:
        result["alignment"] = field.align
    if isinstance(field, Real):
        return {"type": "fixed-length-floating-point-number"} | result
    result["type"] = f"fixed-length-{'signed' if field.signed else 'unsigned'}-integer"
    if field.labels:
        result["mappings"] = {
            name: [[a, b] for label, a, b in field.labels if label == name]
            for name, _, _ in field.labels
        }
    if field.role:
        result["roles"] = [field.role]
    return result
