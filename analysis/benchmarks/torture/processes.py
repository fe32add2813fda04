# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The processes of a trial's pid namespace, which are all that /proc shows there."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

SESSION_DAEMON, CONSUMER = "lttng-sessiond", "lttng-consumerd"
WATCHDOG, SAMPLER = "watchdog", "sampler"
# What tells a process, and where: its name (lttng's daemons), or a word of its command line.
_NAMED = (SESSION_DAEMON, CONSUMER)
_WORDS = {WATCHDOG: "watchdog.py", SAMPLER: "thread_sampler.py"}


@dataclass(frozen=True)
class Process:
    """A process that runs, or waits to be reaped."""

    pid: int
    name: str
    line: tuple[str, ...]

    @property
    def text(self) -> str:
        """Name it for a reader."""
        return f"{self.pid} {' '.join(self.line) or self.name}"[:100]


def all_running() -> list[Process]:
    """List what runs beside the trial itself: neither process 1 nor this one, nor zombies."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) in (1, os.getpid()):
            continue
        try:
            name, _, rest = (entry / "stat").read_text().partition("(")[2].rpartition(")")
            words = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        if rest.split()[0] not in "ZX":
            found.append(Process(int(entry.name), name, tuple(filter(None, words))))
    return found


def find(role: str) -> list[Process]:
    """List the processes of a role: a daemon, the watchdog, the sampler."""
    return [process for process in all_running() if _plays(process, role)]


def _plays(process: Process, role: str) -> bool:
    if role in _NAMED:
        return process.name == role[:15]
    return any(word.endswith(_WORDS[role]) for word in process.line)
