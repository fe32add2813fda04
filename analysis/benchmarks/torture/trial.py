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
from lateness import Lateness
from namespace import reaped
from processes import Process
from workloads import Numbers, Workload

SET_UP, RECORDING, STOPPING = "set-up", "recording", "stopping"
_PHASES = (SET_UP, RECORDING, STOPPING)
_STRATA = [sys.executable, "-m", "strata"]
_POLL_S = 0.002
_PATIENCE_S = 60.0
_ENDS_WITHIN_S = 180.0
"""The recorder gives a consumer 120 s to write what is in the buffers."""
_LEFT_ALONE_S = 15.0
"""Within this time a recording whose recorder was killed has tidied up, or said how to."""

_CLEANED_EARLY = 0.3
"""How often a killed recording is cleaned up while its program runs, not after its end."""
_WATCHDOG_S = 0.5
"""What the watchdog may need to write its instructions, once the file is there."""


class TrialError(Exception):
    """The trial itself did not work: nothing is known of Strata."""


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
    `doubt_is_fine` that it may call a recording incomplete though all numbers are there,
    `interpreter_fails` that Python may not even start, `output_lost` that the recording was
    removed, `output_fixed` that nothing in it can be changed any more. `harmed_by` is the signal
    that the program got, null for none; `ended_by` the one by which the recorder may end it as it
    was told to. `before_exec` is called in the recorder's process, `before_program` where the
    program runs without it. `most_bytes` is what the trace may have, null for no bound.
    """

    place: Path
    program: Path
    chance: random.Random
    timing: Timing = field(default_factory=Timing)
    config: str | Path = "ros2"
    options: list[str] = field(default_factory=list)
    around_program: list[str] = field(default_factory=list)
    before_exec: Callable[[], None] | None = None
    before_program: Callable[[], None] | None = None
    faults: list[str] = field(default_factory=list)
    lossy_from_ns: int | None = None
    harmed_by: signal.Signals | None = None
    ended_by: signal.Signals | None = None
    recorder_killed_in: str | None = None
    refusal_is_fine: bool = False
    doubt_is_fine: bool = False
    watchdog_killed: bool = False
    interpreter_fails: bool = False
    output_lost: bool = False
    output_fixed: bool = False
    most_bytes: int | None = None
    cleanup_failure: str | None = None
    hangs: str | None = None

    def __post_init__(self) -> None:
        self.output = self.place / "recording"
        self.numbers = Numbers(self.program, self.place, self.chance)
        self.workload: Workload = self.numbers
        self.lateness = Lateness()
        for name in ("home", "tmp"):
            (self.place / name).mkdir()
        self.environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("LTTNG_", "ROS_", "RMW_", "AMENT_", "STRATA_"))
        } | {"HOME": str(self.place / "home"), "TMPDIR": str(self.place / "tmp")}
        self._recorder: subprocess.Popen[bytes] | None = None
        self._started = time.monotonic()
        self._program_pid: int | None = None
        self.set_up_s: float | None = None
        self.stop_s: float | None = None

    # ---- the recording

    def start(self) -> None:
        """Begin to record the program."""
        self.workload.open()
        line = [*self.around_program, *self.workload.line()]
        options = ["record", "-c", str(self.config), *self.options, "-o", str(self.output)]
        if not self.workload.with_ros:
            options.append("--no-ros")
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
        return self.workload.begun() or bool(self.workload.running())

    @property
    def phase(self) -> str:
        """Tell in which phase the recording is."""
        if not self.command_begun:
            return SET_UP
        return RECORDING if self.workload.running() else STOPPING

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
            self._until(self.workload.begun)
            time.sleep(self.chance.uniform(0, self.workload.ms / 1000))
        else:
            self._until(lambda: self.workload.begun() and not self.workload.running())
            time.sleep(self.chance.uniform(0, self.timing.stop))

    def _until(self, condition: Callable[[], Any]) -> Any:
        """Wait for a condition, or for the recorder's end; return the condition's value."""
        deadline = time.monotonic() + _PATIENCE_S
        while not (found := condition()) and self.status is None:
            if time.monotonic() > deadline:
                raise TrialError(f"nothing happened within {_PATIENCE_S:.0f} s")
            time.sleep(_POLL_S)
        return found

    def note(self, fault: str, phase: str | None = None) -> None:
        """Note a fault that has just been planted; `phase` in which, where it may be over."""
        if self._recorder is None:
            self.faults.append(fault)
            return
        at_s = time.monotonic() - self._started
        self.faults.append(f"{fault} {at_s:.2f} s, {phase or self.phase}")

    def lossy_now(self) -> None:
        """From now on events may be lost, as far as that is told."""
        if self.lossy_from_ns is None:
            self.lossy_from_ns = time.monotonic_ns()

    def signal_role(self, role: str, signum: signal.Signals) -> bool:
        """Send a signal to all processes of a role, as soon as there is one; false without any."""
        found = self._until(lambda: processes.find(role)) or []
        return self.signal(role, found, signum)

    def signal_program(self, signum: signal.Signals) -> bool:
        """Send a signal to the program; false when it did not run."""
        return self.signal("the program", self.workload.running(), signum)

    def signal(self, name: str, found: list[Process], signum: signal.Signals) -> bool:
        """Send a signal to processes; false without any."""
        phase = self.phase
        for process in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, signum)
        self.note(f"{signum.name} {name}" if found else f"no {name}", phase)
        return bool(found)

    def kill_recorder(self, *, group: bool = False) -> None:
        """Kill the recorder, with its process group or without."""
        if self.status is not None:
            self.note("the recorder had ended")
            return
        self.recorder_killed_in = self.phase
        (os.killpg if group else os.kill)(self.recorder, signal.SIGKILL)
        assert self._recorder is not None
        self._recorder.wait()
        if self.command_begun and self.recorder_killed_in == SET_UP:
            self.recorder_killed_in = RECORDING
        self._program_pid = next((found.pid for found in self.workload.running()), None)
        self.note("SIGKILL strata" + (" and its group" if group else ""), self.recorder_killed_in)

    # ---- the end

    def finish(self) -> None:
        """Wait for the end of everything; after a kill of the recorder, follow its instructions."""
        assert self._recorder is not None
        runs = self.status is None
        try:
            self._recorder.wait(_ENDS_WITHIN_S)
        except subprocess.TimeoutExpired:
            running = "; ".join(found.text for found in processes.all_running())
            self.hangs = (
                f"strata record did not end within {_ENDS_WITHIN_S:.0f} s; there run {running}"
            )
            self.kill_recorder()
        ended_ns = time.monotonic_ns() if runs else None
        if self.recorder_killed_in is not None:
            self._clean_up()
        self.workload.close()
        self.lateness.close()
        self._measure(ended_ns)

    def _measure(self, ended_ns: int | None) -> None:
        """Note how long setting up and stopping took, for moments of later trials."""
        times = self.workload.emitted_ns().values()
        if times:
            self.set_up_s = min(times) / 1e9 - self._started
        if times and ended_ns is not None:
            self.stop_s = (ended_ns - max(times)) / 1e9

    def _clean_up(self) -> None:
        if self.chance.random() > _CLEANED_EARLY:
            self._await_program()
        script = self.output / "CLEANUP.txt"
        deadline = time.monotonic() + _LEFT_ALONE_S
        while processes.all_running() and time.monotonic() < deadline:
            time.sleep(0.02)
            if script.exists() and self.recorder_killed_in != SET_UP:
                break
        if self.watchdog_killed and not script.exists():
            self._ask_doctor()
        if not script.exists() or self.recorder_killed_in == SET_UP:
            return
        time.sleep(_WATCHDOG_S)
        if self.workload.running():
            self.harmed_by = signal.SIGINT
        self._run_script(script)
        self._await_program()

    def _run_script(self, script: Path) -> None:
        try:
            done = subprocess.run(
                ["sh", script],
                env=self.environment,
                capture_output=True,
                text=True,
                timeout=_PATIENCE_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            self.cleanup_failure = f"no end within {_PATIENCE_S:.0f} s"
            return
        if done.returncode:
            self.cleanup_failure = f"status {done.returncode}: {done.stderr.strip()[-300:]}"

    def _ask_doctor(self) -> None:
        """Do what `strata doctor` says, when nobody was left who could write CLEANUP.txt."""
        doctor = [*_STRATA, "doctor", "--format", "json"]
        said = subprocess.run(
            doctor, env=self.environment, capture_output=True, text=True, check=False
        )
        for check in json.loads(said.stdout)["checks"]:
            if check["name"].startswith("leftover"):
                if self.workload.running():
                    self.harmed_by = signal.SIGINT
                subprocess.run(["sh", "-c", check["mend"]], env=self.environment, check=False)
        self._await_program()

    def _await_program(self) -> None:
        deadline = time.monotonic() + self.workload.ms / 1000 + _PATIENCE_S
        while self.workload.running() and time.monotonic() < deadline:
            time.sleep(0.02)

    def command_status(self) -> int | None:
        """Tell how the program ended, negative for a signal; null if it is not known."""
        manifest = self.manifest() or {}
        command = manifest.get("command", {})
        if command.get("signal"):
            return -int(signal.Signals[command["signal"]])
        if command.get("exit_status") is not None:
            return int(command["exit_status"])
        return reaped(self.place).get(self._program_pid or 0)
