# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Timelines: a resource or a latency along a run, with its slope an hour."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
from bokeh.models import ColumnDataSource, HoverTool
from bokeh.plotting import figure

from strata.show.html.campaign.figures.scales import Scale, in_order, label_values, scale_of
from strata.show.html.campaign.figures.split import (
    Drawn,
    Series,
    legend_of,
    series_of,
    split_panels,
)
from strata.show.html.figures import axes, thinning
from strata.stats.drift import MIN_COUNT, drift
from strata.study.report_contents import Chart, Request, Study
from strata.study.wording import name_words, shown_factor, shown_unit
from strata.units import format_number

_HEIGHT = 280
_S = 1e9
_MAX_POINTS = 6_000
_MOST_SLOPES = 8
_SHORTEST_S = 30.0
"""A slope an hour of a shorter run would be a guess."""


def draw_timeline(chart: Chart, study: Study) -> Drawn:
    """Plot the values over `t_ns` since the run began, in seconds, one series per process.

    Several cells get a panel each, unless the file asks for others. Each series of enough values
    over at least 30 s gets its straight line; the caption states its slope.
    """
    chart = Chart(_apart(chart), chart.measure, chart.frame, chart.empty)
    slopes: list[str] = []
    panels = split_panels(chart, study, lambda rows: _draw(rows, chart, study, slopes))
    style = "point" if chart.measure.each == "message" else "line"
    caption = ["the thin line is the least-squares one"] if slopes else []
    caption += slopes[:_MOST_SLOPES]
    return Drawn("Over time", panels, legend_of(chart, study, style=style), tuple(caption))


def _apart(chart: Chart) -> Request:
    """Ask for processes and cells apart: a line goes along one of them."""
    request, frame = chart.request, chart.frame
    if not request.by and "process" in frame:
        request = replace(request, by="process")
    if not request.panels and frame["cell"].nunique() > 1:
        request = replace(request, panels=("cell",))
    return request


def _draw(rows: pd.DataFrame, chart: Chart, study: Study, slopes: list[str]) -> figure:
    values = chart.frame["value"].dropna().to_numpy(dtype=np.float64)
    scale = scale_of(values, chart.measure, asked=chart.request.scale)
    low, top = (float(end) * scale.factor for end in (values.min(), values.max()))
    end = float(chart.frame["t_ns"].max()) / _S
    plot = axes.new_figure(
        height=_HEIGHT,
        x_label="time since the run began (s)",
        y_label=scale.label(name_words(chart.measure.name)),
        y_log=scale.is_log,
        x_range=(-0.01 * end, 1.02 * end or 1.0),
        y_range=(low / 1.2, top * 1.2) if scale.is_log else _from_zero(low, top),
        hover=HoverTool(
            tooltips=[("", "$name"), ("at", "@x{0,0.0} s"), ("", f"@y{{0,0.[000]}} {scale.unit}")],
            visible=False,
        ),
    )
    if scale.is_log:
        label_values(plot, low, top)
    else:
        axes.plain_numbers(plot)
    items = series_of(rows, chart, study, style="line")
    limit = max(60, _MAX_POINTS // max(1, len(items)))
    for item in items:
        _series(plot, item, chart, scale, limit)
        slopes += _slope(plot, item, chart, scale)
    return plot


def _from_zero(low: float, top: float) -> tuple[float, float]:
    """Return a range with zero in it; offsets have values below it."""
    pad = 0.08 * ((max(top, 0.0) - min(low, 0.0)) or 1.0)
    return (min(low, 0.0) - pad if low < 0 else 0.0), max(top, 0.0) + pad


def _series(plot: figure, item: Series, chart: Chart, scale: Scale, limit: int) -> None:
    ordered = item.rows.dropna(subset=["value"]).sort_values(["cell", "t_ns"], kind="stable")
    values = ordered["value"].to_numpy(dtype=np.float64)
    kept = thinning.keep(in_order(values), limit)
    source = ColumnDataSource(
        {
            "x": (ordered["t_ns"].to_numpy(dtype=np.float64)[kept] / _S).astype(np.float32),
            "y": (values[kept] * scale.factor).astype(np.float32),
        }
    )
    name = item.key.text or name_words(chart.measure.name)
    if chart.measure.each == "message":
        plot.scatter(
            "x", "y", source=source, name=name, size=3, fill_color=item.key.colour, line_color=None
        )
    else:
        plot.line("x", "y", source=source, name=name, line_color=item.key.colour, line_width=2)


def _slope(plot: figure, item: Series, chart: Chart, scale: Scale) -> list[str]:
    """Draw the straight line of a series and say its slope; nothing for a short series."""
    rows = item.rows.dropna(subset=["value"]).sort_values("t_ns", kind="stable")
    if len(rows) < MIN_COUNT or rows["cell"].nunique() > 1:
        return []
    times = rows["t_ns"].to_numpy(dtype=np.float64) / _S
    if times[-1] - times[0] < _SHORTEST_S:
        return []
    values = rows["value"].to_numpy(dtype=np.float64)
    found = drift(times, values)
    slope = found.slope_per_hour / 3600
    ends = np.array([times[0], times[-1]])
    line = values.mean() + slope * (ends - times.mean())
    drawn = line * scale.factor
    if not scale.is_log or (drawn > 0).all():
        plot.line(ends, drawn, name="line", line_color="#111111", line_width=1, line_alpha=0.6)
    unit, shown = shown_unit(chart.measure.unit), shown_factor(chart.measure.unit)
    cell = str(rows["cell"].iloc[0]) if chart.frame["cell"].nunique() > 1 else ""
    name = ", ".join(filter(None, (item.key.text, cell)))
    name += ": " if name else ""
    zero = "; it holds 0" if found.low <= 0 <= found.high else ""
    bounds = (
        f" [{format_number(found.low * shown)} to {format_number(found.high * shown)} at "
        f"{100 * found.confidence:g} %{zero}]"
    )
    return [f"{name}{format_number(found.slope_per_hour * shown)} {unit} an hour{bounds}"]
