# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Which processes are the command's: real ones, and made ones of which /proc tells odd things."""

from __future__ import annotations

import itertools
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from strata.record import processes
from strata.record.processes import ProcessWatch

MARK = "STRATA_TEST_MARK=this one"


@pytest.fixture
def beside() -> Iterator[subprocess.Popen[bytes]]:
    """A process that no command started."""
    process = subprocess.Popen(["sleep", "60"])
    yield process
    process.kill()
    process.wait()


def test_children_and_daemons_are_the_commands(
    tmp_path: Path, beside: subprocess.Popen[bytes]
) -> None:
    watch = ProcessWatch(MARK)
    watch.begin()
    # The daemon leaves its parents, its session and its group; another ends at once.
    script = (
        f"(setsid sleep 61 & echo $! > {tmp_path}/daemon) & sleep 62 & echo $! > {tmp_path}/child; "
        f"wait %1; touch {tmp_path}/ready; wait"
    )
    name, _, value = MARK.partition("=")
    command = subprocess.Popen(["bash", "-c", script], env={**os.environ, name: value})
    late = subprocess.Popen(["sleep", "63"])
    try:
        watch.follow(command.pid)
        until = time.monotonic() + 10
        while not (tmp_path / "ready").exists() and time.monotonic() < until:
            time.sleep(0.01)
        # The first look is after the daemon lost its parents: nothing but its environment tells.
        watch.look(now=True)
        daemon, child = (int((tmp_path / who).read_text()) for who in ("daemon", "child"))
        found = watch.as_json()
        assert {command.pid, child, daemon} <= set(found["of_command"])
        assert {beside.pid, late.pid} <= set(found["others"])
        assert {beside.pid, late.pid, os.getpid()}.isdisjoint(found["of_command"])
    finally:
        for pid in (daemon, child):
            os.kill(pid, 9)
        for process in (command, late):
            process.kill()
            process.wait()


def test_looks_come_often_at_first_and_then_seldom(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(processes, "time", SimpleNamespace(monotonic=lambda: now[0]))
    watch = ProcessWatch(MARK)
    watch.follow(os.getpid())
    assert watch.patience_s == 0
    for ran_s, pause_s in ((0, 0.02), (0.1, 0.02), (1, 0.1), (5, 0.5), (50, 1)):
        now[0] = 100 + ran_s
        watch.look()
        assert watch.patience_s == pytest.approx(pause_s)


def test_a_pause_follows_a_look_that_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    # Every reading of the clock is half a second after the one before.
    ticks = itertools.count(100.0, 0.5)
    monkeypatch.setattr(processes, "time", SimpleNamespace(monotonic=lambda: next(ticks)))
    watch = ProcessWatch(MARK)
    watch.follow(os.getpid())
    watch.look()
    assert watch._due > 101.5


class MadeProcesses:
    """A /proc of made processes."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def add(
        self, pid: int, parent: int, *, own_id: int | None = None, marked: bool = False
    ) -> None:
        """Add a process; `own_id` is its id within its namespace."""
        directory = self.place / str(pid)
        directory.mkdir()
        (directory / "stat").write_text(f"{pid} (a ) name) S {parent} 1 1 0 -1")
        ids = f"{pid}" if own_id is None else f"{pid}\t{own_id}"
        (directory / "status").write_text(f"Name:\tx\nNStgid:\t{ids}\nNSpid:\t{ids}\n")
        (directory / "environ").write_text(f"A=1\0{MARK if marked else 'B=2'}\0")

    def end(self, pid: int) -> None:
        """End a process."""
        for path in (self.place / str(pid)).iterdir():
            path.unlink()
        (self.place / str(pid)).rmdir()


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MadeProcesses:
    monkeypatch.setattr(processes, "PROC", tmp_path)
    found = MadeProcesses(tmp_path)
    found.add(1, 0)
    found.add(2, 0)
    found.add(50, 2)
    return found


def test_a_process_has_the_id_of_its_namespace(made: MadeProcesses) -> None:
    watch = ProcessWatch(MARK)
    made.add(300, 1, own_id=7)
    watch.begin()
    made.add(400, 1)
    watch.follow(400)
    made.add(401, 400, own_id=8)
    watch.look(now=True)
    assert watch.as_json() == {"of_command": [8, 400], "others": [1, 7]}


def test_an_id_that_is_the_commands_too_is_no_others(made: MadeProcesses) -> None:
    # In two namespaces, or one after the other: what cannot be told apart is kept.
    watch = ProcessWatch(MARK)
    made.add(300, 1, own_id=7)
    made.add(301, 1)
    watch.begin()
    made.add(400, 1)
    watch.follow(400)
    made.add(401, 400, own_id=7)
    made.end(301)
    watch.look(now=True)
    made.add(301, 401)
    watch.look(now=True)
    assert watch.as_json() == {"of_command": [7, 301, 400], "others": [1]}


def test_a_child_of_others_with_the_mark_is_the_commands(made: MadeProcesses) -> None:
    watch = ProcessWatch(MARK)
    watch.begin()
    made.add(400, 1)
    watch.follow(400)
    made.add(500, 1)
    made.add(501, 500)
    made.add(502, 1, marked=True)
    made.add(503, 502)
    watch.look(now=True)
    assert watch.as_json() == {"of_command": [400, 502, 503], "others": [1, 500, 501]}
