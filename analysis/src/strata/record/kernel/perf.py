# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""perf as the recorder of the kernel's events: what it can record here, started and stopped.

perf runs in a session of its own, so that a terminal's Ctrl-C does not end it before the command,
and gets SIGINT when the recorder dies (strata.record.watchdog sends it, too).
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import select
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from strata.errors import SessionError
from strata.record.host import possible_cpus
from strata.record.kernel.events import PERF_EVENTS, PerfEvent, of_perf
from strata.record.kernel.text import SCRIPT_FIELDS, SWITCH_FIELDS

_TRACEFS = (Path("/sys/kernel/tracing"), Path("/sys/kernel/debug/tracing"))
_START_TIMEOUT_S = 30.0
_STOP_TIMEOUT_S = 120.0
_PROBE_TIMEOUT_S = 20.0
# For root only, a power of two a CPU: the more room, the less is lost. What others may lock is
# little; perf takes that by itself.
_ALL_BUFFERS_MIB = 256
_MOST_MIB = 16
_PR_SET_PDEATHSIG = 1
SWITCH = PERF_EVENTS[0]
INSTALL_HINT = "Install perf (package linux-perf of Debian, linux-tools-generic of Ubuntu)"


@dataclass(frozen=True)
class PerfPlan:
    """What perf is to record. `switches`: without tracepoints, only who left which CPU."""

    program: str
    version: str
    events: tuple[PerfEvent, ...]
    switches: bool
    left_out: tuple[str, ...]


def plan_perf(wanted: Sequence[str], environment: Mapping[str, str]) -> PerfPlan:
    """Decide what perf can record of the wanted events; nothing is recorded yet.

    Raises SessionError, with what prevents it, when there is no perf or nothing of that.
    """
    program = shutil.which("perf", path=environment.get("PATH", os.defpath))
    if program is None:
        raise SessionError(f"Cannot record with perf: it is not installed. {INSTALL_HINT}.")
    version = _version(program, environment)
    known, without = of_perf(wanted)
    present = [event for event in known if _tracepoint(event)]
    left_out = [*without, *(event.name for event in known if event not in present)]
    if SWITCH in present or (present and SWITCH not in known):
        return PerfPlan(program, version, tuple(present), False, tuple(left_out))
    if SWITCH not in known:
        raise SessionError(
            f"Cannot record with perf: it has none of {', '.join(wanted)}. "
            f"Known: {', '.join(event.name for event in PERF_EVENTS)}."
        )
    others = [event.name for event in known if event is not SWITCH]
    return PerfPlan(program, version, (SWITCH,), True, (*without, *others))


def probe(plan: PerfPlan, environment: Mapping[str, str]) -> str | None:
    """Try to record; null when it works, else perf's words."""
    try:
        done = _run([*_line(plan, Path("/dev/null")), "--", "true"], environment)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return None if done.returncode == 0 else _words(done.stderr)


class Perf:
    """A running perf. It records from the end of the constructor on."""

    def __init__(self, plan: PerfPlan, output: Path, environment: Mapping[str, str]) -> None:
        """Start it. Raises SessionError with perf's words when it does not record."""
        self._log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 (as long as the process)
        control, commands = os.pipe()
        answers, acknowledge = os.pipe()
        line = [*_line(plan, output), "--delay=-1", f"--control=fd:{control},{acknowledge}"]
        try:
            self._process = subprocess.Popen(
                line,
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=self._log,
                stderr=self._log,
                pass_fds=(control, acknowledge),
                start_new_session=True,
                preexec_fn=_in_child,
            )
        except OSError as error:
            raise SessionError(f"Cannot run {plan.program}: {error.strerror}.") from error
        finally:
            for descriptor in (control, acknowledge):
                os.close(descriptor)
        self.pid = self._process.pid
        self._pipes: tuple[int, ...] = (commands, answers)
        try:
            self._enable(commands, answers)
        except BaseException:
            self.kill()
            raise

    def _enable(self, commands: int, answers: int) -> None:
        with contextlib.suppress(BrokenPipeError):
            os.write(commands, b"enable\n")
        ready, _, _ = select.select([answers], [], [], _START_TIMEOUT_S)
        # The end of the pipe, and not an answer, when perf has ended.
        if ready and os.read(answers, 64):
            return
        if not ready:
            raise SessionError(f"Cannot record with perf: not ready in {_START_TIMEOUT_S:.0f} s.")
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=1)
        raise SessionError(f"Cannot record with perf: {self.words()}.")

    def stop(self) -> None:
        """Make it write what it has, and end. Raises SessionError when it failed or hangs."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
        else:
            self._close()
            raise SessionError(f"Cannot finish perf: it ended before the command: {self.words()}.")
        try:
            self._process.wait(timeout=_STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired as error:
            self.kill()
            raise SessionError(
                f"Cannot finish perf: no end within {_STOP_TIMEOUT_S:.0f} s, killed."
            ) from error
        self._close()

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()
        self._process.wait()
        self._close()

    def _close(self) -> None:
        # Not before its end: perf writes into the pipe then, and would die of it.
        for descriptor in self._pipes:
            os.close(descriptor)
        self._pipes = ()

    def words(self) -> str:
        """What perf said until now, in one line."""
        self._log.seek(0)
        return _words(self._log.read().decode(errors="replace"))


def script(plan: PerfPlan, data: Path, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Start `perf script`, which prints what was recorded."""
    fields, more = (
        (SWITCH_FIELDS, ["--show-switch-events"]) if plan.switches else (SCRIPT_FIELDS, [])
    )
    line = [plan.program, "script", f"--input={data}", "--ns", "--show-lost-events", *more]
    return subprocess.Popen(
        [*line, f"--fields={fields}"],
        env=dict(environment) | {"LC_ALL": "C"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=_in_child,
    )


def _line(plan: PerfPlan, output: Path) -> list[str]:
    events = ["--event=dummy", "--switch-events"]
    if not plan.switches:
        events = [f"--event={event.perf}" for event in plan.events]
    share = max(_ALL_BUFFERS_MIB // possible_cpus(), 1)
    mib = min(1 << (share.bit_length() - 1), _MOST_MIB)
    buffer = [f"--mmap-pages={mib}M"] if os.geteuid() == 0 else []
    # The clock of LTTng-UST. Build ids are for profiles, and take long to look up.
    return [
        *(plan.program, "record", "--clockid=CLOCK_MONOTONIC", "--all-cpus", *buffer),
        *("--no-buildid", "--no-buildid-cache", f"--output={output}", *events),
    ]


def _in_child() -> None:
    # Signals that we hold back must not be held back in it.
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGINT)


def _tracepoint(event: PerfEvent) -> bool:
    place = Path("events", *event.perf.split(":"), "id")
    return any(os.access(root / place, os.R_OK) for root in _TRACEFS)


def _version(program: str, environment: Mapping[str, str]) -> str:
    try:
        done = _run([program, "--version"], environment)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SessionError(f"Cannot run {program}: {error}.") from error
    if done.returncode != 0:
        # Ubuntu's wrapper, when there is no perf for the running kernel.
        raise SessionError(f"Cannot record with perf: {_words(done.stderr)}.")
    return done.stdout.strip().removeprefix("perf version ")


def _run(line: Sequence[str], environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        line,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=_PROBE_TIMEOUT_S,
        check=False,
    )


def _words(text: str) -> str:
    """The first lines of what perf said, without its hints and frames."""
    lines = [" ".join(line.split()) for line in text.splitlines()]
    kept = [line for line in lines if re.search(r"\w", line) and not line.startswith("[ perf")]
    return " ".join(kept[:3]).rstrip(".") or "no reason given"
