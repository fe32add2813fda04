# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Which processes are ready to be traced: made ones, and what is said of them."""

from __future__ import annotations

import itertools
import os
import time
from pathlib import Path

import pytest

from strata.record import processes, traced_processes
from strata.record.traced_processes import (
    TracedProcesses,
    any_with_dds_hooks,
    attached_line,
    ros_of_processes,
)

UST = "7f00 r-xp 0 0 0 /usr/lib/x86_64-linux-gnu/liblttng-ust.so.1.0.0\n"
STATEDUMP = "7f00 r-xp 0 0 0 /opt/lib/ros2_statedump/libros2_statedump.so\n"
BUNDLED = "7f00 r-xp 0 0 0 /venv/ros_tracetools.libs/liblttng-ust-0a1b2c3d.so.0.0.0\n"
HOOKS = "7f00 r-xp 0 0 0 /ws/lib/dds_tracepoints/libdds_tracepoints.so\n"


class MadeProcesses:
    """A /proc of made processes."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def add(self, pid: int, maps: str, *, own_id: int | None = None, environment: str = "") -> None:
        directory = self.place / str(pid)
        directory.mkdir(exist_ok=True)
        (directory / "maps").write_text(maps)
        (directory / "environ").write_text(environment)
        ids = f"{pid}" if own_id is None else f"{pid}\t{own_id}"
        (directory / "status").write_text(f"Name:\tx\nNStgid:\t{ids}\n")

    def end(self, pid: int) -> None:
        for path in (self.place / str(pid)).iterdir():
            path.unlink()
        (self.place / str(pid)).rmdir()


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MadeProcesses:
    monkeypatch.setattr(processes, "PROC", tmp_path)
    return MadeProcesses(tmp_path)


@pytest.fixture
def found() -> list[int]:
    return []


@pytest.fixture
def traced(found: list[int]) -> TracedProcesses:
    return TracedProcesses(found.append)


def test_those_with_lttng_ust_are_found(
    made: MadeProcesses, traced: TracedProcesses, found: list[int]
) -> None:
    made.add(10, "7f00 r-xp 0 0 0 /usr/lib/libc.so.6\n")
    made.add(11, UST, own_id=3)
    made.add(12, BUNDLED)
    traced.begin()
    assert found == [11]
    # One that loads it later, and one that is new.
    made.add(12, BUNDLED + UST)
    made.add(13, UST + STATEDUMP)
    traced.look(now=True)
    assert found == [11, 12, 13]
    assert traced.as_json() == {
        "of_command": [3, 12, 13],
        "others": [],
        "announce_nothing": [3, 12],
    }
    assert traced.count == 3


def test_an_id_that_is_used_anew_is_another_process(
    made: MadeProcesses, traced: TracedProcesses, found: list[int]
) -> None:
    made.add(11, UST)
    traced.begin()
    made.end(11)
    traced.look(now=True)
    made.add(11, UST)
    traced.look(now=True)
    assert found == [11, 11]


def test_a_process_without_is_looked_at_less_and_less_often(
    made: MadeProcesses, traced: TracedProcesses, monkeypatch: pytest.MonkeyPatch
) -> None:
    made.add(10, "")
    looks: list[float] = []
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])

    def maps(_: int) -> bytes:
        looks.append(now[0] - 1000)
        return b""

    monkeypatch.setattr(traced_processes, "_maps", maps)
    while now[0] < 1120:
        traced.look()
        now[0] += 0.5
    assert looks[:3] == [0, 0.5, 1]
    assert len([at for at in looks if at < 10]) > 8
    pauses = [b - a for a, b in itertools.pairwise(looks)]
    assert max(pauses) <= 10.5
    assert len([at for at in looks if at >= 60]) <= 6


@pytest.mark.skipif(os.geteuid() != 0, reason="gives a process to another user")
def test_only_roots_sessions_record_other_users(
    made: MadeProcesses,
    traced: TracedProcesses,
    found: list[int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made.add(11, UST)
    made.add(12, UST)
    os.chown(made.place / "12", 1234, 1234)
    monkeypatch.setattr(os, "geteuid", lambda: 1234)
    traced.begin()
    assert found == [12]
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    traced.look(now=True)
    assert found == [12, 11]


def test_hooks_of_dds_are_looked_for_in_traced_processes(made: MadeProcesses) -> None:
    # In the environment of `strata env` every program has them; not every one is traced.
    made.add(10, HOOKS)
    assert any_with_dds_hooks() is None
    made.add(11, UST)
    assert any_with_dds_hooks() is False
    made.add(12, HOOKS + UST)
    assert any_with_dds_hooks() is True


@pytest.mark.parametrize(
    ("environment", "rmw", "chosen_by"),
    [
        ("ROS_DISTRO=jazzy\0", "rmw_fastrtps_cpp", "default"),
        ("RMW_IMPLEMENTATION=rmw_cyclonedds_cpp\0A=\0", "rmw_cyclonedds_cpp", "RMW_IMPLEMENTATION"),
    ],
)
def test_the_middleware_is_that_of_the_processes(
    made: MadeProcesses, traced: TracedProcesses, environment: str, rmw: str, chosen_by: str
) -> None:
    made.add(11, UST, environment=environment)
    traced.begin()
    told = ros_of_processes({"distro": "jazzy", "rmw": "other", "rmw_chosen_by": "x"}, traced)
    assert told == {"distro": "jazzy", "rmw": rmw, "rmw_chosen_by": chosen_by}


def test_another_ros_than_the_recorders_is_not_claimed(
    made: MadeProcesses, traced: TracedProcesses
) -> None:
    ros = {"distro": "jazzy", "rmw": "rmw_fastrtps_cpp"}
    traced.begin()
    assert ros_of_processes(ros, traced) == ros
    assert ros_of_processes(None, traced) is None
    made.add(11, UST, environment="ROS_DISTRO=humble\0")
    traced.look(now=True)
    assert ros_of_processes(ros, traced) is None


def test_what_is_said_at_the_start(made: MadeProcesses, traced: TracedProcesses) -> None:
    def said(*, has_names: bool = False) -> str:
        traced.look(now=True)
        return attached_line(traced, has_names=has_names)

    no_names = "what was made before has no names (see `strata daemon`)"
    assert said().startswith("no process is ready to be traced yet")
    made.add(11, UST + STATEDUMP)
    assert said() == "attached to 1 process. Ctrl-C ends the recording"
    made.add(12, UST)
    assert f"2 processes; 1 of them started without `strata env`: {no_names}. Ctrl-C" in said()
    assert said(has_names=True) == "attached to 2 processes. Ctrl-C ends the recording"
