# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A guard keeps the seconds around a fault, says why it happened, and harms nothing when killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from lttng_world import World, alive, wait_until
from watched_system import CHAIN, ENDLESS, program, ready_environment, watched

import strata

pytestmark = pytest.mark.live

CONDITIONS = """\
config: full
ring: {memory: 64M}
snapshot: {before: 3 s, after: 1 s}
limits: {settle: 3 s}
when:
  - when: chain max > 150 ms
    name: slow chain
"""
BUSY_AT, BUSY_MS = 350, 300


@pytest.fixture
def environment(world: World) -> dict[str, str]:
    return ready_environment(world)


@pytest.fixture
def conditions(tmp_path: Path) -> Path:
    path = tmp_path / "guard.yaml"
    path.write_text(CONDITIONS)
    return path


def guarding(
    world: World, environment: dict[str, str], conditions: Path, output: Path, *words: str | Path
) -> subprocess.Popen[str]:
    """Begin to guard, and wait until the ring buffers are looked at."""
    line = [sys.executable, "-m", "strata", "guard", "-c", conditions, "-o", output, *words]
    process = world.popen(*line, env=environment)
    wait_until(lambda: judges(output), "the process that looks at the ring buffers")
    return process


def judges(output: Path) -> list[int]:
    """Return the processes that look at the ring buffers of a guard."""
    return [
        pid
        for pid, words in processes()
        if "strata.guard.judging" in words and str(output) in words
    ]


def processes() -> list[tuple[int, list[str]]]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes().decode().split("\0")
            except OSError:
                continue
            found.append((int(entry.name), words))
    return found


def snapshots(output: Path) -> list[Path]:
    return sorted(path.parent for path in output.glob("*/incident.json"))


def incident(place: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((place / "incident.json").read_text())
    return content


def test_a_fault_is_kept_once_with_its_cause(
    world: World, environment: dict[str, str], conditions: Path, tmp_path: Path
) -> None:
    output = tmp_path / "guard"
    system = program(ENDLESS, busy_at=BUSY_AT, busy_ms=BUSY_MS)
    guard = guarding(world, environment, conditions, output, "--duration", "16s", "--", *system)
    out, errors = guard.communicate(timeout=90)
    assert guard.returncode == 0, errors
    (kept,) = snapshots(output)
    found = incident(kept)
    (fault,) = found["faults"]
    assert (fault["name"], fault["condition"]) == ("slow chain", "chain max > 150 ms")
    cause = fault["cause"]
    assert (cause["layer"], "/sink" in cause["where"]) == ("callback", True)
    assert cause["duration_ns"] == pytest.approx(BUSY_MS * 1e6, rel=0.1)
    assert kept.joinpath("verdict.txt").read_text().startswith(fault["text"])
    assert errors.count(str(kept)) == 1
    assert (kept / "report.html").stat().st_size > 100_000
    # It is a session as others are, with all names and the seconds that were asked for.
    analysis = strata.analyze(kept)
    assert CHAIN in set(analysis.chains["name"])
    assert not [name for name in analysis.hops["topic"] if "unknown" in name]
    begin_ns, end_ns = analysis.trace.begin_ns, analysis.trace.end_ns
    assert fault["at_ns"] - begin_ns == pytest.approx(3e9, abs=2.2e9)
    assert end_ns - fault["at_ns"] >= 0.9e9
    assert not (output / ".ring").exists()
    assert world.daemon_pid() is None
    assert "Traceback" not in errors + out


def test_a_guard_that_is_killed_harms_nothing(
    world: World, environment: dict[str, str], conditions: Path, tmp_path: Path
) -> None:
    output = tmp_path / "guard"
    with watched(world, environment, program(ENDLESS)) as nodes:
        time.sleep(2)
        guard = guarding(world, environment, conditions, output, "--attach")
        time.sleep(3)
        guard.kill()
        guard.communicate(timeout=60)
        wait_until(lambda: world.daemon_pid() is None, "the end of the session daemon")
        wait_until(lambda: not judges(output), "the end of what looked at the ring buffers")
        wait_until(lambda: not (output / ".ring").exists(), "the end of the ring")
        assert nodes.poll() is None
        # The next one starts, and ends by a signal as it should.
        guard = guarding(world, environment, conditions, output, "--attach")
        time.sleep(5)
        guard.send_signal(signal.SIGTERM)
        _, errors = guard.communicate(timeout=60)
        assert guard.returncode == 0, errors
        assert nodes.poll() is None
    assert snapshots(output) == []
    assert world.daemon_pid() is None


def test_what_looks_is_started_again(
    world: World, environment: dict[str, str], conditions: Path, tmp_path: Path
) -> None:
    output = tmp_path / "guard"
    system = program(ENDLESS, busy_at=BUSY_AT, busy_ms=BUSY_MS)
    guard = guarding(world, environment, conditions, output, "--duration", "16s", "--", *system)
    time.sleep(2)
    (first,) = judges(output)
    os.kill(first, signal.SIGKILL)
    wait_until(lambda: [pid for pid in judges(output) if pid != first], "another one")
    _, errors = guard.communicate(timeout=90)
    assert guard.returncode == 0, errors
    assert "it is started again" in errors
    assert len(snapshots(output)) == 1


def test_a_guard_without_its_session_daemon_says_so(
    world: World, environment: dict[str, str], conditions: Path, tmp_path: Path
) -> None:
    output = tmp_path / "guard"
    with watched(world, environment, program(ENDLESS)) as nodes:
        time.sleep(2)
        guard = guarding(world, environment, conditions, output, "--attach")
        time.sleep(2)
        daemon = world.daemon_pid()
        assert daemon is not None
        os.kill(daemon, signal.SIGKILL)
        _, errors = guard.communicate(timeout=90)
        assert nodes.poll() is None
    # So that a supervisor starts it again.
    assert guard.returncode == 121, errors
    assert "nothing is recorded" in errors
    assert "Traceback" not in errors
    assert not alive(daemon)


def test_a_view_that_is_killed_leaves_nothing(world: World, environment: dict[str, str]) -> None:
    with watched(world, environment, program(ENDLESS)) as nodes:
        time.sleep(2)
        view = world.popen(sys.executable, "-m", "strata", "live", "-c", "full", env=environment)
        wait_until(lambda: [p for p, words in processes() if "--companion" in words], "the view")
        (shown,) = [pid for pid, words in processes() if "--companion" in words]
        time.sleep(3)
        view.kill()
        view.communicate(timeout=60)
        wait_until(lambda: not alive(shown), "the end of the view")
        wait_until(lambda: world.daemon_pid() is None, "the end of the session daemon")
        assert nodes.poll() is None
