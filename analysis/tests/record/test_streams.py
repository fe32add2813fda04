# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a trace lacks that was just recorded, and what is cut off so that all can read the rest."""

from __future__ import annotations

import shutil
import struct
import subprocess
from pathlib import Path

import pytest
from lttng_world import World, events

from strata.record.directory import holds_events
from strata.record.streams import mend

pytestmark = pytest.mark.live


@pytest.fixture
def trace(world: World, tick: Path, tmp_path: Path) -> Path:
    """Record 20000 ticks on a CPU, in several packets."""
    world.record("-o", tmp_path / "rec", "--", "taskset", "-c", "0", tick, "20000")
    assert len(events(tmp_path / "rec" / "trace")) == 20000
    return tmp_path / "rec" / "trace"


def _largest(trace: Path) -> Path:
    files = [path for path in trace.rglob("*") if path.is_file() and path.name != "metadata"]
    return max(files, key=lambda path: path.stat().st_size)


def test_a_whole_trace_is_left_as_it_is(trace: Path) -> None:
    before = {path: path.read_bytes() for path in trace.rglob("*") if path.is_file()}
    assert mend(trace) == []
    assert before == {path: path.read_bytes() for path in trace.rglob("*") if path.is_file()}


def test_a_torn_packet_is_cut_off_and_told(trace: Path) -> None:
    stream = _largest(trace)
    content = stream.read_bytes()
    # The begin of a packet whose rest found no space.
    stream.write_bytes(content + content[:5000])
    torn = subprocess.run(["babeltrace2", trace], capture_output=True, check=False)
    assert torn.returncode != 0

    (problem,) = mend(trace)
    assert problem.startswith("1 of the trace's files ended within a packet; its 5000 bytes were")
    assert stream.read_bytes() == content
    assert len(events(trace)) == 20000


def test_an_entry_of_a_packet_that_was_not_written_goes_with_it(trace: Path) -> None:
    # On a full disk LTTng 2.13 writes entries whose offset makes no sense.
    stream = _largest(trace)
    index = stream.parent / "index" / f"{stream.name}.idx"
    before, entries = stream.read_bytes(), index.read_bytes()
    size = struct.unpack_from(">I", entries, 12)[0]
    wrong = struct.pack(">Q", 2**64 - 335872) + entries[-size + 8 :]
    index.write_bytes(entries + wrong)
    stream.write_bytes(before + before[:4096])
    (problem,) = mend(trace)
    assert "its 4096 bytes were cut off" in problem
    assert (stream.read_bytes(), index.read_bytes()) == (before, entries)
    assert len(events(trace)) == 20000


def test_the_chunk_of_a_rotation_that_did_not_end_is_kept(trace: Path) -> None:
    whole = trace.parent / "whole"
    trace.rename(whole)
    trace.mkdir()
    whole.rename(trace / ".tmp_old_chunk")
    assert mend(trace) == []
    assert len(events(trace / "archives")) == 20000
    assert not (trace / ".tmp_old_chunk").exists()


def test_missing_bytes_are_told(trace: Path) -> None:
    stream = _largest(trace)
    stream.write_bytes(stream.read_bytes()[:-4096])
    assert mend(trace) == ["1 of the trace's files lack 4096 bytes at the end"]


def test_missing_metadata_are_told(trace: Path) -> None:
    (place,) = trace.rglob("metadata")
    place.write_bytes(b"")
    assert mend(trace) == [f"the metadata of {place.parent} is missing: its events cannot be read"]
    place.unlink()
    assert len(mend(trace)) == 1


def test_an_index_that_cannot_be_read_is_no_witness(trace: Path) -> None:
    for number, content in enumerate((b"", b"\0" * 16, b"short", b"\xff" * 200)):
        copy = trace.parent / f"copy{number}"
        shutil.copytree(trace, copy)
        for index in copy.rglob("*.idx"):
            index.write_bytes(content)
        assert mend(copy) == []
        assert len(events(copy)) == 20000


def test_packets_without_events_are_no_events(world: World, tick: Path, tmp_path: Path) -> None:
    # The timers write packets of a traced process that emits nothing, too.
    line = f"{tick} 0; sleep 1.2; {tick} 0"
    done = world.record("-o", tmp_path / "rec", "--", "sh", "-c", line)
    assert "no event was recorded" in done.stderr
    assert not holds_events(tmp_path / "rec" / "trace")
