# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The way of a trace through the stages: read, model, layers, statistics."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from strata.analysis import Analysis
from strata.model.build import Model, build_model
from strata.onepass.read import dropped_until_ns, loss_windows, read_by_engine
from strata.onepass.required import has_ros2, require_ros2
from strata.pipeline.messages import Wanted
from strata.pipeline.results import ModelResults
from strata.read import Trace, open_trace
from strata.read.manifest import other_processes, read_manifest
from strata.read.namespaces import tell_namespaces_apart
from strata.read.processes import leave_out
from strata.read.thread_cpu import ThreadCpu, read_thread_cpu
from strata.schema.links import MessageLink
from strata.schema.quality import Ledger


def analyze(
    path: str | Path,
    *,
    links: Sequence[MessageLink] = (),
    chain: Sequence[str] | None = None,
    progress: Callable[[int], None] | None = None,
    without: Collection[int] = (),
    all_processes: bool = False,
    quantiles: Sequence[float] = (),
) -> Analysis:
    """Analyze the trace at or below `path`.

    `links` declares what nodes publish from stored messages (strata.read.links.read_links reads
    them from a file). `chain` names the topics of one chain, in order: only the ways over these are
    reported as chains, instead of all that are found. `progress` is that of
    strata.read.open_trace. The processes of the ids in `without` are left out, and counted. So are
    those that the recorded command did not start, as far as the session's manifest says, unless
    `all_processes`, or the command started none that emits ros2 events. The table `quantiles` has
    those of `quantiles`, fractions of 1. Raises ValueError for one that is none, TraceError when
    there is no trace, it cannot be read, it holds no ros2 event, or no message went the way of
    `chain`.
    """
    if not all(0 <= fraction <= 1 for fraction in quantiles):
        raise ValueError(f"quantiles are fractions of 1: {list(quantiles)}")
    wanted, ledger = Wanted(tuple(links), chain, tuple(quantiles)), Ledger()
    trace = open_trace(path, progress=progress)
    if not without and (all_processes or not other_processes(read_manifest(trace.path))):
        model = read_by_engine(trace, ledger, _thread_cpu(trace), progress)
        if model is not None:
            return analyze_model(trace, {}, model, wanted, ledger)
    events = tell_namespaces_apart(trace.tables())
    if without:
        events, others = leave_out(events, without)
        ledger.add("foreign_processes", len(others))
    if not all_processes:
        events = _started_by_command(trace, events, ledger)
    require_ros2(trace.path, _counts(events))
    model = build_model(
        events,
        ledger,
        loss_windows(trace),
        _thread_cpu(trace),
        trace.clocks,
        dropped_until_ns(trace),
    )
    return analyze_model(trace, events, model, wanted, ledger)


def _started_by_command(
    trace: Trace, events: dict[str, pa.Table], ledger: Ledger
) -> dict[str, pa.Table]:
    """Leave out what the command did not start: a session records every process of the user."""
    others = other_processes(read_manifest(trace.path))
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


def analyze_model(
    trace: Trace, events: dict[str, pa.Table], model: Model, wanted: Wanted, ledger: Ledger
) -> Analysis:
    """Return the results of a model; `events` and `ledger` are those that it was built with.

    Raises TraceError when no message went the way of `wanted.chain`.
    """
    results = ModelResults(trace, events, model, wanted, ledger)
    if wanted.chain:
        # What is wrong with it is said before anything is asked for.
        results.rows("chains")
    return Analysis(results)


def _thread_cpu(trace: Trace) -> tuple[ThreadCpu, int] | None:
    """Samples of threads beside the trace, and what its clock adds to theirs; null without any."""
    found = read_thread_cpu(trace.path)
    offsets = list(trace.clock_offsets_ns.values())
    return (found, offsets[0]) if found is not None and offsets else None
