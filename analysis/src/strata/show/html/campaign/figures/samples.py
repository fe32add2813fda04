# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Raw series: each value at its number, so that steps, drifts and gaps are seen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
from bokeh.models import ColumnDataSource, HoverTool
from bokeh.plotting import figure

from strata.show.html.campaign.figures.error_bars import (
    errors_of,
    largest_error,
    lower_ends,
    with_error,
)
from strata.show.html.campaign.figures.scales import (
    WIDE,
    Floats,
    Scale,
    in_order,
    label_values,
    scale_of,
    y_range,
)
from strata.show.html.campaign.figures.split import Drawn, legend_of, series_of, split_panels
from strata.show.html.figures import axes, thinning
from strata.study.report_contents import Chart, Study
from strata.study.wording import name_words

MAX_POINTS = 40_000
"""Points of one figure over all of its panels: about 11 bytes each in the file."""
_HEIGHT = 250


def draw_samples(chart: Chart, study: Study) -> Drawn:
    """Plot value against number, one panel per level; colours are repetitions unless `by` is given.

    Panels share one axis unless their medians differ by more than eight times.
    """
    chart = _coloured(chart)
    limit = max(60, MAX_POINTS // max(1, len(_groups(chart))))
    shared = _is_alike(chart)
    shown = [0]

    def draw(rows: pd.DataFrame) -> figure:
        whole = chart.frame if shared else rows
        plot, count = _draw(rows, whole, chart, study, limit)
        shown[0] += count
        return plot

    panels = split_panels(chart, study, draw)
    caption = ["each point is one value, in the order of publication"]
    if not shared:
        caption.append("each panel has its own axis, as their medians differ by more than 8 times")
    if largest_error(chart.frame, chart.errors):
        caption.append(
            "vertical line through a point: by so much (+-) the value may be off, by imported logs "
            "of clocks"
        )
    if shown[0] < len(chart.frame):
        caption.append(
            f"{shown[0]:,} of {len(chart.frame):,} points are drawn: each stretch keeps its "
            "smallest, its median and its largest"
        )
    return Drawn("Raw series", panels, legend_of(chart, study, style="point"), tuple(caption))


def _coloured(chart: Chart) -> Chart:
    """Colour by repetition where the file names nothing else and there is more than one."""
    if chart.request.by or chart.frame["repetition"].nunique() < 2:
        return chart
    words = "repetition " + chart.frame["repetition"].astype(str)
    frame = chart.frame.assign(coloured=words)
    request = replace(chart.request, by="coloured")
    return replace(chart, request=request, frame=frame)


def _groups(chart: Chart) -> list[object]:
    names = [n for n in (*chart.request.panels, chart.request.by, "origin") if n in chart.frame]
    if not names:
        return [None]
    return list(chart.frame.groupby(names, observed=True).groups)


def _is_alike(chart: Chart) -> bool:
    names = [name for name in chart.request.panels if name in chart.frame]
    if not names:
        return True
    medians = chart.frame.groupby(names, observed=True)["value"].median().abs()
    low, top = float(medians.min()), float(medians.max())
    return top == 0 or (low > 0 and top / low <= WIDE)


def _draw(
    rows: pd.DataFrame, whole: pd.DataFrame, chart: Chart, study: Study, limit: int
) -> tuple[figure, int]:
    values = whole["value"].to_numpy(dtype=np.float64)
    scale = scale_of(values, chart.measure, asked=chart.request.scale)
    ends = np.nanquantile(values, [0.0, 1.0]) * scale.factor
    error = largest_error(whole, chart.errors) * scale.factor
    low, top = with_error(float(ends[0]), float(ends[1]), error, is_log=scale.is_log)
    plot = axes.new_figure(
        height=_HEIGHT,
        x_label="number",
        y_label=scale.label(name_words(chart.measure.name)),
        y_log=scale.is_log,
        x_range=_x_range(rows),
        y_range=_near(low, top, scale),
        hover=HoverTool(
            tooltips=[("number", "@x{0,0}"), ("value", f"@y{{0,0.[000]}} {scale.unit}")],
            visible=False,
        ),
    )
    _label(plot, low, top, scale)
    count = 0
    for series in series_of(rows, chart, study, style="point"):
        points = _points(series.rows, limit)
        count += len(points)
        source = _source(points, scale)
        own = errors_of(points, chart.errors) * scale.factor
        if own.any():
            _error_bars(plot, source, own, series.key.colour)
        plot.scatter(
            "x",
            "y",
            source=source,
            size=3.5,
            marker="circle",
            fill_color=None if series.key.hollow else series.key.colour,
            fill_alpha=0.7,
            line_color=series.key.colour if series.key.hollow else None,
        )
    return plot, count


def _points(rows: pd.DataFrame, limit: int) -> pd.DataFrame:
    """Return the rows that are drawn, in order."""
    ordered = rows.sort_values(["cell", "number"], kind="stable")
    values = ordered["value"].to_numpy(dtype=np.float64)
    return ordered.iloc[thinning.keep(in_order(values), limit)]


def _source(points: pd.DataFrame, scale: Scale) -> ColumnDataSource:
    """Return number and value of points, small in the file: int32 and float32."""
    numbers = points["number"].to_numpy(dtype=np.int64)
    values = points["value"].to_numpy(dtype=np.float64) * scale.factor
    return ColumnDataSource({"x": numbers.astype(np.int32), "y": values.astype(np.float32)})


def _error_bars(plot: figure, source: ColumnDataSource, error: Floats, colour: str) -> None:
    """Draw by how much each point may be off, by its clocks."""
    middle = np.asarray(source.data["y"], dtype=np.float64)
    source.data["error_low"] = lower_ends(plot, middle - error).astype(np.float32)
    source.data["error_high"] = (middle + error).astype(np.float32)
    plot.segment(
        "x", "error_low", "x", "error_high", source=source, line_color=colour, line_alpha=0.12
    )


def _x_range(rows: pd.DataFrame) -> tuple[float, float]:
    low, top = float(rows["number"].min()), float(rows["number"].max())
    pad = max((top - low) * 0.02, 1.0)
    return low - pad, top + pad


def _near(low: float, top: float, scale: Scale) -> tuple[float, float]:
    """A period's series is read around its values: zero is far from them and left out."""
    if scale.is_log or low < 0 or low < 0.4 * top:
        return y_range(low, top, is_log=scale.is_log)
    pad = 0.08 * (top - low) or 0.05 * top or 1.0
    return low - pad, top + pad


def _label(plot: figure, low: float, top: float, scale: Scale) -> None:
    if scale.is_log:
        label_values(plot, low, top)
    else:
        axes.plain_numbers(plot)
