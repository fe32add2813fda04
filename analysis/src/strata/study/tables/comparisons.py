# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Tables of pairs of levels: all pairs, or each level against the next one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from strata.campaign.model import Figure
from strata.stats.dependence import FEW
from strata.study.campaign_results import Results
from strata.study.measure_definitions import find_measure
from strata.study.tables.imported_means import EACH, NOTE, VALUES, with_imported_means
from strata.study.tables.level_pairs import (
    LevelRuns,
    neighbouring,
    pairs_of,
    runs_by_level,
    strata_of,
    told_apart,
)
from strata.study.tables.statistics import SEED, put_together, why_no_rows
from strata.study.tables.table import Column, Rows, Table, factor_columns
from strata.study.wording import name_words
from strata.units import format_count

_CONFIDENCE = 0.95
_OF_ALL = "Games-Howell, for variances that differ; its p takes messages as independent."
_OF_NEXT = (
    "Welch's t test of each pair, for variances that differ, corrected likewise; it takes messages "
    "as independent. Intervals are of each pair by itself."
)


def pairs(results: Results, study: str, figure: Figure) -> Table:
    """Return each pair of levels of a factor, within each level of another: shift and means."""
    measure = find_measure(figure.of or "latency")
    over = str(figure.over)
    frame = with_imported_means(results, study, measure.name, figure.where)
    apart = told_apart(frame, figure)
    has_means = bool((frame[VALUES] != EACH).any())
    columns = _pair_columns(
        apart, over, measure.unit, consecutive=figure.consecutive, has_means=has_means
    )
    out = Rows(columns)
    for levels, own in strata_of(frame, apart):
        runs = runs_by_level(own, over, results.study(study))
        found = _pairs(runs, _kinds(own, over), consecutive=figure.consecutive)
        out.rows += [{**levels, **row} for row in found]
    correct(out.rows, "p")
    if figure.consecutive:
        correct(out.rows, "mean_p")
    doubtful = sum(bool(row.pop("doubtful", False)) for row in out.rows)
    notes = (
        *_doubts(doubtful, len(out.rows)),
        "Shift: the median of all differences of two values; its interval allows for messages "
        "that follow each other. p is corrected for all pairs of this table (Holm). Means: "
        f"{_OF_NEXT if figure.consecutive else _OF_ALL}",
        "With one run per level, a difference may come from the run: only repetitions can show "
        "that.",
        *((NOTE,) if has_means else ()),
        *put_together(results, study, figure, frame),
    )
    empty = why_no_rows(results, study, figure, frame)
    if not empty and not out.rows:
        empty = f"there is one level of {name_words(over)} with values: nothing to compare"
    return Table(
        "pairs",
        f"{name_words(measure.name)}: pairs of {neighbouring(figure)}{name_words(over)} "
        f"({measure.shown_unit})",
        columns,
        out.frame(),
        notes,
        empty,
        measure.name,
    )


def _doubts(doubtful: int, count: int) -> tuple[str, ...]:
    """Say how many pairs have a p of values that depend on each other too much."""
    if not doubtful:
        return ()
    return (
        f"In {doubtful} of {format_count(count, 'pair', 'pairs')} the values depend on each other "
        f"so much that they count as fewer than {FEW}: p is too small there and the interval of "
        "the shift too narrow, although both allow for it. Believe several runs instead.",
    )


def correct(rows: list[dict[str, Any]], name: str) -> None:
    """Correct the p of that name of all rows that have one, in place (Holm)."""
    from strata.stats.shift import holm

    having = [row for row in rows if row.get(name) is not None]
    for row, p in zip(having, holm([row[name] for row in having]), strict=True):
        row[name] = float(p)


def _kinds(frame: pd.DataFrame, over: str) -> dict[str, str]:
    """Say of each level whether its values are of messages, or means."""
    groups = frame.groupby(over, observed=True)
    return {str(level): " and ".join(own[VALUES].unique()) for level, own in groups}


def _pair_columns(
    apart: Sequence[str], over: str, unit: str, *, consecutive: bool, has_means: bool
) -> tuple[Column, ...]:
    """Return what a pair has: ranks first, then means."""
    return (
        *factor_columns(apart),
        Column("a", name_words(over), of=over),
        Column("b", f"against {name_words(over)}", of=over),
        *((Column(VALUES, "values", text="what is compared"),) if has_means else ()),
        Column("shift", "shift", unit, "number", "Hodges-Lehmann: b - a"),
        Column("low", "from", unit, "number"),
        Column("high", "to", unit, "number"),
        Column("relative", "of a's median", form="share"),
        Column("effect", "Cliff's delta", form="number"),
        Column("p", "p (Holm)", form="p", text="Mann-Whitney, for all pairs of the table"),
        Column("mean_difference", "mean b - a", unit, "number"),
        Column("mean_low", "from", unit, "number"),
        Column("mean_high", "to", unit, "number"),
        Column("mean_p", "p (Welch, Holm)" if consecutive else "p (Games-Howell)", form="p"),
        Column("runs", "runs", text="of a and b"),
    )


def _pairs(
    levels: Sequence[LevelRuns], kinds: Mapping[str, str], *, consecutive: bool
) -> list[dict[str, Any]]:
    from strata.stats.shift import shift

    together = {} if consecutive else _means(levels)
    rows = []
    for a, b in pairs_of(levels, consecutive=consecutive):
        of_both = dict.fromkeys((kinds[a.level], kinds[b.level]))
        row: dict[str, Any] = {
            "a": a.level,
            "b": b.level,
            VALUES: ", ".join(of_both),
            "runs": f"{len(a.runs)} and {len(b.runs)}",
        }
        try:
            found = shift(a.values, b.values, _CONFIDENCE, seed=SEED, quantiles=())
            row |= {
                "shift": found.estimate,
                "low": found.low,
                "high": found.high,
                "relative": found.relative,
                "effect": found.effect,
                "p": found.p,
                "doubtful": found.is_doubtful,
            }
        except ValueError:
            # All values of both are equal: there is no shift, and nothing to test.
            row |= {"shift": 0.0, "p": None}
        means = _means([a, b]) if consecutive else together
        rows.append({**row, **means.get((a.level, b.level), {})})
    return rows


def _means(levels: Sequence[LevelRuns]) -> dict[tuple[str, str], dict[str, float]]:
    """Compare the means of all levels together; of two that is Welch's t test."""
    from strata.stats.variance import games_howell

    names = [one.level for one in levels]
    try:
        found = games_howell([one.values for one in levels], names, _CONFIDENCE)
    except ValueError:
        return {}
    return {
        (str(row["a"]), str(row["b"])): {
            "mean_difference": row["difference"],
            "mean_low": row["low"],
            "mean_high": row["high"],
            "mean_p": row["p"],
        }
        for row in found.to_dict("records")
    }
