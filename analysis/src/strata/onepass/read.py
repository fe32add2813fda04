# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""From a trace to its model, event by event."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa

from strata.engine._model import Engine
from strata.engine.memory import within_bound
from strata.errors import TraceError
from strata.model.build import Model
from strata.model.columns import NONE
from strata.model.windows import Windows
from strata.onepass.lacking import lacks
from strata.onepass.model import model_of_rows
from strata.onepass.required import require_ros2
from strata.onepass.tables import EngineTables
from strata.read import Trace
from strata.read.thread_cpu import ThreadCpu
from strata.schema.quality import EVENT_LOSSES, Ledger

Progress = Callable[[int], None] | None


def read_by_engine(
    trace: Trace, ledger: Ledger, cpu: tuple[ThreadCpu, int] | None, progress: Progress
) -> Model | None:
    """Read a trace event by event, and return its model; None where tables are needed for that.

    Nothing is counted in `ledger` then. Raises TraceError when it cannot be read, or holds no event
    of ROS 2.
    """
    if len(set(trace.clocks.values())) < len(trace.clocks):
        return None
    engine, losses = feed_engine(trace, progress)
    require_ros2(trace.path, engine.counts)
    engine.finish()
    tables = EngineTables(engine)
    if lacks(tables) is not None:
        return None
    with within_bound():
        return model_of_rows(tables, ledger, trace.clocks, cpu, losses, dropped_until_ns(trace))


def feed_engine(trace: Trace, progress: Progress) -> tuple[Engine, Windows]:
    """Feed all events of a trace to an engine, and return it with when events were lost.

    When they were lost has to be known before the first event, and how late events come, too: what
    only reading tells is given to a second one. Raises TraceError.
    """
    losses, latest_by = loss_windows(trace), 0
    engine, late = _read(trace, losses, latest_by, progress)
    known = loss_windows(trace)
    if trace.has_misfits:
        return _feed(trace, known), known
    if late > latest_by or any(map(_differ, losses, known)):
        engine, _ = _read(trace, known, late, progress)
    return engine, known


def _differ(one: np.ndarray, other: np.ndarray) -> bool:
    return not np.array_equal(one, other)


def _engine(losses: Windows) -> Engine:
    return Engine(losses=list(zip(losses[0].tolist(), losses[1].tolist(), strict=True)))


def _read(trace: Trace, losses: Windows, latest_by: int, progress: Progress) -> tuple[Engine, int]:
    """Also return how late an event came at most."""
    engine = _engine(losses)
    try:
        read = engine.read(trace.decoder.traces, progress, latest_by=latest_by)
    except OSError as error:
        raise TraceError(f"Cannot read trace: {error.strerror or error}.") from error
    _, damage, misplaced, out_of_order, late = read
    trace.decoder.take_findings(damage, misplaced, out_of_order)
    return engine, late


def _feed(trace: Trace, losses: Windows) -> Engine:
    """Feed record batches, whose values were converted to the types of their columns."""
    engine = _engine(losses)
    for chunk in _chunks(trace):
        batches = [(event, batch) for event, parts in chunk.items() for batch in parts]
        engine.feed(batches)
    return engine


def _chunks(trace: Trace) -> Iterator[dict[str, list[pa.RecordBatch]]]:
    if not trace.decoder.out_of_order:
        yield from trace.chunks()
        return
    # Events that come late have their place in whole tables only.
    yield {event: table.to_batches() for event, table in trace.tables().items()}


def dropped_until_ns(trace: Trace) -> int:
    """Return until when parts of the trace were dropped on purpose; `NONE` for nowhere."""
    dropped = trace.dropped
    return NONE if dropped is None or dropped.end_ns is None else dropped.end_ns


def loss_windows(trace: Trace) -> Windows:
    """When events of the trace were lost; a bound that is not known is far away."""
    rows = [row for row in trace.loss_rows() if row["code"] in EVENT_LOSSES]
    begin = [0 if row["begin_ns"] is None else row["begin_ns"] for row in rows]
    far = np.iinfo(np.int64).max
    end = [far if row["end_ns"] is None else row["end_ns"] for row in rows]
    return np.asarray(begin, np.int64), np.asarray(end, np.int64)
