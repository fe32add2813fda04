# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Ranges: the least, mean and largest value of each combination of levels, by origin."""

from __future__ import annotations

import numpy as np
import pandas as pd
from bokeh.models import ColumnDataSource, HoverTool
from bokeh.plotting import figure

from strata.show.html.campaign.figures.scales import Places, Scale, label_values, places, scale_of
from strata.show.html.campaign.figures.split import Drawn, Key, Panel, legend_of, series_of
from strata.show.html.figures import axes
from strata.study.report_contents import Chart, Study
from strata.study.wording import name_words

_HEIGHT = 330
_APART = 0.16


def draw_ranges(chart: Chart, study: Study) -> Drawn:
    """Draw a range at each combination of levels, one beside the other for each origin."""
    frame = chart.frame
    at = places(list(dict.fromkeys(frame["level"])), None, "level", spread=False)
    ends = frame[["low", "value", "high"]].to_numpy(np.float64)
    scale = scale_of(ends[np.isfinite(ends)], chart.measure, statistics=True)
    plot = _plane(chart, at, scale, ends)
    series = series_of(frame, chart, study, style="line")
    for item in series:
        shift = (item.at - (len(series) - 1) / 2) * _APART
        _glyphs(plot, item.rows, item.key, at, scale, shift)
    caption = (
        "a mark is the mean (the largest value where a file has no mean), a line goes from the "
        "least to the largest value; imported files state them per second or run, so there is no "
        "median",
    )
    return Drawn("Ranges", (Panel("", plot),), legend_of(chart, study, style="line"), caption)


def _plane(chart: Chart, at: Places, scale: Scale, ends: np.ndarray) -> figure:
    low, top = (float(end(ends)) * scale.factor for end in (np.nanmin, np.nanmax))
    pad = 0.08 * ((top - min(low, 0.0)) or 1.0)
    plot = axes.new_figure(
        height=_HEIGHT,
        x_label="levels",
        y_label=scale.label(name_words(chart.measure.name)),
        y_log=scale.is_log,
        x_range=at.range,
        y_range=(low / 1.3, top * 1.3) if scale.is_log else (min(low, 0.0) - pad, top + pad),
        hover=HoverTool(
            tooltips=[
                ("", "@of"),
                ("least", f"@low{{0,0.[000]}} {scale.unit}"),
                ("mean", f"@y{{0,0.[000]}} {scale.unit}"),
                ("largest", f"@high{{0,0.[000]}} {scale.unit}"),
            ],
            visible=False,
            renderers=[],
        ),
    )
    at.put(plot)
    if scale.is_log:
        label_values(plot, low, top)
    else:
        axes.plain_numbers(plot)
    return plot


def _glyphs(
    plot: figure, rows: pd.DataFrame, key: Key, at: Places, scale: Scale, shift: float
) -> None:
    source = ColumnDataSource(
        {
            "x": [at.at[level] + shift for level in rows["level"]],
            "y": rows["value"].to_numpy(np.float64) * scale.factor,
            "low": rows["low"].to_numpy(np.float64) * scale.factor,
            "high": rows["high"].to_numpy(np.float64) * scale.factor,
            "of": [", ".join(filter(None, (level, key.text))) for level in rows["level"]],
        }
    )
    dash = "dashed" if key.hollow else "solid"
    plot.segment("x", "low", "x", "high", source=source, line_color=key.colour, line_dash=dash)
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
