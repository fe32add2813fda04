# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Models of whole event tables by NumPy, in place of the engine's (strata.engine.read).

monkeypatch.setattr("strata.pipeline.run.model_of_trace", read_by_tables)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa

from strata.engine.left_out import NOBODY, Unwanted
from strata.engine.read import Progress, dropped_until_ns, loss_windows
from strata.engine.required import has_ros2, require_ros2
from strata.model.build import Model, build_model
from strata.model.facts import Census, TableFacts
from strata.read import Trace
from strata.read.namespaces import tell_namespaces_apart
from strata.read.processes import Threads, count_threads, leave_out
from strata.read.thread_cpu import ThreadCpu
from strata.schema.kernel_events import is_of_kernel
from strata.schema.quality import Ledger


class _Facts(TableFacts):
    def __init__(self, model: Model, events: Mapping[str, pa.Table]) -> None:
        super().__init__(model)
        self._events = events

    def census(self) -> Census:
        times = [table["timestamp"] for table in self._events.values() if len(table)]
        threads: Threads = Counter()
        for name, table in self._events.items():
            # The kernel's events are of every process of the machine.
            if not is_of_kernel(name):
                threads.update(count_threads(table))
        return Census(
            sum(len(table) for table in self._events.values()),
            min(column[0].as_py() for column in times),
            max(column[-1].as_py() for column in times),
            threads,
        )


def read_by_tables(
    trace: Trace,
    ledger: Ledger,
    cpu: tuple[ThreadCpu, int] | None,
    progress: Progress,
    unwanted: Unwanted = NOBODY,
) -> Model:
    events = tell_namespaces_apart(trace.tables())
    if unwanted.foreign:
        events, foreign = leave_out(events, unwanted.foreign)
        ledger.add("foreign_processes", len(foreign))
    events = _started_by_command(events, unwanted.others, ledger)
    require_ros2(trace.path, _counts(events))
    losses, dropped = loss_windows(trace), dropped_until_ns(trace)
    return model_of_tables(events, ledger, losses, cpu, trace.clocks, dropped)


def model_of_tables(events: Mapping[str, pa.Table], ledger: Ledger, *of: Any) -> Model:
    """As `build_model`; also knows what was read."""
    model = build_model(events, ledger, *of)
    return replace(model, known=_Facts(model, events))


def _started_by_command(
    events: dict[str, pa.Table], others: Collection[int], ledger: Ledger
) -> dict[str, pa.Table]:
    """Leave out what the command did not start: a session records every process of the user."""
    if not others:
        return events
    own, left = leave_out(events, others)
    told = [str(process) for process in left]
    if not has_ros2(_counts(own)) and has_ros2(_counts(events)):
        # Recorded beside what ran already, as with `strata record -- sleep 60`.
        ledger.add("only_other_processes", len(left), *told)
        return events
    ledger.add("processes_left_out", len(left), *told)
    return own


def _counts(events: Mapping[str, pa.Table]) -> dict[str, int]:
    return {name: len(table) for name, table in events.items()}
