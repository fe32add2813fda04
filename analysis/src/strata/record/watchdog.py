# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A process beside a recording, for the case that the recorder is killed.

What was begun before the command ran is undone, and what remains to be ended after it is ended. In
between, while the command may run, nothing is changed, as its trace may be what the user wants:
CLEANUP.txt is written, a script that ends it all. Only perf is ended, whose data would grow with
nobody to make a trace of it. A recording without a command (`--attach`) is ended: its processes are
the user's, and nobody else would.

Run as a script, without site packages: `watchdog.py FD DIRECTORY_FD MADE`. FD is the reading end of
a pipe whose writing end only the recorder holds: its end without a byte means that the recorder is
gone, HANDED_OVER that it could not end the rest itself. DIRECTORY_FD is the recording's directory,
wherever it is by then; MADE is 1 where there was none before.
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

FINISHED, HANDED_OVER = b".", b"h"
_STATE, _CLEANUP = "recording.json", "CLEANUP.txt"
# What a recording may have begun to write before its command ran.
_BEGUN = (
    _STATE,
    "manifest.json",
    "trace",
    "thread_cpu",
    "scenario",
    "perf.data",
    "announced.json",
    ".strata-reserve",
)
_SESSION_DAEMON = "lttng-sessiond"
_CONSUMER = "lttng-consumerd"
_TOOL = "lttng"
_RESERVE = ".strata-reserve"
_PATIENCE_S = 15.0
_STOP_TIMEOUT_S = 30.0
_HAND_OVER_S = 30.0
_POLL_S = 0.05


class Watchdog:
    """The recorder's side: holds the pipe, and dismisses the process at a regular end."""

    def __init__(self, directory: int, environment: dict[str, str], *, made: bool) -> None:
        reading, self._writing = os.pipe()
        numbers = [str(reading), str(directory), str(int(made))]
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", __file__, *numbers],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=(reading, directory),
                # Out of reach of the terminal's signals and of a kill of our process group.
                start_new_session=True,
            )
        finally:
            os.close(reading)

    def dismiss(self) -> None:
        """End the process silently."""
        self._tell(FINISHED)
        self._process.wait()

    def hand_over(self) -> None:
        """Leave to the process what could not be ended, and wait a while for it."""
        self._tell(HANDED_OVER)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_HAND_OVER_S)

    def _tell(self, word: bytes) -> None:
        with contextlib.suppress(BrokenPipeError):
            os.write(self._writing, word)
        os.close(self._writing)


def cleanup_script(state: dict[str, Any], directory: Path) -> str:
    """Return a POSIX shell script that ends what a killed recording left; comments say what."""
    session = state["session"]
    own = shlex.quote(f"STRATA_SESSION_DIR={state['directory']}")
    lines = [
        f"# strata: the recorder (process {state['strata_pid']}) {state['fate']};",
        f"# its LTTng session {session} is left behind, still recording.",
        f"# Clean up with: sh {shlex.quote(str(directory / _CLEANUP))}",
    ]
    lines += [
        f"export {name}={shlex.quote(os.environ[name])}"
        for name in ("LTTNG_HOME", "LTTNG_RUNDIR")
        if os.environ.get(name)
    ]
    if pid := state.get("command_pid"):
        lines += [
            "# The command, if it still runs:",
            f"grep -qasF {own} /proc/{pid}/environ && kill -s INT -- -{pid}",
        ]
    lines += [
        f"# After this the trace in {directory}/trace is complete:",
        f"lttng --no-sessiond stop {session}",
        f"lttng --no-sessiond destroy {session}",
    ]
    if pid := state.get("daemon_pid"):
        own_daemon = f"grep -qasF {shlex.quote(state['mark'])} /proc/{pid}/environ"
        lines += [
            "# The session daemon, started for this only:",
            f"{own_daemon} && kill {pid}",
            f"for _ in 1 2 3 4 5 6 7 8 9 10; do {own_daemon} || break; sleep 1; done",
            f"{own_daemon} && kill -s KILL {pid}",
        ]
    if (directory / "perf.data").exists():
        lines += [
            "# Kernel events up to then, which are not in the trace:",
            f"rm {shlex.quote(str(directory / 'perf.data'))}",
        ]
    left = [shlex.quote(str(directory / name)) for name in (_STATE, _RESERVE, _CLEANUP)]
    return "\n".join([*lines, f"rm -f {' '.join(left)}"]) + "\n"


def _watch(reading: int, directory: int, *, made: bool) -> None:
    word = os.read(reading, 1)
    if word == FINISHED:
        return
    place = Path(f"/proc/self/fd/{directory}").readlink()
    try:
        state = json.loads((place / _STATE).read_text())
    except (OSError, ValueError):
        # Killed before the state was written: nothing was started yet.
        if made:
            with contextlib.suppress(OSError):
                place.rmdir()
        return
    for pid in (*_marked(state["mark"], "perf"), state.get("perf_pid")):
        if pid:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGINT)
    state["fate"] = "could not go on" if word == HANDED_OVER else "was killed"
    _WAYS[state["phase"]](state, place, made)


def _undo(state: dict[str, Any], place: Path, made: bool) -> None:
    """Undo what was set up before the command ran."""
    _end_session(state, stop=False)
    for name in _BEGUN:
        path = place / name
        with contextlib.suppress(OSError):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
    if made:
        with contextlib.suppress(OSError):
            place.rmdir()
    when = "before it recorded anything" if state.get("attached") else "before its command ran"
    _say(state, f"{when}; its setup was removed")


def _explain(state: dict[str, Any], place: Path, made: bool) -> None:
    """Say how to clean up, while the command runs; where it has no use or is none, clean up."""
    if state.get("attached") or state.get("ring"):
        _finish(state, place, made)
        return
    if not state.get("command_pid"):
        running = _marked(f"STRATA_SESSION_DIR={state['directory']}")
        if not running:
            _undo(state, place, made)
            return
        state = {**state, "command_pid": min(running)}
    text = cleanup_script(state, place)
    target = place / _CLEANUP
    with contextlib.suppress(OSError):
        # The disk may be full but for this.
        (place / _RESERVE).unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        target.write_text(text)
        target.chmod(0o640)
    sys.stderr.write(f"{text}# (this is {target})\n")


def _finish(state: dict[str, Any], place: Path, made: bool) -> None:
    """End the session of a command that has ended, or of none."""
    del made
    _end_session(state, stop=True)
    for name in (_STATE, _RESERVE):
        with contextlib.suppress(OSError):
            (place / name).unlink(missing_ok=True)
    if state.get("ring"):
        shutil.rmtree(place, ignore_errors=True)
    perf = place / "perf.data"
    rest = ""
    if perf.exists():
        # Half of them were made part of the trace.
        shutil.rmtree(place / "trace" / "kernel", ignore_errors=True)
        rest = f"; kernel events are in {perf} (perf script), not in the trace"
    when = "while it recorded" if state["phase"] == "recording" else "while it ended the recording"
    _say(state, f"{when}; its session was ended, and nothing is running{rest}")


_WAYS = {"set-up": _undo, "recording": _explain, "stopping": _finish, "converting": _finish}


def _end_session(state: dict[str, Any], *, stop: bool) -> None:
    """Destroy the session, and end the daemon that the recorder started unless others use it."""
    mark, session = state["mark"], state["session"]
    # What the recorder asked for last is still under way.
    _until(lambda: not _marked(mark, _TOOL))
    deadline = time.monotonic() + _PATIENCE_S
    while True:
        known = _sessions()
        if session in known:
            if stop:
                _lttng("stop", session)
            _lttng("destroy", session)
        daemons = _marked(mark, _SESSION_DAEMON)
        late = time.monotonic() > deadline
        if not daemons or set(known) - {session}:
            return
        # One whose consumer cannot write, or was killed, may wait for it for ever.
        for pid in (*daemons, *(_marked(mark, _CONSUMER) if late else ())):
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL if late else signal.SIGTERM)
        time.sleep(_POLL_S)


def _sessions() -> list[str]:
    try:
        root = ET.fromstring(_lttng("--mi", "xml", "list"))
    except ET.ParseError:
        return []
    return [node.text or "" for node in root.iterfind(".//{*}sessions/{*}session/{*}name")]


def _lttng(*arguments: str) -> str:
    try:
        return subprocess.run(
            ["lttng", "--no-sessiond", *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_STOP_TIMEOUT_S,
            check=False,
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""


def _marked(mark: str, name: str | None = None) -> list[int]:
    """Return the other processes that have the mark in their environment, and this name, if any."""
    found = []
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            environment = Path(entry.path, "environ").read_bytes().split(b"\0")
            program = os.fsdecode(Path(entry.path, "cmdline").read_bytes().split(b"\0")[0])
        except OSError:
            continue
        if mark.encode() in environment and name in (None, Path(program).name):
            found.append(int(entry.name))
    return found


def _until(condition: Any) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while not condition() and time.monotonic() < deadline:
        time.sleep(_POLL_S)


def _say(state: dict[str, Any], what: str) -> None:
    with contextlib.suppress(OSError):
        sys.stderr.write(
            f"strata: the recorder (process {state['strata_pid']}) {state['fate']} {what}\n"
        )


if __name__ == "__main__":
    _watch(int(sys.argv[1]), int(sys.argv[2]), made=sys.argv[3] == "1")
