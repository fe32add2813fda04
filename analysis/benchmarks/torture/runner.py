# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Run a trial in a process and namespaces of its own, and read what came of it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from kinds.kind import Kind
from namespace import inside
from one import RESULT
from outcomes import Outcome
from promises import Broken

HERE = Path(__file__).parent
_LIMIT_S = 600
_KEPT = 20
_FIRST_SET_UP_S, _FIRST_STOP_S = 1.5, 0.8


@dataclass
class Machine:
    """Where the recorded program is, and how long recordings take to begin and end here, in s."""

    programs: Path
    set_up: deque[float] = field(default_factory=lambda: deque([_FIRST_SET_UP_S], _KEPT))
    stop: deque[float] = field(default_factory=lambda: deque([_FIRST_STOP_S], _KEPT))
    running: set[subprocess.Popen[bytes]] = field(default_factory=set)

    def end(self) -> None:
        """End the trials that run."""
        for process in list(self.running):
            process.kill()


def build(place: Path) -> Path:
    """Build the recorded program into a directory of `place`."""
    programs = place / "programs"
    programs.mkdir(exist_ok=True)
    source, target = HERE / "programs/numbers.c", programs / "numbers"
    libraries = ("-llttng-ust", "-ldl", "-lpthread")
    subprocess.run(["cc", "-I", source.parent, source, "-o", target, *libraries], check=True)
    return programs


def run(kind: Kind, seed: str, place: Path, machine: Machine) -> Outcome:
    """Run one trial below `place`; its directory stays only if a promise was broken."""
    trial = place / f"{kind.name}-{seed}"
    shutil.rmtree(trial, ignore_errors=True)
    trial.mkdir()
    times = [str(median(machine.set_up)), str(median(machine.stop))]
    program = machine.programs / "numbers"
    line = [sys.executable, str(HERE / "one.py"), kind.name, seed, str(trial), str(program)]
    with (trial / "trial.txt").open("wb") as said:
        # Out of reach of the terminal's Ctrl-C: we end it.
        process = subprocess.Popen(
            inside([*line, *times]),
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    machine.running.add(process)
    try:
        process.wait(_LIMIT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    finally:
        machine.running.discard(process)
    outcome = _outcome(kind.name, seed, trial, process.returncode)
    if outcome.set_up_s is not None:
        machine.set_up.append(outcome.set_up_s)
    if outcome.stop_s is not None:
        machine.stop.append(outcome.stop_s)
    if not outcome.broken and outcome.failure is None:
        shutil.rmtree(trial)
    return outcome


def _outcome(kind: str, seed: str, trial: Path, status: int) -> Outcome:
    try:
        content = json.loads((trial / RESULT).read_text())
    except (OSError, ValueError):
        words = " ".join((trial / "trial.txt").read_text(errors="replace").split())
        return Outcome(kind, seed, failure=f"status {status}: {words[-300:]}")
    content["broken"] = [Broken(**broken) for broken in content["broken"]]
    return Outcome(**content)
