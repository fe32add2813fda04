# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What is read is what babeltrace2 counted when the traces were recorded."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from strata.read import open_trace

SAMPLES = ["fast_relay1p_st", "fast_relaymp_st", "fast_blocked_st", "fast_relay1p_mt_lossy"]


def expected_counts(directory: Path) -> dict[str, int]:
    lines = (directory / "counts.txt").read_text().split("\n")
    pairs = [line.split() for line in lines if line.startswith("ros2:")]
    return {name: int(count) for name, count in pairs}


@pytest.mark.parametrize("name", SAMPLES)
def test_every_event_is_read(sample: Callable[[str], Path], name: str) -> None:
    tables = open_trace(sample(name)).tables()
    counts = {event: len(table) for event, table in tables.items()}
    assert counts == expected_counts(sample(name))


def test_fields_are_those_that_babeltrace_prints(sample: Callable[[str], Path]) -> None:
    directory = sample("fast_blocked_st")
    text = subprocess.run(
        ["babeltrace2", "--clock-seconds", "--no-delta", str(directory)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    printed = [line for line in text.splitlines() if " ros2:rmw_take: " in line]
    table = open_trace(directory).tables(["ros2:rmw_take"])["ros2:rmw_take"]
    rows = table.to_pylist()
    assert len(rows) == len(printed) > 600
    for row, line in zip(rows, printed, strict=True):
        stamp = f"[{row['timestamp'] // 10**9}.{row['timestamp'] % 10**9:09d}]"
        payload = (
            f"{{ rmw_subscription_handle = 0x{row['rmw_subscription_handle']:X}, "
            f"message = 0x{row['message']:X}, source_timestamp = {row['source_timestamp']}, "
            f"taken = {row['taken']} }}"
        )
        contexts = f'vpid = {row["vpid"]}, vtid = {row["vtid"]}, procname = "{row["procname"]}"'
        assert line.startswith(f"{stamp} {row['host']} ros2:rmw_take: ")
        assert f"{{ cpu_id = {row['cpu_id']} }}" in line
        assert contexts in line
        assert line.endswith(payload)


def test_columns_and_time_ranges_are_selected(sample: Callable[[str], Path]) -> None:
    trace = open_trace(sample("fast_blocked_st"))
    whole = trace.tables(["ros2:rmw_take"])["ros2:rmw_take"]["timestamp"]
    begin, end = whole[100].as_py(), whole[200].as_py()
    part = trace.tables(
        ["ros2:rmw_take", "ros2:not_there"], ["timestamp", "taken", "absent"], begin, end
    )
    assert list(part) == ["ros2:rmw_take"]
    assert part["ros2:rmw_take"].column_names == ["timestamp", "taken"]
    # Half-open: the event at `begin` is in, that at `end` is not.
    assert part["ros2:rmw_take"]["timestamp"].to_pylist() == whole[100:200].to_pylist()


def test_the_source_timestamp_of_a_publication_is_no_event_time(
    sample: Callable[[str], Path],
) -> None:
    table = open_trace(sample("fast_blocked_st")).tables(["ros2:rmw_publish"])["ros2:rmw_publish"]
    gap = pc.subtract(table["timestamp"], table["source_timestamp"])
    assert table.schema.field("timestamp").type == pa.int64()
    assert 0 < pc.min(gap).as_py() < 100_000


def test_tables_are_ordered_by_time(sample: Callable[[str], Path]) -> None:
    for table in open_trace(sample("fast_relaymp_st")).tables().values():
        times = table["timestamp"].to_numpy()
        assert (times[1:] >= times[:-1]).all()


def test_metadata_says_where_and_when(sample: Callable[[str], Path]) -> None:
    trace = open_trace(sample("fast_blocked_st"))
    (offset,) = trace.clock_offsets_ns.values()
    assert 1_795_000_000_000_000_000 < offset < 1_796_000_000_000_000_000
    assert len(trace.declared_events) == 35
    assert trace.directories[0].name == "64-bit"
