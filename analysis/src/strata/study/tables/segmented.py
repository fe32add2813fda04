# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The table of segmented fits: slopes below and above a breakpoint, and the straight line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from strata.campaign.model import Figure
from strata.study.campaign_results import Factor, Results
from strata.study.level_texts import level_text
from strata.study.long_frames import long_frame
from strata.study.measure_definitions import find_measure
from strata.study.segmented_fits import (
    BEND,
    BREAKPOINT,
    LINE,
    FittedPoints,
    corrected,
    fit_levels,
    per_unit,
    shapes,
)
from strata.study.tables.level_pairs import strata_of, told_apart
from strata.study.tables.statistics import put_together, why_no_rows
from strata.study.tables.table import Column, Rows, Table, factor_columns
from strata.study.wording import STATISTIC_WORDS, name_words
from strata.units import format_share

if TYPE_CHECKING:
    from strata.stats.segmented import Bound

_SHAPES = {BREAKPOINT: "breakpoint", BEND: "bent, place not bounded", LINE: "one line"}
_NOTES = (
    "Two straight lines that meet at the breakpoint, weighted least squares (Muggeo 2003). A point "
    "counts by its own error and by a scatter in proportion to its value, by which runs differ. "
    "Intervals of {confidence:g} % are of the profile: those of slopes allow for a breakpoint that "
    "is not known.",
    "p: the largest F over all breakpoints, by {resamples} draws from the straight line, corrected "
    "for all rows (Holm). A breakpoint is supported if p is below 0.05 and its interval excludes "
    "the ends of what was tried, the second level and the last but one. Bent means that p is below "
    "0.05, but the place may be at such an end. Of one line, read the straight line.",
    "In proportion to {over} means an intercept of 0. The fit is continuous: a step appears as two "
    "slopes, and as points that lie off.",
)


def segmented(results: Results, study: str, figure: Figure) -> Table:
    """Return slopes, breakpoint and intercept of a measure's statistic along a numeric factor."""
    measure = find_measure(figure.of or "latency")
    over, statistic = str(figure.over), figure.statistic or "p50"
    confidence = figure.confidence[0]
    factor = results.study(study).factor(over)
    frame = long_frame(results, study, measure.name, where=figure.where)
    apart = told_apart(frame, figure)
    slope, scale = per_unit(measure.unit, factor.unit if factor else None)
    columns = _columns(apart, over, factor, measure.unit, slope)
    out, fits, why = Rows(columns), list[FittedPoints](), list[str]()
    for levels, own in strata_of(frame, apart):
        if factor is None or factor.numbers is None:
            break
        try:
            fits.append(fit_levels(own, factor, statistic, confidence))
        except ValueError as error:
            why.append(f"{', '.join(levels.values()) or 'No fit'}: {error}")
            continue
        out.rows.append({**levels, **_row(fits[-1], scale)})
    for row, p, shape in zip(out.rows, corrected(fits), shapes(fits), strict=True):
        row |= {"p": p, "shape": shape}
        row["in_proportion"] = _in_proportion(row)
    empty = why_no_rows(results, study, figure, frame)
    if not empty and not out.rows:
        empty = "; ".join(why) or f"{name_words(over)} is no factor of numbers"
    notes = [
        *(_off(levels, one, factor) for levels, one in zip(_told(out, apart), fits, strict=True)),
        *(why if out.rows else ()),
        *(one.format(confidence=100 * confidence, resamples=999, over=over) for one in _NOTES),
        *put_together(results, study, figure, frame),
    ]
    return Table(
        "segmented",
        f"{STATISTIC_WORDS[statistic]} {name_words(measure.name)} by {name_words(over)}: slopes "
        f"and breakpoint ({measure.shown_unit}, {slope})",
        columns,
        out.frame(),
        tuple(notes),
        empty,
        measure.name,
    )


def _columns(
    apart: Sequence[str], over: str, factor: Factor | None, unit: str, slope: str
) -> tuple[Column, ...]:
    own = (factor.unit if factor else None) or ""
    return (
        *factor_columns(apart),
        Column("points", "points", form="count", text=f"levels of {name_words(over)}"),
        Column("shape", "shape", texts=_SHAPES),
        Column("p", "p (Holm)", form="p"),
        Column("F", "F", form="number"),
        *_bounded("breakpoint", "breakpoint", own),
        *_bounded("below", "slope below", slope),
        *_bounded("above", "slope above", slope),
        *_bounded("intercept", "intercept", unit),
        *_bounded("line_slope", "slope of the straight line", slope),
        *_bounded("line_intercept", "its intercept", unit),
        Column("in_proportion", "in proportion", form="flag", text="the intercept may be 0"),
        Column("scatter", "scatter", form="share", text="of points about the fit, beyond errors"),
    )


def _bounded(name: str, label: str, unit: str) -> tuple[Column, ...]:
    return (
        Column(name, label, unit, "number"),
        Column(f"{name}_low", "from", unit, "number"),
        Column(f"{name}_high", "to", unit, "number"),
    )


def _row(found: FittedPoints, scale: float) -> dict[str, Any]:
    fit = found.fit
    return {
        "points": len(found.x),
        "F": fit.F,
        "scatter": fit.scatter,
        **_bound("breakpoint", fit.breakpoint, 1.0),
        **_bound("below", fit.below, scale),
        **_bound("above", fit.above, scale),
        **_bound("intercept", fit.intercept, 1.0),
        **_bound("line_slope", fit.line.slope, scale),
        **_bound("line_intercept", fit.line.intercept, 1.0),
    }


def _bound(name: str, found: Bound, scale: float) -> dict[str, float]:
    return {
        name: found.estimate * scale,
        f"{name}_low": found.low * scale,
        f"{name}_high": found.high * scale,
    }


def _in_proportion(row: dict[str, Any]) -> bool:
    """Tell whether the intercept of the fit that holds may be 0."""
    name = "line_intercept" if row["shape"] == LINE else "intercept"
    return bool(row[f"{name}_low"] <= 0 <= row[f"{name}_high"])


def _told(out: Rows, apart: Sequence[str]) -> list[str]:
    return [", ".join(str(row[name]) for name in apart) for row in out.rows]


def _off(levels: str, found: FittedPoints, factor: Factor | None) -> str:
    """Say which point lies furthest off the segmented fit."""
    worst = max(range(len(found.levels)), key=lambda at: abs(found.fit.residuals[at]))
    share = found.fit.residuals[worst]
    where = level_text(found.levels[worst], factor)
    of = f" of {levels}" if levels else ""
    side = "above" if share > 0 else "below"
    off = format_share(abs(share))
    return f"The point{of} furthest off its segmented fit is {where}: {off} {side}"
