# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Stacked bars: the mean time in each layer, which adds up to the mean latency."""

from __future__ import annotations

import numpy as np
import pandas as pd
from bokeh.models import ColumnDataSource, HoverTool
from bokeh.plotting import figure

from strata.schema.layers import BETWEEN_HOSTS
from strata.show.html import theme
from strata.show.html.campaign.figures.scales import Places, Scale, places, scale_of
from strata.show.html.campaign.figures.split import Drawn, Key, split_panels
from strata.show.html.figures import axes
from strata.study.frame_grouping import across_clocks, layer_means, levels_of
from strata.study.report_contents import HERE, Chart, Study

_HEIGHT = 340
_WIDTH = 0.66


def draw_bars(chart: Chart, study: Study) -> Drawn:
    """Stack the means of the layers at each level of `x`.

    The panels share one axis unless their largest bars differ by more than eight times.
    """
    rows = chart.frame[chart.frame["origin"] == HERE] if "origin" in chart.frame else chart.frame
    chart = Chart(chart.request, chart.measure, rows, chart.empty)
    x = chart.request.x
    at = places(levels_of(rows, x, study) or [""], study.factor(x), x, spread=False)
    order = theme.order_in_call if chart.measure.name == "call_layer" else theme.order
    layers = sorted(rows["layer"].astype(str).unique(), key=order)
    tops = _tops(chart)
    shared = min(tops) > 0 and max(tops) / min(tops) <= 8
    whole = max(tops) if shared else None
    panels = split_panels(chart, study, lambda mine: _draw(mine, chart, at, layers, whole))
    legend = tuple(
        Key(layer, theme.paint(layer).fill, slug=theme.paint(layer).slug) for layer in layers
    )
    caption = [
        "means over the messages of each hop of each cell, from the bottom in the order in which "
        "a message meets the layers; unlike medians they add up to the mean latency"
    ]
    if across_clocks(rows).any():
        between = " and ".join(layer.name for layer in BETWEEN_HOSTS if layer.name in layers)
        caption.append(
            "some hops are between machines whose clocks are not synchronised: there "
            f"{between} contains the offset of the clocks"
        )
    if not shared:
        caption.append("each panel has its own axis, as they differ by more than 8 times")
    return Drawn("Where the time went, by layer", panels, legend, tuple(caption))


def _tops(chart: Chart) -> list[float]:
    names = [name for name in chart.request.panels if name in chart.frame]
    groups = chart.frame.groupby(names, observed=True) if names else [((), chart.frame)]
    return [float(layer_means(mine, chart.request.x).sum(axis=1).max()) for _, mine in groups]


def _draw(
    rows: pd.DataFrame, chart: Chart, at: Places, layers: list[str], whole: float | None
) -> figure:
    means = layer_means(rows, chart.request.x)
    top = whole if whole is not None else float(means.sum(axis=1).max())
    unit = scale_of(np.array([top]), chart.measure)
    scale = Scale(unit.unit, unit.factor, is_log=False)
    plot = axes.new_figure(
        height=_HEIGHT,
        x_label=at.axis,
        y_label=scale.label("mean latency"),
        y_log=False,
        x_range=at.range,
        y_range=(0.0, (top or 1.0) * scale.factor * 1.06),
        hover=HoverTool(
            tooltips=[
                ("", "@of"),
                ("layer", "$name"),
                ("mean", f"@value{{0,0.[000]}} {scale.unit}"),
                ("share", "@share{0.[0]} %"),
            ],
            visible=False,
        ),
    )
    at.put(plot)
    axes.plain_numbers(plot)
    _stack(plot, means * scale.factor, at, layers)
    return plot


def _stack(plot: figure, means: pd.DataFrame, at: Places, layers: list[str]) -> None:
    present = [level for level in at.at if level in means.index]
    below = np.zeros(len(present))
    total = means.loc[present].sum(axis=1).to_numpy(dtype=np.float64)
    for layer in layers:
        if layer not in means:
            continue
        values = means.loc[present, layer].to_numpy(dtype=np.float64)
        paint = theme.paint(layer)
        source = ColumnDataSource(
            {
                "x": [at.at[level] for level in present],
                "bottom": below.copy(),
                "top": below + values,
                "value": values,
                "share": 100 * values / np.where(total > 0, total, 1.0),
                "of": [at.texts[level] for level in present],
            }
        )
        plot.vbar(
            "x",
            _WIDTH,
            "top",
            "bottom",
            source=source,
            name=layer,
            fill_color=paint.fill,
            line_color="#ffffff",
            line_width=0.5,
            hatch_pattern="right_diagonal_line" if paint.merged else None,
            hatch_color="#ffffff",
            hatch_alpha=0.5,
            hatch_scale=8,
        )
        below = below + values
