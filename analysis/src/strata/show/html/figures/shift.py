# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""How far each quantile of a latency moved from A to B, with its interval."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bokeh.models import ColumnDataSource, FixedTicker, HoverTool
from bokeh.models.annotations.geometry import Span

from strata.comparison.amounts import bounds_ns, signed_ns
from strata.comparison.difference import Estimate
from strata.show.html import theme
from strata.show.html.figures import axes
from strata.units import unit_for

if TYPE_CHECKING:
    from bokeh.plotting import figure

_LINE = "#0072b2"


@dataclass(frozen=True)
class ShiftFigure:
    """The figure and what it shows in words."""

    plot: figure
    summary: str


def quantile_shifts(moved: Mapping[str, Estimate]) -> ShiftFigure:
    """Plot B - A of each quantile, by its name, ascending; at least one.

    A quantile whose interval has no bounds is a point without a band.
    """
    names = list(moved)
    estimates = list(moved.values())
    every = [
        bound for one in estimates for bound in (one.value, one.low, one.high) if bound is not None
    ]
    unit = unit_for(max((abs(ns) for ns in every), default=0.0))
    low, high = min(0.0, *every) / unit.ns, max(0.0, *every) / unit.ns
    pad = 0.08 * (high - low) or 1.0
    at = [float(place) for place in range(len(names))]
    unit_name = axes.MICRO if unit.name == "us" else unit.name
    plot = axes.new_figure(
        height=300,
        x_label="quantile of the latency: fast messages left, slow ones right",
        y_label=f"B - A ({unit_name})",
        y_log=False,
        x_range=(-0.4, len(names) - 0.6),
        y_range=(low - pad, high + pad),
        hover=HoverTool(
            tooltips=[("quantile", "@name"), ("B - A", "@text"), ("95 %", "@interval")],
            mode="vline",
            visible=False,
        ),
    )
    # The page's own ground, light or dark.
    plot.background_fill_color = None
    plot.border_fill_color = None
    bounded = [place for place, one in zip(at, estimates, strict=True) if _has_bounds(one)]
    band = [one for one in estimates if _has_bounds(one)]
    plot.varea(
        x=bounded,
        y1=[(one.low or 0.0) / unit.ns for one in band],
        y2=[(one.high or 0.0) / unit.ns for one in band],
        fill_color=_LINE,
        fill_alpha=0.22,
    )
    source = ColumnDataSource(
        {
            "x": at,
            "y": [one.value / unit.ns for one in estimates],
            "name": names,
            "text": [signed_ns(one.value).replace(" us", f" {axes.MICRO}") for one in estimates],
            "interval": [bounds_ns(one).replace(" us", f" {axes.MICRO}") for one in estimates],
        }
    )
    plot.line("x", "y", source=source, line_color=_LINE, line_width=2)
    plot.scatter("x", "y", source=source, size=7, fill_color=_LINE, line_color=None)
    plot.add_layout(Span(location=0, dimension="width", line_color=theme.TEXT, line_width=1))
    plot.xaxis[0].ticker = FixedTicker(ticks=at)
    plot.xgrid[0].ticker = FixedTicker(ticks=at)
    plot.xaxis[0].major_label_overrides = dict(zip(at, names, strict=True))
    axes.plain_numbers(plot)
    return ShiftFigure(plot, _summary(moved))


def _has_bounds(one: Estimate) -> bool:
    return one.low is not None and one.high is not None


def _summary(moved: Mapping[str, Estimate]) -> str:
    parts = [
        f"{name} {signed_ns(one.value)} (95 %: {bounds_ns(one)})" for name, one in moved.items()
    ]
    return "; ".join(parts)
