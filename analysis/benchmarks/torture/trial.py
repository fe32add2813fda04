# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""One recording that is disturbed: the program, the recorder, and what is done to them."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import processes
from namespace import reaped
from processes import PROGRAM
from truth import Truth

SET_UP, RECORDING, STOPPING = "set-up", "recording", "stopping"
_PHASES = (SET_UP, RECORDING, STOPPING)
_STRATA = [sys.executable, "-m", "strata"]
_POLL_S = 0.002
_PATIENCE_S = 60.0
_LEFT_ALONE_S = 15.0
"""Within this time a recording whose recorder was killed has tidied up, or said how to."""

_WATCHDOG_S = 0.5
"""What the watchdog may need to write its instructions, once the file is there."""


class TrialError(Exception):
    """The trial itself did not work: nothing is known of Strata."""


@dataclass
class Program:
    """How the recorded program runs: docs in programs/numbers.c."""

    threads: int = 3
    rate: int = 500
    ms: int = 2500
    filling: int = 0
    status: int = 0

    def line(self, program: Path, fifo: Path) -> list[str]:
        """Give its command line."""
        numbers = (self.threads, self.rate, self.ms, self.filling, self.status)
        return [str(program), *map(str, numbers), str(fifo)]


@dataclass
class Timing:
    """How long setting up and stopping takes here, in s: where moments of them are drawn from."""

    set_up: float = 1.5
    stop: float = 0.8


@dataclass
class Trial:
    """The state of one trial.

    `output` is where the recording is to be (moved, when a fault moves it). `lossy_from_ns` is the
    time of CLOCK_MONOTONIC from when on events may be lost, as far as a loss is told: the fault's;
    null when none may be lost. `refusal_is_fine` tells that the recorder need not record at all,
    `output_lost` that the recording was removed, `output_fixed` that nothing in it can be changed
    any more. `harmed_by` is the signal that the program got, null for none.
    """

    place: Path
    numbers: Path
    chance: random.Random
    timing: Timing = field(default_factory=Timing)
    program: Program = field(default_factory=Program)
    options: list[str] = field(default_factory=list)
    around_program: list[str] = field(default_factory=list)
    before_exec: Callable[[], None] | None = None
    faults: list[str] = field(default_factory=list)
    lossy_from_ns: int | None = None
    harmed_by: signal.Signals | None = None
    recorder_killed_in: str | None = None
    refusal_is_fine: bool = False
    output_lost: bool = False
    output_fixed: bool = False
    cleanup_failure: str | None = None
    hangs: str | None = None

    def __post_init__(self) -> None:
        self.output = self.place / "recording"
        self.truth = Truth(self.place / "fifo")
        for name in ("home", "tmp"):
            (self.place / name).mkdir()
        self.environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("LTTNG_", "ROS_", "RMW_", "AMENT_", "STRATA_"))
        } | {"HOME": str(self.place / "home"), "TMPDIR": str(self.place / "tmp")}
        self.program.ms = self.chance.randint(1500, 3500)
        self.program.status = self.chance.choice([0, 0, 3])
        self._recorder: subprocess.Popen[bytes] | None = None
        self._started = time.monotonic()
        self._program_pid: int | None = None
        self.set_up_s: float | None = None
        self.stop_s: float | None = None

    # ---- the recording

    def start(self) -> None:
        """Begin to record the program."""
        line = [*self.around_program, *self.program.line(self.numbers, self.truth.path)]
        options = ["record", "-c", "ros2", "--no-ros", *self.options, "-o", str(self.output)]
        with (self.place / "out").open("wb") as out, (self.place / "err").open("wb") as err:
            self._started = time.monotonic()
            self._recorder = subprocess.Popen(
                [*_STRATA, *options, "--", *line],
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                preexec_fn=self.before_exec,
                # A group of its own: a kill of it does not reach us.
                process_group=0,
                cwd=self.place,
            )

    @property
    def recorder(self) -> int:
        """Give the recorder's process id."""
        assert self._recorder is not None
        return self._recorder.pid

    @property
    def status(self) -> int | None:
        """Give the recorder's exit status, negative for a signal; null while it runs."""
        assert self._recorder is not None
        return self._recorder.poll()

    @property
    def said(self) -> str:
        """Return what the recorder and its watchdog said."""
        return (self.place / "err").read_text(errors="replace")

    @property
    def printed(self) -> str:
        """Return what the program printed."""
        return (self.place / "out").read_text(errors="replace")

    @property
    def command_begun(self) -> bool:
        """Tell whether the program was started."""
        return self.truth.begun or bool(processes.find(PROGRAM))

    @property
    def phase(self) -> str:
        """Tell in which phase the recording is."""
        if not self.command_begun:
            return SET_UP
        return RECORDING if processes.find(PROGRAM) else STOPPING

    def manifest(self) -> dict[str, Any] | None:
        """Read the manifest; null when there is none that can be read."""
        try:
            content: dict[str, Any] = json.loads((self.output / "manifest.json").read_text())
        except (OSError, ValueError):
            return None
        return content

    # ---- moments and faults

    def await_moment(self, *phases: str) -> None:
        """Wait for a moment at random, in one of the phases (all, if none is given)."""
        phase = self.chance.choice(phases or _PHASES)
        if phase == SET_UP:
            time.sleep(self.chance.uniform(0, self.timing.set_up))
        elif phase == RECORDING:
            self._until(lambda: self.truth.begun)
            time.sleep(self.chance.uniform(0, self.program.ms / 1000))
        else:
            self._until(lambda: self.truth.begun and not processes.find(PROGRAM))
            time.sleep(self.chance.uniform(0, self.timing.stop))

    def _until(self, condition: Callable[[], Any]) -> Any:
        """Wait for a condition, or for the recorder's end; return the condition's value."""
        deadline = time.monotonic() + _PATIENCE_S
        while not (found := condition()) and self.status is None:
            if time.monotonic() > deadline:
                raise TrialError(f"nothing happened within {_PATIENCE_S:.0f} s")
            time.sleep(_POLL_S)
        return found

    def note(self, fault: str) -> None:
        """Note a fault that has just been planted."""
        self.faults.append(f"{fault} {time.monotonic() - self._started:.2f} s, {self.phase}")

    def lossy_now(self) -> None:
        """From now on events may be lost, as far as that is told."""
        if self.lossy_from_ns is None:
            self.lossy_from_ns = time.monotonic_ns()

    def signal_role(self, role: str, signum: signal.Signals) -> bool:
        """Send a signal to all processes of a role, as soon as there is one; false without any."""
        found = self._until(lambda: processes.find(role)) or []
        for process in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, signum)
        self.note(f"{signum.name} {role}" if found else f"no {role}")
        return bool(found)

    def kill_recorder(self, *, group: bool = False) -> None:
        """Kill the recorder, with its process group or without."""
        if self.status is not None:
            self.note("the recorder had ended")
            return
        (os.killpg if group else os.kill)(self.recorder, signal.SIGKILL)
        assert self._recorder is not None
        self._recorder.wait()
        self.recorder_killed_in = self.phase
        self._program_pid = next((found.pid for found in processes.find(PROGRAM)), None)
        self.note("SIGKILL strata" + (" and its group" if group else ""))

    # ---- the end

    def finish(self) -> None:
        """Wait for the end of everything; after a kill of the recorder, follow its instructions."""
        assert self._recorder is not None
        runs = self.status is None
        try:
            self._recorder.wait(_PATIENCE_S)
        except subprocess.TimeoutExpired:
            running = "; ".join(found.text for found in processes.all_running())
            self.hangs = (
                f"strata record did not end within {_PATIENCE_S:.0f} s; there run {running}"
            )
            self.kill_recorder()
        ended_ns = time.monotonic_ns() if runs else None
        if self.recorder_killed_in is not None:
            self._clean_up()
        self.truth.close()
        self._measure(ended_ns)

    def _measure(self, ended_ns: int | None) -> None:
        """Note how long setting up and stopping took, for moments of later trials."""
        times = self.truth.emitted_ns.values()
        if times:
            self.set_up_s = min(times) / 1e9 - self._started
        if times and ended_ns is not None:
            self.stop_s = (ended_ns - max(times)) / 1e9

    def _clean_up(self) -> None:
        early = self.chance.random() < 0.3
        deadline = time.monotonic() + self.program.ms / 1000 + _PATIENCE_S
        while processes.find(PROGRAM) and not early and time.monotonic() < deadline:
            time.sleep(0.02)
        script = self.output / "CLEANUP.txt"
        deadline = time.monotonic() + _LEFT_ALONE_S
        while processes.all_running() and time.monotonic() < deadline:
            time.sleep(0.02)
            if script.exists() and self.recorder_killed_in != SET_UP:
                break
        if not script.exists() or self.recorder_killed_in == SET_UP:
            return
        time.sleep(_WATCHDOG_S)
        if processes.find(PROGRAM):
            self.harmed_by = signal.SIGINT
        done = subprocess.run(
            ["sh", script],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=_PATIENCE_S,
            check=False,
        )
        if done.returncode:
            self.cleanup_failure = f"status {done.returncode}: {done.stderr.strip()[-300:]}"

    def command_status(self) -> int | None:
        """Tell how the program ended, negative for a signal; null if it is not known."""
        manifest = self.manifest() or {}
        command = manifest.get("command", {})
        if command.get("signal"):
            return -int(signal.Signals[command["signal"]])
        if command.get("exit_status") is not None:
            return int(command["exit_status"])
        return reaped(self.place).get(self._program_pid or 0)
