# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The trace chunks of a recording, one after the other, each with the end of the one before.

    TRACE/archives/<begin>-<end>-<N>     chunks that are complete
    TRACE/archives/names-N               names of what was dropped (strata.record.kept_names)
    TRACE/...                            a recording that was never rotated; while it goes on, the
                                         chunk that is being written

A chunk is put beside its predecessor by hard links, so that one that is dropped meanwhile can still
be read; where the file system has none, by symbolic ones.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from strata.errors import TraceError
from strata.read import open_trace
from strata.read.announced import ANNOUNCEMENTS
from strata.read.manifest import session_of
from strata.record.chunks import ARCHIVES, archived
from strata.record.directory import TRACE, read_state
from strata.record.kept_names import number_of

_NAMES = "names-"
_OF_NAMES = re.compile(rf"{_NAMES}(\d+)")


@dataclass(frozen=True)
class Chunk:
    """A part of a recording in time; `number` counts from 0.

    `places` is where it is, or the directories that make it up.
    """

    number: int
    name: str
    places: tuple[Path, ...]


class Chunks:
    """The chunks of one session: those after number `after` that are there, as they come."""

    def __init__(self, session: Path, after: int | None = None) -> None:
        self.session = session_of(session) or session
        own = self.session / TRACE
        self.trace = own if own.is_dir() else self.session
        self._after = -1 if after is None else after

    @property
    def is_recorded(self) -> bool:
        """Whether it is being recorded now."""
        state = read_state(self.session)
        return state is not None and state.recorder_alive

    def dropped_names(self) -> dict[str, pa.Table]:
        """Return the announcements in what was dropped, one table an event; none if nothing was.

        Others are made ahead, and do not count before the chunk is dropped.
        """
        found = [
            (int(match[1]), place)
            for place in (self.trace / ARCHIVES).glob(f"{_NAMES}*")
            if (match := _OF_NAMES.fullmatch(place.name)) and any(place.rglob("metadata"))
        ]
        if not found:
            return {}
        try:
            return open_trace(max(found)[1]).tables(ANNOUNCEMENTS)
        except TraceError:
            return {}

    def take(self) -> Chunk | None:
        """Return the next complete chunk; null while there is none, or none will come."""
        # Asked first: what is archived after the end was seen is there then.
        ended = not self.is_recorded
        number = -1
        for place in archived(self.trace):
            number = number_of(place)
            if number > self._after:
                self._after = number
                return Chunk(number, place.name, (place,))
        rest = tuple(self._rest()) if ended and number + 1 > self._after else ()
        if not rest:
            return None
        self._after = number + 1
        return Chunk(self._after, self.trace.name, rest)

    def _rest(self) -> Iterator[Path]:
        """Yield what was recorded after the last rotation: directories with traces in them."""
        for place in sorted(self.trace.iterdir()):
            if place.is_dir() and place.name != ARCHIVES and any(place.rglob("metadata")):
                yield place
        for place in sorted((self.trace / ARCHIVES).glob("interrupted-*")):
            yield place
        if (self.trace / "metadata").is_file():
            yield self.trace


class Stage:
    """A directory in which chunks stand beside each other: those that the next window needs."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self._ends_ns: dict[Path, int] = {}
        shutil.rmtree(place, ignore_errors=True)

    def __len__(self) -> int:
        return len(self._ends_ns)

    def put(self, chunk: Chunk) -> Path:
        """Put a chunk into the directory, and return where it is. Raises OSError."""
        target = self.place / chunk.name
        for place in chunk.places:
            _link(place, target if len(chunk.places) == 1 else target / place.name)
        return target

    def keep(self, chunk: Path, end_ns: int) -> None:
        """Keep a chunk for windows to come; `end_ns` is that of its last packet."""
        self._ends_ns[chunk] = end_ns

    def drop(self, chunk: Path) -> None:
        """Remove a chunk."""
        self._ends_ns.pop(chunk, None)
        shutil.rmtree(chunk, ignore_errors=True)

    def drop_before(self, begin_ns: int) -> None:
        """Remove the chunks that were over before an instant."""
        for chunk, end_ns in list(self._ends_ns.items()):
            if end_ns < begin_ns:
                self.drop(chunk)

    def remove(self) -> None:
        """Remove the directory."""
        shutil.rmtree(self.place, ignore_errors=True)


def _link(place: Path, target: Path) -> None:
    seen: set[str] = set()
    for directory, inner, files in os.walk(place, followlinks=True):
        if directory == str(place):
            # Of a recording that was never rotated; a chunk has none.
            inner[:] = [name for name in inner if name != ARCHIVES]
        whole = os.path.realpath(directory)
        if whole in seen:
            # A loop of links.
            inner[:] = []
            continue
        seen.add(whole)
        inside = target / Path(directory).relative_to(place)
        inside.mkdir(parents=True, exist_ok=True)
        for file in files:
            source = Path(directory, file)
            try:
                os.link(source, inside / file)
            except OSError:
                (inside / file).symlink_to(source.resolve())


def span_of(chunk: Path) -> tuple[int, int] | None:
    """Return first and last instant of the packets of a chunk, ns since the epoch.

    Null for one without packets. Raises TraceError.
    """
    try:
        packets = open_trace(chunk).decoder.packets
    except TraceError:
        if has_events(chunk):
            raise
        return None
    if not len(packets["begin_ns"]):
        return None
    return int(packets["begin_ns"].min()), int(packets["end_ns"].max())


def has_events(trace: Path) -> bool:
    """Return whether any stream of a trace has a byte; one without cannot be opened."""
    return any(
        path.is_file() and path.stat().st_size
        for path in trace.rglob("*")
        if path.name != "metadata" and path.parent.name != "index"
    )
