# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What `--force` replaces: what bears the mark of a recording, and nothing of the user's."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from strata.errors import OutputError
from strata.record.directory import State, check_directory, clear_directory, remove_begun
from strata.record.manifest import Manifest

SESSION = "strata-ros2-4711-1795236560170"
OF_A_RUN = {"schema": 1, "session": SESSION, "scenario": {}}
Sample = Callable[[str], Path]


def snapshot(directory: Path) -> dict[str, str | bytes]:
    found: dict[str, str | bytes] = {}
    for path in sorted(directory.rglob("*")):
        name = str(path.relative_to(directory))
        if path.is_symlink():
            found[name] = f"-> {path.readlink()}"
        else:
            found[name] = path.read_bytes() if path.is_file() else "other"
    return found


def replace(directory: Path) -> list[str]:
    """Do what a recording with --force does first; gives the names that were removed."""
    check_directory(directory, force=True)
    return [str(path.relative_to(directory)) for path in clear_directory(directory)]


def refused(directory: Path, match: str) -> None:
    """Refused by the check, refused by the removal, and nothing is changed."""
    before = snapshot(directory)
    for step in (
        lambda: check_directory(directory, force=True),
        lambda: clear_directory(directory),
    ):
        with pytest.raises(OutputError, match=match):
            step()
        assert snapshot(directory) == before


@pytest.fixture
def recording(sample: Sample, tmp_path: Path) -> Path:
    """Make a session as `strata run` and the verbs after it leave it."""
    target = tmp_path / "rec"
    own = shutil.ignore_patterns("truth", "*.txt")
    shutil.copytree(sample("fast_blocked_st"), target / "trace", ignore=own)
    for name in ("thread_cpu/threads.csv", "scenario/plan.json", "scenario/logs/talker.log"):
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (target / name).write_text("thread,pid" if name.endswith(".csv") else "{}")
    (target / "scenario/logs/latest").symlink_to("talker.log")
    for name in ("tables", "results"):
        (target / name).mkdir()
        tables = {"format": "strata tables", "tables": {"a": {"file": "a.parquet"}}}
        (target / name / "tables.json").write_text(json.dumps(tables))
        (target / name / "a.parquet").write_text("PAR1")
    (target / "report.html").write_text(
        '<!DOCTYPE html>\n<meta name="generator" content="strata 1">'
    )
    Manifest(target, {**OF_A_RUN, "end": {}}).write()
    return target


def old_manifest(target: Path, **others: Any) -> None:
    """Write a manifest as recordings before the mark did."""
    text = json.dumps({"schema": 1, "session": SESSION, **others})
    (target / "manifest.json").write_text(text)


def test_a_recording_is_replaced_whole(recording: Path) -> None:
    assert replace(recording)[-1] == "manifest.json"
    assert list(recording.iterdir()) == []


def test_a_recording_of_before_the_mark_is_replaced_whole(recording: Path) -> None:
    old_manifest(recording)
    replace(recording)
    assert list(recording.iterdir()) == []


def test_what_the_manifest_lists(recording: Path) -> None:
    content = json.loads((recording / "manifest.json").read_text())
    assert content["format"] == "strata recording"
    assert content["files"] == [
        "manifest.json",
        "trace/",
        "thread_cpu/threads.csv",
        "scenario/logs/latest",
        "scenario/logs/talker.log",
        "scenario/plan.json",
    ]


def test_the_users_files_beside_it_stay(recording: Path) -> None:
    (recording / "notes.txt").write_text("mine")
    (recording / "truth").mkdir()
    (recording / "report.html").write_text("<title>my page</title>")
    (recording / "tables/extra.csv").write_text("mine")
    assert "trace" in replace(recording)
    assert {path.name for path in recording.iterdir()} == {
        "notes.txt",
        "truth",
        "report.html",
        "tables",
    }
    assert {path.name for path in (recording / "tables").iterdir()} == {
        "tables.json",
        "a.parquet",
        "extra.csv",
    }


@pytest.mark.parametrize("name", ["trace/notes.txt", "scenario/logs/mine", "thread_cpu/mine.csv"])
def test_the_users_files_within_it_are_in_the_way(recording: Path, name: str) -> None:
    (recording / name).write_text("mine")
    refused(recording, f"{name} is not part of a recording: no Strata recording wrote it")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("scenario/mine", "mine"),
        ("scenario/plan.json", "{}"),
        ("perf.data", "PERFILE2"),
        ("thread_cpu/mine.csv", "thread,mine"),
        ("thread_cpu/mine/threads.csv", "thread,mine"),
    ],
)
def test_what_the_command_put_in_the_place_of_a_part_is_in_the_way(
    recording: Path, name: str, text: str
) -> None:
    shutil.rmtree(recording / "scenario")
    (recording / name).parent.mkdir(exist_ok=True)
    (recording / name).write_text(text)
    Manifest(recording, {"schema": 1, "session": SESSION, "end": {}}).write()
    refused(recording, f"{'scenario' if 'scenario' in name else name} is not part of a recording")


def test_the_data_of_a_perf_that_recorded_are_replaced(recording: Path) -> None:
    (recording / "perf.data").write_text("PERFILE2")
    content = OF_A_RUN | {"kernel_tracing": {"recorded_by": "perf, context switches only"}}
    Manifest(recording, {**content, "end": {}}).write()
    assert "perf.data" in replace(recording)
    (recording / "perf.data").write_text("PERFILE2")
    Manifest(recording, OF_A_RUN | {"config": {"events": {"kernel": ["sched_switch"]}}}).write()
    assert "perf.data" in replace(recording)


def test_a_trace_beside_a_run_without_a_session_is_the_users(recording: Path) -> None:
    Manifest(recording, {**OF_A_RUN, "session": None, "end": {}}).write()
    refused(recording, "trace/.* is not part of a recording")


def web_manifest(target: Path) -> None:
    (target / "manifest.json").write_text('{"name": "My app", "icons": [], "schema": 1}')


def other_format(target: Path) -> None:
    old_manifest(target, format="of another program")


def no_json(target: Path) -> None:
    (target / "manifest.json").write_text("[" * 20_000)


def huge_number(target: Path) -> None:
    text = f'{{"schema": {"9" * 5_000}, "session": "{SESSION}"}}'
    (target / "manifest.json").write_text(text)


def linked_manifest(target: Path) -> None:
    (target / "manifest.json").rename(target.parent / "elsewhere.json")
    (target / "manifest.json").symlink_to(target.parent / "elsewhere.json")


def piped_manifest(target: Path) -> None:
    (target / "manifest.json").unlink()
    os.mkfifo(target / "manifest.json")


def no_manifest(target: Path) -> None:
    (target / "manifest.json").unlink()


@pytest.mark.parametrize(
    "spoil",
    [
        web_manifest,
        other_format,
        no_json,
        huge_number,
        linked_manifest,
        piped_manifest,
        no_manifest,
    ],
)
def test_without_the_mark_nothing_is_replaced(
    recording: Path, spoil: Callable[[Path], None]
) -> None:
    spoil(recording)
    refused(recording, r"rec: (manifest\.json|trace) is not part of a recording")


def test_a_web_applications_directory_is_not_touched(tmp_path: Path) -> None:
    web_manifest(tmp_path)
    for name in ("tables/users.csv", "trace/log.txt", "report.html"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("mine")
    refused(tmp_path, "trace is not part of a recording")


def linked_trace(target: Path) -> None:
    (target / "trace").rename(target.parent / "kept")
    (target / "trace").symlink_to(target.parent / "kept")


def linked_stream(target: Path) -> None:
    (target / "trace/one").symlink_to(target / "manifest.json")


def file_as_trace(target: Path) -> None:
    shutil.rmtree(target / "trace")
    (target / "trace").write_text("mine")


def pipe_as_trace(target: Path) -> None:
    shutil.rmtree(target / "trace")
    os.mkfifo(target / "trace")


def pipe_in_trace(target: Path) -> None:
    os.mkfifo(target / "trace/pipe")


def linked_scenario(target: Path) -> None:
    (target / "scenario").rename(target.parent / "kept")
    (target / "scenario").symlink_to(target.parent / "kept")


@pytest.mark.parametrize(
    ("spoil", "fact"),
    [
        (linked_trace, "trace is not part of a recording: it is a link"),
        (linked_stream, "trace/one is not part of a recording: it is a link"),
        (file_as_trace, "trace is not part of a recording: no Strata recording wrote it"),
        (pipe_as_trace, "trace is not part of a recording: it is neither a file nor a directory"),
        (
            pipe_in_trace,
            "trace/pipe is not part of a recording: it is neither a file nor a directory",
        ),
        (linked_scenario, "scenario is not part of a recording: it is a link"),
    ],
)
def test_what_takes_the_place_of_a_part_is_not_touched(
    recording: Path, spoil: Callable[[Path], None], fact: str
) -> None:
    spoil(recording)
    outside = snapshot(recording.parent)
    refused(recording, fact)
    assert snapshot(recording.parent) == outside


def test_a_link_that_a_run_made_is_removed_and_not_followed(recording: Path) -> None:
    outside = recording.parent / "outside"
    outside.mkdir()
    (outside / "precious").write_text("mine")
    (recording / "scenario/logs/outside").symlink_to(outside)
    Manifest(recording, {**OF_A_RUN, "end": {}}).write()
    replace(recording)
    assert list(recording.iterdir()) == []
    assert (outside / "precious").read_text() == "mine"


def test_linked_tables_and_pages_stay(recording: Path) -> None:
    for name in ("tables", "report.html"):
        (recording / name).rename(recording.parent / name)
        (recording / name).symlink_to(recording.parent / name)
    replace(recording)
    assert {path.name for path in recording.iterdir()} == {"tables", "report.html"}
    assert (recording.parent / "tables/a.parquet").read_text() == "PAR1"


def results_of(recording: Path) -> Path:
    results = recording / "results"
    # In their place an old version wrote tables.
    shutil.rmtree(results)
    for name in ("0-000001", ".0-000002"):
        (results / "parts" / name).mkdir(parents=True)
        (results / "parts" / name / "takes.parquet").write_text("PAR1")
    (results / ".window/chunk/ust").mkdir(parents=True)
    (results / ".window/chunk/ust/metadata").write_text("staged")
    (results / "results.json").write_text('{"format": "strata results", "schema": 1}')
    (results / ".lock").touch()
    return results


def test_results_are_replaced_with_the_recording(recording: Path) -> None:
    results_of(recording)
    assert "results" in replace(recording)
    assert not (recording / "results").exists()


@pytest.mark.parametrize("name", ["notes.txt", "parts/mine.parquet", "parts/0-000001/mine.csv"])
def test_results_with_something_of_the_users_stay(recording: Path, name: str) -> None:
    results = results_of(recording)
    (results / name).write_text("mine")
    assert "results" not in replace(recording)
    assert (results / name).read_text() == "mine"
    assert (results / "results.json").is_file()


def test_a_link_given_as_the_directory_is_followed_to_a_recording_alone(
    recording: Path, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(recording)
    replace(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert list(recording.iterdir()) == []
    (recording / "notes.txt").write_text("mine")
    with pytest.raises(OutputError, match="is a link to a directory that contains no Strata rec"):
        check_directory(tmp_path / "link", force=True)
    (tmp_path / "lost").symlink_to(tmp_path / "nowhere")
    with pytest.raises(OutputError, match="is a dangling symbolic link"):
        check_directory(tmp_path / "lost", force=True)


def test_what_a_killed_recorder_left_is_replaced(recording: Path) -> None:
    (recording / "manifest.json").unlink()
    State(SESSION, 1 << 30, 1, str(recording), ["true"]).write()
    (recording / "CLEANUP.txt").write_text("strata: the recorder (process 4711) was killed")
    (recording / ".manifest.json.4711").write_text("{")
    (recording / ".manifest.json.mine").write_text("{")
    assert replace(recording)[-1] == "recording.json"
    assert [path.name for path in recording.iterdir()] == [".manifest.json.mine"]


def test_an_unfinished_recording_claims_what_it_was_writing(recording: Path) -> None:
    Manifest(recording, {"schema": 1, "session": SESSION}).write()
    (recording / "scenario/logs/later.log").write_text("of the scenario")
    replace(recording)
    assert list(recording.iterdir()) == []


def test_what_was_kept_of_dropped_parts_is_of_the_recording(recording: Path) -> None:
    names = recording / "trace/archives/names-3"
    names.mkdir(parents=True)
    (names / "dropped.json").write_text('{"begin_ns": 1}')
    replace(recording)
    assert list(recording.iterdir()) == []


def test_a_stopped_removal_can_be_begun_again(recording: Path) -> None:
    next(recording.rglob("metadata")).unlink()
    shutil.rmtree(recording / "scenario")
    replace(recording)
    assert list(recording.iterdir()) == []


def test_what_was_begun_is_removed_without_following_links(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept/file").touch()
    target = tmp_path / "rec"
    (target / "trace").mkdir(parents=True)
    (target / "scenario").symlink_to(tmp_path / "kept")
    (target / "notes").touch()
    remove_begun(target)
    assert [path.name for path in target.iterdir()] == ["notes"]
    assert (tmp_path / "kept/file").exists()


def test_a_manifest_is_for_its_owner_and_group(recording: Path) -> None:
    before = os.umask(0)
    try:
        Manifest(recording, {"schema": 1, "session": SESSION}).write()
    finally:
        os.umask(before)
    assert (recording / "manifest.json").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("place", ["file/rec", "file/deeper/rec", "file"])
def test_a_directory_that_cannot_be_made_is_named_once(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").touch()
    fact = "it is a file" if place == "file" else "part of its path is a file"
    for step in (lambda path: check_directory(path, force=False), clear_directory):
        with pytest.raises(OutputError) as caught:
            step(tmp_path / place)
        text = f"Cannot record into {tmp_path / place}: {fact}. Choose another -o."
        assert str(caught.value) == text


def test_a_directory_that_the_kernel_refuses_is_named_once() -> None:
    with pytest.raises(OutputError) as caught:
        clear_directory(Path("/proc/strata/rec"))
    text = "Cannot record into /proc/strata/rec: No such file or directory. Choose another -o."
    assert str(caught.value) == text
