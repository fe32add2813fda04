# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Quantile functions: the value below which a share of all values lies."""

from __future__ import annotations

import numpy as np
import pandas as pd
from bokeh.models import ColumnDataSource, HoverTool
from bokeh.plotting import figure

from strata.show.html.campaign.figures.error_bars import (
    BAND_ALPHA,
    largest_error,
    lower_ends,
    with_error,
)
from strata.show.html.campaign.figures.scales import label_values, scale_of, y_range
from strata.show.html.campaign.figures.split import Drawn, legend_of, series_of, split_panels
from strata.show.html.figures import axes
from strata.stats.quantile_function import quantile_function
from strata.study.report_contents import Chart, Study
from strata.study.wording import name_words

_HEIGHT = 380
_POINTS = 240


def draw_quantiles(chart: Chart, study: Study) -> Drawn:
    """Plot the quantile function of each level: x is the fraction, from 0 to 1, and not percent."""
    panels = split_panels(chart, study, lambda rows: _draw(rows, chart, study))
    caption = [
        "a line is the value that this fraction of the values does not exceed (linear "
        "interpolation between order statistics); a flat line is a steady value"
    ]
    if largest_error(chart.frame, chart.errors):
        caption.append(
            "band about a line: by so much (+-) its values may be off, by imported logs of clocks; "
            "the largest error of its cells"
        )
    legend = legend_of(chart, study, style="line")
    return Drawn("Quantile function", panels, legend, tuple(caption))


def _draw(rows: pd.DataFrame, chart: Chart, study: Study) -> figure:
    values = chart.frame["value"].to_numpy(dtype=np.float64)
    scale = scale_of(values, chart.measure, asked=chart.request.scale)
    low, top = (float(end) * scale.factor for end in np.nanquantile(values, [0.0, 1.0]))
    error = largest_error(chart.frame, chart.errors) * scale.factor
    low, top = with_error(low, top, error, is_log=scale.is_log)
    plot = axes.new_figure(
        height=_HEIGHT,
        x_label="fraction of the values (0 to 1)",
        y_label=scale.label(name_words(chart.measure.name)),
        y_log=scale.is_log,
        x_range=(-0.01, 1.01),
        y_range=y_range(low, top, is_log=scale.is_log),
        hover=HoverTool(
            tooltips=[
                ("", "$name"),
                ("fraction", "@x{0.000}"),
                ("value", f"@y{{0,0.[000]}} {scale.unit}"),
            ],
            visible=False,
            line_policy="nearest",
        ),
    )
    if scale.is_log:
        label_values(plot, low, top)
    else:
        axes.plain_numbers(plot)
    for series in series_of(rows, chart, study, style="line"):
        fractions, quantiles = quantile_function(
            series.rows["value"].to_numpy(dtype=np.float64), points=_POINTS
        )
        drawn = quantiles * scale.factor
        source = ColumnDataSource(
            {"x": fractions.astype(np.float32), "y": drawn.astype(np.float32)}
        )
        error = largest_error(series.rows, chart.errors) * scale.factor
        if error:
            source.data["error_low"] = lower_ends(plot, drawn - error).astype(np.float32)
            source.data["error_high"] = (drawn + error).astype(np.float32)
            plot.varea(
                "x",
                "error_low",
                "error_high",
                source=source,
                fill_color=series.key.colour,
                fill_alpha=BAND_ALPHA,
            )
        plot.line(
            "x",
            "y",
            source=source,
            name=series.key.text,
            line_color=series.key.colour,
            line_width=2,
            line_dash="dashed" if series.key.hollow else "solid",
        )
    return plot
