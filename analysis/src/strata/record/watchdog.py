# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A tiny process beside a recording: says how to clean up when the recorder was killed.

Run as a script, without site packages: `watchdog.py FD DIRECTORY`. FD is the reading end of a
pipe whose writing end only the recorder holds: its end without a byte means that the recorder is
gone. It changes no session: the command may still run, and its trace may be what the user wants.
Only perf is ended, whose data would grow with nobody to make a trace of it.
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

FINISHED = b"."


class Watchdog:
    """The recorder's side: holds the pipe, and dismisses the process at a regular end."""

    def __init__(self, directory: Path, environment: dict[str, str]) -> None:
        reading, self._writing = os.pipe()
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", __file__, str(reading), str(directory)],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=(reading,),
                # Out of reach of the terminal's signals and of a kill of our process group.
                start_new_session=True,
            )
        finally:
            os.close(reading)

    def dismiss(self) -> None:
        """End the process silently."""
        with contextlib.suppress(BrokenPipeError):
            os.write(self._writing, FINISHED)
        os.close(self._writing)
        self._process.wait()


def instructions(state: dict[str, object]) -> str:
    """Say what a killed recording left behind and how to remove it."""
    directory = Path(str(state["directory"]))
    session, ended = state["session"], state.get("session_ended")
    perf_data, converted = directory / "perf.data", directory / "trace" / "kernel"
    recorder = f"strata: the recorder (process {state['strata_pid']}) was killed"
    steps = []
    if ended:
        head = f"{recorder}; its LTTng session had ended, its manifest is missing."
        if perf_data.exists():
            head += f"\nThe kernel's events are in {perf_data} (perf script), not in the trace."
            if converted.exists():
                steps.append(f"  rm -r {shlex.quote(str(converted))}   # half of them, as CTF")
    else:
        head = f"{recorder}; its LTTng session {session} is left behind, still recording."
        if state.get("command_pid"):
            steps.append(
                f"  kill -INT -- -{state['command_pid']}   # the command, if it still runs"
            )
        steps.append(
            f"  lttng stop {session}      # the trace in {directory}/trace is then complete"
        )
        steps.append(f"  lttng destroy {session}")
    if state.get("daemon_pid"):
        steps.append(f"  kill {state['daemon_pid']}   # the session daemon, started for this only")
    if perf_data.exists() and not ended:
        rest = "kernel events until then, not in the trace"
        steps.append(f"  rm {shlex.quote(str(perf_data))}      # {rest}")
    return "\n".join([head, *(["Clean up with:", *steps] if steps else [])]) + "\n"


def _watch(reading: int, directory: Path) -> None:
    if os.read(reading, 1) == FINISHED:
        return
    try:
        state = json.loads((directory / "recording.json").read_text())
        text = instructions(state)
    except (OSError, ValueError):
        # Killed before the state was written: nothing was started yet.
        return
    if state.get("perf_pid"):
        with contextlib.suppress(OSError):
            os.kill(state["perf_pid"], signal.SIGINT)
    target = directory / "CLEANUP.txt"
    target.write_text(text)
    sys.stderr.write(f"{text}(also in {target})\n")


if __name__ == "__main__":
    _watch(int(sys.argv[1]), Path(sys.argv[2]))
