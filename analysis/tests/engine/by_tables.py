# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Models of a trace's event tables, in place of its streams (strata.onepass.read).

    monkeypatch.setattr("strata.pipeline.run.read_by_engine", read_by_tables)

The tables may be other ones than the trace's: `Trace.tables` is replaced then. Events come by
another way than from streams: decoded to Arrow tables, sorted as a whole, and fed in chunks.
"""

from __future__ import annotations

from collections.abc import Collection

from engine.engine_runs import engine_of

from strata.model.build import Model
from strata.onepass.left_out import NOBODY, Unwanted, count_left_out, left_all, others_left_out
from strata.onepass.model import model_of_rows
from strata.onepass.read import Progress, dropped_until_ns, loss_windows
from strata.onepass.required import require_ros2
from strata.onepass.tables import EngineTables
from strata.read import Trace
from strata.read.thread_cpu import ThreadCpu
from strata.schema.quality import Ledger

CHUNK_ROWS = 1009


def read_by_tables(
    trace: Trace,
    ledger: Ledger,
    cpu: tuple[ThreadCpu, int] | None,
    progress: Progress,
    unwanted: Unwanted = NOBODY,
) -> Model:
    """Return the model of the trace's event tables; arguments are those of `read_by_engine`."""
    tables, losses = trace.tables(), loss_windows(trace)

    def without(vpids: Collection[int]) -> EngineTables:
        engine = engine_of(
            tables, losses, chunk_rows=CHUNK_ROWS, clocks=trace.clocks, left_out=vpids
        )
        return EngineTables(engine)

    rows = without(unwanted.foreign | unwanted.others)
    if left_all(rows, unwanted):
        others = others_left_out(rows, unwanted)
        ledger.add("only_other_processes", len(others), *map(str, others))
        unwanted = Unwanted(unwanted.foreign)
        rows = without(unwanted.foreign)
    count_left_out(rows, unwanted, ledger)
    require_ros2(trace.path, rows.engine.counts)
    return model_of_rows(rows, ledger, trace.clocks, cpu, losses, dropped_until_ns(trace))
