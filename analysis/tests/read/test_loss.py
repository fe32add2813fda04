# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a trace lost is counted, with its cause, place and time."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from strata.read import open_trace
from strata.read.decoder import Decoder, StreamFile
from strata.read.losses import find_losses

STREAM = "ust/ust/uid/0/64-bit/ros2_0"


def test_discarded_events_are_what_babeltrace_reports(sample: Callable[[str], Path]) -> None:
    directory = sample("fast_relay1p_mt_lossy")
    warnings = subprocess.run(
        ["babeltrace2", "--output", "/dev/null", str(directory)],
        capture_output=True,
        text=True,
        check=True,
    ).stderr
    reported = sum(int(n) for n in re.findall(r"discarded (\d+) events? between", warnings))
    trace = open_trace(directory)
    found = [loss for loss in trace.losses if loss.code == "discarded_events"]
    assert sum(loss.count for loss in found) == reported == 25631
    assert trace.findings.counts["discarded_events"] == reported
    for loss in found:
        assert loss.begin_ns is not None
        assert loss.end_ns is not None
        assert loss.begin_ns <= loss.end_ns


def test_a_trace_without_loss_has_none(sample: Callable[[str], Path]) -> None:
    assert open_trace(sample("fast_relay1p_st")).losses == ()


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0], ids=["a byte", "half", "all but a byte"])
def test_a_cut_stream_is_read_up_to_its_last_whole_packet(
    own_sample: Callable[[str], Path], share: float
) -> None:
    directory = own_sample("fast_relay1p_st")
    stream = directory / STREAM
    whole = open_trace(directory).tables(["ros2:rmw_take"])["ros2:rmw_take"]
    packets = open_trace(directory).decoder.packets
    (last,) = np.flatnonzero(packets["offset"] + packets["bytes"] == stream.stat().st_size)[:1]
    size, begin_ns, end_ns = (int(packets[name][last]) for name in ("bytes", "begin_ns", "end_ns"))
    cut = 1 + round(share * (size - 2))
    with stream.open("r+b") as file:
        file.truncate(stream.stat().st_size - cut)

    reopened = open_trace(directory)
    assert reopened.findings.counts["truncated_streams"] == 1
    assert reopened.findings.counts["truncated_bytes"] == size - cut
    read = reopened.tables(["ros2:rmw_take"])["ros2:rmw_take"].to_pylist()
    # All that is missing was recorded on that stream's CPU in the time of its last packet.
    missing = {row["timestamp"] for row in whole.to_pylist()} - {row["timestamp"] for row in read}
    lost = [row for row in whole.to_pylist() if row["timestamp"] in missing]
    assert lost
    assert {row["cpu_id"] for row in lost} == {0}
    assert all(begin_ns <= row["timestamp"] <= end_ns for row in lost)
    rows_of_cpu = [row for row in whole.to_pylist() if row["cpu_id"] == 0]
    assert len(lost) == sum(row["timestamp"] >= begin_ns for row in rows_of_cpu)


def test_a_stream_that_is_cut_to_nothing_is_counted(own_sample: Callable[[str], Path]) -> None:
    directory = own_sample("fast_blocked_st")
    (directory / STREAM).write_bytes(b"")
    trace = open_trace(directory)
    assert trace.findings.counts == {"lost_packets": 1}
    shutil.rmtree((directory / STREAM).parent / "index")
    trace = open_trace(directory)
    assert trace.findings.counts == {"empty_streams": 1}
    rows = trace.tables(["ros2:rmw_take"])["ros2:rmw_take"]
    assert set(rows["cpu_id"].to_pylist()) == {1}


def test_bytes_that_are_no_packet_are_counted(own_sample: Callable[[str], Path]) -> None:
    directory = own_sample("fast_blocked_st")
    with (directory / STREAM).open("ab") as file:
        file.write(b"\xff" * 5000)
    trace = open_trace(directory)
    assert trace.findings.counts == {"unreadable_bytes": 5000}
    assert len(trace.tables(["ros2:rmw_take"])["ros2:rmw_take"]) > 600


class Packets:
    """A decoder that found packets of (stream, sequence, end_ns, discarded so far)."""

    damage = ()
    duplicate_packets = 0
    out_of_order = 0

    def __init__(self, *rows: tuple[int, int, int, int], bits: int = 64) -> None:
        self.misplaced = self.mended_headers = self.index_faults = dict[Any, Any]()
        stream, sequence, end, discarded = np.array(rows, np.int64).T
        self.files = [StreamFile("s", 1, 0), StreamFile("t", 1, 0)]
        self.packets = {
            "stream": stream,
            "file": stream,
            "offset": np.arange(len(rows)),
            "bytes": np.ones(len(rows), np.int64),
            "sequence": sequence,
            "begin_ns": end - 5,
            "end_ns": end,
            "discarded": discarded,
            "sequence_bits": np.full(len(rows), bits),
            "discarded_bits": np.full(len(rows), bits),
        }
        self.missing_packets = {name: column[:0] for name, column in self.packets.items()}


def losses(*rows: tuple[int, int, int, int], bits: int = 64) -> list[tuple[object, ...]]:
    found = find_losses(cast(Decoder, Packets(*rows, bits=bits)))
    return [(loss.code, loss.count, loss.where, loss.begin_ns, loss.end_ns) for loss in found]


def test_growth_of_the_running_count_is_the_loss_and_a_gap_in_the_sequence_lost_packets() -> None:
    assert losses((0, 0, 10, 0), (0, 1, 20, 7), (0, 4, 50, 9)) == [
        ("discarded_events", 7, "s", 10, 20),
        ("discarded_events", 2, "s", 20, 50),
        ("lost_packets", 2, "s", 20, 45),
    ]


def test_each_stream_counts_by_itself() -> None:
    assert losses((0, 0, 10, 4), (1, 0, 20, 5)) == [
        ("discarded_events", 4, "s", 5, 10),
        ("discarded_events", 5, "t", 15, 20),
    ]


def test_a_count_that_restarts_is_no_loss() -> None:
    assert losses((0, 0, 10, 4), (0, 1, 20, 0), (0, 2, 30, 1)) == [
        ("discarded_events", 4, "s", 5, 10),
        ("discarded_events", 1, "s", 20, 30),
    ]


def test_a_count_that_was_read_late_is_not_counted_twice() -> None:
    assert losses((0, 0, 10, 9), (0, 1, 20, 4), (0, 2, 30, 11), (1, 0, 40, 3)) == [
        ("discarded_events", 9, "s", 5, 10),
        ("discarded_events", 2, "s", 20, 30),
        ("discarded_events", 3, "t", 35, 40),
    ]


def test_narrow_counters_wrap_around() -> None:
    assert losses((0, 0, 10, 250), (0, 250, 20, 250), (0, 2, 30, 4), bits=8) == [
        ("discarded_events", 250, "s", 5, 10),
        ("lost_packets", 249, "s", 10, 15),
        ("discarded_events", 10, "s", 20, 30),
        ("lost_packets", 7, "s", 20, 25),
    ]


def test_a_stream_that_begins_late_says_what_was_before_and_not_when() -> None:
    assert losses((0, 7, 10, 3)) == [
        ("discarded_events", 3, "s", None, 10),
        ("packets_before_trace", 7, "s", None, 5),
    ]


def test_packets_that_say_nothing_lose_nothing() -> None:
    assert losses((0, -1, 10, -1), (0, -1, 20, -1)) == []
