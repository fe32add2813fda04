# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""One window analyzed: what it adds to a results directory, by table."""

from __future__ import annotations

import pyarrow as pa

from strata.engine.required import has_ros2
from strata.errors import NoRos2Error
from strata.model.of_trace import model_of_trace
from strata.pipeline.messages import Wanted
from strata.pipeline.results import STAGES
from strata.pipeline.stages import Made
from strata.read import Trace
from strata.results.known import Known
from strata.results.window_rows import Span, new_rows, plain_arrow, rows_of
from strata.results.window_sums import count_ambiguous, delivery_rows, source_rows, thread_rows
from strata.schema import tables
from strata.schema.rows import Rows
from strata.schema.stored import HOP_CAUSES, HOP_COUNTS, SOURCE_TIMES, STORED, THREAD_TIMES


def analyze_window(
    trace: Trace, span: Span, last_ns: int | None, known: Known
) -> tuple[dict[str, pa.Table], int]:
    """Return the rows that a window adds, and how many takes in it may be of several publications.

    Events after `last_ns` are left out; null: none. Empty where there is no event of ROS 2. `known`
    learns what is new. Raises TraceError.
    """
    if not has_ros2(dict.fromkeys(trace.declared_events, 0)):
        return {}, 0
    announced = known.names.before(trace, span.begin_ns)
    try:
        model = model_of_trace(
            trace,
            None,
            None,
            announced=announced,
            begin_ns=span.begin_ns,
            last_ns=last_ns,
            always_named=True,
            timers_due=known.grids.due,
        )
    except NoRos2Error:
        return {}, 0
    made = Made(
        STAGES, read=trace, model=model, wanted=Wanted(), quantiles=Rows.none(tables.QUANTILES)
    )
    processes = model.processes
    places = list(zip(processes.host, processes.vpid.tolist(), strict=True))
    known.names.saw(places, span.until_ns)
    added, maps = new_rows(rows_of(made), model, span, known.numbers, known.grids)
    for stored in STORED:
        if stored.handle:
            added[stored.name] = known.changed(stored, added[stored.name])
    counts, causes = delivery_rows(made, model, span, known.heard)
    added[HOP_COUNTS.name], added[HOP_CAUSES.name] = plain_arrow(counts), plain_arrow(causes)
    added[THREAD_TIMES.name] = plain_arrow(thread_rows(made, model, span))
    added[SOURCE_TIMES.name] = plain_arrow(source_rows(made, model, trace, span, maps))
    return added, count_ambiguous(model, span)
