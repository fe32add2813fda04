# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Which processes can be traced: those of the user (for root, of everyone) with LTTng-UST loaded.

A process loads it when it first uses ROS 2, a DDS library or a sensor's port, so a process that has
not done so is looked at again, less and less often. `/proc/PID/maps` names the library. Wheels of
ROS 2 bundle one of another name, which serves no session daemon; it does not count.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from strata.record import processes
from strata.record.ros import DEFAULT_RMW

_LIBRARY = b"/liblttng-ust.so"
_DDS_HOOKS = b"/libdds_tracepoints.so"
_STATEDUMP = b"/libros2_statedump.so"
_RMW = "RMW_IMPLEMENTATION"
_EVERY_S = 0.5
_PART = 4
"""A process is looked at again after a quarter of the time since it was first seen."""
_SELDOM_S = 10.0


@dataclass
class _Seen:
    """A process without LTTng-UST so far: when it was first seen, and when to look again."""

    first: float
    due: float


@dataclass
class TracedProcesses:
    """Looks for traced processes; `found` is called once with the id of each."""

    found: Callable[[int], None]
    _traced: set[int] = field(default_factory=set)
    _waiting: dict[int, _Seen] = field(default_factory=dict)
    _own: set[int] = field(default_factory=set)
    _silent: set[int] = field(default_factory=set)
    _variables: list[dict[str, str]] = field(default_factory=list)
    _due: float = 0.0

    def begin(self) -> None:
        """Find those that run already."""
        self.look(now=True)

    @property
    def count(self) -> int:
        """Count the processes that were found until now."""
        return len(self._variables)

    @property
    def silent(self) -> int:
        """Count those that announce nothing again of what they made before."""
        return len(self._silent)

    @property
    def patience_s(self) -> float:
        """How long it is until the next look."""
        return max(0.0, self._due - time.monotonic())

    def look(self, *, now: bool = False) -> None:
        """Look at the processes when that is due; `now`, at every one of them."""
        if not now and time.monotonic() < self._due:
            return
        there = set(processes.running())
        for gone in (self._traced | self._waiting.keys()) - there:
            # Whoever gets the id next is another process.
            self._traced.discard(gone)
            self._waiting.pop(gone, None)
        for pid in sorted(there - self._traced):
            self._judge(pid, now=now)
        # After the look: where one takes long, they do not follow each other without a pause.
        self._due = time.monotonic() + _EVERY_S

    def as_json(self) -> dict[str, Any]:
        """Give what the manifest says: process ids, as the processes see their own.

        Nobody is among the others: what emits events is traced, seen or not.
        """
        return {
            "of_command": sorted(self._own),
            "others": [],
            "announce_nothing": sorted(self._silent),
        }

    def values(self, variable: str) -> set[str | None]:
        """Give the values that the environments of traced processes have for a variable."""
        return {variables.get(variable) for variables in self._variables}

    def _judge(self, pid: int, *, now: bool) -> None:
        at = time.monotonic()
        seen = self._waiting.get(pid)
        if seen is not None and at < seen.due and not now:
            return
        if not _is_meant(pid):
            return
        maps = _maps(pid)
        if _LIBRARY not in maps:
            first = seen.first if seen else at
            self._waiting[pid] = _Seen(first, at + min(_SELDOM_S, (at - first) / _PART))
            return
        self._waiting.pop(pid, None)
        self._traced.add(pid)
        own_id = processes.own_id(pid)
        self._own.add(own_id)
        if _STATEDUMP not in maps:
            self._silent.add(own_id)
        self._variables.append(_environment(pid))
        self.found(pid)


def attached_line(traced: TracedProcesses, *, has_names: bool) -> str:
    """Say what a recording without a command has found at its start.

    `has_names`: an init session has the names of processes that announce nothing again.
    """
    count = traced.count
    if count == 0:
        return (
            "no process is ready to be traced yet (none has LTTng-UST loaded); waiting for those "
            "that start. Ctrl-C ends the recording"
        )
    found = "1 process" if count == 1 else f"{count} processes"
    lack = ""
    if traced.silent and not has_names:
        every = "it started" if count == 1 else "they started"
        which = every if traced.silent == count else f"{traced.silent} of them started"
        lack = (
            f"; {which} without `strata env`: what was made before has no names (see `strata "
            "daemon`)"
        )
    return f"attached to {found}{lack}. Ctrl-C ends the recording"


def ros_of_processes(ros: dict[str, Any] | None, traced: TracedProcesses) -> dict[str, Any] | None:
    """Correct what a manifest says of ROS 2 by what the traced processes have; null if it differs.

    `ros` is what the recorder found for itself: its processes may use another, as in a container.
    """
    if ros is None or not traced.count:
        return ros
    if traced.values("ROS_DISTRO") - {None, ros["distro"]}:
        return None
    used = {rmw or DEFAULT_RMW for rmw in traced.values(_RMW)}
    chosen = traced.values(_RMW) - {None, ""}
    return ros | {
        "rmw": ", ".join(sorted(used)),
        "rmw_chosen_by": _RMW if chosen else "default",
    }


def traced_pids() -> list[int]:
    """Return the ids of all processes that are traced now."""
    return [pid for pid in processes.running() if _is_meant(pid) and _LIBRARY in _maps(pid)]


def any_with_dds_hooks() -> bool | None:
    """Return whether a traced process has the hooks of the DDS layer; null when none is traced."""
    maps = [_maps(pid) for pid in processes.running() if _is_meant(pid)]
    traced = [text for text in maps if _LIBRARY in text]
    return any(_DDS_HOOKS in text for text in traced) if traced else None


def _is_meant(pid: int) -> bool:
    """Return whether a session of this user records a process."""
    return os.geteuid() in (0, processes.user_of(pid))


def _maps(pid: int) -> bytes:
    # Empty for a kernel thread, and for a process that is gone or may not be looked at.
    with contextlib.suppress(OSError):
        return (processes.PROC / str(pid) / "maps").read_bytes()
    return b""


def _environment(pid: int) -> dict[str, str]:
    with contextlib.suppress(OSError):
        words = (processes.PROC / str(pid) / "environ").read_bytes().split(b"\0")
        pairs = (os.fsdecode(word).partition("=") for word in words if word)
        return {name: value for name, _, value in pairs}
    return {}
