# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""From a trace to its results through all stages: read, model, layers, statistics."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from strata.analysis import Analysis
from strata.engine.left_out import Unwanted
from strata.errors import TraceError
from strata.model.build import Model
from strata.model.of_trace import model_of_trace
from strata.pipeline.messages import Wanted
from strata.pipeline.progress import Progress, stage_of
from strata.pipeline.results import ModelResults
from strata.read import Trace, open_trace
from strata.read.links import declared_links
from strata.read.manifest import other_processes, read_manifest
from strata.read.results import is_results, open_results
from strata.read.thread_cpu import ThreadCpu, read_thread_cpu
from strata.schema.chain_text import topics_of
from strata.schema.links import MessageLink


def analyze(
    path: str | Path,
    *,
    links: Sequence[MessageLink] | str | Path = (),
    chain: Sequence[str] | str | None = None,
    progress: Callable[[int], None] | Progress | None = None,
    without: Collection[int] = (),
    all_processes: bool = False,
    quantiles: Sequence[float] = (),
) -> Analysis:
    """Analyze the trace at or below `path`: strata.analyze, which documents the arguments."""
    if not all(0 <= fraction <= 1 for fraction in quantiles):
        raise ValueError(f"quantiles are fractions of 1: {list(quantiles)}")
    topics = tuple(topics_of(chain) if isinstance(chain, str) else chain or ())
    wanted = Wanted(declared_links(links), topics or None, tuple(quantiles))
    stage = stage_of(progress)
    if is_results(Path(path)):
        return analyze_stored(Path(path), wanted, stage)
    stage("reading events")
    trace = open_trace(path, progress=progress)
    others = [] if all_processes else other_processes(read_manifest(trace.path))
    unwanted = Unwanted(frozenset(without), frozenset(others))
    model = model_of_trace(trace, _thread_cpu(trace), progress, unwanted)
    return analyze_model(trace, model, wanted, stage)


def analyze_stored(
    path: Path, wanted: Wanted, stage: Callable[[str], None] | None = None
) -> Analysis:
    """Return the results in a results directory, as `analyze_model` those of a model."""
    # Without results no Arrow columns are read.
    from strata.pipeline.stored import StoredResults

    if wanted.links:
        raise TraceError(
            f"Cannot link messages of {path}: it has results, whose links are known. Analyze the "
            "recording with --links."
        )
    results = StoredResults(open_results(path), wanted, stage)
    if wanted.chain:
        results.rows("chains")
    return Analysis(results)


def analyze_model(
    trace: Trace, model: Model, wanted: Wanted, stage: Callable[[str], None] | None = None
) -> Analysis:
    """Return the results of a model; `stage` is called with what is made, when it is made.

    Raises TraceError when no message followed the path of `wanted.chain`.
    """
    results = ModelResults(trace, model, wanted, stage)
    if wanted.chain:
        # What is wrong with it is said before anything is asked for.
        results.rows("chains")
    return Analysis(results)


def _thread_cpu(trace: Trace) -> tuple[ThreadCpu, int] | None:
    """Samples of threads beside the trace, and what its clock adds to theirs; null without any."""
    found = read_thread_cpu(trace.path)
    by_directory = trace.clock_offsets_ns
    # Recordings of other machines, with clocks of their own, are beside it in `hosts`.
    own = [
        at for place, at in by_directory.items() if trace.path / "hosts" not in Path(place).parents
    ]
    offsets = own or list(by_directory.values())
    return (found, offsets[0]) if found is not None and offsets else None
