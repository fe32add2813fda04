# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Conditions held against a trace that is cut into windows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from strata.guard.conditions import parse
from strata.guard.load import When, unscoped
from strata.guard.occurrence import Occurrence
from strata.guard.watch import Watch
from strata.live.judged import judge, see
from strata.live.known_names import KnownNames
from strata.live.windows import Window
from strata.read import open_trace

Span = tuple[int, int]


def when(text: str, **scope: str) -> When:
    """Return a condition; `scope` is one of its keys with a pattern."""
    every = unscoped(parse(text))
    for kind, pattern in scope.items():
        every = replace(every, kind=kind, pattern=pattern)
    return every


def spans_of(begin_ns: int, end_ns: int, count: int) -> list[Span]:
    """Cut a time into windows; the first begins before the first event."""
    whole_ns = end_ns - begin_ns + 1
    bounds = [begin_ns - 1 + whole_ns * at // count for at in range(count + 1)]
    return list(pairwise(bounds))


def whole_of(trace: Path) -> list[Span]:
    """Return the one window that a whole trace is."""
    packets = open_trace(trace).decoder.packets
    return [(int(packets["begin_ns"].min()) - 1, int(packets["end_ns"].max()))]


def watched(
    traces: Path | Sequence[Path], spans: Sequence[Span], *conditions: When
) -> list[list[Occurrence]]:
    """Return what is found in each window, of one trace or of one trace each."""
    watch, names = Watch(conditions), KnownNames()
    found = []
    for number, span in enumerate(spans):
        trace = traces if isinstance(traces, Path) else traces[number]
        seen = see(Window(trace, *span, span), names)
        assert seen is not None
        found.append(watch.look(seen, judge(seen)))
    return found
