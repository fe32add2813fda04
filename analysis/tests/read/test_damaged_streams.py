# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Damage of streams and of their indexes is counted, and moves no event out of its packet."""

from __future__ import annotations

import os
import random
import resource
import shutil
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from read.damage import (
    FIELDS,
    HEADER,
    SAMPLE,
    STREAMS,
    flip,
    flip_of_number,
    packets_of,
    take_packets,
)

import strata
from strata.read import Trace, open_trace
from strata.read.decoder import Selection

ENTRY = struct.Struct(">9Q")
INDEX_HEADER = 16
# What damage of headers, events and indexes is counted as.
WITNESSED = {"misplaced_events", "damaged_packet_headers", "damaged_indexes", "lost_packets"}


@dataclass(frozen=True)
class Whole:
    """What the undamaged trace holds."""

    events: int
    begin_ns: int
    end_ns: int


def measured(trace: Trace) -> Whole:
    tables = [table["timestamp"] for table in trace.tables().values()]
    begin = min(column[0].as_py() for column in tables)
    end = max(column[-1].as_py() for column in tables)
    return Whole(sum(map(len, tables)), begin, end)


@pytest.fixture(scope="module")
def whole(sample: Callable[[str], Path]) -> Whole:
    return measured(open_trace(sample(SAMPLE)))


@pytest.fixture
def directory(own_sample: Callable[[str], Path]) -> Path:
    return own_sample(SAMPLE) / STREAMS


def index_of(stream: Path) -> Path:
    return stream.parent / "index" / f"{stream.name}.idx"


@pytest.mark.parametrize("name", FIELDS)
@pytest.mark.parametrize("number", range(5))
def test_a_damaged_header_is_mended_by_the_index(
    directory: Path, whole: Whole, name: str, number: int
) -> None:
    path, offset, _ = packets_of(directory)[number]
    bit = random.Random(f"{name} {number}").randrange(20, 60)
    flip_of_number(path, offset + FIELDS[name], bit)
    trace = open_trace(directory)
    assert measured(trace) == whole
    # No packet begins where the last one of a stream ends: which of both is wrong is not known.
    last = name == "end" and number in (0, 4)
    code = "damaged_indexes" if last else "damaged_packet_headers"
    assert trace.findings.counts == {code: 1}


@pytest.mark.parametrize("bit", [33, 45, 62])
def test_a_begin_that_jumped_is_mended_by_the_packets_around(
    directory: Path, whole: Whole, bit: int
) -> None:
    shutil.rmtree(directory / "index")
    path, offset, _ = next(item for item in packets_of(directory) if item[1])
    flip_of_number(path, offset + FIELDS["begin"], bit)
    trace = open_trace(directory)
    assert measured(trace) == whole
    assert trace.findings.counts == {"damaged_packet_headers": 1}


def test_a_begin_that_jumped_within_its_packet_stretches_nothing(
    directory: Path, whole: Whole
) -> None:
    """A jump of 4.3 s in a packet of 5.8 s: without an index nothing tells it."""
    shutil.rmtree(directory / "index")
    path, offset, _ = next(item for item in packets_of(directory) if item[1])
    flip_of_number(path, offset + FIELDS["begin"], 32)
    trace = open_trace(directory)
    found = measured(trace)
    counts = trace.findings.counts
    assert (found.begin_ns, found.end_ns) == (whole.begin_ns, whole.end_ns)
    assert found.events + counts.get("misplaced_events", 0) == whole.events


def test_events_behind_a_begin_that_nothing_tells_are_left_out(
    directory: Path, whole: Whole
) -> None:
    shutil.rmtree(directory / "index")
    path, offset, _ = packets_of(directory)[0]
    flip_of_number(path, offset + FIELDS["begin"], 45)
    trace = open_trace(directory)
    found = measured(trace)
    counts = trace.findings.counts
    assert whole.begin_ns <= found.begin_ns
    assert found.end_ns == whole.end_ns
    assert counts["damaged_packet_headers"] == 1
    assert found.events + counts["misplaced_events"] == whole.events
    (loss,) = [loss for loss in trace.losses if loss.code == "misplaced_events"]
    assert loss.where.startswith(f"{path}, byte {offset}: ")


@pytest.mark.parametrize("seed", range(12))
def test_a_flipped_bit_in_an_event_moves_none_out_of_its_packet(
    directory: Path, whole: Whole, seed: int
) -> None:
    chance = random.Random(seed)
    path, offset, size = chance.choice(packets_of(directory))
    flip(path, offset + HEADER + chance.randrange(size - HEADER), chance.randrange(8))
    trace = open_trace(directory)
    found = measured(trace)
    packets = trace.decoder.packets
    assert packets["begin_ns"].min() <= found.begin_ns
    assert found.end_ns <= packets["end_ns"].max()
    missing = whole.events - found.events
    assert not missing or set(trace.findings.counts) & {"misplaced_events", "unreadable_bytes"}


def test_a_whole_time_that_jumped_is_left_out_alone(directory: Path, whole: Whole) -> None:
    """So are those behind it whose times count from it."""
    path, offset, _ = packets_of(directory)[0]
    content = path.read_bytes()
    # LTTng's compact header: five bits of an escape, then the id and all of the time.
    events = open_trace(directory).tables(columns=["timestamp", "cpu_id"])
    clock = next(iter(open_trace(directory).clock_offsets_ns.values()))
    times = pa.concat_arrays(
        [column for table in events.values() for column in table["timestamp"].chunks]
    ).to_numpy()
    numbers: np.ndarray[tuple[int], np.dtype[np.int64]] = np.ndarray(
        (len(content) - 7,), "<i8", content, strides=(1,)
    )
    wholes = np.flatnonzero(np.isin(numbers, times - clock))
    at = int(wholes[wholes > offset + HEADER][len(wholes) // 2])
    assert content[at - 5] & 31 == 31
    flip_of_number(path, at, 40)
    trace = open_trace(directory)
    found = measured(trace)
    assert (found.begin_ns, found.end_ns) == (whole.begin_ns, whole.end_ns)
    count = trace.findings.counts["misplaced_events"]
    assert count >= 1
    assert found.events == whole.events - count
    # Counted once, however often it is read.
    trace.tables(["ros2:rmw_take"])
    for _ in trace.chunks(Selection(columns=frozenset({"timestamp"}))):
        pass
    assert trace.findings.counts["misplaced_events"] == count


@pytest.mark.parametrize(
    ("first", "count", "index"),
    [(0, 1, True), (1, 2, True), (1, 2, False), (2, 2, True), (0, 4, True)],
)
def test_packets_that_were_deleted_are_lost(
    directory: Path, first: int, count: int, *, index: bool
) -> None:
    decoder = open_trace(directory).decoder
    rows = [
        row
        for row, file in enumerate(decoder.packets["file"])
        if decoder.files[file].path.endswith("ros2_1")
    ]
    begin_ns = int(decoder.packets["begin_ns"][rows[first]])
    end_ns = int(decoder.packets["end_ns"][rows[first + count - 1]])
    size = take_packets(directory, "ros2_1", first, count)
    if not index:
        shutil.rmtree(directory / "index")
    trace = open_trace(directory)
    trace.tables()
    assert trace.findings.counts == {"lost_packets": count}
    (loss,) = trace.losses
    assert (loss.begin_ns, loss.end_ns) == (begin_ns, end_ns)
    if index:
        where = f"{directory / 'ros2_1'}: {size} bytes listed in its index are missing"
        assert loss.where == where


def test_the_packets_of_a_deleted_file_are_lost(directory: Path) -> None:
    (directory / "ros2_1").unlink()
    trace = open_trace(directory)
    assert set(trace.tables()["ros2:rmw_take"]["cpu_id"].to_pylist()) == {0}
    assert trace.findings.counts == {"lost_packets": 4}


def test_what_a_file_lost_behind_a_cut_is_counted(directory: Path) -> None:
    path = directory / "ros2_1"
    os.truncate(path, 1_500_000)
    trace = open_trace(directory)
    assert trace.findings.counts == {
        "truncated_streams": 1,
        "truncated_bytes": 1_500_000 - (1 << 20),
        "lost_packets": 2,
    }


@pytest.mark.parametrize("left", [0, 100_000])
def test_a_file_that_is_cut_while_it_is_read_loses_what_was_not_read(
    directory: Path, whole: Whole, left: int
) -> None:
    trace = open_trace(directory)
    size = (directory / "ros2_1").stat().st_size
    chunks = trace.chunks(chunk_rows=1000)
    events = sum(len(batch) for batches in next(chunks).values() for batch in batches)
    os.truncate(directory / "ros2_1", left)
    events += sum(len(batch) for chunk in chunks for rows in chunk.values() for batch in rows)
    assert 0 < events < whole.events
    assert trace.findings.counts["unreadable_bytes"] > size - (2 << 20)
    assert "the file became shorter while it was read" in trace.losses[0].where


def test_a_file_that_is_removed_while_it_is_read_loses_what_was_not_read(
    directory: Path, whole: Whole
) -> None:
    trace = open_trace(directory)
    (directory / "ros2_1").unlink()
    assert measured(trace).events < whole.events
    assert set(trace.findings.counts) == {"unreadable_bytes"}


def test_what_is_written_while_it_is_read_is_no_loss(directory: Path, whole: Whole) -> None:
    path = directory / "ros2_1"
    content = path.read_bytes()
    os.truncate(path, 2 << 20)
    index = index_of(path).read_bytes()
    index_of(path).write_bytes(index[: INDEX_HEADER + 2 * ENTRY.size])
    trace = open_trace(directory)
    path.write_bytes(content)
    index_of(path).write_bytes(index)
    assert measured(trace).events < whole.events
    assert trace.findings.counts == {}
    assert measured(open_trace(directory)) == whole


@pytest.mark.parametrize("seed", range(16))
def test_a_damaged_index_does_no_harm(directory: Path, whole: Whole, seed: int) -> None:
    chance = random.Random(f"index {seed}")
    for stream in ("ros2_0", "ros2_1"):
        path = index_of(directory / stream)
        content = bytearray(path.read_bytes())
        for _ in range(chance.choice([1, 1, 8, 200])):
            content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
        path.write_bytes(content[: chance.choice([len(content), len(content) - 40])])
    trace = open_trace(directory)
    assert measured(trace) == whole
    assert set(trace.findings.counts) <= {"damaged_indexes"}
    assert trace.findings.counts.get("damaged_indexes", 0) <= 2


@pytest.mark.parametrize("kind", ["absent", "empty", "rubbish", "another's", "a directory"])
def test_without_an_index_a_trace_is_as_good(directory: Path, whole: Whole, kind: str) -> None:
    path = index_of(directory / "ros2_1")
    content = path.read_bytes()
    path.unlink()
    if kind == "empty":
        path.write_bytes(b"")
    elif kind == "rubbish":
        path.write_bytes(os.urandom(300))
    elif kind == "another's":
        numbers = ENTRY.unpack_from(content, INDEX_HEADER)
        foreign = ENTRY.pack(*(number // 3 for number in numbers))
        path.write_bytes(content[:INDEX_HEADER] + foreign * 4)
    elif kind == "a directory":
        path.mkdir()
    trace = open_trace(directory)
    assert measured(trace) == whole
    counts = {"damaged_indexes": 1} if kind not in ("absent", "empty") else {}
    assert trace.findings.counts == counts


def test_a_stream_needs_one_descriptor_and_many_streams_no_more(
    sample: Callable[[str], Path], tmp_path: Path, whole: Whole
) -> None:
    for number in range(12):
        shutil.copytree(sample(SAMPLE) / STREAMS, tmp_path / f"host{number}")
    held = []
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    traces = open_trace(tmp_path)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard))
        while True:
            try:
                held.append(os.open("/dev/null", os.O_RDONLY))
            except OSError:
                break
        for _ in range(3):
            os.close(held.pop())
        assert measured(traces).events == whole.events
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        for descriptor in held:
            os.close(descriptor)


def test_the_analysis_says_what_was_damaged(directory: Path) -> None:
    take_packets(directory, "ros2_1", 3, 1)
    found = strata.analyze(directory)
    assert found.quality.iloc[0]["code"] == "lost_packets"
    assert found.quality.iloc[0]["severity"] == "loss"


def test_undamaged_traces_have_no_damage(sample: Callable[[str], Path]) -> None:
    """Of every sample: what is said to be damaged is, and they are not."""
    archives = Path(__file__).parents[1] / "traces"
    names = sorted(path.name.removesuffix(".tar.xz") for path in archives.glob("*.tar.xz"))
    assert len(names) > 40
    damaged = {}
    for name in names:
        trace = open_trace(sample(name))
        for _ in trace.chunks(Selection(columns=frozenset({"timestamp"}))):
            pass
        damaged[name] = WITNESSED & set(trace.findings.counts)
    # That one was made with gaps.
    assert damaged.pop("ctf2_every_class") == {"lost_packets"}
    assert not any(damaged.values())
