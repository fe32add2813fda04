# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Kernel events recorded by perf beside a session, and perf's end whatever stops the recording."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from lttng_world import World, alive, events, manifest, wait_until
from perf_world import require_perf

from strata.read import open_trace

pytestmark = pytest.mark.live


@pytest.fixture(autouse=True)
def _perf(world: World) -> None:
    plan = require_perf()
    if not world.run("lttng-sessiond", "--version").stdout or not plan.events:
        pytest.skip("no LTTng")


def start(world: World, target: Path, *command: str | Path) -> tuple[subprocess.Popen[str], int]:
    """Begin a recording with kernel events; return it and perf's process id."""
    options = ("-c", "ros2", "--kernel", "--no-ros", "-o", target)
    process = world.popen(sys.executable, "-m", "strata", "record", *options, "--", *command)
    assert process.stdout is not None
    assert process.stdout.readline() == "running\n"
    state = target / "recording.json"
    wait_until(lambda: json.loads(state.read_text())["command_pid"], "the command's pid")
    perf = json.loads(state.read_text())["perf_pid"]
    if perf is None:
        pytest.skip("lttng-modules are here, perf is not used")
    assert alive(perf)
    return process, perf


def check(target: Path) -> None:
    """The trace holds the traced program's events, and the switches to its threads around them."""
    kernel = manifest(target)["kernel_tracing"]
    assert (kernel["recorded"], kernel["recorded_by"]) == (True, "perf")
    assert manifest(target)["problems"] == []
    assert not (target / "perf.data").exists()
    trace = open_trace(target)
    tables = trace.tables()
    assert kernel["perf"]["events"] == sum(
        len(table) for name, table in tables.items() if not name.startswith("ros2:")
    )
    assert kernel["perf"]["unread_lines"] == 0
    assert len(set(trace.clock_offsets_ns.values())) == 1
    ticks = tables["ros2:tick"].to_pandas()
    switches = tables["sched_switch"].to_pandas()
    tid = int(ticks["vtid"].iloc[0])
    came = switches.loc[switches["next_tid"] == tid, "timestamp"]
    left = switches.loc[switches["prev_tid"] == tid, "timestamp"]
    # Some kernels miss the switches from a CPU's idle thread: one way may be missing, not both.
    seen = pd.concat([came, left])
    assert len(seen)
    # One clock: the thread had a CPU when it emitted its first event.
    assert (seen - ticks["timestamp"].iloc[0]).abs().min() < 10**9
    assert set(switches.loc[switches["prev_tid"] == tid, "prev_comm"]) <= {"tick", "sh", "python3"}


@pytest.mark.parametrize("status", [0, 3])
def test_perf_records_beside_the_session(
    world: World, tick: Path, tmp_path: Path, status: int
) -> None:
    target = tmp_path / "rec"
    command = ("sh", "-c", f"{tick} 5; exit {status}")
    done = world.record("--kernel", "-o", target, "--", *command)
    assert done.returncode == (1 if status else 0), done.stderr
    assert "kernel events by perf" in done.stderr
    check(target)
    lines = events(target / "trace")
    assert sum("ros2:tick" in line for line in lines) == 5
    info = json.loads(world.strata("info", target, "--format", "json").stdout)
    assert {item["domain"] for item in info["traces"]} == {"kernel", "ust"}
    assert info["event_counts"]["sched_switch"] > 0


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_signal_ends_perf_with_the_command(
    world: World, tick: Path, tmp_path: Path, name: str
) -> None:
    target = tmp_path / "rec"
    process, perf = start(world, target, "sh", "-c", f"{tick} 5 >&2; echo running; exec sleep 60")
    process.send_signal(signal.Signals[name])
    process.communicate(timeout=60)
    assert process.returncode == 0
    assert not alive(perf)
    check(target)


def test_perf_ends_when_the_recorder_is_killed(world: World, tick: Path, tmp_path: Path) -> None:
    target = tmp_path / "rec"
    process, perf = start(world, target, "sh", "-c", f"{tick} 5 >&2; echo running; exec sleep 300")
    process.kill()
    process.wait()
    wait_until(lambda: not alive(perf), "the end of perf")
    note = wait_until(
        lambda: (target / "CLEANUP.txt").exists() and (target / "CLEANUP.txt").read_text(), "note"
    )
    assert f"rm {target}/perf.data" in note
    for line in note.splitlines():
        if line.startswith("  "):
            world.run("sh", "-c", line)
    assert not (target / "perf.data").exists()
    assert sum("ros2:tick" in line for line in events(target / "trace")) == 5


def test_perf_that_dies_is_a_problem_of_the_kernel_events_alone(
    world: World, tick: Path, tmp_path: Path
) -> None:
    target = tmp_path / "rec"
    process, perf = start(world, target, "sh", "-c", f"{tick} 5 >&2; echo running; exec sleep 2")
    subprocess.run(["kill", "-KILL", str(perf)], check=True)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "Cannot finish perf: it ended before the command" in said
    assert manifest(target)["problems"]
    assert sum("ros2:tick" in line for line in events(target / "trace" / "ust")) == 5
