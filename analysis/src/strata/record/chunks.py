# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The chunks of a trace that is being recorded, as they are on the disk: which, how large, when."""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime
from pathlib import Path

from strata.record.kept_names import bytes_below, number_of, remove_trace

ARCHIVES = "archives"
# Begin and end, by the local time, and a number.
_CHUNK = re.compile(r"\d{8}T\d{6}[+-]\d{4}-(\d{8}T\d{6}[+-]\d{4})-(\d+)")


def end_of(chunk: Path) -> datetime:
    """Return when an archived chunk ended, to the second, as LTTng named it."""
    match = _CHUNK.fullmatch(chunk.name)
    assert match is not None, chunk
    return datetime.strptime(match[1], "%Y%m%dT%H%M%S%z").astimezone(UTC)


def archived(trace: Path) -> list[Path]:
    """List the archived chunks of a trace, the oldest first. Raises OSError."""
    try:
        found = [place for place in (trace / ARCHIVES).iterdir() if _CHUNK.fullmatch(place.name)]
    except FileNotFoundError:
        return []
    return sorted(found, key=number_of)


class Chunks:
    """The chunks of one session's output directory. Methods raise OSError."""

    def __init__(self, trace: Path) -> None:
        self.archives = trace / ARCHIVES
        self._trace = trace
        self._bytes: dict[Path, int] = {}

    def archived(self) -> list[Path]:
        """List the archived chunks, the oldest first."""
        return archived(self._trace)

    def current_bytes(self) -> int:
        """Sum up what is not archived: the chunk that is being written."""
        with os.scandir(self._trace) as entries:
            return sum(bytes_below(Path(e.path)) for e in entries if e.name != ARCHIVES)

    def bytes_of(self, chunk: Path) -> int:
        """Return the size of an archived chunk: it does not change, and is looked at once."""
        if chunk not in self._bytes:
            self._bytes[chunk] = bytes_below(chunk)
        return self._bytes[chunk]

    def remove(self, chunk: Path) -> int:
        """Remove an archived chunk, and return what size it had."""
        size = self.bytes_of(chunk)
        del self._bytes[chunk]
        remove_trace(chunk)
        return size
