# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Damaged, odd and partly dropped traces: the engine's results are those of event tables."""

from __future__ import annotations

import os
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from model.worlds import Recording, record, worlds
from read.test_damaged_streams import (
    FIELDS,
    HEADER,
    SAMPLE,
    STREAMS,
    flip,
    flip_of_number,
    packets_of,
    take_packets,
)
from small_trace import write_trace
from test_plain_model import assert_same_rows
from work_events import work
from written_trace import write_tables

from strata.analysis import Analysis
from strata.errors import TraceError
from strata.pipeline import analyze, run
from strata.read import open_trace
from strata.read.names import keep
from strata.read.rotated import METADATA_NEW
from strata.schema.tables import TABLES


@pytest.fixture
def directory(own_sample: Callable[[str], Path]) -> Path:
    return own_sample(SAMPLE) / STREAMS


def assert_same_results(path: Path) -> Analysis | None:
    """Compare every table and verdict; none where both refuse the trace, which is compared."""
    wanted, refused = results_of_tables(path)
    if refused is not None:
        with pytest.raises(TraceError) as refusal:
            analyze(path)
        assert str(refusal.value) == refused
        return None
    assert wanted is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "build_model", _no_tables)
        found = analyze(path)
        for table in TABLES:
            assert_same_rows(found.rows(table.name), wanted.rows(table.name))
        for of in ("trace", "counts", "bottlenecks", "system"):
            assert getattr(found, of) == getattr(wanted, of), of
    return found


def results_of_tables(path: Path) -> tuple[Analysis | None, str | None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "model_of_trace", lambda *_: None)
        try:
            return analyze(path), None
        except TraceError as error:
            return None, str(error)


def _no_tables(*_: object) -> None:
    raise AssertionError("read by event tables")


def codes(analysis: Analysis | None) -> set[str]:
    assert analysis is not None
    return set(analysis.rows("losses").texts("code"))


@pytest.mark.parametrize("seed", range(1, 12))
def test_flipped_bits_in_events(directory: Path, seed: int) -> None:
    chance = Random(seed)
    for path, offset, size in packets_of(directory):
        for _ in range(20):
            flip(path, offset + HEADER + chance.randrange(size - HEADER), chance.randrange(8))
    assert codes(assert_same_results(directory)) & {"misplaced_events", "unreadable_bytes"}


@pytest.mark.parametrize("name", FIELDS)
def test_damaged_headers(directory: Path, name: str) -> None:
    shutil.rmtree(directory / "index")
    for number, (path, offset, _) in enumerate(packets_of(directory)):
        if number % 2 == 0:
            flip_of_number(path, offset + FIELDS[name], 45 - number)
    assert codes(assert_same_results(directory))


@pytest.mark.parametrize(("first", "count"), [(0, 1), (1, 2), (0, 4)])
def test_packets_that_were_deleted(directory: Path, first: int, count: int) -> None:
    take_packets(directory, "ros2_1", first, count)
    assert codes(assert_same_results(directory)) == {"lost_packets"}


@pytest.mark.parametrize("index", [True, False])
def test_a_stream_that_was_cut(directory: Path, *, index: bool) -> None:
    if not index:
        shutil.rmtree(directory / "index")
    os.truncate(directory / "ros2_1", 1_500_000)
    (directory / "ros2_2").touch()
    assert codes(assert_same_results(directory)) > {"truncated_streams", "truncated_bytes"}


def set_clock(path: Path, directory: Path, by_ns: int) -> None:
    """Add to the times of events that have all of them; those of others count from these."""
    trace = open_trace(directory)
    clock = next(iter(trace.clock_offsets_ns.values()))
    columns = trace.tables(columns=["timestamp"]).values()
    times = np.concatenate([column["timestamp"].to_numpy() for column in columns]) - clock
    content = bytearray(path.read_bytes())
    numbers: np.ndarray[tuple[int], np.dtype[np.int64]] = np.ndarray(
        (len(content) - 7,), "<i8", content, strides=(1,)
    )
    at = np.flatnonzero(np.isin(numbers, times))
    numbers[at[at > HEADER][1::2]] += by_ns
    path.write_bytes(content)


@pytest.mark.parametrize("by_ns", [-700_000_000, -100_000, 1_000, 3_000_000, 70_000_000])
def test_a_clock_that_went_back_within_a_packet(directory: Path, by_ns: int) -> None:
    for stream in ("ros2_0", "ros2_1"):
        set_clock(directory / stream, directory, by_ns)
    found = codes(assert_same_results(directory))
    assert "out_of_order_events" in found or abs(by_ns) < 1_000_000


def test_parts_that_were_dropped(directory: Path, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    chunk = trace / "archives" / "20260301T120000-0500-20260301T120100-0500-0"
    rest = trace / "ust"
    for place in (chunk / "ust", rest):
        shutil.copytree(directory, place)
        shutil.rmtree(place / "index")
    bounds = {path: offset + size for path, offset, size in packets_of(directory) if not offset}
    for path, end in bounds.items():
        content = path.read_bytes()
        (chunk / "ust" / path.name).write_bytes(content[:end])
        (rest / path.name).write_bytes(content[end:])
    names = chunk.parent / "names-0"
    dropped = keep([(chunk, names)], None, 1 << 20)
    for metadata in names.rglob(METADATA_NEW):
        metadata.rename(metadata.with_name("metadata"))
    shutil.rmtree(chunk)
    found = assert_same_results(trace)
    assert dropped.events > 0
    assert "dropped_packets" in codes(found)


@pytest.mark.parametrize("process", ["sleep", "a name that has more than 24 bytes"])
def test_events_of_no_known_provider(directory: Path, process: str) -> None:
    for number, name in enumerate(("made:event", "made_of_kernel", "ros2:no_such_event")):
        write_trace(directory / str(number), [b""] * 1_000, event=name, process=process, host="a")
    write_trace(directory / "own", [b"text\0"] * 10, event="made:other", fields="string _message;")
    found = assert_same_results(directory)
    assert found is not None
    of_made = [process for process in found.trace.processes if process.vpid == 42]
    assert {(process.host, process.events) for process in of_made} == {("a", 2_000), ("host", 10)}


def odd_takes(directory: Path) -> None:
    """Write takes whose fields are other things than declared."""
    texts = [b"x" if number % 3 == 2 else b"%d" % number for number in range(30)]
    payloads = [text + b"\0" + struct.pack("<d", at / 2) for at, text in enumerate(texts)]
    fields = "string _taken; double _source_timestamp;"
    write_trace(directory / "odd", payloads, event="ros2:rmw_take", fields=fields)


def test_values_of_another_kind(directory: Path) -> None:
    odd_takes(directory)
    assert codes(assert_same_results(directory)) == {"mistyped_values"}


def test_values_that_traces_declare_differently(directory: Path) -> None:
    for number, kind in enumerate(("string", "int32_t")):
        payloads = [b"abc\0"] * 9
        write_trace(directory / f"{number}", payloads, event="made:event", fields=f"{kind} _x;")
    assert codes(assert_same_results(directory)) == {"mistyped_values"}


def test_values_of_another_kind_that_come_late(directory: Path) -> None:
    set_clock(directory / "ros2_0", directory, 3_000_000)
    odd_takes(directory)
    assert codes(assert_same_results(directory)) == {"mistyped_values", "out_of_order_events"}


@pytest.mark.parametrize("events", [0, 3])
def test_nothing_of_ros2(tmp_path: Path, events: int) -> None:
    write_trace(tmp_path / "a", [b""] * events)
    write_trace(tmp_path / "b", [b""] * events, event="sched_switch")
    assert assert_same_results(tmp_path) is None


EARLY = st.sampled_from(
    [
        lambda ns: 0,
        lambda ns: 3 if ns % 3 == 0 else 0,
        lambda ns: ns % 7 * 1_000,
        lambda ns: 5_000_000 if ns % 5 == 0 else 0,
        lambda ns: ns % 2 << 60,
    ]
)


def written(tables: dict[str, pa.Table], streams: int, early: Callable[[int], int]) -> None:
    with TemporaryDirectory() as place:
        assert_same_results(write_tables(Path(place), tables, streams=streams, early=early))


@given(worlds().map(record), st.integers(1, 3), EARLY)
def test_worlds(recording: Recording, streams: int, early: Callable[[int], int]) -> None:
    written(recording.tables(), streams, early)


@given(st.integers(0, (1 << 32) - 1), st.integers(1, 3), EARLY)
def test_any_order(seed: int, streams: int, early: Callable[[int], int]) -> None:
    written(work(Random(seed))[0], streams, early)
