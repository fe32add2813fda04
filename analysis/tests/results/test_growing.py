# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Results grow chunk by chunk, go on where they were stopped, and lose nothing silently."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from second_life import chunks_of, live_again
from strata_command import strata as run_strata

import strata
from strata.analysis import Analysis
from strata.errors import OutputError, TraceError
from strata.read import results
from strata.results.growing import Growing, Pace

NAME = "rotated_jazzy"
CHUNKS = 4
PACE = Pace(2_000_000_000, 1_000_000_000)


def grow(session: Path, target: Path, steps: int | None = None, pace: Pace = PACE) -> Growing:
    """Analyze some chunks, or all of them and finish."""
    growing = Growing(session, target, pace)
    done = 0
    while steps is None or done < steps:
        if growing.step() is None:
            break
        done += 1
    if steps is None:
        growing.finish()
    return growing


def codes(analysis: Analysis) -> dict[str, int]:
    quality = analysis.quality
    return dict(zip(quality["code"], quality["count"], strict=True))


@pytest.fixture
def whole(analysis_of: Callable[[str], Analysis]) -> Analysis:
    return analysis_of(NAME)


@pytest.fixture
def session(own_sample: Callable[[str], Path]) -> Path:
    return own_sample(NAME)


def same(one: Analysis, other: Analysis) -> bool:
    columns = ["topic", "publish_ns", "latency_ns"]
    return one.counts == other.counts and bool(
        one.messages[columns].equals(other.messages[columns])
    )


def test_a_stopped_analysis_goes_on_where_it_was(
    session: Path, tmp_path: Path, whole: Analysis
) -> None:
    target = tmp_path / "results"
    for done in range(1, CHUNKS + 1):
        growing = grow(session, target, 1)
        growing.close()
        assert growing.contents.last_chunk == done - 1
        assert not growing.contents.complete
        assert codes(strata.analyze(target))["results_incomplete"] == 1
    grow(session, target)
    found = strata.analyze(target)
    assert same(found, whole)
    assert "results_incomplete" not in codes(found)
    before = (target / "results.json").read_bytes()
    grow(session, target)
    assert (target / "results.json").read_bytes() == before


def test_what_a_kill_left_half_written_is_written_anew(
    session: Path, tmp_path: Path, whole: Analysis
) -> None:
    target = tmp_path / "results"
    grow(session, target, 2)
    # Killed after a part was made, before it counted; while one was made; with a chunk staged.
    parts = target / "parts"
    newest = sorted(parts.iterdir())[-1]
    number = int(newest.name.partition("-")[2]) + 1
    shutil.copytree(newest, parts / f"0-{number:06d}")
    shutil.copytree(newest, parts / f".0-{number:06d}")
    (target / ".window/left").mkdir(parents=True)
    (target / ".results.json").write_text("{")
    grow(session, target)
    assert same(strata.analyze(target), whole)
    assert not (target / ".window").exists()


def test_results_grow_while_the_recording_goes_on(session: Path, tmp_path: Path) -> None:
    """A chunk that comes later is taken when it is there."""
    target, later = tmp_path / "results", tmp_path / "later"
    last = chunks_of(session)[-1]
    last.rename(later)
    growing = grow(session, target, 9)
    counted = strata.analyze(target).counts.published
    later.rename(last)
    assert growing.step() is not None
    growing.finish()
    assert strata.analyze(target).counts.published > counted > 0


def test_many_parts_become_few(session: Path, tmp_path: Path, whole: Analysis) -> None:
    target = tmp_path / "results"
    growing = grow(session, target, pace=Pace(200_000_000, 100_000_000, 100))
    contents = growing.contents
    assert contents.windows > 40
    assert len(contents.parts) < contents.windows / 2
    assert any(part.startswith("1-") for part in contents.parts)
    found = strata.analyze(target)
    assert found.counts.published == whole.counts.published
    assert len(found.callback_instances) == len(whole.callback_instances)


def test_a_reader_keeps_its_parts_while_they_are_merged(
    session: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "_MERGED", 3)
    target = tmp_path / "results"
    growing = grow(session, target, 2)
    reader = strata.analyze(target)
    growing.step()
    assert any(part.startswith("1-") for part in growing.contents.parts)
    # Columns that were not read before.
    assert len(reader.messages) == reader.counts.matched > 0


def test_a_chunk_that_was_dropped_before_is_a_loss(session: Path, tmp_path: Path) -> None:
    target = tmp_path / "results"
    grow(session, target, 1)
    shutil.rmtree(chunks_of(session)[1])
    grow(session, target)
    found = strata.analyze(target)
    assert codes(found)["unanalyzed_chunks"] == 1
    (text,) = found.losses.loc[found.losses["code"] == "unanalyzed_chunks", "place"]
    assert "dropped" in text
    assert 0 < found.counts.published < 330


def test_each_dropped_chunk_counts(session: Path, tmp_path: Path) -> None:
    for chunk in chunks_of(session)[1:3]:
        shutil.rmtree(chunk)
    grow(session, tmp_path / "results")
    assert codes(strata.analyze(tmp_path / "results"))["unanalyzed_chunks"] == 2


@pytest.mark.parametrize("pace", [PACE, Pace()])
def test_a_node_that_was_started_again_loses_nothing(
    session: Path, tmp_path: Path, whole: Analysis, pace: Pace
) -> None:
    nodes = whole.nodes
    (sink,) = nodes.loc[nodes["name"] == "/sink", "vpid"]
    live_again(session, {int(sink): int(sink) + 100})
    twice = strata.analyze(session)
    assert twice.counts.matched == 2 * whole.counts.matched
    grow(session, tmp_path / "results", pace=pace)
    found = strata.analyze(tmp_path / "results")
    assert same(found, twice)
    columns = ["topic", "publisher_node", "subscription_node", "published", "received", "lost"]
    assert found.hops[columns].astype(str).equals(twice.hops[columns].astype(str))
    for table in ("nodes", "publishers", "subscriptions", "timers", "callback_objects"):
        assert len(found.frame(table)) == len(twice.frame(table)), table


def test_names_that_are_made_ahead_do_not_count_yet(session: Path, tmp_path: Path) -> None:
    names = session / "trace/archives/names-1"
    line = [sys.executable, "-P", "-m", "strata.read.names", str(64 << 20), ""]
    subprocess.run([*line, chunks_of(session)[0], names], check=True)
    assert list(names.rglob(".metadata"))
    target = tmp_path / "results"
    grow(session, target, 2).close()
    grow(session, target)
    assert not [name for name in strata.analyze(target).hops["publisher_node"] if "(" in name]


def test_what_a_link_leads_to_is_read(session: Path, tmp_path: Path, whole: Analysis) -> None:
    for number, chunk in enumerate(chunks_of(session)):
        (chunk / "ust").rename(tmp_path / f"ust{number}")
        (chunk / "ust").symlink_to(tmp_path / f"ust{number}")
        (chunk / "again").symlink_to(chunk)
    grow(session, tmp_path / "results")
    assert same(strata.analyze(tmp_path / "results"), whole)


def test_traces_without_a_manifest_are_told_apart(
    session: Path, own_sample: Callable[[str], Path], tmp_path: Path
) -> None:
    (session / "manifest.json").unlink()
    target = tmp_path / "results"
    grow(session, target)
    with pytest.raises(OutputError, match="another recording"):
        Growing(own_sample("services_jazzy"), target)


def test_a_chunk_that_cannot_be_read_is_a_loss(session: Path, tmp_path: Path) -> None:
    target = tmp_path / "results"
    (metadata,) = chunks_of(session)[2].rglob("metadata")
    metadata.write_bytes(b"no metadata")
    growing = Growing(session, target, PACE)
    grown = [growing.step() for _ in range(CHUNKS)]
    assert [bool(one and one.unread) for one in grown] == [False, False, True, False]
    growing.finish()
    found = strata.analyze(target)
    assert codes(found)["unanalyzed_chunks"] == 1
    assert found.counts.matched > 0


def test_a_chunk_without_packets_is_none(session: Path, tmp_path: Path, whole: Analysis) -> None:
    archives = session / "trace/archives"
    empty = archives / f"20261128T090000+0000-20261128T090005+0000-{CHUNKS}"
    (empty / "ust").mkdir(parents=True)
    target = tmp_path / "results"
    grow(session, target)
    assert same(strata.analyze(target), whole)


def test_names_of_what_was_dropped_are_used(session: Path, tmp_path: Path) -> None:
    """Names of dropped chunks lie beside those that are left."""
    first, second, *_ = chunks_of(session)
    names = session / "trace/archives/names-1"
    line = [sys.executable, "-P", "-m", "strata.read.names", str(64 << 20), ""]
    subprocess.run([*line, first, names], check=True)
    # As a recorder does when it drops the chunk.
    for metadata in names.rglob(".metadata"):
        metadata.rename(metadata.with_name("metadata"))
    shutil.rmtree(first)
    target = tmp_path / "results"
    grow(session, target)
    found = strata.analyze(target)
    assert set(found.nodes["name"]) >= {"/source", "/relay_0", "/sink", "/client", "/server"}
    assert "(unknown)" not in set(found.messages["publisher_node"].astype(str))
    assert second.is_dir()


def test_what_is_there_is_never_overwritten(session: Path, tmp_path: Path) -> None:
    target = tmp_path / "results"
    target.mkdir()
    (target / "mine.txt").write_text("mine")
    with pytest.raises(OutputError, match="contains other files"):
        Growing(session, target)
    assert [one.name for one in target.iterdir()] == ["mine.txt"]


def test_two_do_not_write_into_one_directory(session: Path, tmp_path: Path) -> None:
    target = tmp_path / "results"
    growing = grow(session, target, 1)
    with pytest.raises(OutputError, match="another process writes"):
        Growing(session, target)
    growing.close()
    grow(session, target)


def test_results_of_another_recording_are_refused(session: Path, tmp_path: Path) -> None:
    target = tmp_path / "results"
    grow(session, target, 1)
    manifest = session / "manifest.json"
    manifest.write_text(manifest.read_text().replace("strata-full-", "strata-light-"))
    with pytest.raises(OutputError, match="another recording"):
        Growing(session, target)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("{", "not in the form"),
        ("[]", "not in the form"),
        ('{"format": "other", "schema": 1}', "another program"),
        ('{"format": "strata results", "schema": 999}', "version 999"),
        ('{"format": "strata results", "schema": 1, "more": 1}', "not in the form"),
    ],
)
def test_damaged_contents_are_refused(tmp_path: Path, content: str, why: str) -> None:
    (tmp_path / "results.json").write_text(content)
    with pytest.raises(TraceError, match=why):
        strata.analyze(tmp_path)


def test_a_part_that_is_gone_is_an_error(session: Path, tmp_path: Path) -> None:
    target = tmp_path / "results"
    grow(session, target)
    shutil.rmtree(target / "parts" / json.loads((target / "results.json").read_text())["parts"][1])
    with pytest.raises(TraceError, match="not there any more"):
        strata.analyze(target).messages  # noqa: B018
    truncated = next((target / "parts").rglob("takes.parquet"))
    truncated.write_bytes(truncated.read_bytes()[:100])
    with pytest.raises(TraceError, match="Cannot read"):
        strata.analyze(target).takes  # noqa: B018


def test_no_trace_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="there is no such directory"):
        Growing(tmp_path / "none", tmp_path / "results")
    (tmp_path / "empty").mkdir()
    with pytest.raises(TraceError, match="no directory at or below it"):
        Growing(tmp_path / "empty", tmp_path / "results")
    with pytest.raises(TraceError, match="it has results"):
        (tmp_path / "empty/results.json").write_text("{}")
        Growing(tmp_path / "empty", tmp_path / "results")
    assert not (tmp_path / "results").exists()


def test_every_verb_reads_results(session: Path, tmp_path: Path) -> None:
    made = run_strata("results", session)
    assert made.returncode == 0, made.stderr
    target = session / "results"
    assert "strata analyze" in made.stdout
    assert made.stdout.endswith("/results\n")
    for verb in ("analyze", "hops", "path", "links"):
        done = run_strata(verb, target)
        assert done.returncode == 0, done.stderr
    analyzed = run_strata("analyze", target, "--all").stdout
    assert NAME in analyzed
    assert "/chain_0 > /chain_1" in analyzed
    asked = run_strata("sql", target, "SELECT count(*) AS messages FROM messages")
    assert "260" in asked.stdout
    compared = run_strata("compare", session, target)
    assert "No relevant difference" in compared.stdout
    page = tmp_path / "page.html"
    assert run_strata("report", target, "-o", page).returncode == 0
    assert page.stat().st_size > 100_000
    exported = run_strata("export", target, "--to", "perfetto", "-o", tmp_path / "perfetto")
    assert exported.returncode == 0, exported.stderr
    shown = run_strata("info", target)
    assert shown.returncode == 0, shown.stderr
    assert "results" in shown.stdout
    for line in (["convert", target], ["sql", target, 'SELECT * FROM events."ros2:rcl_init"']):
        refused = run_strata(*line)
        assert refused.returncode == 1
        assert "it has results, and no events" in refused.stderr
    links = tmp_path / "links.yaml"
    links.write_text("links: [{node: /sink, kind: periodic_async, inputs: [/a], outputs: [/b]}]\n")
    refused = run_strata("analyze", target, "--links", links)
    assert refused.returncode == 1
    assert "Cannot link messages" in refused.stderr
