# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""From a trace to its model, event by event."""

from __future__ import annotations

from collections.abc import Callable

from strata.engine._model import Engine
from strata.engine.memory import within_bound
from strata.model.build import Model
from strata.onepass.lacking import lacks
from strata.onepass.model import model_of_rows
from strata.onepass.tables import EngineTables
from strata.read import Trace
from strata.read.thread_cpu import ThreadCpu
from strata.schema.events import CATALOGUE
from strata.schema.quality import Ledger


def read_by_engine(
    trace: Trace,
    ledger: Ledger,
    cpu: tuple[ThreadCpu, int] | None,
    progress: Callable[[int], None] | None,
) -> Model | None:
    """Read a trace event by event, and return its model; None where tables are needed for that.

    Nothing is counted in `ledger` then. Raises OSError.
    """
    lossless = not trace.loss_rows() and trace.dropped is None
    if not lossless or not trace.declared_events <= CATALOGUE.keys():
        return None
    if len(set(trace.clocks.values())) < len(trace.clocks):
        return None
    engine = Engine()
    _, misfits, damage, misplaced, out_of_order = engine.read(trace.decoder.traces, progress)
    if misfits or damage or misplaced or out_of_order:
        return None
    engine.finish()
    tables = EngineTables(engine)
    if lacks(tables) is not None:
        return None
    with within_bound():
        return model_of_rows(tables, ledger, trace.clocks, cpu)
