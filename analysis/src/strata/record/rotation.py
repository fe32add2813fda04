# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Keep a trace within a size or a time while it is recorded: rotate it, drop the oldest chunks.

LTTng writes into a *chunk*, a directory with all streams. A rotation ends it and moves it to
`archives/`; only such a chunk can be dropped. What names things in it is kept
(strata.record.kept_names).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from strata.errors import SessionError
from strata.record.chunks import Chunks, end_of
from strata.record.config import Channel
from strata.record.kept_names import AHEAD, KeptNames, bytes_below, number_of
from strata.record.lttng import Lttng
from strata.units import format_size

Say = Callable[[str], None]

# What asks for a rotation, or a drop: the user's options.
_SIZE, _KEEP, _ROTATE = "--max-size", "--keep", "--rotate"

# A drop loses a chunk at once: with eight at least three quarters of the size stay in use, and
# rotations, each of which ends a packet on every CPU, stay rare.
_CHUNKS = 8
# Names are there up to five times, those of the next four chunks made ahead.
_NAMES_SHARE = 32
# Without a size: they are read and written again for every chunk that is dropped.
_NAMES_BYTES = 64 << 20
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
# Of --rotate: the least, which leaves a rotation and who reads names time to end; and what it is
# where only --keep is given.
_LEAST_ROTATE_S = 5.0
_ROTATE_BOUNDS_S = 10.0, 600.0
# A chunk is dropped whole: of fewer, most of what is there would be older than was asked for.
_LEAST_KEPT_CHUNKS = 2


def minimum_bytes(channel: Channel, cpus: int) -> int:
    """Give the least size to which a recording with these buffers can be kept, in bytes.

    A flush may write all buffers at once, and that must be no more than a quarter.
    """
    return max(_SMALLEST, _BUFFERS_SHARE * channel.bytes_on(cpus))


@dataclass(frozen=True)
class Limits:
    """What a trace is kept within: null for what does not matter, but one is given.

    `max_bytes`: its size. `keep_s`: what was recorded in this time, up to now, is kept; older
    chunks are dropped. `rotate_s`: no chunk is longer than that.
    """

    max_bytes: int | None = None
    keep_s: float | None = None
    rotate_s: float | None = None

    @classmethod
    def chosen(
        cls, max_bytes: int | None, keep_s: float | None, rotate_s: float | None
    ) -> Limits | None:
        """Give the limits that these options mean; null where none is given."""
        if max_bytes is None and keep_s is None and rotate_s is None:
            return None
        if keep_s is not None and rotate_s is None:
            least, most = _ROTATE_BOUNDS_S
            rotate_s = min(max(keep_s / _CHUNKS, least), most)
        return cls(max_bytes, keep_s, rotate_s)

    @property
    def contradiction(self) -> str | None:
        """Return why these times are not possible, as a sentence for the user; else null."""
        if self.rotate_s is None:
            return None
        if self.rotate_s < _LEAST_ROTATE_S:
            return f"--rotate {self.rotate_s:g}s is too often: at least {_LEAST_ROTATE_S:g}s."
        least = _LEAST_KEPT_CHUNKS * self.rotate_s
        if self.keep_s is not None and self.keep_s < least:
            return (
                f"--keep {self.keep_s:g}s is too short for chunks of {self.rotate_s:g}s "
                f"(--rotate): it must be at least {_LEAST_KEPT_CHUNKS} of them, {least:g}s. "
                f"Raise it, or lower --rotate (at least {_LEAST_ROTATE_S:g}s)."
            )
        return None


class Rotation:
    """Rotates one session's trace and drops its oldest chunks. Nothing here raises.

    `trace` is the session's output directory. `look` is to be called about once a second while
    the command runs, `end` once the session is stopped. With a size its directory then stays below
    `max_bytes` as long as no more than the buffers and what is recorded within 1.2 s (at the
    highest rate of the last 30 looks) come between two looks. `failed` says that the size cannot
    be kept any more: the session is to be stopped. Without a size it never is: only more is kept.
    `problems` are sentences for the user. `buffer_bytes` is what the ring buffers hold; null: a
    quarter of `max_bytes`. `clock` gives seconds that only go forward, unlike the system's time.
    """

    def __init__(
        self,
        lttng: Lttng,
        session: str,
        trace: Path,
        limits: Limits,
        say: Say,
        *,
        buffer_bytes: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.problems: list[str] = []
        self.failed = False
        self._lttng = lttng
        self._session = session
        self._trace = trace
        self._limits = limits
        self._say = say
        self._clock = clock
        size = limits.max_bytes
        self._buffers = (size or 0) // _BUFFERS_SHARE if buffer_bytes is None else buffer_bytes
        self._chunks = Chunks(trace)
        self._seen_s: dict[Path, float] = {}
        self._looked_s = -_BETWEEN_LOOKS_S
        self._grown: list[float] = []
        self._ever = 0
        self._begun_s = clock()
        self._rotating_since: float | None = None
        self._asked_by = _SIZE
        self._archived = 0
        self._failures = 0
        self._not_before_s = 0.0
        budget = _NAMES_BYTES if size is None else size // _NAMES_SHARE
        self._names = KeptNames(self._chunks.archives, budget, lttng.environment)
        self._nameless = 0
        self._rotated = self._dropped = self._dropped_bytes = self._largest = 0
        self._dropped_for: set[str] = set()
        self._kept_since: str | None = None

    def look(self, *, now: bool = False) -> None:
        """Rotate and drop as needed; does nothing when called again within half a second."""
        before, self._looked_s = self._looked_s, self._clock()
        if not now and self._looked_s - before < _BETWEEN_LOOKS_S:
            self._looked_s = before
            return
        try:
            self._look(self._looked_s - before)
        except OSError as error:
            self._refused(error)
            self.failed = self._limits.max_bytes is not None

    def end(self) -> None:
        """Drop what the stopped session has too much, and what was prepared for drops to come.

        That is by size only: of the time that was kept, nothing is older than at the last look.
        """
        most = self._limits.max_bytes
        try:
            chunks = self._chunks.archived()
            self._watch_rotation(chunks)
            current = self._chunks.current_bytes()
            self._largest = max(self._largest, self._total(chunks, current))
            while most is not None and chunks and self._total(chunks, current) > most:
                self._names.prepare(chunks)
                self._names.poll(patience_s=_PATIENCE_S)
                self._drop(chunks.pop(0), _SIZE)
            self._names.end()
        except OSError as error:
            self._refused(error)

    def as_json(self) -> dict[str, Any]:
        """Give what the manifest says of it; `kept_since_utc` is null when nothing was dropped."""
        return {
            "max_bytes": self._limits.max_bytes,
            "keep_s": self._limits.keep_s,
            "rotate_s": self._limits.rotate_s,
            "largest_bytes": self._largest,
            "chunks_rotated": self._rotated,
            "chunks_dropped": self._dropped,
            "bytes_dropped": self._dropped_bytes,
            "chunks_dropped_without_names": self._nameless,
            "kept_names_bytes": self._names_bytes(),
            "kept_since_utc": self._kept_since,
        }

    def _look(self, elapsed_s: float) -> None:
        chunks = self._chunks.archived()
        self._seen_s = {chunk: self._seen_s.get(chunk, self._looked_s) for chunk in chunks}
        current = self._chunks.current_bytes()
        self._follow(self._total(chunks, current), elapsed_s)
        self._watch_rotation(chunks)
        asked_by = self._asks_for_rotation(current)
        if asked_by is not None:
            self._rotate(chunks, asked_by)
        self._names.poll()
        self._drop_old(chunks)
        if self._limits.max_bytes is not None:
            self._drop_beyond(self._limits.max_bytes, chunks, current)

    def _follow(self, total: int, elapsed_s: float) -> None:
        """Follow how fast the trace grows."""
        self._largest = max(self._largest, total)
        ever = total + self._dropped_bytes
        if elapsed_s < _GAP_S:
            self._grown.append(max(0, ever - self._ever) / max(elapsed_s, _BETWEEN_LOOKS_S))
            del self._grown[:-_LOOKS]
        self._ever = ever

    def _refused(self, error: OSError) -> None:
        if self._limits.max_bytes is None:
            self._problem(f"Cannot rotate {self._trace}, or drop its oldest part: {error}.")
        else:
            self._problem(f"Cannot keep {self._trace} within its size: {error}.")

    def _problem(self, text: str) -> None:
        if text not in self.problems:
            self.problems.append(text)
            self._say(text)

    def _total(self, chunks: list[Path], current: int) -> int:
        names = sum(bytes_below(place) for place in self._names.places())
        return current + sum(map(self._chunks.bytes_of, chunks)) + names

    def _names_bytes(self) -> int:
        return bytes_below(self._names.current) if self._names.current else 0

    # Rotating.

    def _asks_for_rotation(self, current: int) -> str | None:
        """Return the option for which the chunk that is written should end now; else null."""
        most, rotate_s = self._limits.max_bytes, self._limits.rotate_s
        if most is not None and current >= most // _CHUNKS:
            return _SIZE
        # At the next look it would be too long.
        if rotate_s is not None and self._clock() - self._begun_s >= rotate_s - _UNTIL_NEXT_S:
            return _ROTATE if self._limits.keep_s is None else _KEEP
        return None

    def _watch_rotation(self, chunks: list[Path]) -> None:
        if self._rotating_since is None:
            return
        newest = number_of(chunks[-1]) if chunks else -1
        waited_s = self._clock() - self._rotating_since
        if newest > self._archived:
            self._rotating_since = None
            self._archived = newest
            self._failures = 0
            self._rotated += 1
        elif waited_s > _ROTATION_S:
            self._rotating_since = None
            self._rotation_failed(f"the chunk was not archived within {_ROTATION_S:.0f} s")

    def _rotate(self, chunks: list[Path], asked_by: str) -> None:
        if self._rotating_since is not None or self._clock() < self._not_before_s or self.failed:
            return
        self._archived = number_of(chunks[-1]) if chunks else -1
        self._asked_by = asked_by
        try:
            self._lttng.rotate(self._session)
            self._begun_s = self._rotating_since = self._clock()
        except SessionError as error:
            self._rotation_failed(str(error))

    def _rotation_failed(self, why: str) -> None:
        self._failures += 1
        last = self._failures >= _ATTEMPTS
        self._not_before_s = self._clock() + _RETRY_S
        text = f"The recording could not be rotated, as {self._asked_by} needs: {why}"
        if self._limits.max_bytes is not None:
            self._problem(text)
            if last:
                self._problem(
                    f"The size of {self._trace} cannot be limited: rotating it failed {_ATTEMPTS} "
                    "times in a row."
                )
                self.failed = True
        elif last:
            # Nothing runs full: what failed before may be made up for, and no event is lost.
            self._problem(text)
            self._not_before_s = self._clock() + (self._limits.rotate_s or 0)

    # Dropping.

    def _drop_old(self, chunks: list[Path]) -> None:
        """Drop the chunks that ended too long ago, and take them off the list.

        A chunk's end is taken to be when it was seen first, soon after it. Names may take as long
        as they need.
        """
        keep_s = self._limits.keep_s
        while keep_s is not None and chunks:
            if self._looked_s - self._seen_s[chunks[0]] <= keep_s:
                return
            if self._names.may_come(chunks[0]):
                # Those of younger chunks too, as the process costs more than its work.
                self._names.prepare(chunks)
                return
            self._drop(chunks.pop(0), _KEEP)

    def _drop_beyond(self, most: int, chunks: list[Path], current: int) -> None:
        """Drop chunks before the size is passed."""
        total = self._total(chunks, current)
        rate = max(self._grown, default=0)
        at_once = self._buffers + int(_UNTIL_NEXT_S * rate)
        ahead = self._buffers + int(_AHEAD_S * rate)
        # What is being made is about as large as what it will take the place of.
        ahead += AHEAD * self._names_bytes()
        while chunks and total + ahead > most:
            self._names.prepare(chunks)
            if self._names.may_come(chunks[0]) and total + at_once <= most:
                break
            self._drop(chunks.pop(0), _SIZE)
            total = self._total(chunks, current)
        # Names are made while there is still room for what comes meanwhile.
        if total + ahead > most // 2:
            self._names.prepare(chunks)
        if not chunks and total + self._buffers > most:
            self._fail(total, most)

    def _fail(self, total: int, most: int) -> None:
        if not self.failed:
            self._problem(
                f"Cannot keep {self._trace} within {format_size(most)}: it has "
                f"{format_size(total)}, and none of it can be dropped. Give --max-size a larger "
                "SIZE, or record fewer events."
            )
        self.failed = True

    def _drop(self, chunk: Path, option: str) -> None:
        why_not = self._names.take_over(chunk)
        if why_not is not None:
            self._nameless += 1
            self._problem(f"Names from a dropped part ({option}) are lost: {why_not}")
        if option not in self._dropped_for:
            self._dropped_for.add(option)
            self._say_dropped(option)
        self._kept_since = end_of(chunk).isoformat()
        self._dropped += 1
        self._dropped_bytes += self._chunks.remove(chunk)

    def _say_dropped(self, option: str) -> None:
        if option == _SIZE:
            why = f"is near {format_size(self._limits.max_bytes or 0)}"
        else:
            why = f"goes back more than {self._limits.keep_s:g} s"
        self._say(
            f"the trace {why} ({option}): its oldest part is dropped from now on, except the "
            "names in it"
        )
