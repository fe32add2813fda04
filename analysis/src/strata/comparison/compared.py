# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`strata.compare(a, b)`: two runs, or two sets of runs, compared from Python."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from strata.analysis import Analysis
from strata.comparison.comparison import Comparison, compare_sides, require_common
from strata.comparison.runs import Run, Subject, measure_run
from strata.comparison.sides import Side
from strata.pipeline import analyze
from strata.printable import path_text
from strata.read.manifest import session_of
from strata.read.sessions import sessions_in, warm_up_of
from strata.stats.relevance import DEFAULT, Least

Source = Analysis | str | os.PathLike[str]


def compare(
    a: Source | Sequence[Source],
    b: Source | Sequence[Source],
    *,
    relevant: tuple[float, int] = (DEFAULT.relative, DEFAULT.absolute_ns),
    quantiles: Sequence[str] = (),
    internal: bool = False,
) -> Comparison:
    """Compare run B with run A: every chain, hop, service and callback that both have, and losses.

    A side is an analysis, the path of a trace or session, the path of a directory with several
    sessions of the same thing, or a list of these: with several runs on a side, the runs are the
    unit of the intervals. `relevant` is the least difference that matters, as a part of A's latency
    and in ns: both have to be reached. `quantiles` are further ones, by name (`p99.9`). `internal`
    takes the topics that every node has, too. Differences are B - A, in ns.

    Raises ComparisonError where the sides have nothing in common, TraceError for a path that holds
    no trace.
    """

    def wanted(subject: Subject) -> bool:
        return internal or not subject.internal

    found = compare_sides(
        _side(a), _side(b), wanted=wanted, quantiles=quantiles, least=Least(*relevant)
    )
    require_common(found)
    return found


def side_of(path: Path, measured: Callable[[Path], Run]) -> Side:
    """Return the side of a path: of one session, or of each that it holds."""
    return Side(_name(path), tuple(measured(session) for session in sessions_in(path)))


def _side(source: Source | Sequence[Source]) -> Side:
    if isinstance(source, Analysis):
        path = source.trace.place
        return Side(_name(path), (measure_run(source, _name(path), warm_up_of(path)),))
    if isinstance(source, str | os.PathLike):
        return side_of(Path(source), _measured)
    sides = [_side(one) for one in source]
    runs = tuple(run for side in sides for run in side.runs)
    return Side(", ".join(dict.fromkeys(side.name for side in sides)), runs)


def _measured(path: Path) -> Run:
    return measure_run(analyze(path), _name(path), warm_up_of(path))


def _name(path: Path) -> str:
    place = session_of(path) or path
    return path_text(place.resolve().name or str(place))
