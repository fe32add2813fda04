# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The way of a trace through the stages: read, model, layers, statistics."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from strata.analysis import Analysis
from strata.engine.left_out import Unwanted
from strata.model.build import Model
from strata.model.of_trace import model_of_trace
from strata.pipeline.messages import Wanted
from strata.pipeline.results import ModelResults
from strata.read import Trace, open_trace
from strata.read.manifest import other_processes, read_manifest
from strata.read.thread_cpu import ThreadCpu, read_thread_cpu
from strata.schema.links import MessageLink


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
    there is no trace, it cannot be read, it holds no ros2 event, or no message followed the path of
    `chain`.
    """
    if not all(0 <= fraction <= 1 for fraction in quantiles):
        raise ValueError(f"quantiles are fractions of 1: {list(quantiles)}")
    wanted = Wanted(tuple(links), chain, tuple(quantiles))
    trace = open_trace(path, progress=progress)
    others = [] if all_processes else other_processes(read_manifest(trace.path))
    unwanted = Unwanted(frozenset(without), frozenset(others))
    model = model_of_trace(trace, _thread_cpu(trace), progress, unwanted)
    return analyze_model(trace, model, wanted)


def analyze_model(trace: Trace, model: Model, wanted: Wanted) -> Analysis:
    """Return the results of a model.

    Raises TraceError when no message followed the path of `wanted.chain`.
    """
    results = ModelResults(trace, model, wanted)
    if wanted.chain:
        # What is wrong with it is said before anything is asked for.
        results.rows("chains")
    return Analysis(results)


def _thread_cpu(trace: Trace) -> tuple[ThreadCpu, int] | None:
    """Samples of threads beside the trace, and what its clock adds to theirs; null without any."""
    found = read_thread_cpu(trace.path)
    offsets = list(trace.clock_offsets_ns.values())
    return (found, offsets[0]) if found is not None and offsets else None
