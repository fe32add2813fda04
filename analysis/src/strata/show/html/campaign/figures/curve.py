# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Curves: a statistic of a measure along a factor, with the interval of each point."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from bokeh.models import ColumnDataSource, HoverTool
from bokeh.plotting import figure

from strata.show.html.campaign.figures.fitted import draw_fit, fit_words
from strata.show.html.campaign.figures.palette import LIMIT
from strata.show.html.campaign.figures.scales import Places, Scale, label_values, places, scale_of
from strata.show.html.campaign.figures.split import Drawn, Key, legend_of, series_of, split_panels
from strata.show.html.figures import axes
from strata.study.frame_grouping import by_cell, levels_of
from strata.study.interval_estimates import Estimate, estimate
from strata.study.report_contents import Chart, Study
from strata.study.wording import STATISTIC_WORDS, name_words

_HEIGHT = 330
_DODGE = 0.1
_ALIKE = 0.8
"""Share of the effective count below which a caption tells it."""


@dataclass(frozen=True)
class Point:
    """A point of a curve, and the statistic of each repetition by itself."""

    level: str
    estimate: Estimate
    repetitions: tuple[float, ...]


def draw_curve(chart: Chart, study: Study) -> Drawn:
    """Draw the statistic at each level of `x`, one line per level of `by`."""
    chart = replace(chart, frame=by_cell(chart))
    curves = _Curves(chart, study)
    panels = split_panels(chart, study, curves.draw)
    caption = [f"{STATISTIC_WORDS[chart.request.statistic]} at each level", *curves.words()]
    return Drawn("By level", panels, legend_of(chart, study, style="line"), tuple(caption))


class _Curves:
    """Draws the panels of one figure on one pair of axes, and gathers what its caption says."""

    def __init__(self, chart: Chart, study: Study) -> None:
        self._chart, self._study = chart, study
        x = chart.request.x
        levels = levels_of(chart.frame, x, study)
        self._at = places(levels, study.factor(x), x, spread=True)
        self._points: dict[tuple[str, ...], list[Point]] = {}
        names = [name for name in chart.request.panels if name in chart.frame]
        groups = chart.frame.groupby(names, observed=True) if names else [((), chart.frame)]
        ends: list[float] = []
        for _, rows in groups:
            for item in series_of(rows, chart, study, style="line"):
                points = self._points_of(item.rows)
                self._points[_place(item.rows, chart)] = points
                ends += [end for point in points for end in _ends(point)]
        self._limit = self._limit_points()
        ends += [value for _, value in self._limit] if ends else []
        values = np.array(ends, dtype=np.float64)
        self._scale = scale_of(values, chart.measure, asked=chart.request.scale, statistics=True)
        self._low, self._top = (
            (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
        )

    def _points_of(self, rows: pd.DataFrame) -> list[Point]:
        request = self._chart.request
        out = []
        for level in self._at.at:
            mine = rows[rows[request.x].astype(str) == level].dropna(subset=["value"])
            if mine.empty:
                continue
            each = self._chart.measure.each
            out.append(
                Point(
                    level,
                    estimate(mine, each, request.statistic, request.confidence),
                    tuple(_by_repetition(mine, each, request.statistic)),
                )
            )
        return out

    def draw(self, rows: pd.DataFrame) -> figure:
        """Draw one panel."""
        plot = self._plane()
        series = series_of(rows, self._chart, self._study, style="line")
        slots = 1 + max((item.at for item in series), default=0)
        for item in series:
            shift = 0.0
            if not self._at.is_number:
                shift = (item.at - (slots - 1) / 2) * min(_DODGE, 0.6 / slots)
            place = _place(item.rows, self._chart)
            if place in self._chart.fits:
                draw_fit(self._chart.fits[place], plot, item.key.colour, self._at, self._scale)
            points = self._points[place]
            _glyphs(plot, points, item.key, self._at, self._scale, shift)
        self._draw_limit(plot)
        return plot

    def _limit_points(self) -> list[tuple[float, float]]:
        """Return the line of reference: places on the axis, and values of the measure."""
        limit = self._chart.request.limit
        if limit is None:
            return []
        low, top = self._at.range
        if not isinstance(limit[0], str):
            return [(low, float(limit[0])), (top, float(limit[0]))]
        factor = self._study.factor(self._chart.request.x)
        if factor is None or factor.numbers is None:
            return []
        number = dict(zip(factor.levels, factor.numbers, strict=True))
        return [(at, number[level]) for level, at in self._at.at.items() if level in number]

    def _draw_limit(self, plot: figure) -> None:
        if self._limit:
            plot.line(
                [at for at, _ in self._limit],
                [value * self._scale.factor for _, value in self._limit],
                line_color=LIMIT,
                line_width=1.5,
                line_dash="dotted",
                name="limit",
            )

    def _plane(self) -> figure:
        scale = self._scale
        low, top = self._low * scale.factor, self._top * scale.factor
        name = name_words(self._chart.measure.name)
        word = STATISTIC_WORDS[self._chart.request.statistic]
        plot = axes.new_figure(
            height=_HEIGHT,
            x_label=self._at.axis,
            y_label=scale.label(f"{word} of {name}"),
            y_log=scale.is_log,
            x_range=self._at.range,
            y_range=_range(low, top, is_log=scale.is_log),
            hover=HoverTool(
                tooltips=[
                    ("", "@of"),
                    (word, f"@y{{0,0.[000]}} {scale.unit}"),
                    ("interval", "@interval"),
                    ("values", "@count{0,0}"),
                ],
                visible=False,
                renderers=[],
            ),
        )
        self._at.put(plot)
        if scale.is_log:
            label_values(plot, low, top)
        else:
            axes.plain_numbers(plot)
        return plot

    def words(self) -> list[str]:
        """Say how the intervals were made, and what the small points are."""
        points = [point for points in self._points.values() for point in points]
        methods = dict.fromkeys(
            point.estimate.method.split(",")[0] for point in points if point.estimate.method
        )
        percent = f"{100 * self._chart.request.confidence:g} %"
        out = [f"bars are {percent} intervals ({' or '.join(methods)})"] if methods else []
        if self._chart.request.limit:
            out.append(f"dotted: {self._chart.request.limit[1]}")
        if any(not point.estimate.method for point in points):
            out.append("a point without a bar has too few values for an interval")
        dependent = [
            found
            for found in (point.estimate for point in points)
            if found.effective is not None and found.effective < _ALIKE * found.count
        ]
        if dependent:
            few = min(dependent, key=lambda found: (found.effective or 0) / found.count)
            out.append(
                f"values that follow each other are alike at {len(dependent)} of {len(points)} "
                f"points: {few.count:,} are worth as few as {few.effective:,.0f} independent ones"
            )
        if any(len(point.repetitions) > 1 for point in points):
            out.append("small marks are the repetitions by themselves")
        request = self._chart.request
        if request.fit:
            factor = self._study.factor(request.x)
            unit = factor.unit if factor else None
            out += fit_words(self._chart.fits, len(self._points), request.confidence, unit)
        return out


def _by_repetition(rows: pd.DataFrame, each: str, statistic: str) -> list[float]:
    if rows["repetition"].nunique() < 2:
        return []
    return [estimate(mine, each, statistic, None).value for _, mine in rows.groupby("repetition")]


def _place(rows: pd.DataFrame, chart: Chart) -> tuple[str, ...]:
    """What tells one series of the figure from the others, as in the fits of a chart."""
    names = [n for n in (*chart.request.panels, chart.request.by, "origin") if n in rows]
    return tuple(str(rows[name].iloc[0]) for name in names)


def _ends(point: Point) -> list[float]:
    ends = [point.estimate.value, point.estimate.low, point.estimate.high, *point.repetitions]
    return [end for end in ends if end is not None and np.isfinite(end)]


def _range(low: float, top: float, *, is_log: bool) -> tuple[float, float]:
    if is_log:
        return low / 1.3, top * 1.3
    pad = 0.08 * ((top - min(low, 0.0)) or 1.0)
    return (low - pad if low < 0 else -0.02 * pad), top + pad


def _glyphs(
    plot: figure, points: list[Point], key: Key, at: Places, scale: Scale, shift: float
) -> None:
    source = _source(points, key, at, scale, shift)
    plot.line(
        "x",
        "y",
        source=source,
        line_color=key.colour,
        line_width=2 if at.is_number else 1,
        line_alpha=1.0 if at.is_number else 0.35,
        line_dash="dashed" if key.hollow else "solid",
    )
    plot.segment("x", "low", "x", "high", source=source, line_color=key.colour, line_width=2.5)
    for end in ("low", "high"):
        plot.scatter("x", end, source=source, marker="dash", size=11, line_color=key.colour)
    dots = plot.scatter(
        "x",
        "y",
        source=source,
        marker=key.marker,
        size=8,
        fill_color="#ffffff" if key.hollow else key.colour,
        line_color=key.colour,
    )
    plot.hover.renderers = [*plot.hover.renderers, dots]
    small = [
        (at.at[point.level] + shift, value * scale.factor)
        for point in points
        for value in point.repetitions
    ]
    if small:
        plot.scatter(
            [x for x, _ in small],
            [y for _, y in small],
            size=4,
            fill_color="#ffffff",
            line_color=key.colour,
        )


def _source(
    points: list[Point], key: Key, at: Places, scale: Scale, shift: float
) -> ColumnDataSource:
    def scaled(value: float | None) -> float:
        return float("nan") if value is None else value * scale.factor

    lows = [scaled(point.estimate.low) for point in points]
    highs = [scaled(point.estimate.high) for point in points]
    return ColumnDataSource(
        {
            "x": [at.at[point.level] + shift for point in points],
            "y": [scaled(point.estimate.value) for point in points],
            "low": lows,
            "high": highs,
            "interval": [
                f"{low:,.4g} to {high:,.4g}" if low == low and high == high else "-"
                for low, high in zip(lows, highs, strict=True)
            ],
            "count": [point.estimate.count for point in points],
            "of": [", ".join(filter(None, (at.texts[p.level], key.text))) for p in points],
        }
    )
