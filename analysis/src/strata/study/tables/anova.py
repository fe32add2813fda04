# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Tables of analyses of variance: by two or more factors, of messages and of runs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, combinations
from math import prod

import numpy as np
import pandas as pd

from strata.campaign.model import Figure, listed
from strata.study.campaign_results import Results, Study
from strata.study.level_texts import level_words
from strata.study.long_frames import long_frame
from strata.study.measure_definitions import find_measure
from strata.study.tables.statistics import put_together, why_no_rows
from strata.study.tables.table import ORIGIN, Column, Table, factor_columns, shows_origin
from strata.study.wording import name_words

_OF_RUNS = (
    Column("runs_df", "df of runs", form="count", text="each cell is one value: its mean"),
    Column("runs_F", "F of runs", form="number"),
    Column("runs_p", "p of runs", form="p"),
)


def anova(results: Results, study: str, figure: Figure, *, imports: bool = True) -> Table:
    """Return the analysis of variance of a measure, with the tests of what it assumes.

    A factor of which one level has values is left out where two others remain, and levels that
    were not measured with all of the others, too; notes name them. Other machines, and imports that
    have a value per message, each have an analysis of their own (without `imports`: none).
    """
    measure = find_measure(figure.of or "latency")
    asked = anova_factors(figure)
    frame = long_frame(results, study, measure.name, where=figure.where, imports=imports)
    has_origins = shows_origin(frame)
    columns = _columns(asked, measure.unit, has_origins=has_origins)
    parts, notes, why, titled = list[pd.DataFrame](), list[str](), list[str](), asked
    for origin, rows in frame.groupby(ORIGIN, observed=True, sort=True):
        complete, factors, left_out = _complete(rows, asked, results.study(study))
        told = f"{origin}: " if has_origins else ""
        try:
            own, said = _analysed(complete, measure.name, factors)
        except ValueError as error:
            why.append(f"{told}{error}")
            continue
        titled = titled if parts else factors
        parts.append(own.assign(**{ORIGIN: str(origin)}))
        notes += [f"{told}{note}" for note in (*left_out, *said)]
    if parts:
        notes += why
        notes += put_together(results, study, figure, frame)
    found = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()
    columns += _OF_RUNS if "runs_p" in found else ()
    return Table(
        "anova",
        f"analysis of variance of {name_words(measure.name)} by {_listing(titled)}",
        columns,
        found.reindex(columns=[column.name for column in columns]),
        tuple(notes),
        "" if parts else "; ".join(why) or why_no_rows(results, study, figure, frame),
        measure.name,
    )


def _columns(factors: Sequence[str], unit: str, *, has_origins: bool) -> tuple[Column, ...]:
    return (
        *factor_columns([ORIGIN] if has_origins else []),
        Column("term", "term", texts=term_words(factors)),
        Column("sum_sq", "sum of squares", f"{unit}^2", "number"),
        Column("df", "df", form="count"),
        Column("F", "F", form="number"),
        Column("p", "p", form="p"),
        Column("eta_sq", "eta squared", form="share", text="of all variation"),
        Column("partial_eta_sq", "partial eta squared", form="share"),
        Column("omega_sq", "omega squared", form="share", text="as eta squared, without its bias"),
    )


def _analysed(
    complete: pd.DataFrame, measure: str, factors: Sequence[str]
) -> tuple[pd.DataFrame, list[str]]:
    """Return the analysis and what it assumes; ValueError where the values allow none."""
    from strata.stats.variance import factorial

    named = complete.rename(columns={"value": measure})
    found, of_runs = _with_runs(factorial(named, measure, factors), named, measure, factors)
    return found, [*_assumptions(complete, factors), of_runs]


def anova_factors(figure: Figure) -> list[str]:
    """Return the factors; the file's check holds that there are two or three."""
    return figure.factors or listed(figure.rows)


def _listing(factors: Sequence[str]) -> str:
    *first, last = map(name_words, factors)
    return f"{', '.join(first)} and {last}" if first else last


def term_words(factors: Sequence[str]) -> dict[str, str]:
    """Return the terms of factors and of all their interactions as words."""
    counts = range(1, len(factors) + 1)
    terms = chain.from_iterable(combinations(factors, count) for count in counts)
    return {":".join(term): " x ".join(map(name_words, term)) for term in terms}


def _complete(
    frame: pd.DataFrame, asked: Sequence[str], study: Study
) -> tuple[pd.DataFrame, list[str], list[str]]:
    """Keep factors and levels of which every combination has values; say what was left out.

    The level that misses the largest share of its combinations goes first, until none is missing.
    """
    kept = frame.assign(**{name: frame[name].astype(str) for name in asked})
    factors, notes = list(asked), list[str]()
    while True:
        single = [name for name in factors if kept[name].nunique() < 2]
        if single and len(factors) > 2:
            name = single[0]
            factors.remove(name)
            level = ", ".join(_text(study, name, one) for one in kept[name].unique())
            notes.append(f"{name_words(name)} left out: all values are of {level}.")
            continue
        name, level, share = _least_complete(kept, factors)
        if not share:
            return kept.copy(), factors, notes
        kept = kept[kept[name] != level]
        others = _listing([one for one in factors if one != name])
        notes.append(
            f"{name_words(name)} {_text(study, name, level)} left out: not measured with every "
            f"{others}."
        )


def _text(study: Study, name: str, level: str) -> str:
    return level_words(study, name).get(level, level)


def _least_complete(frame: pd.DataFrame, factors: Sequence[str]) -> tuple[str, str, float]:
    """Return the level that misses the largest share of its combinations with the others."""
    seen = frame[list(factors)].drop_duplicates()
    levels = {name: frame[name].unique() for name in factors}
    worst = ("", "", 0.0)
    for name in factors:
        whole = prod(len(levels[other]) for other in factors if other != name)
        for level, count in seen[name].value_counts(sort=False).items():
            if 1 - count / whole > worst[2]:
                worst = (name, str(level), 1 - count / whole)
    return worst


def _with_runs(
    found: pd.DataFrame, frame: pd.DataFrame, value: str, factors: Sequence[str]
) -> tuple[pd.DataFrame, str]:
    """Add the analysis of the cells' means to that of their messages, and say what it is."""
    from strata.stats.variance import factorial

    means = frame.groupby([*factors, "cell"], observed=True)[value].mean().reset_index()
    try:
        runs = factorial(means, value, factors)
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


def _assumptions(frame: pd.DataFrame, factors: Sequence[str]) -> list[str]:
    """Say in words whether variances are equal, and what Welch's test says without that."""
    from strata.stats.dependence import effective_count
    from strata.stats.variance import equal_variances, welch
    from strata.units import format_p

    own = [rows.to_numpy(np.float64) for _, rows in frame.groupby(list(factors))["value"]]
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
