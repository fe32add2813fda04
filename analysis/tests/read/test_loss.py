# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a trace lost is counted, with its cause, place and time."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from strata.read import open_trace, packets
from strata.read.discover import find_traces
from strata.read.packets import Packet

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
    assert trace.ledger.counts["discarded_events"] == reported
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
    whole = open_trace(directory, use_cache=False).tables(["ros2:rmw_take"])["ros2:rmw_take"]
    (trace,), _ = find_traces(directory)
    before = {file.path.name: file for file in packets.walk(trace)}["ros2_0"]
    last = before.packets[-1]
    cut = 1 + round(share * (last.size - 2))
    with stream.open("r+b") as file:
        file.truncate(before.file_bytes - cut)

    reopened = open_trace(directory, use_cache=False)
    assert reopened.ledger.counts["truncated_streams"] == 1
    assert reopened.ledger.counts["truncated_bytes"] == last.size - cut
    read = reopened.tables(["ros2:rmw_take"])["ros2:rmw_take"].to_pylist()
    # All that is missing was recorded on that stream's CPU in the time of its last packet.
    missing = {row["timestamp"] for row in whole.to_pylist()} - {row["timestamp"] for row in read}
    lost = [row for row in whole.to_pylist() if row["timestamp"] in missing]
    assert lost
    assert {row["cpu_id"] for row in lost} == {0}
    assert all(last.begin_ns <= row["timestamp"] <= last.end_ns for row in lost)
    rows_of_cpu = [row for row in whole.to_pylist() if row["cpu_id"] == 0]
    assert len(lost) == sum(row["timestamp"] >= last.begin_ns for row in rows_of_cpu)


def test_a_stream_that_is_cut_to_nothing_is_counted(own_sample: Callable[[str], Path]) -> None:
    directory = own_sample("fast_blocked_st")
    (directory / STREAM).write_bytes(b"")
    trace = open_trace(directory, use_cache=False)
    assert trace.ledger.counts == {"empty_streams": 1}
    rows = trace.tables(["ros2:rmw_take"])["ros2:rmw_take"]
    assert set(rows["cpu_id"].to_pylist()) == {1}


def test_bytes_that_are_no_packet_are_counted(own_sample: Callable[[str], Path]) -> None:
    directory = own_sample("fast_blocked_st")
    with (directory / STREAM).open("ab") as file:
        file.write(b"\xff" * 5000)
    trace = open_trace(directory, use_cache=False)
    assert trace.ledger.counts == {"truncated_streams": 1, "truncated_bytes": 5000}
    assert len(trace.tables(["ros2:rmw_take"])["ros2:rmw_take"]) > 600


def stream(*rows: tuple[int, int, int]) -> list[Packet]:
    """Packets of (sequence, end_ns, discarded so far)."""
    return [Packet(0, 0, (0, 0), end - 5, end, number, lost) for number, end, lost in rows]


def test_growth_of_the_running_count_is_the_loss_and_a_gap_in_the_sequence_lost_packets() -> None:
    found = packets._stream_losses(stream((0, 10, 0), (1, 20, 7), (4, 50, 9)), "s")
    assert [(loss.code, loss.count, loss.begin_ns, loss.end_ns) for loss in found] == [
        ("discarded_events", 7, 10, 20),
        ("discarded_events", 2, 20, 50),
        ("lost_packets", 2, 20, 45),
    ]


def test_events_discarded_before_the_first_packet_ended_count() -> None:
    (loss,) = packets._stream_losses(stream((0, 10, 3)), "s")
    assert (loss.code, loss.count, loss.begin_ns, loss.end_ns) == ("discarded_events", 3, 5, 10)
