# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Models of a trace's event tables, in place of its streams (strata.engine.read).

    monkeypatch.setattr("strata.pipeline.run.model_of_trace", read_by_tables)

The tables may be other ones than the trace's: `Trace.tables` is replaced then. Events come by
another way than from streams: decoded to Arrow tables, sorted as a whole, and fed in chunks.
"""

from __future__ import annotations

from collections.abc import Collection

from engine.engine_runs import engine_of

from strata.engine.left_out import NOBODY, Unwanted, count_left_out, left_all, others_left_out
from strata.engine.read import Progress, clock_origins, loss_windows
from strata.engine.required import require_ros2
from strata.engine.tables import EngineTables
from strata.model.build import Model
from strata.model.of_trace import dropped_until_ns
from strata.read import Trace
from strata.read.thread_cpu import ThreadCpu
from strata.schema.quality import NOTHING_FOUND, Finding, Findings

CHUNK_ROWS = 1009


def read_by_tables(
    trace: Trace,
    cpu: tuple[ThreadCpu, int] | None,
    progress: Progress,
    unwanted: Unwanted = NOBODY,
) -> Model:
    """Return the model of the trace's event tables; arguments are those of `model_of_trace`."""
    tables, losses = trace.tables(), loss_windows(trace)

    def without(vpids: Collection[int]) -> EngineTables:
        engine = engine_of(
            tables,
            losses,
            chunk_rows=CHUNK_ROWS,
            clocks=trace.clocks,
            left_out=vpids,
            origins=clock_origins(trace),
        )
        return EngineTables(engine)

    rows = without(unwanted.foreign | unwanted.others)
    alone = NOTHING_FOUND
    if left_all(rows, unwanted):
        others = others_left_out(rows, unwanted)
        alone = Findings(Finding("only_other_processes", len(others), tuple(map(str, others))))
        unwanted = Unwanted(unwanted.foreign)
        rows = without(unwanted.foreign)
    require_ros2(trace.path, rows.engine.counts)
    dropped_ns = dropped_until_ns(trace)
    return Model(
        rows,
        losses=losses,
        clocks_of_hosts=trace.clocks,
        samples=cpu,
        dropped_until_ns=dropped_ns,
        found_before=alone + count_left_out(rows, unwanted),
    )
