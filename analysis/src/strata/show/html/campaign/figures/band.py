# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Bands: the median of a measure along a number, and the band from its p1 to its p99."""

from __future__ import annotations

import numpy as np
import pandas as pd
from bokeh.models import ColumnDataSource, HoverTool
from bokeh.plotting import figure

from strata.show.html.campaign.figures.error_bars import largest_error, lower_ends, with_error
from strata.show.html.campaign.figures.scales import Scale, scale_of, y_range
from strata.show.html.campaign.figures.split import Drawn, Key, legend_of, series_of, split_panels
from strata.show.html.figures import axes
from strata.study.report_contents import Chart, Study
from strata.study.wording import name_words

_HEIGHT = 330
_ENDS = (0.01, 0.5, 0.99)


def draw_band(chart: Chart, study: Study) -> Drawn:
    """Plot p1, median and p99 of the values at each number of `x`, one line per level of `by`."""
    values = chart.frame["value"].to_numpy(dtype=np.float64)
    # Zero is where the measure begins: an age, unlike a period, is read from there.
    scale = scale_of(values, chart.measure, asked=chart.request.scale or "linear")
    panels = split_panels(chart, study, lambda rows: _draw(rows, chart, study, scale))
    caption = [
        f"the line is the median of the values at each {chart.request.x}, the band goes from their "
        "p1 to their p99"
    ]
    if largest_error(chart.frame, chart.errors):
        caption.append(
            "dotted lines: by so much (+-) p1 and p99 may be off, by imported logs of clocks; the "
            "largest error of the cells"
        )
    return Drawn("Along a scan", panels, legend_of(chart, study, style="line"), tuple(caption))


def _draw(rows: pd.DataFrame, chart: Chart, study: Study, scale: Scale) -> figure:
    x = chart.request.x
    series = series_of(rows, chart, study, style="line")
    items = [(one.key, _quantiles(one.rows, x)) for one in series]
    top = max(float(found["high"].max()) for _, found in items) * scale.factor
    low = min(float(found["low"].min()) for _, found in items) * scale.factor
    error = largest_error(rows, chart.errors) * scale.factor
    low, top = with_error(low, top, error, is_log=scale.is_log)
    end = float(rows[x].max())
    plot = axes.new_figure(
        height=_HEIGHT,
        x_label=x,
        y_label=scale.label(name_words(chart.measure.name)),
        y_log=scale.is_log,
        x_range=(-0.02 * end, 1.02 * end or 1.0),
        y_range=y_range(min(low, 0.0) if not scale.is_log else low, top, is_log=scale.is_log),
        hover=HoverTool(
            tooltips=[
                ("", "$name"),
                (x, "@x{0,0}"),
                ("median", f"@y{{0,0.[000]}} {scale.unit}"),
                ("p1 to p99", f"@low{{0,0.[000]}} to @high{{0,0.[000]}} {scale.unit}"),
            ],
            visible=False,
            renderers=[],
        ),
    )
    axes.plain_numbers(plot)
    for one, (key, found) in zip(series, items, strict=True):
        _glyphs(plot, key, found, scale)
        _error_lines(plot, key, found, scale, largest_error(one.rows, chart.errors))
    return plot


def _quantiles(rows: pd.DataFrame, x: str) -> pd.DataFrame:
    """Return p1, p50 and p99 of the values at each number, in its order."""
    grouped = rows.assign(value=rows["value"].astype("float64")).groupby(x, observed=True)["value"]
    low, middle, high = (grouped.quantile(one) for one in _ENDS)
    return pd.DataFrame({"x": low.index.astype("int64"), "low": low, "y": middle, "high": high})


def _glyphs(plot: figure, key: Key, found: pd.DataFrame, scale: Scale) -> None:
    scaled = {
        name: found[name].to_numpy(np.float64) * scale.factor for name in ("low", "y", "high")
    }
    source = ColumnDataSource({"x": found["x"].to_numpy(np.int32), **scaled})
    plot.varea("x", "low", "high", source=source, fill_color=key.colour, fill_alpha=0.15)
    line = plot.line(
        "x",
        "y",
        source=source,
        name=key.text or "all",
        line_color=key.colour,
        line_width=2,
        line_dash="dashed" if key.hollow else "solid",
    )
    plot.hover.renderers = [*plot.hover.renderers, line]


def _error_lines(plot: figure, key: Key, found: pd.DataFrame, scale: Scale, error: float) -> None:
    """Draw how far beyond p1 and p99 values may really be, by the error of their clocks."""
    if not error:
        return
    low = (found["low"].to_numpy(np.float64) - error) * scale.factor
    ends = lower_ends(plot, low), (found["high"].to_numpy(np.float64) + error) * scale.factor
    for y in ends:
        source = ColumnDataSource({"x": found["x"].to_numpy(np.int32), "y": y})
        plot.line("x", "y", source=source, line_color=key.colour, line_dash="dotted")
