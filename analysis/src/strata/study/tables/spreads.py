# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Tables of spreads: how many times as wide is one level's distribution as another's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

from strata.campaign.model import Figure
from strata.study.campaign_results import Results, Study
from strata.study.long_frames import long_frame
from strata.study.measure_definitions import find_measure
from strata.study.tables.comparisons import correct
from strata.study.tables.level_pairs import (
    LevelRuns,
    neighbouring,
    pairs_of,
    runs_by_level,
    strata_of,
    told_apart,
)
from strata.study.tables.statistics import SEED, STATISTIC_LABELS, put_together, why_no_rows
from strata.study.tables.table import Column, Rows, Table, factor_columns
from strata.study.wording import name_words

if TYPE_CHECKING:
    import pandas as pd

    from strata.stats.spread import LogSpread, SpreadName

_HOW = (
    "Ratios are of b over a: of the MAD, which ignores tails, and of the standard deviation. "
    "Intervals are of {confidence:g} %, by a bootstrap in blocks, which allows for messages that "
    "follow each other."
)
_OF_RUNS = (
    "Of runs: each run is one value, the logarithm of its own spread; this interval knows how much "
    "runs differ."
)
_ONE_RUN = (
    "With one run per level, a difference may come from the run: only repetitions can show that."
)


class _Spreads:
    """The spreads of levels, each resampled once."""

    def __init__(self) -> None:
        self._made: dict[tuple[int, str], LogSpread | None] = {}

    def of(self, level: LevelRuns, statistic: SpreadName) -> LogSpread | None:
        """Return the logarithm of a level's spread; null where it has none."""
        from strata.stats.spread import log_spread

        key = (id(level), statistic)
        if key not in self._made:
            try:
                self._made[key] = log_spread(level.runs, statistic, seed=SEED)
            except ValueError:
                self._made[key] = None
        return self._made[key]


def spread(results: Results, study: str, figure: Figure) -> Table:
    """Return the ratio of spreads of pairs of levels, with intervals and a test."""
    measure = find_measure(figure.of or "latency")
    over = str(figure.over)
    frame = long_frame(results, study, measure.name, where=figure.where)
    apart = told_apart(frame, figure)
    out = Rows(_spread_columns(apart, over, measure.unit))
    for levels, own in strata_of(frame, apart):
        runs, made = runs_by_level(own, over, results.study(study)), _Spreads()
        out.rows += [
            {**levels, **_pair(a, b, made, figure.confidence[0])}
            for a, b in pairs_of(runs, consecutive=figure.consecutive)
        ]
    correct(out.rows, "p")
    empty = why_no_rows(results, study, figure, frame)
    if not empty and not out.rows:
        empty = f"there is one level of {name_words(over)} with values: nothing to compare"
    return Table(
        "spread",
        f"{name_words(measure.name)}: ratios of spreads of pairs of {neighbouring(figure)}"
        f"{name_words(over)}",
        out.columns,
        out.frame(),
        (
            _HOW.format(confidence=100 * figure.confidence[0]),
            "p is of Brown and Forsythe's test in Welch's form, with effective counts, corrected "
            "for all pairs of this table (Holm).",
            _runs_note(out.rows),
            *put_together(results, study, figure, frame),
        ),
        empty,
        measure.name,
    )


def _spread_columns(apart: Sequence[str], over: str, unit: str) -> tuple[Column, ...]:
    return (
        *factor_columns(apart),
        Column("a", name_words(over), of=over),
        Column("b", f"against {name_words(over)}", of=over),
        *_of_statistic("mad", unit),
        Column("p", "p (Holm)", form="p", text="Brown-Forsythe, for all pairs of the table"),
        *_of_statistic("std", unit),
        Column("runs", "runs", text="of a and b"),
    )


def _of_statistic(name: str, unit: str) -> tuple[Column, ...]:
    label = STATISTIC_LABELS[name]
    return (
        Column(f"{name}_a", f"{label} of a", unit, "number"),
        Column(f"{name}_b", f"{label} of b", unit, "number"),
        Column(f"{name}_ratio", f"{label} b / a", form="number"),
        Column(f"{name}_low", "from", form="number"),
        Column(f"{name}_high", "to", form="number"),
        Column(f"{name}_runs_low", "of runs, from", form="number"),
        Column(f"{name}_runs_high", "to", form="number"),
    )


def _pair(a: LevelRuns, b: LevelRuns, made: _Spreads, confidence: float) -> dict[str, Any]:
    from strata.stats.spread import (
        SPREADS,
        equal_spreads,
        ratio_of_runs,
        ratio_of_spreads,
    )
    from strata.stats.spread import spread as spread_of

    row: dict[str, Any] = {"a": a.level, "b": b.level, "runs": f"{len(a.runs)} and {len(b.runs)}"}
    for name in SPREADS:
        for which, level in (("a", a), ("b", b)):
            if len(level.values) > 1:
                row[f"{name}_{which}"] = spread_of(level.values, name)
        first, second = made.of(a, name), made.of(b, name)
        if first is None or second is None:
            continue
        found = ratio_of_spreads(first, second, confidence)
        of_runs = ratio_of_runs([(1, b.runs), (-1, a.runs)], name, confidence)
        row |= {
            f"{name}_ratio": found.estimate,
            f"{name}_low": found.low,
            f"{name}_high": found.high,
            f"{name}_runs_low": of_runs and of_runs.low,
            f"{name}_runs_high": of_runs and of_runs.high,
        }
    try:
        row["p"] = equal_spreads(a.values, b.values)
    except ValueError:
        row["p"] = None
    return row


def _runs_note(rows: Sequence[Mapping[str, Any]]) -> str:
    having = any(
        value is not None for row in rows for key, value in row.items() if "runs_low" in key
    )
    return _OF_RUNS if having else _ONE_RUN


def spread_interaction(results: Results, study: str, figure: Figure) -> Table:
    """Return whether levels of `by` change how much levels of `over` widen a distribution.

    A row is a pair of levels of both, and a statistic: the ratio of spreads at each level of `by`,
    and the first one over the second.
    """
    measure = find_measure(figure.of or "latency")
    over, by = str(figure.over), str(figure.by)
    frame = long_frame(results, study, measure.name, where=figure.where)
    apart = told_apart(frame, figure)
    out = Rows(_interaction_columns(apart, over, by))
    for levels, own in strata_of(frame, apart):
        found = _interactions(results.study(study), own, figure)
        out.rows += [{**levels, **row} for row in found]
    empty = why_no_rows(results, study, figure, frame)
    if not empty and not out.rows:
        empty = (
            f"{name_words(over)} and {name_words(by)} do not have two levels each whose four "
            "combinations have values"
        )
    return Table(
        "spread_interaction",
        f"{name_words(measure.name)}: does {name_words(by)} change how {name_words(over)} widens "
        "the distribution?",
        out.columns,
        out.frame(),
        (
            _HOW.format(confidence=100 * figure.confidence[0]),
            "An interval of first / second that excludes 1 is an interaction of spread; intervals "
            "are of each row by itself.",
            _runs_note(out.rows),
            *put_together(results, study, figure, frame),
        ),
        empty,
        measure.name,
    )


def _interaction_columns(apart: Sequence[str], over: str, by: str) -> tuple[Column, ...]:
    return (
        *factor_columns(apart),
        Column("a", f"{name_words(over)} a", of=over),
        Column("b", f"{name_words(over)} b", of=over),
        Column("statistic", "spread", texts=STATISTIC_LABELS),
        Column("first", f"first {name_words(by)}", of=by),
        Column("first_ratio", "b / a at the first", form="number"),
        Column("second", f"second {name_words(by)}", of=by),
        Column("second_ratio", "b / a at the second", form="number"),
        Column("ratio", "first / second", form="number", text="1 is no interaction"),
        Column("low", "from", form="number"),
        Column("high", "to", form="number"),
        Column("runs_low", "of runs, from", form="number"),
        Column("runs_high", "to", form="number"),
        Column("runs", "runs", text="of the four groups"),
    )


def _interactions(study: Study, own: pd.DataFrame, figure: Figure) -> Iterator[dict[str, Any]]:
    """Give a row for each pair of levels of both factors, and statistic."""
    from strata.stats.spread import SPREADS

    over, by, made = str(figure.over), str(figure.by), _Spreads()
    grid = {
        str(level): {one.level: one for one in runs_by_level(rows, over, study)}
        for level, rows in own.groupby(by, observed=True)
    }
    for first, second in combinations(grid, 2):
        both = [level for level in grid[first].values() if level.level in grid[second]]
        for a, b in pairs_of(both, consecutive=figure.consecutive):
            at = {"a": a.level, "b": b.level, "first": first, "second": second}
            four = (a, b, grid[second][a.level], grid[second][b.level])
            for name in SPREADS:
                yield {**at, **_interaction(four, name, made, figure.confidence[0])}


def _interaction(
    four: tuple[LevelRuns, LevelRuns, LevelRuns, LevelRuns],
    name: SpreadName,
    made: _Spreads,
    confidence: float,
) -> dict[str, Any]:
    """Compare (a, b) at the first level with (a, b) at the second one."""
    from strata.stats.spread import interaction_of_spreads, ratio_of_runs, ratio_of_spreads

    counts = ", ".join(str(len(level.runs)) for level in four)
    row: dict[str, Any] = {"statistic": name, "runs": counts}
    a, b, c, d = (made.of(level, name) for level in four)
    if a is None or b is None or c is None or d is None:
        return row
    found = interaction_of_spreads((a, b), (c, d), confidence)
    signs = (-1, 1, 1, -1)
    of_runs = ratio_of_runs(
        [(sign, level.runs) for sign, level in zip(signs, four, strict=True)], name, confidence
    )
    return row | {
        "first_ratio": ratio_of_spreads(a, b).estimate,
        "second_ratio": ratio_of_spreads(c, d).estimate,
        "ratio": found.estimate,
        "low": found.low,
        "high": found.high,
        "runs_low": of_runs and of_runs.low,
        "runs_high": of_runs and of_runs.high,
    }
