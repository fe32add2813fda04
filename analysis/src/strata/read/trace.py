# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`open_trace`: from a directory to event tables and losses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from strata.errors import TraceError
from strata.printable import path_text
from strata.read.columns import conform, declared_schema, join
from strata.read.decoder import EVERYTHING, Decoder, Reading, Selection
from strata.read.discover import CtfTrace, find_traces
from strata.read.kinds import have_misfits
from strata.read.losses import Loss, find_losses, last_known_ns
from strata.read.recording import recording_problems
from strata.read.rotated import Dropped, find_dropped
from strata.schema.quality import Findings

if TYPE_CHECKING:
    import pyarrow as pa

# Whole tables are one chunk: put together from several, each would be copied. Arrow's offsets of
# strings, bytes and lists have 31 bits.
_WHOLE_ROWS = 1 << 62
_WHOLE_BYTES = 1 << 30


class Trace:
    """The CTF traces below one path, read as one; use `open_trace`."""

    def __init__(
        self,
        path: Path,
        traces: list[CtfTrace],
        unreadable: list[tuple[Path, str]],
        progress: Callable[[int], None] | None,
    ) -> None:
        self.path = path
        self._traces = traces
        self._unreadable = unreadable
        self._progress = progress or (lambda _: None)
        self.decoder = Decoder(traces)
        self.problems = tuple(recording_problems(path, [*self.directories, *dict(unreadable)]))
        self.dropped, self._names = self._find_dropped()
        self._misfits: Counter[str] = Counter()
        self._every: dict[str, pa.Table] | None = None

    @property
    def traces(self) -> tuple[CtfTrace, ...]:
        """The CTF traces, sorted by directory."""
        return tuple(self._traces)

    @property
    def directories(self) -> tuple[Path, ...]:
        """Directories of the CTF traces."""
        return tuple(trace.directory for trace in self._traces)

    @property
    def declared_events(self) -> set[str]:
        """Names of the events that the metadata declare, whether or not any was recorded."""
        return {name for trace in self._traces for name in trace.metadata.event_names}

    @property
    def clock_offsets_ns(self) -> dict[str, int]:
        """Per CTF directory: event time = clock value (CLOCK_MONOTONIC) + this.

        Directories of one boot of a machine have one.
        """
        return {str(trace.directory): trace.clock_offset_ns for trace in self._traces}

    @property
    def clocks(self) -> dict[str, str]:
        """Per host the id of its clock (the boot's); the host's name where that is not known."""
        return {trace.hostname: trace.clock or trace.hostname for trace in self._traces}

    def _find_dropped(self) -> tuple[Dropped | None, frozenset[int]]:
        """Find what was dropped on purpose, and the numbers of the CTF traces that stand for it."""
        try:
            dropped, holders = find_dropped(self.directories)
        except TraceError as error:
            self._unreadable.append((self.path, str(error)))
            return None, frozenset()
        numbers = (i for i, trace in enumerate(self._traces) if trace.directory in holders)
        return dropped, frozenset(numbers)

    @cached_property
    def has_misfits(self) -> bool:
        """Whether any values may have no place in the columns of their tables as they are.

        Traces that declare a field as another thing than the catalogue, or another trace, does.
        """
        kinds = self.decoder.read(EVERYTHING, 1).kinds
        return self.decoder.names_packets or have_misfits(kinds)

    @property
    def losses(self) -> tuple[Loss, ...]:
        """All that the trace lost, by cause, place and time, as far as was read until now.

        Packet headers are read at once; bytes that hold no event are found by decoding.
        """
        since_ns = self.dropped.begin_ns if self.dropped else None
        unreadable = [
            Loss("unreadable_traces", 1, path_text(f"{place}: {why}"), None, None)
            for place, why in self._unreadable
        ]
        misfits = [
            Loss("mistyped_values", count, event, None, None)
            for event, count in self._misfits.items()
        ]
        unreadable += [
            Loss("cut_metadata", 1, _cut_text(trace), None, None)
            for trace in self._traces
            if trace.metadata.cut
        ]
        lost = find_losses(self.decoder, self._names, since_ns)
        return (*self._of_recording(), *lost, *misfits, *unreadable)

    def _of_recording(self) -> list[Loss]:
        """What the manifests say. What an incomplete recording lacks is behind its last packets."""
        cut = ("incomplete_recording", "stopped_early")
        since = last_known_ns(self.decoder) if self.problems else None
        return [
            Loss(item.code, 1, item.text, since if item.code in cut else None, None)
            for item in self.problems
        ]

    def loss_rows(self) -> list[dict[str, Any]]:
        """Return the losses as values that JSON has; times are ns since the epoch, or null."""
        return [asdict(loss) for loss in self.losses]

    @property
    def findings(self) -> Findings:
        """The losses, counted by code; with the times, as far as these are known."""
        return Findings(*(one.finding for one in self.losses))

    def tables(
        self,
        events: Iterable[str] | None = None,
        columns: Iterable[str] | None = None,
        begin_ns: int | None = None,
        end_ns: int | None = None,
    ) -> dict[str, pa.Table]:
        """Return one table an event name, ordered by time.

        `events`: the wanted names (all by default); a name of which the trace holds no event has no
        table. `columns`: the wanted columns; one that a table lacks is left out of it. `begin_ns`
        (inclusive) and `end_ns` (exclusive) are nanoseconds since the epoch. Only what is wanted is
        decoded. Events of one timestamp are in the order of docs/reading.md. Raises TraceError, and
        TypeError when one string is given for names.
        """
        selection = Selection(
            _names("events", events), _names("columns", columns), begin_ns, end_ns
        )
        if selection != EVERYTHING:
            return self._decode(selection)
        if self._every is None:
            self._every = self._decode(selection)
        return dict(self._every)

    def chunks(
        self,
        selection: Selection = EVERYTHING,
        chunk_rows: int = 1 << 18,
        chunk_bytes: int = 64 << 20,
    ) -> Iterator[dict[str, list[pa.RecordBatch]]]:
        """Give the tables in chunks, in order of time, by event name.

        A chunk ends at `chunk_rows` events, or when one of its tables has `chunk_bytes`.
        The memory needed does not grow with the trace. All batches of an event name have one
        schema. Rows of a chunk are in order, but for a name whose traces declare it with different
        fields: there is one batch for each. Raises TraceError.
        """
        reading = self.decoder.read(selection, chunk_rows, chunk_bytes)
        schemas = _schemas(reading, selection.columns)
        misfits: Counter[str] = Counter()
        try:
            for chunk in reading:
                found: dict[str, list[pa.RecordBatch]] = {}
                for number, batch in chunk:
                    event = reading.tables[number][0]
                    table, count = conform(batch, schemas[event])
                    found.setdefault(event, []).append(table)
                    misfits[event] += count
                    self._progress(len(batch))
                yield found
        finally:
            # The same values may be read again: the reading that met the most of them counts.
            self._misfits |= misfits

    def _decode(self, selection: Selection) -> dict[str, pa.Table]:
        wanted = selection.columns
        if wanted is not None:
            # Rows are put in order by their time, wanted or not.
            selection = Selection(
                selection.events, wanted | {"timestamp"}, selection.begin_ns, selection.end_ns
            )
        parts: dict[str, list[pa.RecordBatch]] = {}
        mixed: set[str] = set()
        for chunk in self.chunks(selection, _WHOLE_ROWS, _WHOLE_BYTES):
            for event, batches in chunk.items():
                parts.setdefault(event, []).extend(batches)
                if len(batches) > 1:
                    mixed.add(event)
        sorted_already = not self.decoder.out_of_order
        tables = {}
        for event in sorted(parts):
            batches = parts.pop(event)
            ordered = sorted_already and event not in mixed
            table = join(batches, batches[0].schema, ordered=ordered)
            if wanted is not None and "timestamp" not in wanted:
                table = table.drop_columns(["timestamp"])
            tables[event] = table
        return tables


def _names(what: str, names: Iterable[str] | None) -> frozenset[str] | None:
    # A string is an iterable of strings: of its letters.
    if isinstance(names, str):
        raise TypeError(f"{what} is an iterable of names, not one string: [{names!r}]")
    return None if names is None else frozenset(names)


def _schemas(reading: Reading, columns: frozenset[str] | None) -> dict[str, pa.Schema]:
    """Return one schema an event name, over all traces."""
    found: dict[str, dict[str, pa.DataType]] = {}
    for event, schema in reading.tables:
        kinds = found.setdefault(event, {})
        for item in schema:
            kinds.setdefault(item.name, item.type)
    return {event: declared_schema(event, kinds, columns) for event, kinds in found.items()}


def open_trace(path: str | Path, *, progress: Callable[[int], None] | None = None) -> Trace:
    """Find the CTF traces at and below `path` and return them as one trace, not yet decoded.

    `progress` is called with numbers of events while decoding. Raises TraceError when there is no
    trace.
    """
    place = Path(path)
    try:
        traces, unreadable = find_traces(place)
    except TraceError as error:
        # A recording that failed has no trace: its manifest knows why.
        told = [problem.text for problem in recording_problems(place, ()) if problem.text]
        if not told:
            raise
        raise TraceError(f"{error} Its manifest says: {'; '.join(told)}.") from error
    return Trace(place, traces, unreadable, progress)


def _cut_text(trace: CtfTrace) -> str:
    return path_text(f"{trace.directory}: {trace.metadata.cut}")
