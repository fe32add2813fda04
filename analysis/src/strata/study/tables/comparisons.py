# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Tables that compare: analysis of variance, and pairs of levels."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from strata.campaign.model import Figure, listed
from strata.stats.dependence import FEW
from strata.study.campaign_results import HERE, Results
from strata.study.long_frames import long_frame
from strata.study.measure_definitions import find_measure
from strata.study.tables.imported_means import EACH, NOTE, VALUES, with_imported_means
from strata.study.tables.statistics import SEED, put_together, why_no_rows
from strata.study.tables.table import Column, Rows, Table, factor_columns, first_ones
from strata.study.wording import name_words
from strata.units import format_count

Floats = npt.NDArray[np.float64]

_CONFIDENCE = 0.95
_OF_RUNS = (
    Column("runs_df", "df of runs", form="count", text="each cell is one value: its mean"),
    Column("runs_F", "F of runs", form="number"),
    Column("runs_p", "p of runs", form="p"),
)


def anova(results: Results, study: str, figure: Figure) -> Table:
    """Return the two-way analysis of variance of a measure, with the tests of what it assumes."""
    from strata.stats.variance import two_way

    measure = find_measure(figure.of or "latency")
    first, second = _two_factors(figure)
    columns: tuple[Column, ...] = (
        Column("term", "term", texts=term_words(first, second)),
        Column("sum_sq", "sum of squares", f"{measure.unit}^2", "number"),
        Column("df", "df", form="count"),
        Column("F", "F", form="number"),
        Column("p", "p", form="p"),
        Column("eta_sq", "eta squared", form="share", text="of all variation"),
        Column("partial_eta_sq", "partial eta squared", form="share"),
        Column("omega_sq", "omega squared", form="share", text="as eta squared, without its bias"),
    )
    frame = long_frame(results, study, measure.name, where=figure.where, imports=False)
    empty, notes = why_no_rows(results, study, figure, frame), list[str]()
    found = pd.DataFrame(columns=[column.name for column in columns])
    if not empty:
        complete, left_out = _complete(frame, first, second)
        try:
            named = complete.rename(columns={"value": measure.name})
            found = two_way(named, measure.name, first, second)
            found, of_runs = _with_runs(found, named, measure.name, first, second)
            notes = [*left_out, *_assumptions(complete, first, second), of_runs]
            notes += put_together(results, study, figure, frame)
            columns += _OF_RUNS if "runs_p" in found else ()
        except ValueError as error:
            empty = str(error)
    return Table(
        "anova",
        f"analysis of variance of {name_words(measure.name)} by {name_words(first)} and "
        f"{name_words(second)}",
        columns,
        found,
        tuple(notes),
        empty,
        measure.name,
    )


def _two_factors(figure: Figure) -> tuple[str, str]:
    """Return the factors; the file's check holds that there are two."""
    first, second = figure.factors or listed(figure.rows)
    return first, second


def term_words(first: str, second: str) -> dict[str, str]:
    """Return the terms of two factors as words."""
    both = f"{name_words(first)} x {name_words(second)}"
    return {**{name: name_words(name) for name in (first, second)}, f"{first}:{second}": both}


def _complete(frame: pd.DataFrame, first: str, second: str) -> tuple[pd.DataFrame, list[str]]:
    """Leave out levels of the first factor that were not measured with all of the second."""
    seen = frame.groupby([first, second], observed=True).size().unstack()
    whole = seen.index[seen.notna().all(axis=1)]
    missing = [str(level) for level in seen.index if level not in whole]
    kept = frame[frame[first].isin(list(whole))].copy()
    for name in (first, second):
        kept[name] = kept[name].astype(str)
    words = (
        f"{name_words(first)} {first_ones(missing)} left out: not measured with every "
        f"{name_words(second)}."
    )
    return kept, [words] if missing else []


def _with_runs(
    found: pd.DataFrame, frame: pd.DataFrame, value: str, first: str, second: str
) -> tuple[pd.DataFrame, str]:
    """Add the analysis of the cells' means to that of their messages, and say what it is."""
    from strata.stats.variance import two_way

    means = frame.groupby([first, second, "cell"], observed=True)[value].mean().reset_index()
    try:
        runs = two_way(means, value, first, second)
    except ValueError:
        return (
            found,
            "With one run per group, a difference may come from the run: only repetitions can "
            "show that.",
        )
    added = {f"runs_{name}": runs[name] for name in ("df", "F", "p")}
    return found.assign(**added), (
        f"Of runs: {len(means)} cells, each one value, its mean. Differences between runs are "
        "part of that residual: trust its p, not that of messages, of which a run has many."
    )


def _assumptions(frame: pd.DataFrame, first: str, second: str) -> list[str]:
    """Say in words whether variances are equal, and what Welch's test says without that."""
    from strata.stats.dependence import effective_count
    from strata.stats.variance import equal_variances, welch
    from strata.units import format_p

    own = [rows.to_numpy(np.float64) for _, rows in frame.groupby([first, second])["value"]]
    spread = [float(values.std(ddof=1)) ** 2 for values in own if len(values) > 1]
    ratio = max(spread) / min(spread) if spread and min(spread) > 0 else float("inf")
    notes = ["Sums of squares of type II. Significant is not large: eta squared says how much."]
    try:
        levene, by_welch = equal_variances(own), welch(own)
    except ValueError as error:
        return [*notes, str(error)]
    words = "differ" if levene.p < 0.05 else "do not show a difference"
    notes.append(
        f"Variances {words} (Brown-Forsythe p {format_p(levene.p)}, largest over smallest "
        f"{ratio:.3g})" + ("; F assumes that they are equal." if levene.p < 0.05 else ".")
    )
    notes.append(
        f"Welch's test over all {len(own)} groups, which assumes no equal variances: "
        f"F {by_welch.statistic:.4g}, p {format_p(by_welch.p)}."
    )
    few = min(effective_count(values) / len(values) for values in own if len(values) > 2)
    if few < 0.8:
        notes.append(
            "Messages follow each other and are not independent (of one group, n counts as "
            f"{few:.0%}): p is smaller than it should be."
        )
    return notes


def pairs(results: Results, study: str, figure: Figure) -> Table:
    """Return each pair of levels of a factor, within each level of another: shift and means."""
    from strata.stats.shift import holm

    measure = find_measure(figure.of or "latency")
    over, within = str(figure.over), listed(figure.within)
    frame = with_imported_means(results, study, measure.name, figure.where)
    # Of one machine each: two levels of an import differ, an import and a cell need not.
    imported = bool((frame["origin"] != HERE).any())
    has_means = bool((frame[VALUES] != EACH).any())
    apart = [*(["origin"] if imported else []), *within]
    columns = _pair_columns(apart, over, measure.unit, has_means=has_means)
    out = Rows(columns)
    parts = frame.groupby(apart, observed=True) if apart else [((), frame)]
    for key, own in parts:
        levels = dict(zip(apart, (str(one) for one in key), strict=True))
        out.rows += [{**levels, **row} for row in _pairs(own, over)]
    told = [row["p"] for row in out.rows if row["p"] is not None]
    for row, p in zip([row for row in out.rows if row["p"] is not None], holm(told), strict=True):
        row["p"] = float(p)
    doubtful = sum(bool(row.pop("doubtful", False)) for row in out.rows)
    notes = (
        *_doubts(doubtful, len(out.rows)),
        "Shift: the median of all differences of two values; its interval allows for messages "
        "that follow each other. p is corrected for all pairs of this table (Holm). Means: "
        "Games-Howell, for variances that differ; its p takes messages as independent.",
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
        f"{name_words(measure.name)}: pairs of {name_words(over)} ({measure.shown_unit})",
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


def _pair_columns(
    apart: Sequence[str], over: str, unit: str, *, has_means: bool
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
        Column("mean_p", "p (Games-Howell)", form="p"),
        Column("runs", "runs", text="of a and b"),
    )


def _pairs(frame: pd.DataFrame, over: str) -> list[dict[str, Any]]:
    from strata.stats.shift import shift

    names, samples, runs, kinds = [], [], [], []
    order = [name for name in ("cell", "hop", "number") if name in frame.columns]
    for name, own in frame.groupby(over, observed=True):
        names.append(str(name))
        samples.append(own.sort_values(order, kind="stable")["value"].to_numpy(np.float64))
        runs.append(own["cell"].nunique())
        kinds.append(" and ".join(own[VALUES].unique()))
    means = _means(samples, names)
    rows = []
    for a, b in combinations(range(len(names)), 2):
        row: dict[str, Any] = {"a": names[a], "b": names[b], "runs": f"{runs[a]} and {runs[b]}"}
        row[VALUES] = kinds[a] if kinds[a] == kinds[b] else f"{kinds[a]}, {kinds[b]}"
        try:
            found = shift(samples[a], samples[b], _CONFIDENCE, seed=SEED, quantiles=())
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
        rows.append({**row, **means.get((names[a], names[b]), {})})
    return rows


def _means(samples: list[Floats], names: list[str]) -> dict[tuple[str, str], dict[str, float]]:
    from strata.stats.variance import games_howell

    try:
        found = games_howell(samples, names, _CONFIDENCE)
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
