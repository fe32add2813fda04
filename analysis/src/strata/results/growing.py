# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A results directory that grows with a recording: each chunk is analyzed once it is complete.

    |--- lead ---|------------ counted ------------|--- tail ---|
              since                              until        end of the chunk

A window is the chunk and the end of the one before it. What began in the counted part is added; the
lead has what caused it, the tail how it ended. So something that takes longer than the tail is cut
off there, and a cause that is older than the lead is not known. Memory is that of one window.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from strata.errors import OutputError, TraceError
from strata.printable import path_text
from strata.read import open_trace
from strata.read.announced import ANNOUNCEMENTS, read_announced
from strata.read.discover import find_traces
from strata.read.manifest import describe_machine, read_manifest
from strata.read.recording import recording_problems
from strata.read.results import (
    Contents,
    ResultsDirectory,
    add_part,
    is_results,
    open_results,
    write_contents,
)
from strata.results.chunks import Chunk, Chunks, Stage, span_of
from strata.results.known import Known
from strata.results.window import analyze_window
from strata.results.window_rows import Span, plain_arrow
from strata.results.window_sums import count_events, loss_rows
from strata.schema import tables
from strata.schema.rows import Rows
from strata.schema.stored import PROCESS_EVENTS, WINDOWS

LEAD_NS, TAIL_NS = 10_000_000_000, 5_000_000_000
RESULTS_NAME = "results"
"""The directory's name in that of the recording."""
_FAR = int(np.iinfo(np.int64).max)
_STAGE = ".window"
_DROPPED = "chunks were dropped before they were analyzed"


@dataclass(frozen=True)
class Grown:
    """What a step added: the chunk's name, how many messages, why it could not be read."""

    chunk: str
    messages: int = 0
    unread: str = ""


class Growing:
    """Adds the chunks of a recording to a results directory; goes on where it was stopped."""

    def __init__(self, session: Path, target: Path) -> None:
        """Open or make the directory. Raises TraceError and OutputError."""
        if not session.is_dir():
            # It says what is wrong.
            find_traces(session)
        self._directory = _open(session, target)
        self.chunks = Chunks(session, self.contents.last_chunk)
        self._stage = Stage(target / _STAGE)
        self._known = Known(self._directory)
        self._known.names.add(read_announced(session))
        self._chunk_end_ns: int | None = None
        if self.contents.windows:
            with _writing(target):
                self._stage_former()

    @property
    def contents(self) -> Contents:
        """What the directory has until now."""
        return self._directory.contents

    def step(self) -> Grown | None:
        """Analyze the next chunk; null while there is none.

        A chunk that cannot be read is noted, and passed over. Raises OutputError.
        """
        chunk = None if self.contents.complete else self.chunks.take()
        if chunk is None:
            return None
        with _writing(self._directory.path):
            try:
                return self._add(chunk)
            except TraceError as error:
                self._pass_over(chunk, str(error))
                return Grown(chunk.name, unread=str(error))

    def finish(self) -> None:
        """Add what the last chunk's tail has; the recording has ended. Raises OutputError."""
        if not self.contents.windows:
            # There was no chunk: it says what there is.
            find_traces(self.chunks.trace)
        with _writing(self._directory.path):
            if not self.contents.complete:
                problems = _problem_rows(self.chunks.session)
                if len(self._stage):
                    with contextlib.suppress(TraceError):
                        self._window(None, None, _FAR)
                add_part(self._directory, {"losses": problems}, self.contents)
                write_contents(self._directory, replace(self.contents, complete=True))
            self._stage.remove()

    def _add(self, chunk: Chunk) -> Grown:
        before = -1 if self.contents.last_chunk is None else self.contents.last_chunk
        if chunk.number is not None and chunk.number != before + 1:
            self._note_dropped(chunk.number)
        place = self._stage.put(chunk)
        span = span_of(place)
        if span is None:
            self._stage.drop(place)
            fresh = replace(self.contents, last_chunk=_last_of(self.contents, chunk))
            write_contents(self._directory, fresh)
            return Grown(chunk.name)
        self._stage.keep(place, span[1])
        if self.contents.until_ns is None:
            self._directory.contents = replace(self.contents, until_ns=span[0] - 1)
        messages = self._window(chunk, place, span[1] - TAIL_NS)
        self._chunk_end_ns = span[1]
        self._stage.drop_before((self.contents.until_ns or 0) - LEAD_NS)
        return Grown(chunk.name, messages)

    def _window(self, chunk: Chunk | None, place: Path | None, until_ns: int) -> int:
        """Analyze what is staged, and add what is new of it; return the number of messages."""
        contents = self.contents
        since_ns = contents.until_ns
        assert since_ns is not None
        until_ns = max(since_ns, until_ns)
        begin_ns = since_ns - LEAD_NS if contents.windows else None
        trace = open_trace(self._stage.place)
        added, ambiguous = analyze_window(trace, Span(begin_ns, since_ns, until_ns), self._known)
        places = {str(self._stage.place): str(self.chunks.trace)}
        added["losses"] = plain_arrow(loss_rows(trace, self._chunk_end_ns, places))
        end_ns = int(trace.decoder.packets["end_ns"].max())
        fresh = replace(
            contents,
            until_ns=min(until_ns, end_ns),
            next_numbers=dict(self._known.numbers.next_numbers),
            last_chunk=_last_of(contents, chunk),
        )
        events = 0
        if place is not None:
            counted = count_events(open_trace(place))
            events = counted.events
            added[PROCESS_EVENTS.name] = plain_arrow(counted.processes)
            begin_ns = counted.begin_ns if contents.begin_ns is None else contents.begin_ns
            end_ns = max(contents.end_ns or 0, counted.end_ns)
            fresh = replace(fresh, begin_ns=begin_ns, end_ns=end_ns)
        added[WINDOWS.name] = self._window_row(chunk, fresh.until_ns or 0, events, ambiguous)
        add_part(self._directory, added, fresh)
        self._known.names.take(trace, end_ns)
        return len(added.get("messages", ()))

    def _window_row(
        self, chunk: Chunk | None, until_ns: int, events: int = 0, ambiguous: int = 0, why: str = ""
    ) -> pa.Table:
        row = {
            "number": self.contents.windows,
            "chunk": "" if chunk is None else chunk.name,
            "begin_ns": self.contents.until_ns or 0,
            "end_ns": until_ns,
            "events": events,
            "ambiguous": ambiguous,
            "unread": why or None,
        }
        return plain_arrow(Rows.of_records(WINDOWS, [row]))

    def _pass_over(self, chunk: Chunk, why: str) -> None:
        """Note that a chunk could not be read: a loss."""
        until_ns = self.contents.until_ns or 0
        lost = {"code": "unreadable_traces", "count": 1, "place": f"{chunk.name}: {why}"}
        added = {
            "losses": plain_arrow(Rows.of_records(tables.LOSSES, [lost])),
            WINDOWS.name: self._window_row(chunk, until_ns, why=why),
        }
        fresh = replace(self.contents, last_chunk=_last_of(self.contents, chunk))
        add_part(self._directory, added, fresh)

    def _note_dropped(self, number: int) -> None:
        """Note that the chunks before a number were dropped too early, and take their names."""
        self._pass_over(Chunk(number - 1, "(dropped)", ()), _DROPPED)
        self._take_dropped_names()

    def _take_dropped_names(self) -> None:
        place = self.chunks.dropped_names()
        if place is not None:
            with contextlib.suppress(TraceError):
                self._known.names.add(open_trace(place).tables(ANNOUNCEMENTS))

    def _stage_former(self) -> None:
        """Learn the names of the chunks before; the last of them are the next one's lead."""
        last = -1 if self.contents.last_chunk is None else self.contents.last_chunk
        self._take_dropped_names()
        former = Chunks(self.chunks.session)
        while (chunk := former.take()) and chunk.number is not None and chunk.number <= last:
            with contextlib.suppress(TraceError):
                place = self._stage.put(chunk)
                span = span_of(place)
                if span is not None:
                    self._known.names.take(open_trace(place), span[1])
                    self._stage.keep(place, span[1])
                    self._chunk_end_ns = span[1]
            self._stage.drop_before((self.contents.until_ns or 0) - LEAD_NS)


def _open(session: Path, target: Path) -> ResultsDirectory:
    manifest = read_manifest(session) or {}
    recording = str(manifest.get("session") or "")
    if is_results(target):
        found = open_results(target)
        if found.contents.recording != recording:
            raise OutputError(
                f"Cannot write results into {target}: it has those of another recording. Give "
                "another directory with -o."
            )
        return found
    with _writing(target):
        target.mkdir(parents=True, exist_ok=True)
        if any(target.iterdir()):
            raise OutputError(
                f"Cannot write results into {target}: it contains other files. Give another "
                "directory with -o."
            )
        contents = Contents(path_text(session.resolve()), recording, describe_machine(manifest))
        directory = ResultsDirectory(target, contents)
        write_contents(directory, contents)
    return directory


@contextlib.contextmanager
def _writing(target: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, pa.ArrowException) as error:
        why = getattr(error, "strerror", None) or error
        raise OutputError(
            f"Cannot write results into {target}: {why}. Check the directory and the disk."
        ) from error


def _last_of(contents: Contents, chunk: Chunk | None) -> int | None:
    return contents.last_chunk if chunk is None or chunk.number is None else chunk.number


def _problem_rows(session: Path) -> pa.Table:
    """What the recording's manifest says is wrong with it, as losses."""
    problems = recording_problems(session, [])
    rows = [{"code": one.code, "count": 1, "place": one.text} for one in problems]
    return plain_arrow(Rows.of_records(tables.LOSSES, rows))
