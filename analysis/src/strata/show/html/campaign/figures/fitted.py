# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The fit of a curve: two straight lines and the band of their breakpoint, or one straight line."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import numpy as np
from bokeh.models.annotations import BoxAnnotation
from bokeh.plotting import figure

from strata.show.html.campaign.figures.scales import Places, Scale
from strata.study.level_texts import between_levels
from strata.study.report_contents import HERE
from strata.study.segmented_fits import LINE, ShapedFit

_STEPS = 24
_BAND = 0.13


def draw_fit(found: ShapedFit, plot: figure, colour: str, at: Places, scale: Scale) -> None:
    """Draw the line between the outermost points, and the interval of the breakpoint.

    Where no breakpoint is supported, that is the straight line.
    """
    fit, x = found.points.fit, found.points.x
    along = np.unique(np.concatenate([_between(*pair, is_log=at.is_log) for pair in pairwise(x)]))
    y = (fit.line.at(along) if found.shape == LINE else fit.at(along)) * scale.factor
    drawn = y > 0 if scale.is_log else np.ones(len(y), bool)
    plot.line(
        [at.of_number(one) for one in along[drawn]],
        y[drawn],
        line_color=colour,
        line_width=1.5,
        line_dash="dotted",
    )
    if found.shape != LINE:
        plot.add_layout(
            BoxAnnotation(
                left=at.of_number(fit.breakpoint.low),
                right=at.of_number(fit.breakpoint.high),
                fill_color=colour,
                fill_alpha=_BAND,
                line_color=None,
            )
        )


def fit_words(
    fits: Mapping[tuple[str, ...], ShapedFit], count: int, confidence: float, unit: str | None
) -> list[str]:
    """Say what the dotted lines and the bands are, of `count` series."""
    if not fits:
        return ["no line is fitted: there are too few levels with values"]
    out = []
    having = {place: one for place, one in fits.items() if one.shape != LINE}
    if having:
        bounds = "; ".join(_interval(*item, unit) for item in having.items())
        out.append(
            "dotted lines are two straight lines that meet at a breakpoint, bands its "
            f"{100 * confidence:g} % interval ({bounds}); straight lines are bent on a logarithmic "
            "axis"
        )
    if len(having) < len(fits):
        out.append(
            f"in {len(fits) - len(having)} of {len(fits)} curves no breakpoint is supported: their "
            "dotted line is one straight line"
        )
    if len(fits) < count:
        out.append(f"{count - len(fits)} curves have too few levels for a fit")
    return out


def _between(
    low: float, high: float, *, is_log: bool
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.geomspace(low, high, _STEPS) if is_log else np.linspace(low, high, _STEPS)


def _interval(place: tuple[str, ...], one: ShapedFit, unit: str | None) -> str:
    """Write an interval with its series; an end that is not bounded is no end."""
    fit = one.points.fit
    low, high = (between_levels(end, unit) for end in (fit.breakpoint.low, fit.breakpoint.high))
    if fit.breakpoint.high >= fit.ends[1]:
        bounds = f"{low} or more" if fit.breakpoint.low > fit.ends[0] else "anywhere"
    else:
        bounds = f"{low} to {high}" if fit.breakpoint.low > fit.ends[0] else f"{high} or less"
    return " ".join([*(level for level in place if level and level != HERE), bounds])
