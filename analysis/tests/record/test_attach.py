# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Recordings without a command, of real traced programs that were started before."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from lttng_world import World, alive, events, manifest, wait_until

from strata.read.thread_cpu import read_thread_cpu

pytestmark = pytest.mark.live


@pytest.fixture
def ticking(world: World, tick: Path) -> Iterator[subprocess.Popen[str]]:
    """A traced program that runs before anything is recorded, and must survive every recording."""
    program = world.popen(tick, "1000000", "1000")
    _wait_for_ust(program.pid)
    yield program
    assert program.poll() is None, "the recorded program has ended"
    program.kill()
    program.communicate()


def _wait_for_ust(pid: int) -> None:
    maps = Path(f"/proc/{pid}/maps")
    wait_until(lambda: "/liblttng-ust.so" in maps.read_text(), "LTTng-UST in the program")


def _attach(world: World, target: Path, *options: str) -> subprocess.Popen[str]:
    """Begin to record, and wait until it does."""
    line = ("record", "--attach", "-c", "ros2", "-o", target, *options)
    process = world.popen(sys.executable, "-m", "strata", *line)
    state = target / "recording.json"
    wait_until(
        lambda: state.exists() and json.loads(state.read_text())["phase"] == "recording",
        "the recording",
    )
    return process


def _pids(target: Path) -> set[int]:
    return {int(pid) for pid in re.findall(r"vpid = (\d+)", "".join(events(target / "trace")))}


def test_what_runs_already_is_recorded_for_a_time(
    world: World, ticking: subprocess.Popen[str], tick: Path, tmp_path: Path
) -> None:
    target = tmp_path / "rec"
    recorder = _attach(world, target, "--duration", "4s")
    later = world.popen(tick, "2000", "1000")
    _, said = recorder.communicate(timeout=60)
    later.communicate(timeout=60)

    assert recorder.returncode == 0, said
    # The tests' program has no entities to announce.
    assert re.search(r"attached to \d+ process(es)?; .*`strata daemon`\)\. Ctrl-C ends", said)
    content = manifest(target)
    assert content["complete"] is True
    command = content["command"]
    assert (command["line"], command["attached"], command["pid"]) == ([], True, None)
    assert (command["exit_status"], command["interrupted_by"], command["succeeded"]) == (
        0,
        None,
        True,
    )
    assert 3.5e9 < content["duration_ns"] < 20e9
    assert {ticking.pid, later.pid} <= _pids(target)
    told = content["processes"]
    assert {ticking.pid, later.pid} <= set(told["of_command"])
    assert os.getpid() not in told["of_command"]
    assert told["others"] == []
    sampled = read_thread_cpu(target)
    assert sampled is not None
    assert {ticking.pid, later.pid} <= set(sampled.threads["pid"].tolist())
    assert content["thread_cpu"]["recorded"] is True
    assert sorted(path.name for path in target.iterdir()) == [
        "manifest.json",
        "thread_cpu",
        "trace",
    ]
    assert world.daemon_pid() is None


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_ends_it(
    world: World, ticking: subprocess.Popen[str], tmp_path: Path, name: str
) -> None:
    target = tmp_path / "rec"
    recorder = _attach(world, target)
    time.sleep(1)
    recorder.send_signal(signal.Signals[name])
    _, said = recorder.communicate(timeout=60)

    assert recorder.returncode == 0, said
    assert manifest(target)["complete"] is True
    assert manifest(target)["command"]["interrupted_by"] == name
    assert ticking.pid in _pids(target)
    assert world.daemon_pid() is None


def test_a_killed_recorder_leaves_a_trace_and_nothing_that_runs(
    world: World, ticking: subprocess.Popen[str], tmp_path: Path
) -> None:
    target = tmp_path / "rec"
    recorder = _attach(world, target)
    time.sleep(1)
    state = json.loads((target / "recording.json").read_text())
    assert (state["attached"], state["command_pid"]) == (True, None)
    assert alive(state["daemon_pid"])
    recorder.kill()
    _, said = recorder.communicate(timeout=60)

    # The watchdog holds stderr until it has finished.
    assert "was killed while it recorded; its session was ended, and nothing is running" in said
    assert world.daemon_pid() is None
    assert not alive(state["daemon_pid"])
    assert sorted(path.name for path in target.iterdir()) == [
        "manifest.json",
        "thread_cpu",
        "trace",
    ]
    assert manifest(target)["complete"] is False
    assert ticking.pid in _pids(target)


def test_a_killed_recorder_spares_a_daemon_that_was_there(
    world: World, ticking: subprocess.Popen[str], tmp_path: Path
) -> None:
    daemon = world.start_daemon()
    recorder = _attach(world, tmp_path / "rec")
    recorder.kill()
    recorder.communicate(timeout=60)
    assert world.daemon_pid() == daemon
    assert world.sessions() == []
    assert ticking.poll() is None


def test_it_ends_when_nothing_is_recorded_any_more(
    world: World, ticking: subprocess.Popen[str], tmp_path: Path
) -> None:
    target = tmp_path / "rec"
    recorder = _attach(world, target)
    daemon = json.loads((target / "recording.json").read_text())["daemon_pid"]
    os.kill(daemon, signal.SIGKILL)
    _, said = recorder.communicate(timeout=60)
    assert recorder.returncode == 121, said
    assert manifest(target)["stopped_early"]["reason"] == "daemon"
    assert ticking.poll() is None


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a small disk")
def test_a_full_disk_ends_it_and_no_command_is_named(
    world: World, ticking: subprocess.Popen[str], tmp_path: Path
) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    world.run("mount", "-t", "tmpfs", "-o", "size=64m", "none", disk)
    line = ("record", "--attach", "-c", "ros2", "--min-free", "20M", "-o", disk / "rec")
    recorder = world.popen(sys.executable, "-m", "strata", *line)
    begun = f'grep -qs \'"phase": "recording"\' {disk}/rec/recording.json'
    fills = f"until {begun}; do sleep 0.1; done; head -c 50M /dev/zero > {disk}/other"
    world.run("sh", "-c", fills)
    _, said = recorder.communicate(timeout=60)
    assert recorder.returncode == 121
    assert "the recording was stopped: the disk has" in said
    assert ticking.poll() is None


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a process namespace")
def test_it_is_said_when_nothing_can_be_traced(world: World, tmp_path: Path) -> None:
    # Other tests run traced programs at the same time: here they are out of sight.
    target = tmp_path / "rec"
    apart = ("unshare", "--pid", "--fork", "--mount-proc")
    line = ("record", "--attach", "-c", "ros2", "-o", target, "--duration", "500ms")
    done = world.run(*apart, sys.executable, "-m", "strata", *line)
    assert done.returncode == 125, done.stderr
    assert "no process is ready to be traced yet" in done.stderr
    assert "no process was ready to be traced: none had LTTng-UST loaded." in done.stderr
    assert 'eval "$(strata env)"' in done.stderr
    content = manifest(target)
    assert content["empty"] is True
    assert content["processes"] == {"of_command": [], "others": [], "announce_nothing": []}
    assert content["thread_cpu"]["why_not"] == "there was no traced process"


def test_a_former_recording_is_replaced_only_with_force(
    world: World, ticking: subprocess.Popen[str], tmp_path: Path
) -> None:
    target = tmp_path / "rec"
    line = ("record", "--attach", "-c", "ros2", "-o", target, "--duration", "500ms")
    assert world.strata(*line).returncode == 0
    again = world.strata(*line)
    assert again.returncode == 125
    assert "it is not empty" in again.stderr
    assert world.strata(*line, "--force", "--name", "second").returncode == 0
    assert manifest(target)["session"].startswith("strata-second-")
    assert ticking.poll() is None
