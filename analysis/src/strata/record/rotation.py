# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Keep a trace within a size while it is recorded: rotate it, and drop the oldest chunk.

LTTng writes into a *chunk*, a directory with all streams. A rotation ends it and moves it to
`archives/`; only such a chunk can be dropped. What names things in it is kept
(strata.record.kept_names).
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from strata.errors import SessionError
from strata.record.config import Channel
from strata.record.kept_names import AHEAD, KeptNames, bytes_below, number_of, remove_trace
from strata.record.lttng import Lttng
from strata.units import format_size

Say = Callable[[str], None]

_ARCHIVES = "archives"
# Begin and end, by the local time, and a number.
_CHUNK = re.compile(r"\d{8}T\d{6}[+-]\d{4}-(\d{8}T\d{6}[+-]\d{4})-(\d+)")

# A drop loses a chunk at once: with eight at least three quarters of the size stay in use, and
# rotations, each of which ends a packet on every CPU, stay rare.
_CHUNKS = 8
# Names are there up to five times, those of the next four chunks made ahead.
_NAMES_SHARE = 32
# Of the size, for what full buffers hold when nobody says how much that is.
_BUFFERS_SHARE = 4
_SMALLEST = 16 << 20
# From one look to the next, a rotation included; and how long names may be waited for besides.
_UNTIL_NEXT_S = 1.2
_AHEAD_S = 3.0
_BETWEEN_LOOKS_S = 0.5
_LOOKS = 30
# Over a longer time no rate can be told.
_GAP_S = 5.0
_ROTATION_S = 30.0
_RETRY_S = 2.0
_ATTEMPTS = 3
_PATIENCE_S = 30.0


def minimum_bytes(channel: Channel, cpus: int) -> int:
    """Give the least size to which a recording with these buffers can be kept, in bytes.

    A flush may write all buffers at once, and that must be no more than a quarter.
    """
    return max(_SMALLEST, _BUFFERS_SHARE * channel.bytes_on(cpus))


class Rotation:
    """Rotates one session's trace and drops its oldest chunks. Nothing here raises.

    `trace` is the session's output directory. `look` is to be called about once a second while
    the command runs, `end` once the session is stopped. The size of the directory then stays below
    `max_bytes` as long as no more than the buffers and what is recorded within 1.2 s (at the
    highest rate of the last 30 looks) come between two looks. `failed` tells that the size cannot
    be kept any more: the session is to be stopped. `problems` are sentences for the user.
    `buffer_bytes` is what the ring buffers hold; null: a quarter of `max_bytes`.
    """

    def __init__(
        self,
        lttng: Lttng,
        session: str,
        trace: Path,
        max_bytes: int,
        say: Say,
        *,
        buffer_bytes: int | None = None,
    ) -> None:
        self.problems: list[str] = []
        self.failed = False
        self._lttng = lttng
        self._session = session
        self._trace = trace
        self._max = max_bytes
        self._say = say
        self._buffers = max_bytes // _BUFFERS_SHARE if buffer_bytes is None else buffer_bytes
        self._sizes: dict[Path, int] = {}
        self._looked_s = -_BETWEEN_LOOKS_S
        self._grown: list[float] = []
        self._ever = 0
        self._rotating_since: float | None = None
        self._archived = 0
        self._failures = 0
        self._not_before_s = 0.0
        self._names = KeptNames(trace / _ARCHIVES, max_bytes // _NAMES_SHARE, lttng.environment)
        self._nameless = 0
        self._rotated = self._dropped = self._dropped_bytes = self._largest = 0
        self._kept_since: str | None = None

    def look(self, *, now: bool = False) -> None:
        """Rotate and drop as needed; does nothing when called again within half a second."""
        before, self._looked_s = self._looked_s, time.monotonic()
        if not now and self._looked_s - before < _BETWEEN_LOOKS_S:
            self._looked_s = before
            return
        try:
            self._look(self._looked_s - before)
        except OSError as error:
            self._problem(f"Cannot keep {self._trace} within its size: {error}.")
            self.failed = True

    def end(self) -> None:
        """Drop what the stopped session has too much, and what was prepared for drops to come."""
        try:
            chunks = self._chunks()
            self._watch_rotation(chunks)
            current = self._current_bytes()
            self._largest = max(self._largest, self._total(chunks, current))
            while chunks and self._total(chunks, current) > self._max:
                self._names.prepare(chunks)
                self._names.poll(patience_s=_PATIENCE_S)
                self._drop(chunks.pop(0))
            self._names.end()
        except OSError as error:
            self._problem(f"Cannot keep {self._trace} within its size: {error}.")

    def as_json(self) -> dict[str, Any]:
        """Give what the manifest says of it; `kept_since_utc` is null when nothing was dropped."""
        return {
            "max_bytes": self._max,
            "largest_bytes": self._largest,
            "chunks_rotated": self._rotated,
            "chunks_dropped": self._dropped,
            "bytes_dropped": self._dropped_bytes,
            "chunks_dropped_without_names": self._nameless,
            "kept_names_bytes": self._names_bytes(),
            "kept_since_utc": self._kept_since,
        }

    def _look(self, elapsed_s: float) -> None:
        chunks = self._chunks()
        current = self._current_bytes()
        total = self._total(chunks, current)
        self._follow(total, elapsed_s)
        self._watch_rotation(chunks)
        if current >= self._max // _CHUNKS:
            self._rotate(chunks)
        self._names.poll()
        rate = max(self._grown, default=0)
        at_once = self._buffers + int(_UNTIL_NEXT_S * rate)
        ahead = self._buffers + int(_AHEAD_S * rate)
        # What is being made is about as large as what it will take the place of.
        ahead += AHEAD * self._names_bytes()
        while chunks and total + ahead > self._max:
            self._names.prepare(chunks)
            if self._names.may_come(chunks[0]) and total + at_once <= self._max:
                break
            self._drop(chunks.pop(0))
            total = self._total(chunks, current)
        # Names are made while there is still room for what comes meanwhile.
        if total + ahead > self._max // 2:
            self._names.prepare(chunks)
        if not chunks and total + self._buffers > self._max:
            self._fail(total)

    def _follow(self, total: int, elapsed_s: float) -> None:
        """Follow how fast the trace grows."""
        self._largest = max(self._largest, total)
        ever = total + self._dropped_bytes
        if elapsed_s < _GAP_S:
            self._grown.append(max(0, ever - self._ever) / max(elapsed_s, _BETWEEN_LOOKS_S))
            del self._grown[:-_LOOKS]
        self._ever = ever

    def _fail(self, total: int) -> None:
        if not self.failed:
            self._problem(
                f"Cannot keep {self._trace} within {format_size(self._max)}: it has "
                f"{format_size(total)}, and none of it can be dropped. Give --max-size a larger "
                "SIZE, or record fewer events."
            )
        self.failed = True

    def _problem(self, text: str) -> None:
        if text not in self.problems:
            self.problems.append(text)
            self._say(text)

    # What is there.

    def _chunks(self) -> list[Path]:
        """Archived chunks, the oldest first."""
        archives = self._trace / _ARCHIVES
        try:
            found = [place for place in archives.iterdir() if _CHUNK.fullmatch(place.name)]
        except FileNotFoundError:
            return []
        return sorted(found, key=number_of)

    def _current_bytes(self) -> int:
        with os.scandir(self._trace) as entries:
            return sum(bytes_below(Path(e.path)) for e in entries if e.name != _ARCHIVES)

    def _total(self, chunks: list[Path], current: int) -> int:
        """Sum up the trace; an archived chunk does not change, and is looked at once."""
        self._sizes = {
            chunk: self._sizes[chunk] if chunk in self._sizes else bytes_below(chunk)
            for chunk in chunks
        }
        names = sum(bytes_below(place) for place in self._names.places())
        return current + sum(self._sizes.values()) + names

    def _names_bytes(self) -> int:
        return bytes_below(self._names.current) if self._names.current else 0

    # Rotating.

    def _watch_rotation(self, chunks: list[Path]) -> None:
        if self._rotating_since is None:
            return
        newest = number_of(chunks[-1]) if chunks else -1
        waited_s = time.monotonic() - self._rotating_since
        if newest > self._archived:
            self._rotating_since = None
            self._archived = newest
            self._failures = 0
            self._rotated += 1
        elif waited_s > _ROTATION_S:
            self._rotating_since = None
            self._rotation_failed(f"the chunk was not archived within {_ROTATION_S:.0f} s")

    def _rotate(self, chunks: list[Path]) -> None:
        if self._rotating_since is not None or time.monotonic() < self._not_before_s or self.failed:
            return
        self._archived = number_of(chunks[-1]) if chunks else -1
        try:
            self._lttng.rotate(self._session)
            self._rotating_since = time.monotonic()
        except SessionError as error:
            self._rotation_failed(str(error))

    def _rotation_failed(self, why: str) -> None:
        self._failures += 1
        self._not_before_s = time.monotonic() + _RETRY_S
        self._problem(f"The recording could not be rotated, as --max-size needs: {why}")
        if self._failures >= _ATTEMPTS:
            self._problem(
                f"The size of {self._trace} cannot be limited: rotating it failed {_ATTEMPTS} "
                "times in a row."
            )
            self.failed = True

    # Dropping.

    def _drop(self, chunk: Path) -> None:
        why_not = self._names.take_over(chunk)
        if why_not is not None:
            self._nameless += 1
            self._problem(f"Names from a dropped part (--max-size) are lost: {why_not}")
        if not self._dropped:
            self._say(
                f"the trace is near {format_size(self._max)} (--max-size): its oldest part is "
                "dropped from now on, except the names in it"
            )
        self._dropped += 1
        self._dropped_bytes += self._sizes.pop(chunk)
        self._kept_since = _end_of(chunk).isoformat()
        remove_trace(chunk)


def _end_of(chunk: Path) -> datetime:
    match = _CHUNK.fullmatch(chunk.name)
    assert match is not None, chunk
    return datetime.strptime(match[1], "%Y%m%dT%H%M%S%z").astimezone(UTC)
