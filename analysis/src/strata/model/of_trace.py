# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The model of a trace, whose events go by once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from strata.engine.left_out import NOBODY, Unwanted
from strata.engine.memory import within_bound
from strata.engine.read import Progress, read_rows
from strata.model.build import Model
from strata.model.columns import NONE, Ints
from strata.read import Trace
from strata.read.thread_cpu import ThreadCpu

if TYPE_CHECKING:
    import pyarrow as pa


def model_of_trace(
    trace: Trace,
    cpu: tuple[ThreadCpu, int] | None,
    progress: Progress,
    unwanted: Unwanted = NOBODY,
    announced: Mapping[str, pa.Table] | None = None,
    begin_ns: int | None = None,
    last_ns: int | None = None,
    *,
    always_named: bool = False,
    timers_due: Mapping[tuple[str, int, int], tuple[Ints, Ints]] | None = None,
) -> Model:
    """Read a trace, and return its model.

    `cpu`: samples of the threads' waits for a CPU, and what the trace's clock adds to theirs.
    `announced`: event tables of what was there before the trace; null: those kept beside it.
    Events before `begin_ns` and after `last_ns` are left out, as if the trace began and ended
    there.
    `always_named`: nodes are called by their process, too, as with other parts of a recording.
    `timers_due`: see `Model`.
    Processes that are not wanted are left out, and are among its findings. Raises TraceError when
    the trace cannot be read, or holds no event of ROS 2.
    """
    rows, losses, left_out = read_rows(trace, progress, unwanted, announced, begin_ns, last_ns)
    model = Model(
        rows,
        losses=losses,
        clocks_of_hosts=trace.clocks,
        samples=cpu,
        dropped_until_ns=dropped_until_ns(trace),
        found_before=left_out,
        always_named=always_named,
        timers_due=timers_due or {},
    )
    with within_bound():
        # Now, so that a bound that is no size is refused before a result is asked for.
        _ = model.findings
    return model


def dropped_until_ns(trace: Trace) -> int:
    """Return until when parts of the trace were dropped on purpose; `NONE` for nowhere."""
    dropped = trace.dropped
    return NONE if dropped is None or dropped.end_ns is None else dropped.end_ns
