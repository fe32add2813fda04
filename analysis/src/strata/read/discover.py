# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Find the CTF traces below a path.

A CTF trace is a directory with a file `metadata`. A recording holds several: one a user and bitness
(`ust/uid/0/64-bit`), one a process with per-PID buffers, the kernel's, one a host, one a rotation
chunk, and two sessions beside each other (`snapshot` and `runtime`).
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from strata.errors import TraceError
from strata.read import _ctf


@dataclass(frozen=True)
class CtfTrace:
    """One CTF trace directory and what its metadata say, before any decoding."""

    directory: Path
    metadata: _ctf.Metadata

    @property
    def hostname(self) -> str:
        """Host that recorded it; "(unknown)" when the metadata do not say."""
        return str(self.metadata.environment.get("hostname") or "(unknown)")

    @property
    def clock_offset_ns(self) -> int:
        """What is added to the clock's value (CLOCK_MONOTONIC for LTTng) to get time since epoch.

        0 when the metadata declare no clock. Sub-nanosecond clocks are rounded down.
        """
        clocks = self.metadata.clocks
        return int(clocks[0]["offset_ns"]) if clocks else 0

    def stream_files(self) -> list[Path]:
        """Data stream files: every regular file beside the metadata, sorted by name."""
        return sorted(
            entry
            for entry in self.directory.iterdir()
            if entry.is_file() and entry.name != "metadata" and not entry.name.startswith(".")
        )


def read_metadata(path: Path) -> _ctf.Metadata:
    """Parse a `metadata` file: TSDL of CTF 1.8, in packets or plain, or JSON of CTF 2.

    Raises TraceError when it is damaged or declares something that is not supported.
    """
    try:
        return _ctf.parse_metadata(path.read_bytes())
    except _ctf.MetadataError as error:
        raise TraceError(
            f"Cannot read metadata {path}: {error}. `babeltrace2 {path.parent}` may tell more; if "
            "it reads the trace, its producer is not supported (docs/reading.md)."
        ) from error


def find_traces(path: Path) -> tuple[list[CtfTrace], list[tuple[Path, str]]]:
    """Return the CTF traces at and below `path`, and those that cannot be read with the reason.

    Sorted by directory. Hidden directories are left out. Raises TraceError when there is none.
    """
    if not path.exists():
        raise TraceError(f"Cannot open trace {path}: there is no such directory. Check the path.")
    if not path.is_dir():
        raise TraceError(
            f"Cannot open trace {path}: it is a file. Give the directory that holds the trace."
        )
    found: list[CtfTrace] = []
    unreadable: list[tuple[Path, str]] = []
    for directory, names, files in os.walk(path):
        names[:] = sorted(name for name in names if not name.startswith("."))
        if "metadata" not in files:
            continue
        place = Path(directory)
        try:
            found.append(CtfTrace(place, read_metadata(place / "metadata")))
        except (TraceError, OSError) as error:
            unreadable.append((place, str(error)))
    if not found and unreadable:
        raise TraceError(unreadable[0][1])
    if not found:
        raise TraceError(
            f"Cannot open trace {path}: no directory at or below it holds a CTF `metadata` file. "
            "Give the directory that `strata record`, `ros2 trace` or `lttng` wrote."
        )
    return found, unreadable
