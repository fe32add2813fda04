# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The engine run over a trace, event by event."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from strata.engine._model import Engine
from strata.engine.identities import Fill, Given, read_settled
from strata.engine.left_out import NOBODY, Unwanted, count_left_out, left_all, others_left_out
from strata.engine.required import require_ros2
from strata.engine.tables import EngineTables
from strata.engine.windows import Windows
from strata.errors import TraceError
from strata.read import Trace
from strata.read.announced import read_announced
from strata.read.attached import attached_bounds
from strata.schema.dds_events import OPERATIONS
from strata.schema.quality import EVENT_LOSSES, Finding, Findings
from strata.schema.statedump_events import DUMP_BEGIN

if TYPE_CHECKING:
    import pyarrow as pa

Progress = Callable[[int], None] | None

_BEGIN_OF_TIME, _END_OF_TIME = -(2**63), 2**63 - 1
_LOOK_BACK = {DUMP_BEGIN, *(one.full_name for one in OPERATIONS)}


def read_rows(
    trace: Trace,
    progress: Progress,
    unwanted: Unwanted = NOBODY,
    announced: Mapping[str, pa.Table] | None = None,
    begin_ns: int | None = None,
    last_ns: int | None = None,
) -> tuple[EngineTables, Windows, Findings]:
    """Read a trace event by event; return the rows of what is wanted, and when events were lost.

    `announced` are event tables of what was there before the trace; null: those kept beside it.
    Events before `begin_ns` and after `last_ns` are left out, as if the trace began and ended
    there.
    Processes that are not wanted are left out; how many is the finding. Raises TraceError when the
    trace cannot be read, or holds no event of ROS 2.
    """
    # When events were lost has to be known before the first event, and how late events come, too:
    # what only reading tells is given to the next one.
    before = read_announced(trace.path) if announced is None else announced
    feed = _Feed(trace, progress, before, (begin_ns, last_ns))
    bounds = attached_bounds(trace)
    losses, late = loss_windows(trace), feed.late
    while True:
        tables, left_out = _wanted(feed.fill, Given(losses, trace.clocks, bounds=bounds), unwanted)
        known = loss_windows(trace)
        if feed.late == late and not any(map(_differ, losses, known)):
            require_ros2(trace.path, tables.engine.counts)
            return tables, losses, left_out
        losses, late = known, feed.late
        del tables


class _Feed:
    """What fills an engine with the events of a trace, again where it has to be read again."""

    def __init__(
        self,
        trace: Trace,
        progress: Progress,
        announced: Mapping[str, pa.Table],
        bounds: tuple[int | None, int | None],
    ) -> None:
        self._trace, self._progress = trace, progress
        self._begin_ns, self._last_ns = bounds
        self._latest_by = 0
        self._announced = [
            (event, batch) for event, table in announced.items() for batch in table.to_batches()
        ]

    @property
    def late(self) -> tuple[int, int]:
        """How late an event came at most, in ns, and how many did, as far as was read until now."""
        return self._latest_by, self._trace.decoder.out_of_order

    def fill(self, engine: Engine) -> None:
        """Feed all events of the trace. Raises TraceError."""
        if self._announced:
            engine.announce(self._announced)
        if self._trace.has_misfits:
            self._feed(engine)
            return
        try:
            read = engine.read(
                self._trace.decoder.traces,
                self._progress,
                latest_by=self._latest_by,
                begin_ns=_BEGIN_OF_TIME if self._begin_ns is None else self._begin_ns,
                last_ns=_END_OF_TIME if self._last_ns is None else self._last_ns,
            )
        except OSError as error:
            raise TraceError(f"Cannot read trace: {error.strerror or error}.") from error
        _, damage, misplaced, out_of_order, late = read
        self._trace.decoder.take_findings(damage, misplaced, out_of_order)
        self._latest_by = max(self._latest_by, late)

    def _feed(self, engine: Engine) -> None:
        """Feed record batches, whose values were converted to the types of their columns."""
        origins = clock_origins(self._trace)
        back = looks_back(self._trace.declared_events)
        for chunk in self._chunks():
            batches = [(event, batch) for event, parts in chunk.items() for batch in parts]
            engine.feed(batches, origins=origins, latest_by=self._latest_by, looks_back=back)
        self._latest_by = max(self._latest_by, engine.too_late_by)

    def _chunks(self) -> Iterator[dict[str, list[pa.RecordBatch]]]:
        bounds = self._begin_ns, self._last_ns
        if not self._trace.decoder.out_of_order and bounds == (None, None):
            yield from self._trace.chunks()
            return
        # Events that come late have their place in whole tables only.
        end_ns = None if self._last_ns is None else self._last_ns + 1
        tables = self._trace.tables(begin_ns=self._begin_ns, end_ns=end_ns)
        yield {event: table.to_batches() for event, table in tables.items()}


def looks_back(events: Iterable[str]) -> bool:
    """Return whether some of these events change what comes before them.

    Operations have steps before their end, and processes announce what they made before the trace.
    """
    return not _LOOK_BACK.isdisjoint(events)


def clock_origins(trace: Trace) -> list[tuple[str, int]]:
    """Return when the clock of each host began to count, in ns since the epoch.

    By it operations of the middleware have the times of their steps. Hosts with several clocks are
    left out, as an event table does not say which one is an event's.
    """
    found = trace.decoder.traces.clock_origins([one.full_name for one in OPERATIONS])
    several = Counter(host for host, _ in found)
    return [(host, ns) for host, ns in found if several[host] == 1]


def _differ(one: np.ndarray, other: np.ndarray) -> bool:
    return not np.array_equal(one, other)


def _wanted(fill: Fill, given: Given, unwanted: Unwanted) -> tuple[EngineTables, Findings]:
    """Return the rows of what is wanted, and which processes are left out."""
    every = unwanted.foreign | unwanted.others
    tables = EngineTables(read_settled(fill, replace(given, left_out=every)))
    if not left_all(tables, unwanted):
        return tables, count_left_out(tables, unwanted)
    # Recorded beside what ran already, as with `strata record -- sleep 60`.
    others = others_left_out(tables, unwanted)
    alone = Findings(Finding("only_other_processes", len(others), tuple(map(str, others))))
    del tables
    tables, left_out = _wanted(fill, given, Unwanted(unwanted.foreign))
    return tables, alone + left_out


def loss_windows(trace: Trace) -> Windows:
    """When events of the trace were lost; a bound that is not known is far away."""
    rows = [row for row in trace.loss_rows() if row["code"] in EVENT_LOSSES]
    begin = [0 if row["begin_ns"] is None else row["begin_ns"] for row in rows]
    far = np.iinfo(np.int64).max
    end = [far if row["end_ns"] is None else row["end_ns"] for row in rows]
    return np.asarray(begin, np.int64), np.asarray(end, np.int64)
