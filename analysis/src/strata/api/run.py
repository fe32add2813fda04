# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`strata.analyze`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from strata import pipeline
from strata.api.analysis import Analysis
from strata.pipeline.progress import Progress
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
    """Analyze the trace at or below `path`: a session of `strata record`, or any LTTng trace.

    ::

        a = strata.analyze("sessions/mine", chain="/image -> /objects", links="links.yaml")
        a                  # the bottleneck in one line
        print(a.summary()) # what `strata analyze` prints
        a.chains           # a pandas DataFrame; so are a.messages, a.hops, a.callbacks ...

    The trace is read at once; each table is made when it is first asked for.

    Args:
        path: a directory.
        links: message links, which say what a node publishes from messages that it stored (in a
            timer, or once several inputs are there): the path of a YAML file (docs/method.md), or
            a sequence of `strata.MessageLink`. Chains end at such nodes without it.
        chain: report only the chain over these topics: "/a -> /b -> /c", or a sequence of topics.
            All chains that are found, without it.
        progress: is called with the number of further events that were read. An object that has a
            method `stage` too is given the name of each stage.
        without: process ids (as the trace has them) that are left out, and counted.
        all_processes: include processes that the recorded command did not start, which are left
            out otherwise, as far as the session's manifest names them.
        quantiles: fractions from 0 to 1, which the table `quantiles` then has.

    Raises:
        strata.TraceError: there is no trace, it cannot be read, it holds no `ros2` event, the file
            of links is wrong, or no message went through `chain`; the text names what there is.
        ValueError: `chain` is not a list of topics, or a quantile is not a fraction.
        TypeError: `links` holds something else than message links.
    """
    return Analysis.of_results(
        pipeline.analyze(
            path,
            links=links,
            chain=chain,
            progress=progress,
            without=without,
            all_processes=all_processes,
            quantiles=quantiles,
        )
    )
