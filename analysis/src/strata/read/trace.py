# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`open_trace`: from a directory to event tables and losses."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from strata.errors import TraceError
from strata.read import cache, packets
from strata.read.babeltrace import BabeltraceReader
from strata.read.columns import join
from strata.read.discover import CtfTrace, find_traces
from strata.read.packets import Loss
from strata.read.reader import Reader
from strata.schema.quality import Ledger


class Trace:
    """The CTF traces below one path, read as one; use `open_trace`."""

    def __init__(
        self,
        path: Path,
        traces: list[CtfTrace],
        unreadable: list[tuple[Path, str]],
        *,
        reader: Reader,
        use_cache: bool,
        progress: Callable[[int], None] | None,
    ) -> None:
        self.path = path
        self._traces = traces
        self._reader = reader
        self._use_cache = use_cache
        self._progress = progress or (lambda _: None)
        self._walked = [
            (trace, packets.walk(trace) if packets.has_lttng_packets(trace) else None)
            for trace in traces
        ]
        self._unreadable = list(unreadable)
        self._tables: dict[str, pa.Table] | None = None
        self.cache_written: Path | None = None

    @property
    def directories(self) -> tuple[Path, ...]:
        """Directories of the CTF traces."""
        return tuple(trace.directory for trace in self._traces)

    @property
    def declared_events(self) -> set[str]:
        """Names of the events that the metadata declare, whether or not any was recorded."""
        return {name for trace in self._traces for name in trace.event_names}

    @property
    def clock_offsets_ns(self) -> dict[str, int]:
        """Per CTF directory: event time = clock value (CLOCK_MONOTONIC) + this."""
        return {str(trace.directory): trace.clock_offset_ns for trace in self._traces}

    @property
    def losses(self) -> tuple[Loss, ...]:
        """All that the trace lost, by cause, place and time, as far as the packets tell."""
        found = packets.losses([(trace, files) for trace, files in self._walked if files])
        found += [
            Loss("unreadable_traces", 1, f"{place}: {why}", None, None)
            for place, why in self._unreadable
        ]
        return tuple(found)

    @property
    def ledger(self) -> Ledger:
        """The losses, counted by code."""
        ledger = Ledger()
        for loss in self.losses:
            ledger.add(loss.code, loss.count)
        return ledger

    def tables(
        self,
        events: Iterable[str] | None = None,
        columns: Iterable[str] | None = None,
        begin_ns: int | None = None,
        end_ns: int | None = None,
    ) -> dict[str, pa.Table]:
        """Return one table an event name, ordered by time.

        `events`: the wanted names (all by default); a name that the trace does not hold has no
        table. `columns`: the wanted columns; one that a table lacks is left out of it. `begin_ns`
        (inclusive) and `end_ns` (exclusive) are nanoseconds since the epoch. Raises TraceError.
        """
        every = self._read()
        wanted = every if events is None else {n: every[n] for n in events if n in every}
        names = None if columns is None else list(columns)
        out = {}
        for event, whole in wanted.items():
            table = whole
            if begin_ns is not None:
                table = table.filter(pc.greater_equal(table["timestamp"], begin_ns))
            if end_ns is not None:
                table = table.filter(pc.less(table["timestamp"], end_ns))
            if names is not None:
                table = table.select([name for name in names if name in table.column_names])
            out[event] = table
        return out

    def _read(self) -> dict[str, pa.Table]:
        if self._tables is not None:
            return self._tables
        place = cache.cache_directory(self.path)
        made_from = cache.provenance(self.path, self._traces, self._reader.name)
        cached = cache.load(place, made_from) if self._use_cache else None
        self._tables = cached if cached is not None else self._decode()
        if cached is None and self._use_cache and cache.store(place, made_from, self._tables):
            self.cache_written = place
        return self._tables

    def _decode(self) -> dict[str, pa.Table]:
        """Read every trace; one that cannot be read is counted, unless none can."""
        parts: dict[str, list[pa.Table]] = {}
        failures: list[TraceError] = []
        for trace, files in self._walked:
            try:
                read = self._reader.read(trace, files, self._progress)
            except TraceError as error:
                failures.append(error)
                self._unreadable.append((trace.directory, str(error)))
                continue
            for columns in read:
                parts.setdefault(columns.event, []).append(columns.table())
        if failures and len(failures) == len(self._walked):
            raise failures[0]
        if failures:
            # A part that failed today may be read tomorrow: nothing partial is kept.
            self._use_cache = False
        return {event: join(event, tables) for event, tables in sorted(parts.items())}


def open_trace(
    path: str | Path,
    *,
    use_cache: bool = True,
    progress: Callable[[int], None] | None = None,
) -> Trace:
    """Find the CTF traces at and below `path` and return them as one trace, not yet decoded.

    With `use_cache`, decoded tables are kept as Parquet beside the trace and used again. `progress`
    is called with numbers of events while decoding. Raises TraceError when there is no trace.
    """
    place = Path(path)
    traces, unreadable = find_traces(place)
    return Trace(
        place,
        traces,
        unreadable,
        reader=BabeltraceReader(),
        use_cache=use_cache,
        progress=progress,
    )
