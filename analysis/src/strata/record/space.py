# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Space on the disk that a recording goes to, and in the memory that its buffers are in."""

from __future__ import annotations

import contextlib
import os
import resource
from dataclasses import dataclass
from pathlib import Path

from strata.errors import OutputError, SessionError
from strata.record.config import SessionConfig
from strata.record.host import possible_cpus
from strata.units import format_size

BUFFERS = Path("/dev/shm")
# The system's other programs need some, and so does the end of a recording.
_LEFT_BYTES = 1 << 30
_LEFT_PART = 20


@dataclass(frozen=True)
class DiskLimit:
    """Where a recording stops for want of space: at `free_bytes` free of `directory`'s disk."""

    directory: Path
    free_bytes: int

    def broken_by(self) -> int | None:
        """Return how many bytes are free, when that is less than the limit; else null."""
        free = free_bytes(self.directory)
        return free if free is not None and free < self.free_bytes else None


def free_bytes(place: Path) -> int | None:
    """Return the bytes that this user may still write there; null when nobody says."""
    try:
        disk = os.statvfs(place)
    except OSError:
        return None
    return disk.f_bavail * disk.f_frsize


def disk_limit(directory: Path, stated: int | None) -> DiskLimit:
    """Return the limit: what the user stated, else 1 GiB, or a twentieth of a small disk.

    Raises OutputError when there is less than that already.
    """
    place = _existing(directory)
    limit = stated
    if limit is None:
        disk = os.statvfs(place)
        limit = min(_LEFT_BYTES, disk.f_blocks * disk.f_frsize // _LEFT_PART)
    found = DiskLimit(place, limit)
    free = found.broken_by()
    if free is not None:
        raise OutputError(
            f"Cannot record into {directory}: its disk has {format_size(free)} free, but a "
            f"recording stops at {format_size(limit)}. Free some space, choose another -o, or "
            "lower --min-free."
        )
    return found


def check_buffers(config: SessionConfig) -> None:
    """Refuse buffers that would not fit into /dev/shm, or are over this process's file size limit.

    LTTng would record nothing, and say so only in its daemon's log. Raises SessionError.
    """
    needed = config.channel.memory_on(possible_cpus())
    free = free_bytes(BUFFERS)
    if free is not None and needed > free:
        raise SessionError(
            f"Cannot record: the buffers of {config.name} need {format_size(needed)} in "
            f"{BUFFERS}, which has {format_size(free)} free. Lower channel.num_subbuf, or "
            f"enlarge {BUFFERS}."
        )
    limit = file_size_limit()
    each = config.channel.memory_on(1)
    if limit is not None and limit < each:
        raise SessionError(
            f"Cannot record: files are limited to {format_size(limit)} (ulimit -f), but the "
            f"buffers of one CPU need a file of {format_size(each)}. Raise the limit."
        )


def check_size(stated: int, least: int) -> None:
    """Refuse a bound of the trace's size that its buffers alone could pass. Raises OutputError."""
    if stated < least:
        raise OutputError(
            f"Cannot record within {format_size(stated)}: the minimum is {format_size(least)}, "
            "four times the buffers of all CPUs, which may be written at once. Raise "
            "--max-size, or lower channel.num_subbuf."
        )


def file_size_limit() -> int | None:
    """Return what a file of a program that we start may have, in bytes; null for no limit."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    if before[1] == resource.RLIM_INFINITY:
        return None
    try:
        # Who may raise it can start a daemon without it (lift_limits).
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
    except (OSError, ValueError):
        return before[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    return None


def lift_limits() -> None:
    """Lift the limits of file sizes and descriptors as far as allowed; for a daemon's process."""
    for kind in (resource.RLIMIT_FSIZE, resource.RLIMIT_NOFILE):
        _, most = resource.getrlimit(kind)
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(kind, (most, most))
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)


def _existing(directory: Path) -> Path:
    """Return the nearest directory above that exists."""
    return next(place for place in (directory, *directory.parents) if place.is_dir())
