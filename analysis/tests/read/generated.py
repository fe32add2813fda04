# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Hypothesis chooses a layout of CTF and values for it: `recordings()`.

`tame` leaves out what is legal but not for libbabeltrace2 2.0.4: sequences and variants in the
context of an event class (an assertion fails in `update_field_class_stored_value_index`) and empty
text (fields are used again, and an empty string does not clear the one before).
"""

from __future__ import annotations

from typing import Any

from generated_bytes import File, Packet, Record, Recording, Row
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
from hypothesis import strategies as st

ALIGNS = st.sampled_from([1, 1, 1, 2, 4, 8, 8, 16, 32, 64])
KINDS = ("field", "field", "field", "sequence", "variant")
FEW = 4  # elements of a sequence, at most


def orders(big: bool, bits: int, align: int) -> st.SearchStrategy[bool]:
    """Choose a byte order: only a field of whole bytes may have another than the trace's."""
    return st.booleans() if bits % 8 == 0 and align % 8 == 0 else st.just(big)


@st.composite
def integers(draw: st.DrawFn, big: bool) -> Int:
    """Choose an integer or an enumeration."""
    bits = draw(st.sampled_from([8, 16, 32, 64]) | st.integers(1, 64))
    align = draw(ALIGNS)
    plain = Int(bits, align, draw(st.booleans()), draw(orders(big, bits, align)))
    if draw(st.integers(0, 3)):
        return plain
    bounds = draw(st.lists(st.integers(*plain.range), min_size=2, max_size=6, unique=True))
    bounds = sorted(bounds[: len(bounds) // 2 * 2]) if len(bounds) > 1 else bounds * 2
    names = st.sampled_from(["A", "B", "low one", "C"])
    pairs = zip(bounds[::2], bounds[1::2], strict=True)
    return labelled(plain, tuple((draw(names), *pair) for pair in pairs))


def labelled(plain: Int, labels: tuple[tuple[str, int, int], ...]) -> Int:
    """Make an enumeration of an integer."""
    return Int(plain.bits, plain.align, plain.signed, plain.big, labels, plain.role)


@st.composite
def reals(draw: st.DrawFn, big: bool) -> Real:
    """Choose a floating point number."""
    bits, align = draw(st.sampled_from([32, 64])), draw(ALIGNS)
    return Real(bits, align, draw(orders(big, bits, align)))


@st.composite
def arrays(draw: st.DrawFn, big: bool, depth: int, lengths: list[str]) -> Array | Text:
    """Choose an array, or a sequence whose length is one of the members `lengths`."""
    choices: list[int | str] = [*lengths, *range(FEW + 1)]
    length = draw(st.sampled_from(choices))
    kind = draw(st.sampled_from(["text", "bytes", "any", "any"]))
    if kind == "text":
        return Text(length or 1)
    if kind == "bytes":
        return Array(Int(8, draw(ALIGNS), big=big), length)
    return Array(draw(fields(big, depth - 1, lengths)), length)


def fields(big: bool, depth: int, lengths: list[str]) -> st.SearchStrategy[Field]:
    """Choose a field class of any kind but a variant, which needs a tag beside it."""
    leaves = integers(big) | integers(big) | reals(big) | st.just(String())
    if depth <= 0:
        return leaves
    return leaves | arrays(big, depth, lengths) | structs(big, depth - 1, "s")


@st.composite
def structs(
    draw: st.DrawFn, big: bool, depth: int, stem: str, kinds: tuple[str, ...] = KINDS
) -> Struct:
    """Choose a structure; members that others refer to go before them."""
    members: list[tuple[str, Field]] = []
    lengths: list[str] = []
    for number in range(draw(st.integers(0, 4))):
        name = f"{stem}{number}"
        what = draw(st.sampled_from(kinds))
        if what == "sequence":
            lengths.append(f"{name}_length")
            members.append((lengths[-1], draw(length_fields(big))))
            members.append((name, draw(sequences(big, depth, lengths))))
        elif what == "variant":
            tag = draw(tags(big))
            members.append((f"{name}_tag", tag))
            members.append((name, draw(variants(big, depth, f"{name}_tag", tag))))
        else:
            members.append((name, draw(fields(big, depth, lengths))))
    return Struct(tuple(members), draw(ALIGNS))


@st.composite
def length_fields(draw: st.DrawFn, big: bool) -> Int:
    """Choose an unsigned integer that holds a few."""
    bits, align = draw(st.sampled_from([8, 32, 3, 17, 64])), draw(ALIGNS)
    return Int(bits, align, False, draw(orders(big, bits, align)))


@st.composite
def sequences(draw: st.DrawFn, big: bool, depth: int, lengths: list[str]) -> Array | Text:
    """Choose a sequence."""
    length = draw(st.sampled_from(lengths))
    if draw(st.integers(0, 2)) == 0:
        return Text(length)
    byte = st.builds(Int, st.just(8), ALIGNS, big=st.just(big))
    return Array(draw(byte | fields(big, depth, [])), length)


@st.composite
def tags(draw: st.DrawFn, big: bool) -> Int:
    """Choose an enumeration of which every label is an option."""
    bits, align = draw(st.sampled_from([8, 16, 3, 11, 64])), draw(ALIGNS)
    plain = Int(bits, align, draw(st.booleans()), draw(orders(big, bits, align)))
    first, last = plain.range
    labels = [("one", first, first), ("two", first + 2, first + 3), ("three", last - 2, last)]
    if draw(st.booleans()):
        labels.append(("one", first + 4, first + 4))
    return labelled(plain, tuple(labels[: draw(st.integers(1, 4))]))


@st.composite
def variants(draw: st.DrawFn, big: bool, depth: int, name: str, tag: Int) -> Variant:
    """Choose an option for every label."""
    # A sequence in an option cannot refer to members beside the variant here: one level suffices.
    names = list(dict.fromkeys(label for label, _, _ in tag.labels))
    return Variant(name, tuple((option, draw(fields(big, depth, []))) for option in names))


@st.composite
def values(draw: st.DrawFn, field: Field, tame: bool, siblings: Row | None = None) -> Any:
    """Choose a value; `siblings` are those of the same structure before it."""
    if isinstance(field, Int):
        return draw(st.integers(*field.range) | st.sampled_from(field.range))
    if isinstance(field, Real):
        return draw(st.floats(width=32 if field.bits == 32 else 64))
    if isinstance(field, String):
        return draw(text(tame))
    if isinstance(field, Struct):
        return draw(struct_values(field, tame))
    if isinstance(field, Variant):
        assert siblings is not None
        chosen = siblings[field.tag][0]
        return chosen, draw(values(dict(field.options)[chosen], tame))
    length = field.length if isinstance(field.length, int) else (siblings or {})[field.length]
    if isinstance(field, Text):
        return draw(text_bytes(length, tame))
    return [draw(values(field.element, tame, siblings)) for _ in range(length)]


def text(tame: bool) -> st.SearchStrategy[str]:
    """Choose characters but NUL and those that UTF-8 has no bytes for."""
    letters = st.characters(exclude_characters="\0", exclude_categories=["Cs"])
    return st.text(letters, min_size=int(tame), max_size=5)


@st.composite
def text_bytes(draw: st.DrawFn, length: int, tame: bool) -> bytes:
    """Choose what a text of so many bytes holds: whole characters, then maybe NUL and others."""
    chosen = draw(text(tame))
    while len(chosen.encode()) > length:
        chosen = chosen[:-1]
    if tame and not chosen:
        chosen = "x"
    rest = draw(st.sampled_from([b"", b"\0ab", b"\0\xff"]))
    return (chosen.encode() + rest).ljust(length, b"\0")[:length]


def text_lengths(field: Field) -> set[int | str]:
    """Return the lengths of texts that refer to members beside a field, or are fixed."""
    if isinstance(field, Array):
        return text_lengths(field.element)
    return {field.length} if isinstance(field, Text) else set()


@st.composite
def struct_values(draw: st.DrawFn, field: Struct, tame: bool) -> Row:
    """Choose values of all members."""
    found: Row = {}
    picked: dict[str, Any] = {}
    parts = [part for _, part in field.members]
    tags_of = {part.tag for part in parts if isinstance(part, Variant)}
    filled = set().union(*map(text_lengths, parts)) if tame else set()
    for name, part in field.members:
        if name.endswith("_length"):
            found[name] = picked[name] = draw(st.integers(int(name in filled), FEW))
        elif name in tags_of:
            assert isinstance(part, Int)
            label, first, last = draw(st.sampled_from(part.labels))
            found[name] = draw(st.integers(first, last))
            picked[name] = (label, found[name])
        else:
            found[name] = draw(values(part, tame, picked))
    return found


@st.composite
def packet_headers(draw: st.DrawFn, big: bool, needed: bool) -> Struct | None:
    """Choose the header of packets."""
    if not needed and draw(st.booleans()):
        return None
    align = draw(st.sampled_from([8, 32]))
    members: list[tuple[str, Field]] = [
        ("magic", Int(32, align, big=big, role="packet-magic-number")),
        ("uuid", Array(Int(8, 8, big=big), len(UUID), "metadata-stream-uuid")),
        (
            "stream_id",
            Int(draw(st.sampled_from([8, 32, 64])), align, big=big, role="data-stream-class-id"),
        ),
    ]
    if draw(st.booleans()):
        members.append(("stream_instance_id", Int(64, align, big=big, role="data-stream-id")))
    return Struct(tuple(members))


PACKET_FIELDS = {
    "timestamp_begin": "default-clock-timestamp",
    "timestamp_end": "packet-end-default-clock-timestamp",
    "content_size": "packet-content-length",
    "packet_size": "packet-total-length",
    "packet_seq_num": "packet-sequence-number",
    "events_discarded": "discarded-event-record-counter-snapshot",
}


@st.composite
def packet_contexts(draw: st.DrawFn, big: bool) -> Struct:
    """Choose the context of packets."""
    align = draw(st.sampled_from([1, 8, 32, 64]))
    members: list[tuple[str, Field]] = [
        (
            name,
            Int(
                draw(st.sampled_from([64, 32])) if "size" in name else 64, align, big=big, role=role
            ),
        )
        for name, role in PACKET_FIELDS.items()
        if "_s" in name or "time" in name or draw(st.booleans())
    ]
    if draw(st.booleans()):
        members.append(("cpu_id", Int(draw(st.sampled_from([32, 8, 5])), align, big=big)))
    if draw(st.integers(0, 2)) == 0:
        members.append(("extra", draw(integers(big))))
    return Struct(tuple(draw(st.permutations(members))))


@st.composite
def event_headers(draw: st.DrawFn, big: bool, single: bool) -> Struct:
    """Choose a header: a plain one, or LTTng's compact or large one; of a single class without id.

    LTTng's may be aligned as LTTng never does.
    """
    number, clock = "event-record-class-id", "default-clock-timestamp"
    align = draw(st.sampled_from([8, 8, 16, 32, 64]))
    kind = draw(st.sampled_from([0, 5, 16]))
    if kind == 0:
        bits = draw(st.sampled_from([8, 16, 32, 64]))
        members = (
            ("id", Int(bits, draw(st.sampled_from([1, align])), big=big, role=number)),
            ("timestamp", Int(draw(st.sampled_from([32, 64])), align, big=big, role=clock)),
        )
        return Struct(members[1:] if single and draw(st.booleans()) else members)
    top = (1 << kind) - 1
    labels = (("compact", 0, top - 1), ("extended", top, top))
    bits = 27 if kind == 5 else 32
    compact = Struct((("timestamp", Int(bits, 1 if kind == 5 else 8, big=big, role=clock)),))
    extended = Struct(
        (
            ("id", Int(32, align, big=big, role=number)),
            ("timestamp", Int(64, align, big=big, role=clock)),
        ),
        draw(st.sampled_from([1, 1, 1, 32])),
    )
    first = Int(kind, 1 if kind == 5 else align, big=big, labels=labels, role=number)
    options = (("compact", compact), ("extended", extended))
    return Struct((("id", first), ("v", Variant("id", options))), align)


@st.composite
def streams(draw: st.DrawFn, big: bool, number: int, tame: bool) -> Stream:
    """Choose a data stream class."""
    common = draw(st.none() | st.none() | structs(big, 1, "c"))
    if draw(st.integers(0, 2)) == 0:
        usual = (
            ("vpid", Int(32, 8, True, big)),
            ("procname", Text(draw(st.sampled_from([16, 17])))),
        )
        common = Struct(usual + (common.members if common else ()))
    numbers = st.sampled_from([0, 1, 2, 30, 31, 32, 200])
    events = []
    for event in draw(st.lists(numbers, min_size=1, max_size=3, unique=True)):
        payload = draw(structs(big, 2, "p"))
        if draw(st.integers(0, 5)) == 0:
            clash = draw(st.sampled_from(["vpid", "cpu_id", "timestamp"]))
            payload = Struct((*payload.members, (clash, draw(integers(big)))), payload.least_align)
        kinds = structs(big, 0, "d", KINDS[:1]) if tame else structs(big, 1, "d")
        context = draw(st.none() | st.none() | kinds)
        events.append(Event(event, f"prov{number}:e{event}", context, payload))
    packet = draw(packet_contexts(big))
    header = draw(event_headers(big, len(events) == 1))
    return Stream(number, packet, header, common, tuple(events))


@st.composite
def layouts(draw: st.DrawFn, tame: bool) -> Layout:
    """Choose a layout."""
    big = draw(st.booleans())
    count = draw(st.sampled_from([1, 1, 2]))
    frequency = draw(st.sampled_from([10**9, 10**9, 10**6, 2_400_000_000]))
    return Layout(
        big=big,
        header=draw(packet_headers(big, count > 1)),
        streams=tuple(draw(streams(big, number, tame)) for number in range(count)),
        frequency=frequency,
        offset=draw(st.sampled_from([0, 7, 10**9 * frequency + 123])),
        offset_s=draw(st.sampled_from([0, 1_700_000_000, -5])),
        hostname=draw(st.sampled_from(["", "box"])),
        prefix=draw(st.sampled_from(["", "_"])),
        absolute=draw(st.booleans()),
    )


@st.composite
def records(draw: st.DrawFn, stream: Stream, before: int, tame: bool) -> Record:
    """Choose an event that comes after the clock was `before`."""
    place = draw(st.integers(0, len(stream.events) - 1))
    event = stream.events[place]
    members = dict(stream.header.members)
    extended = False
    stamp = members.get("timestamp")
    if stamp is None:
        first, choice = members["id"], members["v"]
        assert isinstance(first, Int) and isinstance(choice, Variant)
        extended = event.number >= first.range[1] or draw(st.booleans())
        chosen = dict(choice.options)["extended" if extended else "compact"]
        assert isinstance(chosen, Struct)
        stamp = dict(chosen.members)["timestamp"]
    assert isinstance(stamp, Int)
    # Steps of more than half a turn of the clock's last bits, but less than one.
    bits = min(stamp.bits, 40)
    steps = st.integers(0, 1000) | st.integers(1 << (bits - 1), (1 << bits) - 1)
    common = draw(values(stream.context, tame)) if stream.context else {}
    specific = draw(values(event.context, tame)) if event.context else {}
    payload = draw(values(event.payload, tame))
    return Record(place, before + draw(steps), extended, common, specific, payload)


@st.composite
def packets(draw: st.DrawFn, stream: Stream, begin: int, tame: bool) -> Packet:
    """Choose a packet."""
    clock = begin
    found = []
    for _ in range(draw(st.integers(0, 4))):
        found.append(draw(records(stream, clock, tame)))
        clock = found[-1].clock
    extra = {
        name: draw(values(part, tame))
        for name, part in stream.packet.members
        if name not in PACKET_FIELDS
    }
    padding = draw(st.sampled_from([0, 0, 1, 3, 8, 40]))
    return Packet(begin, clock + draw(st.integers(0, 9)), tuple(found), padding, extra)


@st.composite
def recordings(draw: st.DrawFn, tame: bool = False) -> Recording:
    """Choose a whole trace."""
    layout = draw(layouts(tame))
    count = max(len(layout.streams), draw(st.integers(1, 2)))
    instances = draw(st.permutations(range(5, 5 + count)))
    start = draw(st.sampled_from([0, 1 << 20, (1 << 27) - 3, (1 << 50) + 12345]))
    files = []
    for number in range(count):
        place = number % len(layout.streams)
        found: list[Packet] = []
        clock = start
        for _ in range(draw(st.integers(1, 3))):
            found.append(draw(packets(layout.streams[place], clock, tame)))
            clock = found[-1].end + draw(st.integers(0, 9))
        files.append(File(f"channel_{number}", place, instances[number], tuple(found)))
    return Recording(layout, tuple(files))
