# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Campaigns of small traced cells: run, interrupted, killed, changed, and run again."""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from campaign_files import CAMPAIGN, written
from lttng_world import ROOT, World, alive, any_domain, events, wait_until

from strata.record.directory import State, read_state

pytestmark = pytest.mark.live
RECORD = Path(__file__).parents[1] / "record"
KILL = """question: Does it go on?
studies:
  kill:
    question: Is nothing lost?
    scenario: ticks
    set: {tick: TICK}
    duration: 5
    factors:
      way:
        levels:
          a: {set: {seconds: 0.05}}
          b: {set: {seconds: 0.06}}
          absent: {needs: ["program:no_such_program_at_all"]}
"""
# The second waits for a file, so that it runs for as long as a test wants.
SLOW = "echo running; while test ! -e MARK; do sleep 0.05; done"


@pytest.fixture(scope="session")
def tick(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the traced program."""
    program = tmp_path_factory.mktemp("tick") / "tick"
    compiler = ["cc", "-I", RECORD, RECORD / "tick.c", "-o", program]
    subprocess.run([*compiler, "-llttng-ust", "-ldl"], check=True)
    return program


class Place:
    """A campaign's file and directory in a world of its own."""

    def __init__(self, world: World, tick: Path, directory: Path) -> None:
        self.world, self.target = world, directory / "campaign"
        self.mark = directory / "mark"
        self._sources = directory
        self._tick = tick
        self._environment = world.environment | {
            "ROS_DOMAIN_ID": any_domain(),
            "STRATA_ROS_PREFIX": str(ROOT / ".venv"),
        }
        self.file = directory / "small.yaml"

    def write(self, text: str) -> None:
        text = text.replace("TICK", str(self._tick)).replace("MARK", str(self.mark))
        written(self._sources, text)

    def start(self, *arguments: str | Path) -> subprocess.Popen[str]:
        line = [sys.executable, "-m", "strata", "campaign", "run", self.file, "-o", self.target]
        line += ["--settle", "0.05", *arguments]
        return self.world.popen(*line, env=self._environment)

    def run(self, *arguments: str | Path) -> tuple[int, str]:
        process = self.start(*arguments)
        out, err = process.communicate(timeout=120)
        assert out == "" or "--list" in arguments
        return process.returncode, out + err

    def cell(self, name: str) -> Path:
        return self.target / "cells" / name

    def status(self) -> dict[str, Any]:
        done = self.world.strata("campaign", "status", self.target, "--format", "json")
        assert done.returncode == 0, done.stderr
        document: dict[str, Any] = json.loads(done.stdout)
        return document

    def words(self) -> dict[str, str]:
        return {cell["id"]: cell["status"] for cell in self.status()["cells"]}

    def order(self) -> list[str]:
        return [cell["id"] for cell in self.status()["cells"]]

    def wait_for(self, name: str) -> State:
        """Wait until the script of a cell runs; gives the state of its recording."""
        log = self.cell(name) / "scenario/logs/tick.log"

        def running() -> State | None:
            state = read_state(self.cell(name))
            there = state is not None and state.recorder_alive and state.command_pid
            return state if there and log.is_file() and "running" in log.read_text() else None

        state: State = wait_until(running, f"{name} to run")
        return state

    def refuse_remains(self, state: State) -> None:
        """Nothing of a cell is left: no process, no session, no daemon, no lock."""
        pids = [state.strata_pid, state.command_pid, state.daemon_pid]
        wait_until(lambda: not any(pid and alive(pid) for pid in pids), "the end of all")
        assert self.world.daemon_pid() is None


@pytest.fixture
def place(world: World, tick: Path, tmp_path: Path) -> Place:
    return Place(world, tick, tmp_path)


def files(directory: Path) -> dict[str, tuple[int, str]]:
    """The files below a directory: their times and contents."""
    return {
        str(path.relative_to(directory)): (
            path.stat().st_mtime_ns,
            hashlib.sha256(path.read_bytes()).hexdigest(),
        )
        for path in directory.rglob("*")
        if path.is_file()
    }


def ticks(session: Path) -> int:
    return sum("ros2:tick" in line for line in events(session / "trace"))


def test_a_campaign_makes_a_session_of_every_cell(place: Place) -> None:
    text = CAMPAIGN.replace("seconds: 0.1", "seconds: 0.1, tick: TICK")
    text = text.replace("{set: {load.workers: 1}, duration: 2s}", "{set: {before: exit 3}}")
    place.write(text.replace("repetitions: 2", "repetitions: 1"))
    only = ["--only", "plain/usual", "--only", "plain/slow", "--only", "plain/absent"]
    status, said = place.run("--seed", "3", *only)
    assert status == 3, said
    words = place.words()
    assert words == {
        "plain/5+usual/r1": "finished",
        "plain/5+slow/r1": "failed",
        "plain/5+absent/r1": "skipped",
        "plain/6+usual/r1": "finished",
        "plain/6+slow/r1": "skipped",
        "plain/6+absent/r1": "skipped",
    }
    cell = place.cell("plain/5+usual/r1")
    assert ticks(cell) == 5
    # Without any message, which is measured all the same.
    assert json.loads((cell / "cell.json").read_text())["measured"].startswith("nothing measured: ")
    told = json.loads((cell / "cell.json").read_text())
    assert (told["status"], told["reason"]) == ("finished", None)
    assert told["command"][1:4] == ["-m", "strata", "run"]
    assert "recorded into" in (cell / "run.log").read_text()
    # Of six ticks nothing says `5 ticks`.
    unmet = json.loads((place.cell("plain/6+usual/r1") / "cell.json").read_text())
    assert (unmet["reason"], unmet["unmet"]) == (None, ["tick says '5 ticks'"])
    assert ticks(place.cell("plain/6+usual/r1")) == 6
    failed = json.loads((place.cell("plain/5+slow/r1") / "cell.json").read_text())
    assert failed["reason"].startswith("tick did not end cleanly: exit status 3")
    assert "skipped plain/6+slow/r1: six are never slow" in said
    absent = "the program no_such_program_at_all is not installed"
    assert f"skipped plain/5+absent/r1: {absent}" in said
    assert "strata: failed: plain/5+slow/r1: tick did not end cleanly" in said
    assert re.search(r"strata: 1/3 plain/.* s, .*; .* s left\n", said), said
    assert not place.world.daemon_pid()

    # Again: what finished is kept, what failed runs again unless that is not wanted.
    kept = files(cell)
    status, said = place.run("--keep-failed", *only)
    assert (status, "3 cells done (3 before), 1 failed" in said) == (3, True), said
    status, said = place.run(*only)
    assert "moved the incomplete files of plain/5+slow/r1 to " in said
    assert status == 3
    assert files(cell) == kept
    (moved,) = (place.target / "interrupted").iterdir()
    assert moved.name.endswith("_plain_5+slow_r1")
    assert json.loads((moved / "cell.json").read_text()) == failed
    starts = json.loads((place.target / "campaign.json").read_text())["environments"]
    assert len(starts) == 3
    assert [start.get("changed") for start in starts] == [None, [], []]


def test_a_campaign_that_is_killed_loses_no_finished_cell(place: Place) -> None:
    place.write(KILL)
    status, planned = place.run("--seed", "2", "--list")
    assert status == 0
    assert not place.target.exists()
    order = re.findall(r"kill/[ab]/r1", planned)
    # The second waits until it is killed.
    slow = order[1].split("/")[1]
    place.write(KILL.replace(f"{slow}: {{set: {{", f'{slow}: {{set: {{before: "{SLOW}", '))
    campaign = place.start("--seed", "2")
    state = place.wait_for(order[1])
    before = files(place.cell(order[0]))
    assert "cell.json" in before
    campaign.kill()
    campaign.communicate()
    # Its recorder ends by itself, in order: nothing is left, and the trace is whole.
    place.refuse_remains(state)
    assert json.loads((place.cell(order[1]) / "manifest.json").read_text())["end"]
    assert not (place.cell(order[1]) / "cell.json").exists()
    assert place.words() == {
        order[0]: "finished",
        order[1]: "to run",
        "kill/absent/r1": "skipped",
    }

    # Killed again, with its recorder: the next start ends what both left.
    campaign = place.start()
    state = place.wait_for(order[1])
    os.kill(campaign.pid, signal.SIGSTOP)
    os.kill(state.strata_pid, signal.SIGKILL)
    campaign.kill()
    campaign.communicate()
    assert state.command_pid is not None
    assert alive(state.command_pid)
    place.mark.touch()
    status, said = place.run()
    assert status == 0, said
    assert f"ended processes that were left of {order[1]}: LTTng session {state.session}" in said
    place.refuse_remains(state)
    assert files(place.cell(order[0])) == before
    assert len(list((place.target / "interrupted").iterdir())) == 2
    assert [name for name in place.order() if name != "kill/absent/r1"] == order
    assert set(place.words().values()) == {"finished", "skipped"}


def test_a_recorder_that_is_killed_fails_its_cell_alone(place: Place) -> None:
    place.write(KILL.replace("a: {set: {", f'a: {{set: {{before: "{SLOW}", '))
    campaign = place.start("--seed", "2")
    state = place.wait_for("kill/a/r1")
    os.kill(state.strata_pid, signal.SIGKILL)
    out, err = campaign.communicate(timeout=120)
    assert campaign.returncode == 3, err
    assert out == ""
    words = place.words()
    assert (words["kill/a/r1"], words["kill/b/r1"]) == ("failed", "finished")
    assert "failed: kill/a/r1: its recorder was ended by SIGKILL" in err
    place.refuse_remains(state)


def test_ctrl_c_ends_the_cell_in_order_and_the_campaign(place: Place) -> None:
    place.write(KILL.replace("a: {set: {", f'a: {{set: {{before: "{SLOW}", '))
    campaign = place.start("--only", "kill/a")
    state = place.wait_for("kill/a/r1")
    # Two of them at once: a campaign's directory is one process's.
    status, said = place.run("--only", "kill/a")
    assert (status, f"process {campaign.pid} runs it" in said) == (1, True), said
    campaign.send_signal(signal.SIGINT)
    _, err = campaign.communicate(timeout=120)
    assert campaign.returncode == 128 + signal.SIGINT, err
    assert "interrupted by SIGINT; run the same command to continue" in err
    place.refuse_remains(state)
    assert place.words()["kill/a/r1"] == "to run"
    manifest = json.loads((place.cell("kill/a/r1") / "manifest.json").read_text())
    assert manifest["command"]["interrupted_by"] == "SIGINT"


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts a small file system")
def test_a_disk_without_room_ends_the_campaign(place: Place) -> None:
    place.write(KILL)
    place.target.mkdir()
    mount = ("mount", "-t", "tmpfs", "-o", "size=8m", "none", place.target)
    if place.world.run(*mount).returncode != 0:
        pytest.skip("no file system can be mounted here")
    status, said = place.run()
    assert status == 1
    assert re.search(r"Cannot run the next cell: .* has [78] MiB free, and 256 are needed", said)
