# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Which directories are traces, and what is said of those that cannot be read."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from small_trace import write_trace

from strata.errors import TraceError
from strata.read import open_trace
from strata.read.discover import find_traces

NOBODY = 65534


def as_nobody(path: Path) -> subprocess.CompletedProcess[str]:
    """Run `strata info` without root's right to read everything."""
    for parent in (path, *path.parents):
        if parent.stat().st_uid == os.getuid() and parent != Path("/"):
            parent.chmod(parent.stat().st_mode | 0o055)
    program = (
        "import os, sys; from strata.cli.main import main; import strata.cli.info; "
        "os.setgroups([]); os.setgid(65534); os.setuid(65534); main()"
    )
    return subprocess.run(
        [sys.executable, "-c", program, "info", path],
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": "500"},
    )


root_only = pytest.mark.skipif(os.geteuid() != 0, reason="drops root's rights")


@root_only
def test_a_directory_that_cannot_be_listed_is_counted_and_named(tmp_path: Path) -> None:
    write_trace(tmp_path / "good", [b""])
    write_trace(tmp_path / "secret/trace", [b""]).parent.chmod(0o700)
    run = as_nobody(tmp_path)
    assert run.returncode == 0, run.stderr
    assert "1 directory at or below the path could not be read" in run.stdout
    assert "Cannot list directory secret: Permission denied" in run.stdout
    (tmp_path / "good").rename(tmp_path / "secret/good")
    run = as_nobody(tmp_path)
    assert run.returncode == 1
    assert run.stderr.startswith(
        f"strata: Cannot list directory {tmp_path}/secret: Permission denied. "
    )


@root_only
def test_metadata_that_may_not_be_read(tmp_path: Path) -> None:
    (write_trace(tmp_path, [b""]) / "metadata").chmod(0o600)
    run = as_nobody(tmp_path)
    assert run.returncode == 1
    assert run.stderr.startswith(
        f"strata: Cannot read metadata {tmp_path}/metadata: Permission denied. "
    )
    assert len(run.stderr.splitlines()) == 1


def test_what_the_system_refuses_to_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_trace(tmp_path / "good", [b""])
    (tmp_path / "bad").mkdir()
    scandir = os.scandir

    def refuse(path: Path) -> object:
        if Path(path).name == "bad":
            raise OSError(5, "Input/output error", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    trace = open_trace(tmp_path)
    assert trace.findings.counts == {"unreadable_traces": 1}
    (loss,) = trace.losses
    assert loss.where.startswith(f"{tmp_path}/bad: Cannot list directory {tmp_path}/bad: Input/out")
    with pytest.raises(TraceError, match=r"bad: Input/output error\. Check"):
        find_traces(tmp_path / "bad")


def test_links_to_directories_are_followed_and_no_trace_is_read_twice(tmp_path: Path) -> None:
    real = write_trace(tmp_path / "elsewhere/trace", [b""] * 3)
    session = tmp_path / "session"
    session.mkdir()
    (session / "a").symlink_to(real.parent)
    (session / "b").symlink_to(real)
    (session / "loop").symlink_to(session)
    (session / "up").symlink_to(tmp_path)
    (session / "self").symlink_to("self")
    (session / "gone").symlink_to("nowhere")
    (session / "file").symlink_to(real / "metadata")
    found, unreadable = find_traces(session)
    assert [trace.directory for trace in found] == [session / "a/trace"]
    assert not unreadable
    assert len(open_trace(session).tables()["made:event"]) == 3


def test_a_directorys_own_name_wins_over_a_link(tmp_path: Path) -> None:
    write_trace(tmp_path / "z", [b""])
    (tmp_path / "a").symlink_to("z")
    found, _ = find_traces(tmp_path)
    assert [trace.directory for trace in found] == [tmp_path / "z"]


def test_traces_come_in_the_order_of_their_directories(tmp_path: Path) -> None:
    names = ["a/x", "a/x/y", "a-b", "b", "c/d"]
    for name in names:
        write_trace(tmp_path / name, [b""])
    found, _ = find_traces(tmp_path)
    assert [str(trace.directory.relative_to(tmp_path)) for trace in found] == names


def test_hidden_directories_are_left_out(tmp_path: Path) -> None:
    write_trace(tmp_path / ".hidden", [b""])
    with pytest.raises(
        TraceError, match="no directory at or below it contains a CTF `metadata` file"
    ):
        open_trace(tmp_path)


def test_a_pipe_is_no_metadata(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    os.mkfifo(tmp_path / "other/metadata")
    with pytest.raises(
        TraceError, match="no directory at or below it contains a CTF `metadata` file"
    ):
        open_trace(tmp_path)
    write_trace(tmp_path / "good", [b""])
    os.mkfifo(tmp_path / "good/pipe")
    (tmp_path / "directory/metadata").mkdir(parents=True)
    trace = open_trace(tmp_path)
    assert len(trace.tables()["made:event"]) == 1
    assert not trace.losses


def test_metadata_that_were_not_written_yet(tmp_path: Path) -> None:
    (tmp_path / "metadata").touch()
    with pytest.raises(TraceError) as caught:
        open_trace(tmp_path)
    assert str(caught.value) == (
        f"Cannot read metadata {tmp_path}/metadata: it is empty: the session is still being "
        "recorded or was killed before it wrote any. Stop the session, then try again."
    )
