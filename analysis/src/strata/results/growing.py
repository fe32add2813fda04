# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A results directory that grows with a recording: each chunk is analyzed once it is complete.

    |--- lead ---|------------ counted ------------|--- tail ---|
              since                              until        end of the chunk

A window is a chunk and the end of the one before it; of a chunk of many events there are several
windows. What began in the counted part is added; the lead has what caused it, the tail how it
ended. So something that takes longer than the tail is cut off there, and a cause that is older than
the lead is not known. Memory is that of one window.
"""

from __future__ import annotations

import contextlib
import fcntl
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

import numpy as np
import pyarrow as pa

from strata.errors import OutputError, TraceError
from strata.live.chunks import Chunk, Chunks, Stage, span_of
from strata.printable import path_text
from strata.read import open_trace
from strata.read.announced import read_announced
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
from strata.record.chunks import ARCHIVES
from strata.results.known import Known
from strata.results.window import analyze_window
from strata.results.window_rows import Span, plain_arrow
from strata.results.window_sums import Counted, count_events, loss_rows
from strata.schema import tables
from strata.schema.rows import Rows
from strata.schema.stored import PROCESS_EVENTS, WINDOWS

_FAR = int(np.iinfo(np.int64).max)
_STAGE, _LOCK = ".window", ".lock"
_DROPPED = "they were dropped before"


@dataclass(frozen=True)
class Pace:
    """How long lead and tail of a window are, in ns, and about how many events it has at most."""

    lead_ns: int = 10_000_000_000
    tail_ns: int = 5_000_000_000
    most_events: int = 3_000_000


_PACE = Pace()


@dataclass(frozen=True)
class Grown:
    """What a step added: the chunk's name, how many messages, why it could not be read."""

    chunk: str
    messages: int = 0
    unread: str = ""


class Growing:
    """Adds the chunks of a recording to a results directory; goes on where it was stopped."""

    def __init__(self, session: Path, target: Path, pace: Pace = _PACE) -> None:
        """Open or make the directory. Raises TraceError and OutputError."""
        self._pace = pace
        chunks = Chunks(session)
        if not chunks.is_recorded:
            # It says what is wrong.
            find_traces(chunks.trace)
        self._lock = _locked(target)
        self._directory = _open(session, target)
        self.chunks = Chunks(session, self.contents.last_chunk)
        self._stage = Stage(target / _STAGE)
        self._known = Known(self._directory)
        self._known.names.add(read_announced(session))
        self._chunk_end_ns: int | None = None
        if self.contents.next_numbers:
            with _writing(target):
                self._stage_former()

    @property
    def contents(self) -> Contents:
        """What the directory has until now."""
        return self._directory.contents

    def step(self) -> Grown | None:
        """Analyze the next chunk; null while there is none.

        A chunk that cannot be analyzed is noted, and passed over. Raises OutputError.
        """
        chunk = None if self.contents.complete else self.chunks.take()
        if chunk is None:
            return None
        with _writing(self._directory.path):
            try:
                return self._add(chunk)
            except (OSError, pa.ArrowException):
                raise
            except Exception as error:
                # One chunk, whatever it has, is not the end of all that come after.
                text = str(error) if isinstance(error, TraceError) else repr(error)
                self._stage.drop(self._stage.place / chunk.name)
                self._known = Known.again(self._directory, self._known)
                return self._pass_over(chunk, text.replace(*self._renamed(chunk)))

    def finish(self) -> None:
        """Add what the last chunk's tail has; the recording has ended. Raises OutputError."""
        with _writing(self._directory.path):
            if not self.contents.complete:
                problems = _problem_rows(self.chunks.session)
                if len(self._stage):
                    with contextlib.suppress(TraceError):
                        self._window("", _FAR, None)
                whole = replace(self.contents, complete=True)
                add_part(self._directory, {"losses": problems}, whole)
            self._stage.remove()

    def close(self) -> None:
        """Let others write into the directory."""
        self._lock.close()

    def _add(self, chunk: Chunk) -> Grown:
        before = -1 if self.contents.last_chunk is None else self.contents.last_chunk
        if chunk.number != before + 1:
            self._note_dropped(chunk.number, chunk.number - before - 1)
        place = self._stage.put(chunk)
        span = span_of(place)
        if span is None:
            self._stage.drop(place)
            write_contents(self._directory, replace(self.contents, last_chunk=chunk.number))
            return Grown(chunk.name)
        self._stage.keep(place, span[1])
        if self.contents.until_ns is None:
            self._directory.contents = replace(self.contents, until_ns=span[0] - 1)
        counted = count_events(open_trace(place))
        windows = max(1, -(-counted.events // self._pace.most_events))
        every_ns = max((span[1] - span[0]) // windows, self._pace.lead_ns + self._pace.tail_ns)
        last_ns = span[1] - self._pace.tail_ns
        messages = 0
        while (until_ns := (self.contents.until_ns or 0) + every_ns) < last_ns:
            messages += self._window(chunk.name, until_ns, until_ns + self._pace.tail_ns)
        messages += self._window(chunk.name, last_ns, None, (chunk.number, counted))
        self._chunk_end_ns = span[1]
        self._stage.drop_before((self.contents.until_ns or 0) - self._pace.lead_ns)
        return Grown(chunk.name, messages)

    def _window(
        self,
        chunk: str,
        until_ns: int,
        last_ns: int | None,
        whole: tuple[int, Counted] | None = None,
    ) -> int:
        """Analyze what is staged, and add what is new of it; return the number of messages.

        With the last window of a chunk `whole` is given: its number and events.
        """
        contents = self.contents
        since_ns = contents.until_ns
        assert since_ns is not None
        span = Span(self._begin_ns(since_ns), since_ns, max(since_ns, until_ns))
        trace = open_trace(self._stage.place)
        added, ambiguous = analyze_window(trace, span, last_ns, self._known)
        end_ns = int(trace.decoder.packets["end_ns"].max()) if last_ns is None else last_ns
        fresh = replace(
            contents,
            until_ns=min(span.until_ns, end_ns),
            next_numbers=dict(self._known.numbers.next_numbers),
        )
        events = 0
        if whole is not None:
            number, counted = whole
            events = counted.events
            added[PROCESS_EVENTS.name] = plain_arrow(counted.processes)
            added["losses"] = plain_arrow(
                loss_rows(trace, self._chunk_end_ns, str(self._stage.place), self._place())
            )
            begin_ns = counted.begin_ns if contents.begin_ns is None else contents.begin_ns
            last = max(contents.end_ns or 0, counted.end_ns)
            fresh = replace(fresh, begin_ns=begin_ns, end_ns=last, last_chunk=number)
        added[WINDOWS.name] = self._window_row(chunk, fresh.until_ns or 0, events, ambiguous)
        add_part(self._directory, added, fresh)
        # What comes later is in the next window's own trace.
        self._known.names.take(trace, (fresh.until_ns or 0) - self._pace.lead_ns)
        return len(added.get("messages", ()))

    def _begin_ns(self, since_ns: int) -> int | None:
        """Return where a window begins; null where nothing is older."""
        return since_ns - self._pace.lead_ns if self.contents.next_numbers else None

    def _window_row(
        self, chunk: str, until_ns: int, events: int = 0, ambiguous: int = 0, why: str = ""
    ) -> pa.Table:
        row = {
            "number": self.contents.windows,
            "chunk": chunk,
            "begin_ns": self.contents.until_ns or 0,
            "end_ns": until_ns,
            "events": events,
            "ambiguous": ambiguous,
            "unread": why or None,
        }
        return plain_arrow(Rows.of_records(WINDOWS, [row]))

    def _pass_over(self, chunk: Chunk, why: str, count: int = 1) -> Grown:
        """Note that a chunk, or so many up to it, could not be analyzed: a loss."""
        text = why.rstrip(".")
        lost = {"code": "unanalyzed_chunks", "count": count, "place": text}
        since_ns = self.contents.until_ns
        added = {
            "losses": plain_arrow(Rows.of_records(tables.LOSSES, [{**lost, "begin_ns": since_ns}])),
            WINDOWS.name: self._window_row(chunk.name, since_ns or 0, why=why),
        }
        add_part(self._directory, added, replace(self.contents, last_chunk=chunk.number))
        return Grown(chunk.name, unread=why)

    def _note_dropped(self, number: int, count: int) -> None:
        """Note that chunks before a number were dropped too early, and take their names."""
        self._pass_over(Chunk(number - 1, "", ()), _DROPPED, count)
        self._known.names.add(self.chunks.dropped_names())

    def _place(self) -> str:
        """Where the chunks of the recording are."""
        archives = self.chunks.trace / ARCHIVES
        return str(archives if archives.is_dir() else self.chunks.trace)

    def _renamed(self, chunk: Chunk) -> tuple[str, str]:
        """What a staged chunk is called, and its own place."""
        own = str(chunk.places[0]) if len(chunk.places) == 1 else str(self.chunks.trace)
        return str(self._stage.place / chunk.name), own

    def _stage_former(self) -> None:
        """Learn the names of the chunks before; the last of them are the next one's lead."""
        last = -1 if self.contents.last_chunk is None else self.contents.last_chunk
        begin_ns = (self.contents.until_ns or 0) - self._pace.lead_ns
        self._known.names.add(self.chunks.dropped_names())
        former = Chunks(self.chunks.session)
        while (chunk := former.take()) and chunk.number <= last:
            with contextlib.suppress(TraceError):
                place = self._stage.put(chunk)
                span = span_of(place)
                if span is not None:
                    self._known.names.take(open_trace(place), min(span[1], begin_ns))
                    self._stage.keep(place, span[1])
                    self._chunk_end_ns = span[1]
            self._stage.drop_before(begin_ns)


def _locked(target: Path) -> IO[bytes]:
    """Keep others from writing into a directory, as long as the file is open."""
    with _writing(target):
        target.mkdir(parents=True, exist_ok=True)
        if not is_results(target) and any(one.name != _LOCK for one in target.iterdir()):
            raise OutputError(
                f"Cannot write results into {target}: it contains other files. Give another "
                "directory with -o."
            )
        file = (target / _LOCK).open("wb")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        file.close()
        raise OutputError(
            f"Cannot write results into {target}: another process writes into it, perhaps "
            "`strata record --results`. Wait for its end, or give another directory with -o."
        ) from error
    return file


def _open(session: Path, target: Path) -> ResultsDirectory:
    """Open a directory that is locked, or begin it."""
    manifest = read_manifest(session) or {}
    recording, place = str(manifest.get("session") or ""), path_text(session.resolve())
    if is_results(target):
        found = open_results(target)
        # A recording may have been moved; without a manifest its place is all that is known.
        known = found.contents
        if known.recording != recording or (not recording and known.session != place):
            raise OutputError(
                f"Cannot write results into {target}: it has those of another recording. Give "
                "another directory with -o."
            )
        return found
    contents = Contents(place, recording, describe_machine(manifest))
    directory = ResultsDirectory(target, contents)
    with _writing(target):
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


def _problem_rows(session: Path) -> pa.Table:
    """What the recording's manifest says is wrong with it, as losses."""
    problems = recording_problems(session, [])
    rows = [{"code": one.code, "count": 1, "place": one.text} for one in problems]
    return plain_arrow(Rows.of_records(tables.LOSSES, rows))
