# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""End what a killed recorder left running: its command, its LTTng session, its session daemon."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Mapping
from pathlib import Path

from strata.errors import SessionError
from strata.record import daemon as session_daemon
from strata.record.daemon import Daemon, alive
from strata.record.directory import State, read_state
from strata.record.lttng import Lttng, tool_environment
from strata.record.ros import Ros

# The runner ends its processes in their order first, and kills them after 7.5 s each.
_PATIENCE_S = 30.0
_POLL_S = 0.05


def end_remains(directory: Path, ros: Ros, base: Mapping[str, str]) -> list[str]:
    """End what still runs of a cell whose recorder was killed; returns what was ended.

    Nothing is done while the recorder lives: it ends by itself. `base` is the caller's environment.
    """
    state = read_state(directory)
    if state is None or state.recorder_alive:
        return []
    lttng = Lttng(tool_environment(base, ros.prefixes))
    return [*_end_command(state), *_end_session(state, lttng), *_end_daemon(state, lttng)]


def _end_command(state: State) -> list[str]:
    pid = state.command_pid
    if pid is None or not _is_command(pid, state):
        return []
    for number in (signal.SIGINT, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, number)
        until = time.monotonic() + _PATIENCE_S
        while alive(pid) and time.monotonic() < until:
            time.sleep(_POLL_S)
        if not alive(pid):
            break
    return [f"process group {pid}"]


def _is_command(pid: int, state: State) -> bool:
    """Tell the command from another process that got its id: its plan lies in the session."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    inside = os.fsencode(state.directory) + b"/"
    return alive(pid) and any(word.startswith(inside) for word in words)


def _end_session(state: State, lttng: Lttng) -> list[str]:
    with contextlib.suppress(SessionError):
        if lttng.reachable() and state.session in [one.name for one in lttng.sessions()]:
            lttng.destroy(state.session, wait=True)
            return [f"LTTng session {state.session}"]
    return []


def _end_daemon(state: State, lttng: Lttng) -> list[str]:
    pid = state.daemon_pid
    if pid is None or _comm(pid) != "lttng-sessiond":
        return []
    problem = session_daemon.end(Daemon(pid), lttng, own=state.session)
    return [problem or f"session daemon {pid}"]


def _comm(pid: int) -> str | None:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return None
