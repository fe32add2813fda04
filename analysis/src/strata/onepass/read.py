# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""From a trace to its model, event by event."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from strata.engine._model import Engine
from strata.engine.memory import within_bound
from strata.model.build import Model
from strata.model.windows import Windows
from strata.onepass.lacking import lacks
from strata.onepass.model import model_of_rows
from strata.onepass.tables import EngineTables
from strata.read import Trace
from strata.read.thread_cpu import ThreadCpu
from strata.schema.events import CATALOGUE
from strata.schema.quality import EVENT_LOSSES, Ledger


def read_by_engine(
    trace: Trace,
    ledger: Ledger,
    cpu: tuple[ThreadCpu, int] | None,
    progress: Callable[[int], None] | None,
) -> Model | None:
    """Read a trace event by event, and return its model; None where tables are needed for that.

    Nothing is counted in `ledger` then. Raises OSError.
    """
    if trace.dropped is not None or not trace.declared_events <= CATALOGUE.keys():
        return None
    if len(set(trace.clocks.values())) < len(trace.clocks):
        return None
    losses = loss_windows(trace)
    engine = Engine(losses=list(zip(losses[0].tolist(), losses[1].tolist(), strict=True)))
    _, misfits, damage, misplaced, out_of_order = engine.read(trace.decoder.traces, progress)
    if misfits or damage or misplaced or out_of_order:
        return None
    engine.finish()
    tables = EngineTables(engine)
    if lacks(tables) is not None:
        return None
    with within_bound():
        return model_of_rows(tables, ledger, trace.clocks, cpu, losses)


def loss_windows(trace: Trace) -> Windows:
    """When events of the trace were lost; a bound that is not known is far away."""
    rows = [row for row in trace.loss_rows() if row["code"] in EVENT_LOSSES]
    begin = [0 if row["begin_ns"] is None else row["begin_ns"] for row in rows]
    far = np.iinfo(np.int64).max
    end = [far if row["end_ns"] is None else row["end_ns"] for row in rows]
    return np.asarray(begin, np.int64), np.asarray(end, np.int64)
