# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Priority, CPUs and locked memory: set where that is allowed, refused with the reason else."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from lttng_world import ROOT
from scenario_files import run, shell, written

from strata.errors import ScenarioError
from strata.scenario.load import load_scenario
from strata.scenario.place import Placement, lock_library, refused
from strata.scenario.plan import plan_run

SPACE = {"AMENT_PREFIX_PATH": str(ROOT / "tracing_ws/install/jazzy")}
HOLD = "duration: {seconds: 1.5}\nprocesses:\n"
# In a process that may do neither: nobody, with no right to real-time priorities.
UNPRIVILEGED = """
import os, resource, sys
if os.geteuid() == 0:
    os.setgroups([])
    resource.setrlimit(resource.RLIMIT_RTPRIO, (0, 0))
    resource.setrlimit(resource.RLIMIT_MEMLOCK, (65536, 65536))
    os.setuid(65534)
from strata.scenario.place import Placement, refused
print(refused(Placement(fifo=10)))
print(refused(Placement(lock_memory=True)))
"""


def need(placement: Placement) -> None:
    why = refused(placement)
    if why:
        pytest.skip(f"not allowed here: {why}")


def test_nothing_is_asked_for_by_itself() -> None:
    assert Placement().usual
    assert refused(Placement()) is None


def test_a_process_keeps_to_its_cpus(tmp_path: Path) -> None:
    cpu = max(os.sched_getaffinity(0))
    ran = run(tmp_path, HOLD + shell("a", "exec sleep 60", f"cpus: [{cpu}]"))
    assert ran.status == 0, ran.errors
    assert (
        ran.processes["a"]["placement"] | {"cpus": [cpu], "policy": "other"}
        == (ran.processes["a"]["placement"])
    )


def test_a_cpu_that_is_not_there_is_refused(tmp_path: Path) -> None:
    text = HOLD + shell("a", "exec sleep 60", "cpus: [4095]")
    loaded = load_scenario(str(written(tmp_path, text)))
    with pytest.raises(ScenarioError, match=r"Cannot place process 'a' .*CPU 4095 is not usable"):
        plan_run(loaded, tmp_path, os.environ)


def test_a_process_has_its_priority(tmp_path: Path) -> None:
    need(Placement(fifo=5))
    more = "priority: {policy: fifo, priority: 5}"
    ran = run(tmp_path, HOLD + shell("a", "exec sleep 60", more) + shell("b", "exec sleep 60"))
    assert ran.status == 0, ran.errors
    placed = {name: process["placement"] for name, process in ran.processes.items()}
    assert (placed["a"]["policy"], placed["a"]["priority"]) == ("fifo", 5)
    assert (placed["b"]["policy"], placed["b"]["priority"]) == ("other", 0)


def test_a_process_locks_its_memory(tmp_path: Path) -> None:
    need(Placement(lock_memory=True))
    if lock_library(SPACE) is None:
        pytest.fail("memory_lock is not built: run make setup")
    more = "priority: {lock_memory: true}"
    text = HOLD + shell("a", "exec sleep 60", more) + shell("b", "exec sleep 60")
    ran = run(tmp_path, text, SPACE)
    assert ran.status == 0, ran.errors
    locked = {name: one["placement"]["locked_bytes"] for name, one in ran.processes.items()}
    assert locked["a"] > 0
    assert locked["b"] == 0


def test_without_the_library_memory_cannot_be_locked(tmp_path: Path) -> None:
    need(Placement(lock_memory=True))
    text = HOLD + shell("a", "exec sleep 60", "priority: {lock_memory: true}")
    loaded = load_scenario(str(written(tmp_path, text)))
    with pytest.raises(
        ScenarioError, match="the package memory_lock, which locks it, is not built"
    ):
        plan_run(loaded, tmp_path, {**os.environ, "AMENT_PREFIX_PATH": ""})


def test_without_the_right_both_are_refused_with_the_reason() -> None:
    done = subprocess.run(
        [sys.executable, "-c", UNPRIVILEGED], capture_output=True, text=True, check=True
    )
    priority, memory = done.stdout.splitlines()
    assert priority.startswith("SCHED_FIFO 10 is refused: Operation not permitted (RLIMIT_RTPRIO ")
    assert "no CAP_SYS_NICE" in priority
    assert memory == "locking memory is limited to 65536 bytes (RLIMIT_MEMLOCK; no CAP_IPC_LOCK)"


def test_the_launcher_places_the_program_that_it_executes() -> None:
    cpu = max(os.sched_getaffinity(0))
    script = Path(sys.modules["strata.scenario.place"].__file__ or "")
    program = [sys.executable, "-c", "import os; print(sorted(os.sched_getaffinity(0)))"]
    done = subprocess.run(
        [sys.executable, script, "--cpus", str(cpu), "--", *program],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == f"[{cpu}]\n"
