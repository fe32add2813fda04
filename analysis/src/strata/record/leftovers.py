# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Sessions of recordings whose recorder was killed: find them and say how to remove them."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from strata.errors import SessionError
from strata.record.daemon import alive, orphan
from strata.record.directory import CLEANUP, State, read_state
from strata.record.lttng import Lttng, Session

_SESSION = re.compile(r"strata-.+-(\d+)-\d+")


def find(lttng: Lttng) -> list[tuple[Session, State | None]]:
    """List the leftover sessions, each with its state file's content where it can be read."""
    found = []
    for session in lttng.sessions() if lttng.reachable() else []:
        match = _SESSION.fullmatch(session.name)
        if match is None:
            continue
        state = read_state(Path(session.output).parent) if session.output else None
        if state is not None and state.session != session.name:
            state = None
        recorder_alive = state.recorder_alive if state else alive(int(match[1]))
        if not recorder_alive:
            found.append((session, state))
    return found


def cleanup(session: Session, state: State | None) -> list[str]:
    """Give the commands that remove a leftover session and what belongs to it."""
    script = Path(session.output).parent / CLEANUP
    if state is not None and script.is_file():
        return [f"sh {shlex.quote(str(script))}"]
    steps = []
    if state is not None and state.command_pid is not None and alive(state.command_pid):
        steps.append(f"kill -s INT -- -{state.command_pid}")
    steps.append(f"lttng destroy {session.name}")
    if state is not None and state.daemon_pid is not None and alive(state.daemon_pid):
        steps.append(f"kill {state.daemon_pid}")
    return steps


def describe(lttng: Lttng) -> list[str]:
    """Give one line for each leftover session, or a daemon without any; none when none is found."""
    try:
        found = find(lttng)
        sessions = lttng.sessions() if lttng.reachable() else []
    except SessionError:
        return []
    if not sessions:
        pid = orphan(lttng)
        return (
            [f"a killed recording left session daemon {pid}; clean up: kill {pid}"] if pid else []
        )
    return [
        f"a killed recording left session {session.name} ({session.output}); "
        f"clean up: {'; '.join(cleanup(session, state))}"
        for session, state in found
    ]
