# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The fit of a curve: two straight lines and the band of their breakpoint, or one straight line."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd
from bokeh.models import BoxAnnotation
from bokeh.plotting import figure

from strata.show.html.campaign.figures.scales import Places, Scale
from strata.study.level_texts import between_levels
from strata.study.report_contents import Chart, Study
from strata.study.segmented_fits import FittedPoints, fit_levels, supported

_STEPS = 24
_BAND = 0.13


@dataclass(frozen=True)
class Fitted:
    """The fit of one series; of a breakpoint that is not supported, the straight line is drawn."""

    points: FittedPoints
    is_supported: bool

    def draw(self, plot: figure, colour: str, at: Places, scale: Scale) -> None:
        """Draw the line between the outermost points, and the interval of the breakpoint."""
        fit, x = self.points.fit, self.points.x
        along = np.unique(
            np.concatenate([_between(*pair, is_log=at.is_log) for pair in pairwise(x)])
        )
        y = (fit.at(along) if self.is_supported else fit.line.at(along)) * scale.factor
        drawn = y > 0 if scale.is_log else np.ones(len(y), bool)
        plot.line(
            [at.of_number(one) for one in along[drawn]],
            y[drawn],
            line_color=colour,
            line_width=1.5,
            line_dash="dotted",
        )
        if self.is_supported:
            plot.add_layout(
                BoxAnnotation(
                    left=at.of_number(fit.breakpoint.low),
                    right=at.of_number(fit.breakpoint.high),
                    fill_color=colour,
                    fill_alpha=_BAND,
                    line_color=None,
                )
            )


def fits_of(
    series: dict[tuple[object, ...], pd.DataFrame], chart: Chart, study: Study
) -> dict[tuple[object, ...], Fitted]:
    """Fit the rows of each series of a figure; those with too few levels have none."""
    factor, request = study.factor(chart.request.x), chart.request
    found: dict[tuple[object, ...], FittedPoints] = {}
    for place, rows in series.items() if factor and factor.numbers else ():
        try:
            found[place] = fit_levels(rows, factor, request.statistic, request.confidence)
        except ValueError:
            continue
    flags = supported(list(found.values()))
    return {
        place: Fitted(points, flag) for (place, points), flag in zip(found.items(), flags, strict=True)
    }


def fit_words(fits: list[Fitted], count: int, confidence: float, unit: str | None) -> list[str]:
    """Say what the dotted lines and the bands are, of `count` series."""
    if not fits:
        return ["no line is fitted: there are too few levels with values"]
    out = []
    having = [one for one in fits if one.is_supported]
    if having:
        bounds = ", ".join(_interval(one, unit) for one in having)
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


def _between(low: float, high: float, *, is_log: bool) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.geomspace(low, high, _STEPS) if is_log else np.linspace(low, high, _STEPS)


def _interval(one: Fitted, unit: str | None) -> str:
    found = one.points.fit.breakpoint
    return " to ".join(between_levels(each, unit) for each in (found.low, found.high))
