# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Snapshots of a guard: how often, how many, how large; what is cut off; what verdicts say."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from strata.guard.conditions import parse
from strata.guard.kept import Bounds, KeptSnapshots, incident_document, make_session
from strata.guard.load import unscoped
from strata.guard.trim import trim
from strata.guard.verdict import judge_snapshot, write_verdict
from strata.guard.watch import Occurrence
from strata.live.known_names import KnownNames
from strata.pipeline.run import analyze
from strata.read import open_trace
from strata.read.incident import INCIDENT
from strata.record.directory import MANIFEST
from strata.show.html.analysis.page import render_page
from strata.show.terminal.as_text import analysis_text

S = 1_000_000_000


@pytest.fixture
def copied(tmp_path: Path) -> Callable[[Path], Path]:
    """Copy a sample trace, which is changed then."""
    return lambda trace: Path(shutil.copytree(trace, tmp_path / "copy"))


def a_snapshot(directory: Path, name: str, size: int = 100, age_s: float = 0.0) -> Path:
    place = directory / name
    place.mkdir(parents=True)
    (place / "trace").write_bytes(bytes(size))
    (place / INCIDENT).write_text("{}")
    (place / MANIFEST).write_text("{}")
    then = time.time() - age_s
    os.utime(place / MANIFEST, (then, then))
    return place


def test_no_two_are_kept_within_a_time(tmp_path: Path) -> None:
    kept = KeptSnapshots(tmp_path, Bounds(60 * S, 20, 1 << 30))
    assert kept.wait_ns() == 0
    a_snapshot(tmp_path, "20260101T000000Z_a", age_s=100)
    assert kept.wait_ns() == 0
    a_snapshot(tmp_path, "20260101T000001Z_b", age_s=10)
    assert kept.wait_ns() == pytest.approx(50 * S, abs=5 * S)


def test_a_verdict_that_is_written_later_is_no_new_snapshot(tmp_path: Path) -> None:
    old = a_snapshot(tmp_path, "20260101T000000Z_a", age_s=100)
    (old / INCIDENT).write_text("{} ")
    assert KeptSnapshots(tmp_path, Bounds(60 * S, 20, 1 << 30)).wait_ns() == 0


def test_a_clock_that_was_set_back_does_not_stop_it(tmp_path: Path) -> None:
    kept = KeptSnapshots(tmp_path, Bounds(60 * S, 3, 1 << 30))
    places = [a_snapshot(tmp_path, f"20270101T00000{n}Z_a", age_s=-1e6 - n) for n in range(3)]
    assert kept.wait_ns() == 0
    newest = a_snapshot(tmp_path, "20200101T000000Z_a")
    kept.kept()
    assert 55 * S < kept.wait_ns() <= 60 * S
    assert kept.drop_oldest(newest) == ([places[0]], [])
    assert newest.is_dir()


def test_the_oldest_are_dropped_beyond_a_number(tmp_path: Path) -> None:
    places = [a_snapshot(tmp_path, f"20260101T00000{n}Z_a", age_s=9 - n) for n in range(5)]
    others = tmp_path / "20250101T000000Z_mine"
    others.mkdir()
    kept = KeptSnapshots(tmp_path, Bounds(0, 3, 1 << 30))
    assert kept.drop_oldest(places[-1]) == (places[:2], [])
    assert kept.places() == places[2:]
    assert others.is_dir()


def test_what_the_user_named_is_the_users(tmp_path: Path) -> None:
    """Also where it has a file of that name, or was a snapshot before."""
    own = [a_snapshot(tmp_path, name, age_s=1e6) for name in ("0_my_project", "important")]
    linked = a_snapshot(tmp_path / "elsewhere", "20260101T000000Z_a", age_s=1e6)
    (tmp_path / linked.name).symlink_to(linked)
    newest = a_snapshot(tmp_path, "20260102T000000Z_a")
    kept = KeptSnapshots(tmp_path, Bounds(0, 1, 1))
    assert kept.places() == [newest]
    assert kept.drop_oldest(newest) == ([], [])
    assert all(place.is_dir() for place in (*own, linked, newest))


def test_the_oldest_are_dropped_beyond_a_size_but_never_the_newest(tmp_path: Path) -> None:
    places = [a_snapshot(tmp_path, f"20260101T00000{n}Z_a", 100_000, age_s=9 - n) for n in range(4)]
    newest = places[3]
    assert KeptSnapshots(tmp_path, Bounds(0, 9, 250_000)).drop_oldest(newest) == (places[:2], [])
    assert KeptSnapshots(tmp_path, Bounds(0, 9, 10)).drop_oldest(newest) == ([places[2]], [])
    assert newest.is_dir()


def test_two_faults_of_a_second_have_two_places(tmp_path: Path) -> None:
    kept = KeptSnapshots(tmp_path, Bounds(0, 9, 1 << 30))
    first = kept.new_place(0, "Chain max > 50 ms: /a/../b")
    assert first.name == "19700101T000000Z_chain-max-50-ms-a-b"
    first.mkdir()
    assert kept.new_place(0, "chain max > 50 ms: /a/../b").name == f"{first.name}_2"
    assert kept.new_place(0, "///").name == "19700101T000000Z_fault"


@pytest.mark.parametrize("part", [(0.0, 1.0), (0.3, 0.6), (0.5, 0.5)])
def test_a_trace_is_cut_to_the_packets_of_a_time(
    sample: Callable[[str], Path], copied: Callable[[Path], Path], part: tuple[float, float]
) -> None:
    trace = copied(sample("fast_relay1p_st_ipc"))
    before = open_trace(trace).decoder.packets
    begin, end = int(before["begin_ns"].min()), int(before["end_ns"].max())
    since_ns, until_ns = (begin + int((end - begin) * share) for share in part)
    wanted = (before["end_ns"] >= since_ns) & (before["begin_ns"] <= until_ns)
    trim(trace, since_ns, until_ns)
    after = open_trace(trace).decoder.packets
    for name in ("begin_ns", "end_ns", "bytes", "sequence"):
        assert sorted(after[name]) == sorted(before[name][wanted])
    assert len(after["bytes"]) == np.count_nonzero(wanted) > 0


def test_the_verdict_is_of_the_snapshot_alone(
    sample: Callable[[str], Path], copied: Callable[[Path], Path], tmp_path: Path
) -> None:
    whole = analyze(sample("fast_blocked_st"))
    instances = whole.chain_instances
    chain_id = whole.chains.loc[whole.chains["name"] == "/fast", "chain_id"].iloc[0]
    own = instances[instances["chain_id"] == chain_id]
    worst = own.loc[own["latency_ns"].idxmax()]
    fault = Occurrence(
        unscoped(parse("chain max > 20 ms")), "chain /fast", int(worst["end_ns"]), "it was slow"
    )
    place = tmp_path / "kept"
    place.mkdir()
    copied(sample("fast_blocked_st")).rename(place / "trace")
    span_ns = (fault.at_ns - 3 * S, fault.at_ns + S)
    manifest = tmp_path / "manifest.json"
    manifest.write_text("{}")
    make_session(place, manifest, KnownNames(), span_ns, incident_document([fault], span_ns, 2))

    verdict = write_verdict(place)
    ((_, cause),) = verdict.faults
    assert cause is not None
    assert "executor wait" in cause.layer
    assert "behind" in cause.text
    assert "/slow" in cause.text
    assert cause.duration_ns == pytest.approx(worst["latency_ns"], rel=0.1)
    document = json.loads((place / INCIDENT).read_text())
    assert (document["schema"], document["passed_over"]) == (1, 2)
    assert document["verdict"] == (place / "verdict.txt").read_text().strip() == verdict.text
    assert document["faults"][0]["cause"]["layer"] == cause.layer
    # It is what every verb says first.
    shown = analyze(place)
    assert shown.trace.faults == (f"it was slow: {cause.text}",)
    assert analysis_text(shown, 80).startswith("fault: it was slow: ")
    assert f"Fault: it was slow: {cause.text.split(',')[0]}" in render_page(shown, title="kept")
    # Another time tells nothing of it.
    content = json.loads((place / INCIDENT).read_text())
    content["faults"][0]["at_ns"] += 1
    (place / INCIDENT).write_text(json.dumps(content))
    assert judge_snapshot(place).faults[0][1] is None
