# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What few producers write, and some wrote by mistake: TSDL and packets by hand."""

from __future__ import annotations

import struct
from pathlib import Path

import oracle
import pytest

from strata.errors import TraceError
from strata.read import open_trace
from strata.read.decoder import EVERYTHING

UUID = bytes(range(16))
START = struct.pack("<I16sI", 0xC1FC1FC1, UUID, 0)
SIZES = "u64 packet_size; u64 content_size; stamp timestamp_begin; stamp timestamp_end;"
HEADER = "struct { u8 id; stamp timestamp; }"
EVENT = 'event { name = "e"; id = 0; stream_id = 0; fields := struct { u32 x; }; };'


def metadata(
    context: str = SIZES,
    header: str = HEADER,
    events: str = EVENT,
    clock: str = "freq = 1000000000;",
) -> str:
    uuid = "00010203-0405-0607-0809-0a0b0c0d0e0f"
    types = "".join(
        f"typealias integer {{ size = {size}; align = 8; signed = false; }} := u{size};\n"
        for size in (8, 16, 32, 64)
    )
    event_header = f"event.header := {header};" if header else ""
    return (
        f"/* CTF 1.8 */\n{types}"
        f'trace {{ major = 1; minor = 8; uuid = "{uuid}"; byte_order = le;'
        " packet.header := struct { u32 magic; u8 uuid[16]; u32 stream_id; }; };\n"
        f"clock {{ name = c; {clock} }};\n"
        "typealias integer { size = 64; align = 8; signed = false; map = clock.c.value; }"
        " := stamp;\n"
        f"stream {{ id = 0; packet.context := struct {{ {context} }}; {event_header} }};\n{events}"
    )


def packet(begin: int, end: int, events: bytes, more: bytes = b"") -> bytes:
    """Return a packet with SIZES, and `more` behind them in its context."""
    size = 8 * (len(START) + 32 + len(more) + len(events))
    return START + struct.pack("<QQQQ", size, size, begin, end) + more + events


def event(time: int, x: int, number: int = 0) -> bytes:
    return struct.pack("<BQI", number, time, x)


def write(place: Path, text: str, *files: bytes) -> Path:
    (place / "metadata").write_text(text)
    for number, content in enumerate(files):
        (place / f"stream{number}").write_bytes(content)
    return place


def values(place: Path, begin: int | None = None, end: int | None = None) -> list[int]:
    tables = open_trace(place).tables(begin_ns=begin, end_ns=end)
    return [row["x"] for row in tables["e"].to_pylist()] if "e" in tables else []


def test_content_size_without_packet_size(tmp_path: Path) -> None:
    def part(begin: int, events: bytes) -> bytes:
        size = 8 * (len(START) + 24 + len(events))
        return START + struct.pack("<QQQ", size, begin, begin + 50) + events

    context = "u64 content_size; stamp timestamp_begin; stamp timestamp_end;"
    content = part(100, event(100, 1) + event(110, 2)) + part(200, event(220, 3))
    assert oracle.assert_equal(write(tmp_path, metadata(context), content)) == 3


@pytest.mark.parametrize("header", ["struct { stamp timestamp; }", ""])
def test_a_single_event_class_needs_no_id(tmp_path: Path, header: str) -> None:
    text = metadata(header=header, events=EVENT.replace("id = 0", "id = 5000", 1))
    body = struct.pack("<QI", 100, 7) if header else struct.pack("<I", 7)
    assert oracle.assert_equal(write(tmp_path, text, packet(100, 110, body))) == 1


def test_several_event_classes_need_ids(tmp_path: Path) -> None:
    events = EVENT + EVENT.replace('"e"; id = 0', '"f"; id = 1')
    place = write(tmp_path, metadata(header="", events=events), packet(1, 2, b""))
    with pytest.raises(TraceError, match="event header: it has no field for the id of one of sev"):
        open_trace(place)


def test_several_stream_classes_need_ids(tmp_path: Path) -> None:
    text = metadata().replace(" u32 stream_id;", "") + "stream { id = 1; };"
    with pytest.raises(TraceError, match="packet header: it has no field for the id of one of se"):
        open_trace(write(tmp_path, text, b""))


@pytest.mark.parametrize("align", [1, 32])
def test_the_header_of_lttng_with_another_alignment(tmp_path: Path, align: int) -> None:
    header = (
        "struct { enum : integer { size = 5; align = 1; } { compact = 0 ... 30, extended = 31 } id;"
        " variant <id> { struct { integer { size = 27; align = 1; map = clock.c.value; } timestamp;"
        f" }} compact; struct {{ u32 id; stamp timestamp; }} align({align}) extended; }} v; }}"
        " align(8)"
    )
    body = b""
    for time in (100, 110, 120):
        at = len(START) + 32 + len(body) + 1
        padding = bytes(-at % 4 if align == 32 else 0)
        body += b"\x1f" + padding + struct.pack("<IQI", 0, time, time)
    place = write(tmp_path, metadata(header=header), packet(100, 120, body))
    assert oracle.assert_equal(place) == 3
    assert values(place) == [100, 110, 120]


@pytest.mark.parametrize("names", ["ee", "ef"])
@pytest.mark.parametrize("align", [4, 8, 32])
def test_empty_structures_align(tmp_path: Path, names: str, align: int) -> None:
    bits = "struct { integer { size = 4; align = 1; } id; } align(1)"
    events = "".join(
        f'event {{ name = "{name}"; id = {number}; stream_id = 0;'
        f" fields := struct {{ }} {tail}; }};"
        for number, (name, tail) in enumerate(zip(names, ("", f"align({align})"), strict=True))
    )
    # Two events of the aligned class, each followed by padding.
    size = max(align, 8) // 8
    body = (b"\x01" + bytes(size - 1)) * 2 if align > 4 else b"\x11"
    place = write(tmp_path, metadata(header=bits, events=events), packet(1, 2, body))
    assert oracle.assert_equal(place) == 2


@pytest.mark.parametrize("bits", [8, 1])
def test_a_packet_context_of_many_fields(tmp_path: Path, bits: int) -> None:
    context = f"{SIZES} integer {{ size = {bits}; align = {bits}; signed = true; }} a[1600];"
    more = bytes(1600 * bits // 8)
    content = packet(100, 110, event(100, 1), more) + packet(120, 130, event(120, 2), more)
    assert oracle.assert_equal(write(tmp_path, metadata(context), content)) == 2


@pytest.mark.parametrize("frequency", [10**9, 10**9 + 1])
def test_times_beyond_64_bits_are_clamped(tmp_path: Path, frequency: int) -> None:
    clock = f"freq = {frequency}; offset_s = 20000000000;"
    place = write(tmp_path, metadata(clock=clock), packet(1, 2, event(1, 7)))
    assert open_trace(place).tables()["e"]["timestamp"].to_pylist() == [2**63 - 1]


def test_late_clock_values_are_clamped(tmp_path: Path) -> None:
    late = 2**63 + 5
    place = write(tmp_path, metadata(), packet(1, late, event(7, 1) + event(late, 2)))
    assert open_trace(place).tables()["e"]["timestamp"].to_pylist() == [7, 2**63 - 1]


def test_an_empty_range_holds_nothing(tmp_path: Path) -> None:
    events = b"".join(event(time, time) for time in range(100, 200, 10))
    place = write(tmp_path, metadata(), packet(100, 200, events))
    assert values(place, 150, 150) == []
    assert values(place, 160, 120) == []
    assert values(place, 150, 151) == [150]


@pytest.mark.parametrize(
    ("begin", "end"),
    [(100, 0), (100, 112), (118, 130)],
    ids=["crash", "event behind its end", "event before its begin"],
)
def test_a_range_does_not_trust_the_bounds_of_packets(tmp_path: Path, begin: int, end: int) -> None:
    content = packet(80, 90, event(80, 80)) + packet(
        begin, end, b"".join(event(time, time) for time in (100, 110, 115, 120))
    )
    place = write(tmp_path, metadata(), content + packet(140, 150, event(145, 145)))
    for first in range(75, 150, 5):
        for last in range(first, 155, 5):
            expected = [t for t in (80, 100, 110, 115, 120, 145) if first <= t < last]
            assert values(place, first, last) == expected


def test_a_clock_that_goes_back_is_no_loss(tmp_path: Path) -> None:
    context = f"{SIZES} u64 packet_seq_num; u64 events_discarded;"
    more = [struct.pack("<QQ", number, 5 * (number > 0)) for number in range(3)]
    content = packet(100, 110, event(100, 1) + event(110, 2), more[0])
    content += packet(50, 60, event(50, 3) + event(60, 4), more[1])
    content += packet(120, 130, event(120, 5), more[2])
    trace = open_trace(write(tmp_path, metadata(context), content))
    assert [row["x"] for row in trace.tables()["e"].to_pylist()] == [3, 4, 1, 2, 5]
    assert trace.findings.counts == {"discarded_events": 5, "out_of_order_events": 2}


def test_damage_has_a_time(tmp_path: Path) -> None:
    content = packet(100, 110, event(100, 1) + b"\x09") + b"\xff" * 100
    trace = open_trace(write(tmp_path, metadata(), content + packet(140, 150, event(145, 2))))
    assert len(trace.tables()["e"]) == 2
    found = {(loss.code, loss.count, loss.begin_ns, loss.end_ns) for loss in trace.losses}
    assert found == {("unreadable_bytes", 100, 110, 140), ("unreadable_bytes", 1, 100, 110)}


def test_a_context_that_costs_more_than_the_packet_is_not_repeated(tmp_path: Path) -> None:
    context = f"{SIZES} integer {{ size = 8; align = 8; signed = true; }} a[100000];"
    one_bit = EVENT.replace("u32 x;", "integer { size = 1; align = 1; } x;")
    header = "struct { u8 id; }"
    content = packet(1, 2, bytes(2 * 10000), bytes(100000))
    trace = open_trace(write(tmp_path, metadata(context, header, one_bit), content))
    most = 0
    for chunk in trace.chunks(EVERYTHING, chunk_bytes=1 << 20):
        most = max(most, *(batch.nbytes for batches in chunk.values() for batch in batches))
    assert most < 4 << 20
    assert trace.findings.counts["unreadable_bytes"] > 19000


def test_a_packet_that_is_too_large_is_left_out(tmp_path: Path) -> None:
    context = "stamp timestamp_begin; stamp timestamp_end;"
    start = START + struct.pack("<QQ", 1, 2) + event(1, 7)
    place = write(tmp_path, metadata(context), start)
    with (place / "stream0").open("r+b") as file:
        file.truncate(3 << 30)  # sparse
    trace = open_trace(place)
    assert trace.tables() == {}
    assert trace.findings.counts == {"unreadable_bytes": 3 << 30}


def test_large_events_do_not_overfill_a_chunk(tmp_path: Path) -> None:
    events = EVENT.replace("u32 x;", "string s;")
    sizes = [1, 2 << 20, 3 << 20, 2, (2 << 20) + 1, 9 << 20, 3]
    body = b"".join(struct.pack("<BQ", 0, 1) + b"\xff" * size + b"\0" for size in sizes)
    place = write(tmp_path, metadata(events=events), packet(1, 2, body))
    chunks = [
        [len(value) for batch in chunk["e"] for value in batch.column("s").to_pylist()]
        for chunk in open_trace(place).chunks(EVERYTHING, chunk_bytes=20 << 20)
    ]
    # A byte that is no UTF-8 becomes three: what has no room in its chunk begins the next.
    assert chunks == [[1, 2 << 20, 3 << 20, 2], [(2 << 20) + 1], [9 << 20, 3]]
