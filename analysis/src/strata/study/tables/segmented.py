# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The table of segmented fits: slopes below and above a breakpoint, and the straight line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from strata.campaign.model import Figure
from strata.study.campaign_results import Factor, Results
from strata.study.level_texts import level_text
from strata.study.long_frames import long_frame
from strata.study.measure_definitions import find_measure
from strata.study.segmented_fits import BEND, BREAKPOINT, LINE, ShapedFit, per_unit
from strata.study.tables.level_pairs import told_apart
from strata.study.tables.statistics import put_together, why_no_rows
from strata.study.tables.study_fits import fits_of
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
    "(Holm) for all fits of the study of the same statistic along {over}, in tables and curves. A "
    "breakpoint is supported if p is below 0.05 and its interval excludes the ends of what was "
    "tried, the second level and the last but one. Bent means that p is below 0.05, but the place "
    "may be at such an end. Of one line, read the straight line.",
    "In proportion to {over} means one straight line that rises or falls by more than chance and "
    "whose intercept may be 0; where the slope changes, it is not in proportion. The fit is "
    "continuous: a step appears as two slopes, and as points that lie off.",
)


def segmented(results: Results, study: str, figure: Figure) -> Table:
    """Return slopes, breakpoint and intercept of a measure's statistic along a numeric factor."""
    measure = find_measure(figure.of or "latency")
    over, statistic = str(figure.over), figure.statistic or "p50"
    factor = results.study(study).factor(over)
    frame = long_frame(results, study, measure.name, where=figure.where)
    slope, scale = per_unit(measure.unit, factor.unit if factor else None)
    columns = _columns(told_apart(frame, figure), over, factor, measure.unit, slope)
    fits = fits_of(results, study, figure)
    out = Rows(columns, [_row(one, scale) for one in fits.found])
    empty = why_no_rows(results, study, figure, frame)
    if not empty and not out.rows:
        empty = "; ".join(fits.why) or f"{name_words(over)} is no factor of numbers"
    notes = (
        *(_off(one, factor) for one in fits.found),
        *(fits.why if out.rows else ()),
        *_how(over, figure.confidence[0]),
        *put_together(results, study, figure, frame),
    )
    return Table(
        "segmented",
        f"{STATISTIC_WORDS[statistic]} {name_words(measure.name)} by {name_words(over)}: slopes "
        f"and breakpoint ({measure.shown_unit}, {slope})",
        columns,
        out.frame(),
        notes,
        empty,
        measure.name,
    )


def _how(over: str, confidence: float) -> list[str]:
    """Say how the fits were made, and what their columns mean."""
    from strata.stats.segmented import RESAMPLES

    given = {"confidence": 100 * confidence, "resamples": RESAMPLES, "over": name_words(over)}
    return [one.format(**given) for one in _NOTES]


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
        Column(
            "in_proportion",
            "in proportion",
            form="flag",
            text="one line that rises or falls, and its intercept may be 0",
        ),
        Column("scatter", "scatter", form="share", text="of points about the fit, beyond errors"),
    )


def _bounded(name: str, label: str, unit: str) -> tuple[Column, ...]:
    return (
        Column(name, label, unit, "number"),
        Column(f"{name}_low", "from", unit, "number"),
        Column(f"{name}_high", "to", unit, "number"),
    )


def _row(found: ShapedFit, scale: float) -> dict[str, Any]:
    fit = found.points.fit
    row = {
        **found.levels,
        "points": len(found.points.x),
        "shape": found.shape,
        "p": found.p,
        "F": fit.F,
        "scatter": fit.scatter,
        **_bound("breakpoint", fit.breakpoint, 1.0),
        **_bound("below", fit.below, scale),
        **_bound("above", fit.above, scale),
        **_bound("intercept", fit.intercept, 1.0),
        **_bound("line_slope", fit.line.slope, scale),
        **_bound("line_intercept", fit.line.intercept, 1.0),
    }
    return row | {"in_proportion": in_proportion(row)}


def _bound(name: str, found: Bound, scale: float) -> dict[str, float]:
    return {
        name: found.estimate * scale,
        f"{name}_low": found.low * scale,
        f"{name}_high": found.high * scale,
    }


def in_proportion(row: Mapping[str, Any]) -> bool:
    """Tell whether it may be one straight line through 0; where the slope changes, it is not.

    Nor where the slope may be 0: then the points do not decide whether the measure changes at all.
    """
    return (
        row["shape"] == LINE
        and not row["line_slope_low"] <= 0 <= row["line_slope_high"]
        and bool(row["line_intercept_low"] <= 0 <= row["line_intercept_high"])
    )


def _off(found: ShapedFit, factor: Factor | None) -> str:
    """Say which point lies furthest off the segmented fit."""
    points = found.points
    worst = max(range(len(points.levels)), key=lambda at: abs(points.fit.residuals[at]))
    share = points.fit.residuals[worst]
    levels = ", ".join(found.levels.values())
    of = f" of {levels}" if levels else ""
    side = "above" if share > 0 else "below"
    return (
        f"The point{of} furthest off its segmented fit is "
        f"{level_text(points.levels[worst], factor)}: {format_share(abs(share))} {side}"
    )
