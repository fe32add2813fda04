# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A trace that is rotated by time while it is recorded, and of which the last part is kept."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from lttng_world import World, events, manifest, wait_until

from strata.errors import SessionError
from strata.read import open_trace
from strata.read.rotated import read_dropped
from strata.record.plan import Bounds
from strata.record.rotation import Limits, Rotation

CHUNK = "20260301T1200{:02}-0500-20260301T1200{:02}-0500-{}"
MIB = 1 << 20
KEPT_S = 10
NODES = 30


@dataclass
class Time:
    """Seconds since the start, as tests let them pass."""

    now: float = 0.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Archiving:
    """In the place of LTTng: rotates a trace without events at once, after `failures` failures."""

    trace: Path
    failures: int = 0
    content: bytes | None = None
    asked: int = 0
    archived: int = 0
    never_archives: bool = False
    environment: dict[str, str] = field(default_factory=lambda: {"PATH": ""})

    def rotate(self, session: str) -> None:
        self.asked += 1
        if self.asked <= self.failures:
            raise SessionError("Cannot rotate: no.")
        if self.never_archives:
            return
        at = self.archived
        self.archived += 1
        place = self.trace / "archives" / CHUNK.format(at, at + 1, at) / "ust"
        place.mkdir(parents=True)
        if self.content is not None:
            (place / "metadata").write_bytes(self.content)


class Recorded:
    """A rotation that is looked at once a second of a time that passes at once."""

    def __init__(self, lttng: Archiving, limits: Limits) -> None:
        self.lttng, self.time = lttng, Time()
        self.said: list[str] = []
        self.rotation = Rotation(
            cast(Any, lttng),
            "none",
            lttng.trace,
            limits,
            self.said.append,
            buffer_bytes=0,
            clock=self.time,
        )

    def goes_on(self, seconds: int) -> None:
        for _ in range(seconds):
            self.time.now += 1
            self.rotation.look()

    @property
    def left(self) -> list[int]:
        archives = self.lttng.trace / "archives"
        return sorted(int(place.name.rpartition("-")[2]) for place in archives.iterdir())


def test_a_chunk_is_no_longer_than_its_time_though_nothing_is_recorded(tmp_path: Path) -> None:
    recorded = Recorded(Archiving(tmp_path), Limits(rotate_s=20))

    recorded.goes_on(100)
    recorded.rotation.end()

    # It is looked at once a second, and a chunk must not become too long until the next time.
    assert recorded.lttng.asked == 100 // 19
    assert recorded.left == list(range(5))
    assert recorded.said == recorded.rotation.problems == []
    found = recorded.rotation.as_json()
    assert (found["max_bytes"], found["keep_s"], found["rotate_s"]) == (None, None, 20)
    assert (found["chunks_rotated"], found["chunks_dropped"]) == (5, 0)
    assert found["kept_since_utc"] is None


def test_what_is_older_is_dropped_by_a_time_that_nobody_sets(tmp_path: Path) -> None:
    recorded = Recorded(Archiving(tmp_path), Limits(keep_s=40, rotate_s=20))

    # Rotated at 19 s and seen a second later. Its name says that it is from another year.
    recorded.goes_on(60)
    assert recorded.left == [0, 1, 2]
    recorded.goes_on(1)
    assert recorded.left == [1, 2]
    recorded.goes_on(100)
    recorded.rotation.end()

    # Of the last 40 s nothing is missing: the oldest chunk that is left ended less than that ago.
    assert recorded.left == [6, 7]
    assert recorded.rotation.problems == []
    assert recorded.said == [
        "the trace goes back more than 40 s (--keep): its oldest part is dropped from now on, "
        "except the names in it"
    ]
    found = recorded.rotation.as_json()
    # Chunks without any program in them have no names to be kept.
    assert (found["chunks_dropped"], found["chunks_dropped_without_names"]) == (6, 0)
    assert found["kept_since_utc"] == "2026-03-01T17:00:06+00:00"


def test_a_chunk_whose_names_cannot_be_read_goes_all_the_same(tmp_path: Path) -> None:
    recorded = Recorded(Archiving(tmp_path, content=b"no metadata"), Limits(None, 40, 20))

    recorded.goes_on(61)
    assert recorded.left == [0, 1, 2]

    def gone() -> bool:
        recorded.rotation.look(now=True)
        return 0 not in recorded.left

    wait_until(gone, "the end of who reads the names")
    recorded.rotation.end()
    assert recorded.left == [1, 2]
    [problem] = recorded.rotation.problems
    assert problem.startswith("Names from a dropped part (--keep) are lost: Cannot read metadata")
    assert not recorded.rotation.failed


def test_either_bound_drops(tmp_path: Path) -> None:
    large = Archiving(tmp_path)
    recorded = Recorded(large, Limits(max_bytes=MIB, keep_s=1000, rotate_s=10))
    recorded.goes_on(50)
    assert len(recorded.left) == 5
    (tmp_path / "ust_0").write_bytes(bytes(MIB))
    recorded.goes_on(1)
    assert recorded.lttng.asked == 6
    (tmp_path / "ust_0").unlink()
    assert recorded.said[0].startswith("the trace is near 1 MiB (--max-size)")
    assert recorded.rotation.as_json()["chunks_dropped"] >= 5


@pytest.mark.parametrize(
    ("limits", "option"), [((None, 40, 20), "--keep"), ((None, None, 20), "--rotate")]
)
def test_what_cannot_be_rotated_goes_on(
    tmp_path: Path, limits: tuple[None, float | None, float], option: str
) -> None:
    recorded = Recorded(Archiving(tmp_path, failures=5), Limits(*limits))

    recorded.goes_on(22)
    # Twice it may be made up for without a word.
    assert (recorded.lttng.asked, recorded.said) == (2, [])
    recorded.goes_on(20)
    assert recorded.lttng.asked == 3
    recorded.goes_on(60)
    recorded.rotation.end()

    assert recorded.lttng.asked >= 6
    assert not recorded.rotation.failed
    needs = f"The recording could not be rotated, as {option} needs: Cannot rotate: no."
    assert recorded.said == recorded.rotation.problems == [needs]
    assert recorded.left


def test_what_is_rotated_at_the_third_attempt_is_whole(tmp_path: Path) -> None:
    recorded = Recorded(Archiving(tmp_path, failures=2), Limits(rotate_s=20))
    recorded.goes_on(100)
    assert recorded.said == []
    assert recorded.rotation.as_json()["chunks_rotated"] >= 4


def test_a_size_that_time_cannot_be_rotated_for_is_said(tmp_path: Path) -> None:
    recorded = Recorded(Archiving(tmp_path, failures=99), Limits(MIB, 40, 20))
    recorded.goes_on(30)
    assert recorded.rotation.failed
    assert "as --keep needs" in recorded.rotation.problems[0]
    assert "size" in recorded.rotation.problems[1]


def test_a_rotation_that_does_not_end_is_waited_for_no_longer(tmp_path: Path) -> None:
    recorded = Recorded(Archiving(tmp_path, never_archives=True), Limits(rotate_s=20))
    recorded.goes_on(200)
    assert not recorded.rotation.failed
    assert recorded.lttng.asked >= 5
    assert "not archived within 30 s" in recorded.rotation.problems[0]


def test_a_trace_that_is_not_there_stops_nothing(tmp_path: Path) -> None:
    recorded = Recorded(Archiving(tmp_path / "gone"), Limits(keep_s=40, rotate_s=20))
    recorded.goes_on(2)
    recorded.rotation.end()
    assert not recorded.rotation.failed
    [problem] = recorded.rotation.problems
    assert problem.startswith(f"Cannot rotate {tmp_path}/gone, or drop its oldest part: ")


@pytest.mark.parametrize(
    ("given", "rotate_s"),
    [((None, 600, None), 75), ((1, 20, None), 10), ((None, 86400, None), 600), ((1, 60, 5), 5)],
)
def test_chunks_are_an_eighth_of_what_is_kept(
    given: tuple[int | None, float | None, float | None], rotate_s: float
) -> None:
    limits = Limits.chosen(*given)
    assert limits == Limits(given[0], given[1], rotate_s)
    assert limits is not None
    assert limits.contradiction is None


def test_a_size_alone_is_no_time() -> None:
    assert Limits.chosen(None, None, None) is None
    assert Limits.chosen(MIB, None, None) == Limits(MIB, None, None)
    assert Bounds(30).of_trace is None
    assert Bounds(max_bytes=MIB, keep_s=60).dropping == ("--max-size", "--keep")
    assert Bounds(rotate_s=60).dropping == ()


@pytest.mark.live
def test_the_last_part_of_a_recording_is_kept_with_all_names(
    world: World, named: Path, tmp_path: Path
) -> None:
    target = tmp_path / "rec"
    # In the first chunk is nothing at all: not even a program that could be traced.
    script = f"sleep 5; {named} {NODES} 18 300"
    times = ("--keep", f"{KEPT_S}s", "--rotate", "5s")
    done = world.record(*times, "-o", target, "--", "sh", "-c", script)
    assert done.returncode == 0, done.stderr
    ticks, again = map(int, done.stdout.split())

    content = manifest(target)
    rotation = content["rotation"]
    assert (content["complete"], content["problems"]) == (True, [])
    assert (rotation["max_bytes"], rotation["keep_s"], rotation["rotate_s"]) == (None, 10, 5)
    assert rotation["chunks_rotated"] >= 3
    assert rotation["chunks_dropped"] >= 2
    assert rotation["chunks_dropped_without_names"] == 0
    archives = target / "trace" / "archives"
    [kept_names] = archives.glob("names-*")
    chunks = sorted(place for place in archives.iterdir() if place != kept_names)
    # LTTng archives the last one when it destroys the session.
    assert len(chunks) == rotation["chunks_rotated"] - rotation["chunks_dropped"] + 1

    opened = open_trace(target)
    tables = opened.tables()
    numbers = tables["ros2:tick"]["number"].to_numpy()
    times_ns = tables["ros2:tick"]["timestamp"].to_numpy()
    nodes = set(tables["ros2:rcl_node_init"]["node_name"].to_pylist())
    assert np.array_equal(numbers, np.arange(numbers[0], ticks))
    assert numbers[0] > 0
    assert times_ns[-1] - times_ns[0] >= KEPT_S * 10**9
    assert nodes >= {f"node_{i}" for i in range(NODES)} | {f"again_{again - 1}"}

    dropped = read_dropped(kept_names)
    assert opened.dropped == dropped
    assert 1 <= dropped.chunks <= rotation["chunks_dropped"]
    left = sum(len(events(chunk)) for chunk in chunks)
    assert dropped.events == ticks + again + NODES - left
    shown = world.strata("analyze", target, "--format", "json")
    assert shown.returncode == 0, shown.stderr
    [finding] = [
        one for one in json.loads(shown.stdout)["quality"] if one["code"] == "dropped_packets"
    ]
    lost = [loss.count for loss in opened.losses if loss.code == "dropped_packets"]
    assert finding["count"] == sum(lost) > 0
