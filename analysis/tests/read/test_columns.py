# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Values of another type than their column: each converted by itself, or null and counted."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from small_trace import write_trace

from strata.errors import TraceError
from strata.read import open_trace
from strata.read.columns import conform
from strata.read.decoder import Selection

TEXT = pa.dictionary(pa.int32(), pa.string())
NAN = float("nan")

CASES: list[tuple[pa.DataType, list[Any], pa.DataType, list[Any]]] = [
    (TEXT, ["1", "x", None, "-3"], pa.int64(), [1, None, None, -3]),
    (TEXT, ["1", "-3"], pa.uint64(), [1, None]),
    (TEXT, ["1.5", "x"], pa.float64(), [1.5, None]),
    (pa.int64(), [1, None], TEXT, [None, None]),
    (pa.binary(), [b"a", b"\xff", None, "é".encode()], TEXT, ["a", None, None, "é"]),
    (pa.int64(), [-1, None], pa.uint64(), [2**64 - 1, None]),
    (pa.uint64(), [2**64 - 1], pa.int64(), [-1]),
    (
        pa.int64(),
        [2**53, 2**53 + 1, 2**60, -(2**63), 2**63 - 1, None],
        pa.float64(),
        [2.0**53, None, 2.0**60, -(2.0**63), None, None],
    ),
    (pa.uint64(), [2**64 - 1, 2**63, 0], pa.float64(), [None, 2.0**63, 0.0]),
    (
        pa.float64(),
        [1.0, 1.5, NAN, float("inf"), 2.0**63, -(2.0**63), -0.0, None],
        pa.int64(),
        [1, None, None, None, None, -(2**63), 0, None],
    ),
    (pa.float64(), [2.0**63, 2.0**64, -1.0], pa.uint64(), [2**63, None, None]),
    (
        pa.list_(pa.uint64()),
        [[1], [2**64 - 1], None, []],
        pa.list_(pa.int64()),
        [[1], [-1], None, []],
    ),
    (
        pa.list_(pa.float64()),
        [[1.0], [2.0, 2.5], None, [], [3.0]],
        pa.list_(pa.int64()),
        [[1], None, None, [], [3]],
    ),
    (
        pa.struct([("a", pa.float64())]),
        [{"a": 1.0}, {"a": 1.5}, None, {"a": None}],
        pa.struct([("a", pa.int64()), ("b", pa.int64())]),
        [{"a": 1, "b": None}, None, None, {"a": None, "b": None}],
    ),
    (pa.list_(pa.int64()), [[1], None], pa.int64(), [None, None]),
]


@pytest.mark.parametrize(("kind", "values", "wanted", "expected"), CASES)
@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_each_value_is_converted_by_itself(
    kind: pa.DataType, values: list[Any], wanted: pa.DataType, expected: list[Any], size: int
) -> None:
    plain = pa.array(values, pa.string() if kind == TEXT else kind)
    array = plain.dictionary_encode() if kind == TEXT else plain
    batch = pa.RecordBatch.from_arrays([array], ["x"])
    found, misfits = [], 0
    for begin in range(0, len(values), size):
        part, count = conform(batch.slice(begin, size), pa.schema([("x", wanted)]))
        part.validate(full=True)
        found += part["x"].to_pylist()
        misfits += count
    assert found == expected
    assert misfits == sum(
        value is not None and new is None for value, new in zip(values, expected, strict=True)
    )


def test_a_column_that_is_not_there_is_null_and_not_counted() -> None:
    batch = pa.RecordBatch.from_arrays([pa.array([1, 2])], ["x"])
    found, misfits = conform(batch, pa.schema([("y", pa.int64())]))
    assert found.to_pylist() == [{"y": None}, {"y": None}]
    assert misfits == 0


def taken(tmp_path: Path) -> Path:
    """Write takes whose `taken` is a text, of which every third is no number."""
    texts = [b"x" if number % 3 == 2 else b"%d" % number for number in range(30)]
    payloads = [text + b"\0" for text in texts]
    return write_trace(tmp_path, payloads, event="ros2:rmw_take", fields="string _taken;")


@pytest.mark.parametrize("rows", [1, 7, 1 << 18])
def test_the_result_does_not_depend_on_the_size_of_chunks(tmp_path: Path, rows: int) -> None:
    trace = open_trace(taken(tmp_path))
    found: list[int | None] = []
    for chunk in trace.chunks(chunk_rows=rows):
        for batch in chunk["ros2:rmw_take"]:
            found += batch["taken"].to_pylist()
    assert found == [None if number % 3 == 2 else number for number in range(30)]
    assert trace.findings.counts == {"mistyped_values": 10}


def test_reading_again_does_not_count_again(tmp_path: Path) -> None:
    trace = open_trace(taken(tmp_path))
    for _ in range(3):
        trace.tables()
        trace.tables(["ros2:rmw_take"])
        for _chunk in trace.chunks():
            pass
        trace.tables(end_ns=1_700_000_000 * 10**9 + 5)
    (loss,) = trace.losses
    assert (loss.code, loss.count, loss.where) == ("mistyped_values", 10, "ros2:rmw_take")


def test_what_was_found_before_an_early_end_counts(tmp_path: Path) -> None:
    trace = open_trace(taken(tmp_path))
    for _ in trace.chunks(chunk_rows=9):
        break
    assert trace.findings.counts == {"mistyped_values": 3}


def test_damage_found_before_an_early_end_counts(tmp_path: Path) -> None:
    # An event whose text has no end; a second stream goes on.
    write_trace(tmp_path, [b"a\0", b"b\0", b"c"], fields="string _x;")
    with (tmp_path / "other").open("wb") as stream:
        for number in range(100):
            stream.write(struct.pack("<Qii", 5000 + number, 1, 1) + b"p\0" + b"text\0")
    trace = open_trace(tmp_path)
    chunks = trace.chunks(chunk_rows=10)
    next(chunks)
    del chunks
    assert trace.findings.counts["unreadable_bytes"]
    reading = trace.decoder.read(Selection(), 10)
    for _ in reading:
        break


@pytest.mark.parametrize("arguments", [{"events": "made:event"}, {"columns": "vtid"}])
def test_one_string_is_no_list_of_names(tmp_path: Path, arguments: dict[str, str]) -> None:
    trace = open_trace(write_trace(tmp_path, [b""]))
    with pytest.raises(TypeError, match=r"is an iterable of names, not one string: \['"):
        trace.tables(**arguments)  # type: ignore[arg-type]


def test_an_error_while_reading_keeps_what_was_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = open_trace(taken(tmp_path))
    with pytest.raises(TraceError):
        for number, _ in enumerate(trace.chunks(chunk_rows=9)):
            if number == 1:
                raise TraceError("stop")
    assert trace.findings.counts == {"mistyped_values": 6}
