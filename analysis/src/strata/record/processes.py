# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Which processes the recorded command started, and which ran beside it.

A session records every process of the user that loads the tracer, so the analysis must know whose
an event is. While the command runs, `/proc` is looked at: often at first, then once a second. A
process is the command's when it descends from it, or when it has the command's environment, which a
daemon keeps that left its parents. One that was never seen, as it ended before the next look, is in
neither list.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PROC = Path("/proc")
_KTHREADD = 2
_SOONEST_S, _LATEST_S = 0.02, 1.0
_PART = 10
"""A look is due after a tenth of the time that the command runs, within the bounds."""


class ProcessWatch:
    """Looks at the machine's processes; `begin` before the command starts, `look` while it runs.

    `mark` is a variable of the command's environment, "NAME=value", that no other process has.
    """

    def __init__(self, mark: str) -> None:
        self._mark = mark.encode()
        self._everyone = os.geteuid() == 0
        self._of_command: dict[int, bool] = {}
        self._own: set[int] = set()
        self._others: set[int] = set()
        self._begun = self._due = time.monotonic()

    def begin(self) -> None:
        """Note the processes that run already; what the command starts comes after."""
        self._look()

    def follow(self, pid: int) -> None:
        """Know the command by its process id."""
        self._begun = self._due = time.monotonic()
        self._add(pid, of_command=True)

    @property
    def patience_s(self) -> float:
        """How long it is until the next look."""
        return max(0.0, self._due - time.monotonic())

    def look(self, *, now: bool = False) -> None:
        """Look at the processes when that is due, or `now`."""
        at = time.monotonic()
        if now or at >= self._due:
            self._look()
            # After the look: where one takes long, they do not follow each other without a pause.
            pause = min(_LATEST_S, max(_SOONEST_S, (at - self._begun) / _PART))
            self._due = time.monotonic() + pause

    def as_json(self) -> dict[str, Any]:
        """Give what the manifest says: process ids, as the processes see their own."""
        return {"of_command": sorted(self._own), "others": sorted(self._others - self._own)}

    def _look(self) -> None:
        there = set(running())
        for pid in self._of_command.keys() - there:
            # Whoever gets the id next is another process.
            del self._of_command[pid]
        for pid in sorted(there - self._of_command.keys()):
            if pid not in self._of_command:
                self._judge(pid)

    def _judge(self, pid: int) -> bool:
        """Return whether a process is the command's; of one that is gone, nobody knows."""
        known = self._of_command.get(pid)
        if known is not None:
            return known
        parent = _parent(pid)
        if parent is None or _KTHREADD in (pid, parent):
            return False
        own = (parent > 0 and self._judge(parent)) or self._has_mark(pid)
        self._add(pid, of_command=own)
        return own

    def _has_mark(self, pid: int) -> bool:
        with contextlib.suppress(OSError):
            return self._mark in (PROC / str(pid) / "environ").read_bytes().split(b"\0")
        return False

    def _add(self, pid: int, *, of_command: bool) -> None:
        self._of_command[pid] = of_command
        if of_command:
            self._own.add(own_id(pid))
        elif self._everyone or user_of(pid) == os.geteuid():
            self._others.add(own_id(pid))


def running() -> Iterator[int]:
    """Give the ids of all processes."""
    with os.scandir(PROC) as entries:
        for entry in entries:
            if entry.name.isdigit():
                yield int(entry.name)


def _parent(pid: int) -> int | None:
    """Return the id of a process's parent; null when the process is gone."""
    try:
        # The name in parentheses may hold anything.
        return int((PROC / str(pid) / "stat").read_bytes().rpartition(b")")[2].split()[1])
    except (OSError, IndexError, ValueError):
        return None


def user_of(pid: int) -> int | None:
    """Return the user of a process; null when the process is gone."""
    try:
        return (PROC / str(pid)).stat().st_uid
    except OSError:
        return None


def own_id(pid: int) -> int:
    """Return a process's id within its innermost namespace, as its events have it."""
    with contextlib.suppress(OSError, IndexError, ValueError):
        for line in (PROC / str(pid) / "status").read_bytes().splitlines():
            if line.startswith(b"NStgid:"):
                return int(line.split()[-1])
    return pid
