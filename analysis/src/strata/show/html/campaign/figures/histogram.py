# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Histograms: the share of the values in bins that are the same in all panels."""

from __future__ import annotations

import numpy as np
import pandas as pd
from bokeh.models import ColumnDataSource, HoverTool
from bokeh.plotting import figure

from strata.show.html.campaign.figures.scales import Floats, Scale, label_values, scale_of
from strata.show.html.campaign.figures.split import Drawn, legend_of, series_of, split_panels
from strata.show.html.figures import axes
from strata.study.report_contents import Chart, Study
from strata.study.wording import name_words

_HEIGHT = 260
_MAX_BINS = 70
_MIN_BINS = 12


def draw_histogram(chart: Chart, study: Study) -> Drawn:
    """Draw the shares of the values by bin; bins are equally wide on the axis that is drawn."""
    values = chart.frame["value"].dropna().to_numpy(dtype=np.float64)
    scale = scale_of(values, chart.measure, asked=chart.request.scale)
    groups = [_values(rows, scale) for rows in _groups(chart, study)]
    edges = bin_edges(groups, is_log=scale.is_log)
    tallest = max(float(shares(group, edges).max()) for group in groups)
    panels = split_panels(
        chart, study, lambda rows: _draw(rows, chart, study, edges, scale, tallest)
    )
    caption = (
        f"{len(edges) - 1} bins from the smallest to the largest value, the same in every panel; "
        "a bar is the share of the values of its colour",
    )
    return Drawn("Histogram", panels, legend_of(chart, study, style="box"), caption)


def bin_edges(groups: list[Floats], *, is_log: bool) -> Floats:
    """Return edges of 12 to 70 bins over all values, by the rule of Freedman and Diaconis.

    D. Freedman, P. Diaconis, "On the histogram as a density estimator: L2 theory", 1981: a bin is
    2 IQR / n^(1/3) wide, here the median of the groups'. With `is_log` the logarithms are binned.
    """
    shown = [np.log10(group) if is_log else group for group in groups]
    low, top = min(float(g.min()) for g in shown), max(float(g.max()) for g in shown)
    if low == top:
        low, top = low - 0.5, top + 0.5
    width = float(np.median([_width(group) for group in shown]))
    bins = int(np.ceil((top - low) / width)) if width > 0 else _MAX_BINS
    edges = np.linspace(low, top, min(max(bins, _MIN_BINS), _MAX_BINS) + 1)
    return np.asarray(10**edges if is_log else edges, dtype=np.float64)


def _width(values: Floats) -> float:
    q1, q3 = np.quantile(values, [0.25, 0.75])
    return float(2 * (q3 - q1) / len(values) ** (1 / 3))


def shares(values: Floats, edges: Floats) -> Floats:
    """Return the percent of the values in each bin; the last one holds its upper edge."""
    at = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, len(edges) - 2)
    counts = np.bincount(at, minlength=len(edges) - 1)
    return np.asarray(100 * counts / max(1, len(values)), dtype=np.float64)


def _groups(chart: Chart, study: Study) -> list[pd.DataFrame]:
    """Return the rows of every series of every panel."""
    names = [name for name in chart.request.panels if name in chart.frame]
    panels = (
        [rows for _, rows in chart.frame.groupby(names, observed=True)] if names else [chart.frame]
    )
    return [series.rows for rows in panels for series in series_of(rows, chart, study, style="box")]


def _values(rows: pd.DataFrame, scale: Scale) -> Floats:
    return np.asarray(rows["value"].dropna().to_numpy(dtype=np.float64) * scale.factor)


def _draw(
    rows: pd.DataFrame, chart: Chart, study: Study, edges: Floats, scale: Scale, tallest: float
) -> figure:
    low, top = float(edges[0]), float(edges[-1])
    pad = 0.02 * (top - low)
    plot = axes.new_figure(
        height=_HEIGHT,
        x_label=scale.label(name_words(chart.measure.name)),
        y_label="share of the values (%)",
        y_log=False,
        x_range=(low / 1.1, top * 1.1) if scale.is_log else (low - pad, top + pad),
        y_range=(0.0, tallest * 1.08),
        hover=HoverTool(
            tooltips=[
                ("", "$name"),
                ("from", f"@left{{0,0.[000]}} {scale.unit}"),
                ("to", f"@right{{0,0.[000]}} {scale.unit}"),
                ("share", "@top{0.[00]} %"),
            ],
            visible=False,
        ),
        x_log=scale.is_log,
    )
    if scale.is_log:
        label_values(plot, low, top, vertical=False)
    for series in series_of(rows, chart, study, style="box"):
        drawn = shares(_values(series.rows, scale), edges)
        full = drawn > 0
        source = ColumnDataSource(
            {
                "left": edges[:-1][full].astype(np.float32),
                "right": edges[1:][full].astype(np.float32),
                "top": drawn[full].astype(np.float32),
            }
        )
        plot.quad(
            left="left",
            right="right",
            top="top",
            bottom=0,
            source=source,
            name=series.key.text or name_words(chart.measure.name),
            fill_color=series.key.colour,
            fill_alpha=0.0 if series.key.hollow else 0.45,
            line_color=series.key.colour,
            line_dash="dashed" if series.key.hollow else "solid",
        )
    return plot
