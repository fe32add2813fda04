# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The LTTng session daemon: use the running one, else one of our own that ends with us."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from strata.errors import SessionError
from strata.record.daemon_log import DaemonLog
from strata.record.lttng import INSTALL_HINT, Lttng
from strata.record.space import lift_limits

_START_TIMEOUT_S = 30.0
_STOP_TIMEOUT_S = 10.0
_POLL_S = 0.02
_LOCKED = "another instance is running"
"""What the session daemon says when it cannot get its lock file."""
RECORDER_VARIABLE = "STRATA_RECORDER"
"""Marks what a recorder starts for itself: its process id and start, as in `4711-123456`."""
_MARK = f"{RECORDER_VARIABLE}="
SESSION_DAEMON, CONSUMER = "lttng-sessiond", "lttng-consumerd"


@dataclass(frozen=True)
class Daemon:
    """A reachable session daemon; all are null for one that was there before.

    `ticks`: its start, in clock ticks since boot; null where nobody noted it.
    """

    pid: int | None
    log: DaemonLog | None = None
    ticks: int | None = None

    @property
    def ours(self) -> bool:
        """Return whether Strata started it, and so must end it."""
        return self.pid is not None


def run_directory(lttng: Lttng) -> Path:
    """Give the directory of the sockets of this user's own session daemon."""
    if os.geteuid() == 0:
        return Path("/var/run/lttng")
    environment = lttng.environment
    home = environment.get("LTTNG_HOME") or environment.get("HOME") or str(Path.home())
    return Path(home) / ".lttng"


def ensure(lttng: Lttng) -> Daemon:
    """Find the running session daemon, or start one.

    Raises SessionError when none can be started; the text carries the daemon's own words.
    """
    if lttng.reachable():
        return Daemon(None)
    program = shutil.which("lttng-sessiond", path=lttng.environment.get("PATH", os.defpath))
    if program is None:
        raise SessionError(f"Cannot start lttng-sessiond: it is not installed. {INSTALL_HINT}.")
    log = DaemonLog()
    status = _start(program, lttng, log.descriptor)
    if status == 0 and lttng.reachable():
        log.take()
        pid = _pid(lttng)
        return Daemon(pid, log, process_start_ticks(pid))
    words = " ".join(" ".join(log.take()).split())
    log.close()
    if _others_is_ready(lttng, words):
        # Another recording won the race to start it; it is theirs to end.
        return Daemon(None)
    raise SessionError(
        f"Cannot start lttng-sessiond: {words or f'exit status {status}'}. Check "
        f"{run_directory(lttng)} and its permissions."
    )


def _start(program: str, lttng: Lttng, log: int) -> int:
    # --background returns once the daemon takes clients and applications, and keeps the log open
    # for its words should it fail. Signals that we hold back must not be held back in it.
    def prepare() -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        lift_limits()

    try:
        return subprocess.run(
            [program, "--background"],
            env=dict(lttng.environment),
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            timeout=_START_TIMEOUT_S,
            start_new_session=True,
            preexec_fn=prepare,
            check=False,
        ).returncode
    except subprocess.TimeoutExpired as error:
        raise SessionError(
            f"Cannot start lttng-sessiond: not ready within {_START_TIMEOUT_S:.0f} s. Start it "
            "manually with `lttng-sessiond --daemonize` and look at its output."
        ) from error


def _others_is_ready(lttng: Lttng, words: str) -> bool:
    """Wait for the session daemon that another started: it holds its lock before it answers."""
    deadline = time.monotonic() + (_START_TIMEOUT_S if _LOCKED in words else 0.0)
    while not lttng.reachable():
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL_S)
    return True


def _pid(lttng: Lttng) -> int:
    path = run_directory(lttng) / "lttng-sessiond.pid"
    try:
        return int(path.read_text())
    except (OSError, ValueError) as error:
        raise SessionError(
            f"Cannot find the process of the session daemon that was started: {path}: {error}. "
            "End it manually (`pgrep lttng-sessiond`)."
        ) from error


def daemon_processes(lttng: Lttng) -> dict[int, str]:
    """Return the processes that record, by id: the session daemon's and its consumers' names.

    Empty when they cannot be found, as those of another user's daemon.
    """
    for place in dict.fromkeys((run_directory(lttng), Path("/var/run/lttng"))):
        with contextlib.suppress(OSError, ValueError):
            pid = int((place / "lttng-sessiond.pid").read_text())
            if _name(pid) == SESSION_DAEMON:
                return {pid: SESSION_DAEMON, **dict.fromkeys(_consumers(pid), CONSUMER)}
    return {}


def orphan(lttng: Lttng) -> int | None:
    """Return the running session daemon, if it is of a recorder that does not run; else null."""
    pid = next(iter(daemon_processes(lttng)), None)
    if pid is None:
        return None
    with contextlib.suppress(OSError, ValueError):
        variables = os.fsdecode(Path(f"/proc/{pid}/environ").read_bytes()).split("\0")
        marks = [one.partition("=")[2] for one in variables if one.startswith(_MARK)]
        recorder, _, ticks = marks[0].partition("-") if marks else ("", "", "")
        if marks and not alive(int(recorder), int(ticks)):
            return pid
    return None


def _consumers(daemon: int) -> list[int]:
    """List the consumer daemons of a session daemon; empty where they cannot be found."""
    with contextlib.suppress(OSError, ValueError):
        files = Path(f"/proc/{daemon}/task").glob("*/children")
        children = [int(child) for file in files for child in file.read_text().split()]
        return [child for child in children if _name(child) == CONSUMER]
    return []


def _name(pid: int) -> str | None:
    """Return the program's name, which LTTng's threads change; null when the process is gone."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return None
    return Path(os.fsdecode(words[0])).name


def end(daemon: Daemon, lttng: Lttng, *, own: str) -> str | None:
    """End a daemon that we started; leave any other alone.

    Returns null, or why it was left running: another session than `own` is recorded through
    it, or it does not end within its time.
    """
    if daemon.pid is None:
        return None
    if not alive(daemon.pid, daemon.ticks):
        _end_rest(lttng)
        return None
    try:
        others = [
            session.name for session in lttng.sessions(_STOP_TIMEOUT_S) if session.name != own
        ]
    except SessionError:
        others = []
    if others:
        return (
            f"session daemon {daemon.pid} left running: other sessions use it "
            f"({', '.join(others)}); end it later with `kill {daemon.pid}`"
        )
    processes = {pid: process_start_ticks(pid) for pid in (daemon.pid, *_consumers(daemon.pid))}
    if alive(daemon.pid, daemon.ticks):
        with contextlib.suppress(ProcessLookupError):
            os.kill(daemon.pid, signal.SIGTERM)
    if _gone(processes, _STOP_TIMEOUT_S):
        return None
    # One whose consumer was killed may wait for it for ever (2.13). It answers nobody any more.
    for pid, ticks in processes.items():
        if alive(pid, ticks):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    if _gone(processes, _STOP_TIMEOUT_S):
        return f"session daemon {daemon.pid} did not end within {_STOP_TIMEOUT_S:.0f} s: killed"
    return (
        f"session daemon {daemon.pid} does not end, even when killed; see `strata doctor` for what "
        "is left"
    )


def _end_rest(lttng: Lttng) -> None:
    """End the consumers, and what helps them, of a daemon of ours that ended before them."""
    mark = f"{_MARK}{lttng.environment.get(RECORDER_VARIABLE)}".encode()
    for entry in Path("/proc").glob("[0-9]*"):
        if _name(int(entry.name)) in (SESSION_DAEMON, CONSUMER):
            with contextlib.suppress(OSError):
                if mark in (entry / "environ").read_bytes().split(b"\0"):
                    os.kill(int(entry.name), signal.SIGKILL)


def _gone(processes: Mapping[int, int | None], patience_s: float) -> bool:
    """Wait for the end of processes (ids and starts); false when one goes on."""
    deadline = time.monotonic() + patience_s
    while any(alive(pid, ticks) for pid, ticks in processes.items()):
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL_S)
    return True


def alive(pid: int, start_ticks: int | None = None) -> bool:
    """Return whether a process runs; with `start_ticks`, whether it is that very process."""
    ticks = process_start_ticks(pid)
    return ticks is not None and start_ticks in (None, ticks)


def process_start_ticks(pid: int) -> int | None:
    """Give a process's start, in clock ticks since boot; null when it is gone or a zombie."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    # The command's name is in parentheses and may hold spaces and parentheses itself.
    rest = stat.rpartition(")")[2].split()
    return None if rest[0] in "ZX" else int(rest[19])
