# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Latency over time: one point per message, and beside it how many messages took how long.

The page's scripts put the messages of another chain into the same figure: they find its parts by
the names that are given here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from bokeh.layouts import row
from bokeh.models import BasicTicker, ColumnDataSource, FixedTicker, HoverTool, TapTool
from bokeh.models.annotations.geometry import Span

from strata.show.html import theme
from strata.show.html.figures import axes
from strata.units import format_ns, format_tick

if TYPE_CHECKING:
    from bokeh.models import LayoutDOM
    from bokeh.plotting import figure

HEIGHT = 200
_BARS_WIDTH = 120
_STEPS = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8)
"""Ticks of a decade that have a label; the page's scripts choose among them."""
_DECADES = range(12)
_MOST_TICKS = 7
_TICKS = ((1,), (1, 3), (1, 2, 5), (1, 1.5, 2, 3, 5, 7), _STEPS)


@dataclass(frozen=True)
class LatencyFigure:
    """The figure, how many of the `count` messages are points in it, and what it shows in words."""

    plot: LayoutDOM
    shown: int
    count: int
    summary: str


def latency_over_time(chain: Mapping[str, Any]) -> LatencyFigure:
    """Plot a chain's messages (strata.show.html.analysis.messages.ChainDocument).

    x is seconds since the beginning of the trace, y nanoseconds on a logarithmic axis.
    """
    latency = np.array(chain["latency"], np.float64)
    low, high = max(float(latency.min()), 1.0), max(float(latency.max()), 2.0)
    begin_s = np.array(chain["begin"], np.int64) / 1e9
    pad = max((begin_s.max() - begin_s.min()) * 0.02, 0.001)
    plot = _frame((begin_s.min() - pad, begin_s.max() + pad), (low / 1.3, high * 1.3))
    _points(plot, chain, begin_s, latency)
    for name, dash in (("p50", "solid"), ("p99", "dashed")):
        _mark(plot, chain[name], name, dash)
    bars = _bars(plot, chain["histogram"])
    ticks = _ticks(low / 1.3, high * 1.3)
    for part in (plot, bars):
        part.yaxis[0].ticker = ticks
        part.ygrid[0].ticker = ticks
    span = float(begin_s.max() - begin_s.min())
    whole = row(plot, bars, sizing_mode="stretch_width", name="latency")
    return LatencyFigure(whole, len(latency), chain["count"], summary(chain, span))


def summary(chain: Mapping[str, Any], span_s: float) -> str:
    """Say what the figure of a chain shows, its messages begun within `span_s` seconds."""
    half, slow, most = (format_ns(chain[name], micro=theme.MICRO) for name in ("p50", "p99", "max"))
    return f"{chain['count']:,} messages over {span_s:.1f} s: median {half}, p99 {slow}, max {most}"


def _frame(x_range: tuple[float, float], y_range: tuple[float, float]) -> figure:
    plot = axes.new_figure(
        height=HEIGHT,
        x_label="published at (s)",
        y_label="latency",
        y_log=True,
        x_range=x_range,
        y_range=y_range,
        hover=HoverTool(
            tooltips=[
                ("message", "#@message"),
                ("published at", "@x{0.000} s"),
                ("latency", "@text"),
                ("mostly", "@layer"),
            ],
            mode="mouse",
            visible=False,
            point_policy="snap_to_data",
        ),
    )
    plot.add_tools(TapTool(visible=False))
    plot.min_border_right = 4
    _label_durations(plot)
    return plot


def _label_durations(plot: figure) -> None:
    plot.yaxis[0].major_label_overrides = {
        _whole(step * 10**power): format_tick(step * 10**power, micro=theme.MICRO)
        for power in _DECADES
        for step in _STEPS
    }


def _whole(value: float) -> float:
    rounded = round(value, 1)
    return int(rounded) if rounded == int(rounded) else rounded


def _ticks(low: float, high: float) -> FixedTicker:
    """Choose the most ticks that do not crowd; the page's scripts do the same for other chains."""
    chosen: list[float] = []
    for steps in _TICKS:
        found = [
            _whole(step * 10**power)
            for power in _DECADES
            for step in steps
            if low <= step * 10**power <= high
        ]
        if len(found) <= _MOST_TICKS or not chosen:
            chosen = found
    return FixedTicker(ticks=chosen, minor_ticks=[])


def _points(plot: figure, chain: Mapping[str, Any], begin_s: Any, latency: Any) -> None:
    layers: Sequence[str] = chain["layers"]
    fills = [theme.paint(layer).fill for layer in layers]
    source = ColumnDataSource(
        {
            "x": begin_s,
            "y": latency,
            "message": chain["message"],
            "layer": [layers[at] for at in chain["largest"]],
            "fill": [fills[at] for at in chain["largest"]],
            "text": [format_ns(ns, micro=theme.MICRO) for ns in chain["latency"]],
        },
        name="messages",
    )
    plot.scatter(
        "x",
        "y",
        source=source,
        size=6,
        fill_color="fill",
        fill_alpha=0.8,
        line_color=None,
        nonselection_fill_alpha=0.12,
        selection_fill_alpha=0.95,
        name="points",
    )
    current = ColumnDataSource({"x": [], "y": []}, name="current")
    plot.scatter(
        "x",
        "y",
        source=current,
        size=15,
        fill_color=None,
        line_color="#d6006d",
        line_width=3,
        name="ring",
    )


def _mark(plot: figure, value: float | None, name: str, dash: str) -> None:
    line = Span(
        location=value or 1,
        dimension="width",
        line_color=theme.CHAIN,
        line_width=1,
        line_dash=dash,
        line_alpha=0.7,
        name=name,
        visible=value is not None,
    )
    plot.add_layout(line)


def _bars(beside: figure, histogram: Mapping[str, Sequence[int]]) -> figure:
    """Return how many messages took how long, on the same axis of latency."""
    edges, counts = histogram["edges"], histogram["counts"]
    plot = axes.new_figure(
        height=HEIGHT,
        x_label="messages",
        y_label="",
        y_log=True,
        x_range=(0.0, max(counts, default=1) * 1.05),
        y_range=(1.0, 2.0),
        hover=HoverTool(
            tooltips=[("latency", "@text"), ("messages", "@count{0,0}")],
            mode="mouse",
            visible=False,
        ),
    )
    plot.y_range = beside.y_range
    plot.width, plot.sizing_mode = _BARS_WIDTH, "fixed"
    plot.toolbar.visible = False
    plot.yaxis[0].visible = False
    plot.xaxis[0].ticker = BasicTicker(desired_num_ticks=2)
    plot.xgrid.grid_line_color = None
    plot.add_tools(TapTool(visible=False))
    low, high = edges[:-1], edges[1:]
    source = ColumnDataSource(
        {
            "low": low,
            "high": high,
            "count": counts,
            "text": [
                f"{format_ns(a, micro=theme.MICRO)} to {format_ns(b, micro=theme.MICRO)}"
                for a, b in zip(low, high, strict=True)
            ],
        },
        name="bars",
    )
    plot.quad(
        left=0,
        right="count",
        bottom="low",
        top="high",
        source=source,
        fill_color=theme.MUTED,
        fill_alpha=0.75,
        line_color=None,
        nonselection_fill_alpha=0.3,
    )
    return plot
