# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A trace that is kept within a size or a time while real LTTng records it."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from lttng_world import HERE, World, events, wait_until

from strata.errors import TraceError
from strata.read import names, open_trace
from strata.read.names import keep
from strata.read.rotated import DROPPED, METADATA_NEW, read_dropped
from strata.read.trace import Trace
from strata.record.config import Channel
from strata.record.kept_names import KeptNames, number_of
from strata.record.lttng import Lttng
from strata.record.rotation import Limits, Rotation, minimum_bytes

MIB = 1 << 20
SIZE = 8 * MIB
NODES = 40
OTHERS = 100
ATTEMPTS = 3
TOO_BUSY = "there was no space left to wait for them"
CHUNK = "20260301T120000-0500-20260301T120{}00-0500-{}"


NO_LTTNG = Lttng({"PATH": ""})


@contextmanager
def sizes_of(directory: Path) -> Iterator[list[int]]:
    """Sum up a directory's files every few milliseconds, from outside."""
    found: list[int] = []
    done = threading.Event()

    def watch() -> None:
        while not done.wait(0.01):
            # Unlike rglob, it goes on where directories vanish meanwhile.
            walked = os.walk(directory)
            found.append(sum(size_of(Path(at, name)) for at, _, files in walked for name in files))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield found
    finally:
        done.set()
        watcher.join()


def size_of(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def rotate(world: World, trace: Path, *command: str | Path, **environment: str) -> dict[str, Any]:
    done = world.run(
        sys.executable,
        HERE / "record" / "rotating.py",
        trace,
        json.dumps({"max_bytes": SIZE}),
        *command,
        env=world.environment | environment,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def bytes_below(place: Path) -> int:
    return sum(path.stat().st_size for path in place.rglob("*") if path.is_file())


@pytest.mark.live
def test_the_oldest_chunks_go_and_their_names_stay(
    world: World, named: Path, tmp_path: Path
) -> None:
    world.start_daemon()
    # While the first goes on to the end, the second names its nodes later and is soon gone.
    script = f"{named} {NODES} 12 15000 & sleep 0.5; {named} {OTHERS} 0.5 100 >&2; wait"
    for attempt in range(ATTEMPTS):
        trace = tmp_path / f"trace_{attempt}"
        with sizes_of(trace) as sizes:
            found = rotate(world, trace, "sh", "-c", script)
        assert max(sizes) <= SIZE
        # On a machine that is too busy names have to go: which is told, and no fault.
        if TOO_BUSY not in " ".join(found["problems"]):
            break
    rotation = found["rotation"]
    ticks, again = map(int, found["output"].split())

    assert (found["problems"], found["failed"]) == ([], False)
    assert rotation["chunks_dropped"] >= 2
    assert rotation["chunks_dropped_without_names"] == 0
    assert rotation["largest_bytes"] <= SIZE

    opened = open_trace(trace)
    tables = opened.tables()
    numbers = tables["ros2:tick"]["number"].to_numpy()
    held = nodes_of(opened)
    own = held.pop(tables["ros2:tick"]["vpid"][-1].as_py())
    [other] = held.values()
    assert set(own) >= {f"node_{i}" for i in range(NODES)} | {f"again_{again - 1}"}
    assert set(other) >= {f"node_{i}" for i in range(OTHERS)}
    # Of what was made anew at one handle, the older names are of no use.
    assert len([name for name in own if name.startswith("again")]) < again
    assert len(other) == OTHERS + 1
    assert numbers[-1] == ticks - 1
    check_losses(opened, numbers, int(tables["ros2:tick"]["timestamp"][0].as_py()))

    assert len(events(trace)) == len(numbers) + len(own) + len(other)
    check_budget(trace, tmp_path)
    check_names_made_ahead(trace / "archives")


def nodes_of(trace: Trace) -> dict[int, list[str]]:
    """Names of the nodes by process, in order of time."""
    table = trace.tables(["ros2:rcl_node_init"])["ros2:rcl_node_init"]
    found: dict[int, list[str]] = {}
    for row in table.to_pylist():
        found.setdefault(row["vpid"], []).append(row["node_name"])
    return found


def check_losses(trace: Trace, numbers: npt.NDArray[np.int64], first_ns: int) -> None:
    """Nothing is lost but what was dropped: from the begin to where the trace is whole."""
    codes = {loss.code for loss in trace.losses}
    assert codes - {"discarded_events"} == {"dropped_packets"}
    if "discarded_events" not in codes:
        assert np.array_equal(numbers, np.arange(numbers[0], numbers[-1] + 1))
    assert numbers[0] > 0
    assert trace.dropped is not None
    for loss in trace.losses:
        if loss.code == "dropped_packets":
            assert loss.begin_ns == trace.dropped.begin_ns
            assert loss.end_ns is not None
            assert loss.end_ns <= first_ns


def check_budget(trace: Path, place: Path) -> None:
    """Keep the names of a further chunk in less room than they need."""
    before = next((trace / "archives").glob("names-*"))
    chunk = min(path for path in (trace / "archives").iterdir() if path != before)
    metadata = sum(size_of(path) for path in before.rglob("metadata"))

    all_kept = keep([(chunk, place / "all")], before, MIB)
    # Less than they need; and a quarter of that is made free.
    room = int(0.8 * sum(size_of(path) for path in (place / "all").rglob("ust_*")))
    fewer = keep([(chunk, place / "fewer")], before, metadata + room)

    assert all_kept.chunks == read_dropped(before).chunks + 1
    assert all_kept.forgotten == 0
    assert sum(size_of(path) for path in (place / "fewer").rglob("ust_*")) <= room
    everything, kept = (nodes_of(counted(place / name)) for name in ("all", "fewer"))
    gone, alive = sorted(everything, key=lambda vpid: len(everything[vpid]), reverse=True)
    # Those of who was seen last stay, though they are older; of the other's the newest.
    assert kept[alive] == everything[alive]
    assert 0 < len(kept[gone]) < OTHERS
    assert kept[gone] == everything[gone][-len(kept[gone]) :]
    assert fewer.forgotten == len(everything[gone]) - len(kept[gone])


def check_names_made_ahead(archives: Path) -> None:
    """Drop a chunk while the names of the next are being made, then no other."""
    [before] = archives.glob("names-*")
    chunks = sorted(path for path in archives.iterdir() if path != before)
    kept = KeptNames(archives, MIB, os.environ)
    kept.current = before
    first = archives / f"names-{number_of(chunks[0])}"

    kept.prepare(chunks[:2])
    wait_until((first / DROPPED).exists, "the names of the first chunk")
    kept.poll()
    assert kept.take_over(chunks[0]) is None
    kept.poll(patience_s=30)
    kept.end()

    assert kept.current == first
    assert kept.places() == [first]
    assert len(nodes_of(open_trace(first))) == 2


def counted(names: Path) -> Trace:
    """Read kept names before the chunk is dropped for which they were made."""
    for metadata in names.rglob(METADATA_NEW):
        metadata.rename(metadata.with_name("metadata"))
    return open_trace(names)


@pytest.mark.live
def test_what_cannot_be_rotated_is_told(world: World, named: Path, tmp_path: Path) -> None:
    daemon = world.start_daemon()

    found = rotate(
        world, tmp_path / "trace", named, "1", "60", "40000", STRATA_TEST_DAEMON=str(daemon)
    )

    assert found["failed"]
    assert "could not be rotated" in found["problems"][0]
    assert "consumer" in found["problems"][0]
    assert found["said"] == found["problems"]


def archive(trace: Path, number: int, content: bytes) -> Path:
    """Make what looks like an archived chunk with one stream file."""
    place = trace / "archives" / CHUNK.format(number, number) / "ust" / "uid" / "0" / "64-bit"
    place.mkdir(parents=True)
    (place / "metadata").write_bytes(b"no metadata")
    (place / "ust_0").write_bytes(content)
    return place


def children() -> set[str]:
    tasks = Path("/proc/self/task").iterdir()
    return {child for task in tasks for child in (task / "children").read_text().split()}


def test_a_chunk_whose_names_cannot_be_read_goes_all_the_same(tmp_path: Path) -> None:
    said: list[str] = []
    for number in range(4):
        archive(tmp_path, number, bytes(MIB))
    size = 9 * MIB // 2
    rotation = Rotation(NO_LTTNG, "none", tmp_path, Limits(size), said.append, buffer_bytes=0)

    # Other tests of this process may have children, too.
    others = children()
    rotation.look(now=True)
    wait_until(
        lambda: rotation.look(now=True) or children() <= others, "end of who reads the names"
    )
    assert rotation.as_json()["chunks_dropped"] == 0
    archive(tmp_path, 4, bytes(2 * MIB))
    rotation.look(now=True)
    rotation.end()

    assert not rotation.failed
    assert bytes_below(tmp_path) <= size
    left = sorted(path.name for path in (tmp_path / "archives").iterdir())
    gone = 5 - len(left)
    assert left == [CHUNK.format(number, number) for number in range(gone, 5)]
    assert all("Names from a dropped part" in text for text in rotation.problems)
    assert "Cannot read metadata" in rotation.problems[0]
    told = rotation.as_json()
    assert told["chunks_dropped"] == told["chunks_dropped_without_names"] == gone >= 2
    assert told["bytes_dropped"] >= gone * MIB
    assert told["kept_since_utc"] == f"2026-03-01T17:0{gone - 1}:00+00:00"


def test_what_is_too_large_and_cannot_be_dropped_is_told(tmp_path: Path) -> None:
    said: list[str] = []
    (tmp_path / "ust").mkdir()
    (tmp_path / "ust" / "ust_0").write_bytes(bytes(2 * MIB))
    rotation = Rotation(NO_LTTNG, "none", tmp_path, Limits(MIB), said.append)

    rotation.look(now=True)

    assert rotation.failed
    assert "could not be rotated" in rotation.problems[0]
    assert "within 1 MiB: it has 2" in rotation.problems[1]
    assert said == rotation.problems


def test_a_size_must_hold_the_buffers_four_times() -> None:
    channel = Channel(subbuf_size=MIB, num_subbuf=16)
    assert minimum_bytes(channel, cpus=16) == 1024 * MIB
    assert minimum_bytes(Channel(subbuf_size=4096, num_subbuf=2), cpus=1) == 16 * MIB


def test_a_chunk_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    chunk = tmp_path / "chunk"
    chunk.mkdir()
    with pytest.raises(TraceError, match="no directory at or below it"):
        keep([(chunk, tmp_path / "names")], None, MIB)
    assert names.main(["1", "", str(chunk), str(tmp_path / "names")]) == 1
    assert not (tmp_path / "names").exists()


@pytest.mark.parametrize("content", ["", "[]", '{"chunks": "x"}', "[" * 100_000])
def test_a_damaged_note_of_what_was_dropped_is_told(tmp_path: Path, content: str) -> None:
    (tmp_path / DROPPED).write_text(content)
    with pytest.raises(
        TraceError, match=r"Cannot read .*dropped\.json: not in the form that Strata writes"
    ):
        read_dropped(tmp_path)
