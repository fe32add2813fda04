# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A process of a running scenario: its start, its output, its end, what it used.

Imports the standard library only.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

from strata.masking import mask_command
from strata.record.broker import answers
from strata.scenario.place import Placement, describe, end_with_parent
from strata.scenario.resources import family, usage_document

PRELOAD = "STRATA_SCENARIO_PRELOAD"
"""The variable in which the runner keeps what the processes are to preload."""

_TRACK = "STRATA_TRACK_SESSION"
_TRACK_WITHIN_S = 20.0
WHY = "strata-host: "
"""Begins the line in which the part on another machine says why it failed."""


def _environment(own: Mapping[str, str], *, traced: bool) -> dict[str, str]:
    """Give a process's variables: its own before ours; what it preloads stands before our hooks."""
    made = {**os.environ, "PYTHONUNBUFFERED": "1", **own}
    made.pop(_TRACK, None)
    hooks = made.pop(PRELOAD, "")
    preloads = [own.get("LD_PRELOAD", ""), hooks if traced else ""]
    if any(preloads):
        made["LD_PRELOAD"] = ":".join(filter(None, preloads))
    return made


def _track() -> None:
    """Have this process recorded, where its session records only those that are named.

    Raises OSError or subprocess.SubprocessError.
    """
    session = os.environ.get(_TRACK)
    if session is None:
        return
    # What ROS 2 is to load is none of LTTng's tool.
    kept = {name: to for name, to in os.environ.items() if name not in ("LD_LIBRARY_PATH", PRELOAD)}
    words = ["lttng", "--no-sessiond", "track", "--userspace", f"--session={session}"]
    subprocess.run(
        [*words, f"--vpid={os.getpid()}"],
        env=kept,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=True,
        timeout=_TRACK_WITHIN_S,
    )


def _start(
    plan: Mapping[str, Any], enter: Callable[[], None] | None, *, traced: bool
) -> subprocess.Popen[bytes]:
    placement = Placement(**{**plan["placement"], "cpus": tuple(plan["placement"]["cpus"])})
    parent = os.getpid()

    def prepare() -> None:
        # In a namespace of a user the process has no right to a priority outside of it, and
        # forgets the signal at its parent's end on the way there.
        if traced:
            _track()
        placement.apply()
        if enter:
            enter()
        end_with_parent(parent)

    # Its own session: a signal to our group reaches us only, and we end the others in order.
    return subprocess.Popen(
        plan["command"],
        env=placement.environment(_environment(plan["environment"], traced=traced)),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        preexec_fn=prepare,
        start_new_session=True,
    )


class Child:
    """A process of the scenario; `ended_by` is itself, or the runner.

    `serves_at` is the address of a broker of the middleware, which is none of those to trace, nor
    is what stands for the part on another machine (`is_remote`).
    `enter` moves it to where it runs, before its program.
    """

    def __init__(
        self, plan: Mapping[str, Any], logs: Path, enter: Callable[[], None] | None = None
    ) -> None:
        self.name: str = plan["name"]
        self.plan = plan
        self.serves_at: str | None = plan["serves_at"]
        self.is_remote: bool = plan["is_remote"]
        self.process = _start(plan, enter, traced=not (self.serves_at or self.is_remote))
        self.started_ns = time.monotonic_ns()
        self.ended_ns: int | None = None
        self.signalled = False
        self.killed = False
        self.placement: dict[str, Any] | None = None
        self.usage: resource.struct_rusage | None = None
        self.said = False
        self.last_words = ""
        self.pids = {self.process.pid}
        self._rest = b""
        self._log: IO[bytes] = (logs / f"{self.name}.log").open("wb", buffering=0)

    @property
    def running(self) -> bool:
        """Return whether it runs; notes the time of its end."""
        return self._wait(os.WNOHANG)

    @property
    def ready(self) -> bool:
        """Return whether it said what it should, or answers."""
        return answers(self.serves_at) if self.serves_at else self.said

    @property
    def is_awaited(self) -> bool:
        """Return whether the next waits until it is ready."""
        return bool(self.serves_at or self.plan["ready_says"])

    def wait(self) -> None:
        """Wait for its end."""
        self._wait(0)

    def _wait(self, options: int) -> bool:
        # Not by Popen's own: it would not tell what the process used.
        if self.process.returncode is None:
            pid, status, usage = os.wait4(self.process.pid, options)
            if not pid:
                return True
            self.process.returncode = os.waitstatus_to_exitcode(status)
            self.usage = usage
            self.ended_ns = time.monotonic_ns()
        return False

    def family(self) -> list[int]:
        """List it and its living descendants, whose ids are noted; empty when it ended."""
        found = family(self.process.pid) if self.running else []
        self.pids.update(found)
        return found

    def observe(self) -> None:
        """Note how it is scheduled, now that its program runs."""
        try:
            self.placement = describe(self.process.pid)
        except OSError:
            return

    def read(self) -> bool:
        """Pass on what it wrote; false at the end of its output."""
        assert self.process.stdout
        data = os.read(self.process.stdout.fileno(), 1 << 16)
        self._log.write(data)
        *lines, self._rest = (self._rest + data).split(b"\n")
        if not data and self._rest:
            lines, self._rest = [self._rest], b""
        for line in lines:
            text = line.decode(errors="replace")
            wanted = self.plan["ready_says"]
            if wanted and wanted in text:
                self.said = True
            if self.is_remote and text.startswith(WHY):
                self.last_words = text.removeprefix(WHY)
            sys.stderr.write(f"[{self.name}] {text}\n")
        if not data:
            self._log.close()
        return bool(data)

    def signal(self, number: signal.Signals) -> None:
        """Send a signal, if it runs."""
        if self.running:
            self.signalled = True
            self.killed = self.killed or number == signal.SIGKILL
            os.kill(self.process.pid, number)

    def end_group(self) -> None:
        """Kill what it started and left behind, but for what has a session of its own."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)

    @property
    def failed(self) -> bool:
        """Return whether it ended badly: not by itself with 0, nor by the signal that we sent.

        A broker ends well only when told to.
        """
        status = self.process.returncode
        stopped = {-signal.SIGINT, 128 + signal.SIGINT, -signal.SIGTERM, 128 + signal.SIGTERM}
        if self.killed:
            return True
        if self.serves_at and not self.signalled:
            return status is not None
        return bool(status) and not (self.signalled and status in stopped)

    def as_json(self) -> dict[str, Any]:
        """Return what happened to it."""
        status = self.process.returncode
        return {
            "name": self.name,
            "program": self.plan["program"],
            "command": mask_command(self.plan["command"]),
            "pid": self.process.pid,
            "exit_status": status if status is not None and status >= 0 else None,
            "signal": signal.Signals(-status).name if status is not None and status < 0 else None,
            "ended_by": "runner" if self.signalled else "itself",
            "failed": self.failed,
            "duration_ns": (self.ended_ns or time.monotonic_ns()) - self.started_ns,
            "host": self.plan["host"],
            "placement": self.placement,
            "usage": usage_document(self.usage) if self.usage else None,
        }
