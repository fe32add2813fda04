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
from strata.show.html.templates import with_micro
from strata.units import unit_for

if TYPE_CHECKING:
    from bokeh.plotting import figure

_LINE = "#0072b2"


@dataclass(frozen=True)
class ShiftCurve:
    """What the figure draws of one latency, in `unit`; the page's script draws others by it.

    `points` and `band` are columns; a quantile whose interval has no bounds is not in the band.
    `low` and `high` are the ends of the axis.
    """

    points: dict[str, list[float] | list[str]]
    band: dict[str, list[float]]
    unit: str
    low: float
    high: float
    summary: str


def shift_curve(moved: Mapping[str, Estimate]) -> ShiftCurve:
    """Return the curve of B - A of each quantile, by its name, ascending; at least one."""
    estimates = list(moved.values())
    every = [
        bound for one in estimates for bound in (one.value, one.low, one.high) if bound is not None
    ]
    unit = unit_for(max((abs(ns) for ns in every), default=0.0))
    low, high = min(0.0, *every) / unit.ns, max(0.0, *every) / unit.ns
    pad = 0.08 * (high - low) or 1.0
    bounded = [(float(at), one) for at, one in enumerate(estimates) if _has_bounds(one)]
    return ShiftCurve(
        points={
            "x": [float(at) for at in range(len(estimates))],
            "y": [one.value / unit.ns for one in estimates],
            "name": list(moved),
            "text": [with_micro(signed_ns(one.value)) for one in estimates],
            "interval": [with_micro(bounds_ns(one)) for one in estimates],
        },
        band={
            "x": [at for at, _ in bounded],
            "y1": [(one.low or 0.0) / unit.ns for _, one in bounded],
            "y2": [(one.high or 0.0) / unit.ns for _, one in bounded],
        },
        unit=theme.MICRO if unit.name == "us" else unit.name,
        low=low - pad,
        high=high + pad,
        summary=_summary(moved),
    )


def quantile_shifts(curve: ShiftCurve) -> figure:
    """Plot a curve; the sources "points" and "band" may be given another's columns."""
    names = [str(name) for name in curve.points["name"]]
    at = [float(place) for place in range(len(names))]
    plot = axes.new_figure(
        height=250,
        x_label="quantile of the latency: fast messages left, slow ones right",
        y_label=f"B - A ({curve.unit})",
        y_log=False,
        x_range=(-0.4, len(names) - 0.6),
        y_range=(curve.low, curve.high),
        hover=HoverTool(
            tooltips=[("quantile", "@name"), ("B - A", "@text"), ("95 %", "@interval")],
            mode="vline",
            visible=False,
        ),
    )
    # The page's own ground, light or dark.
    plot.background_fill_color = None
    plot.border_fill_color = None
    band = ColumnDataSource(dict(curve.band), name="band")
    plot.varea("x", "y1", "y2", source=band, fill_color=_LINE, fill_alpha=0.25)
    source = ColumnDataSource(dict(curve.points), name="points")
    plot.line("x", "y", source=source, line_color=_LINE, line_width=2)
    plot.scatter("x", "y", source=source, size=7, fill_color=_LINE, line_color=None)
    plot.add_layout(Span(location=0, dimension="width", line_color=theme.TEXT, line_width=1))
    plot.xaxis[0].ticker = FixedTicker(ticks=at)
    plot.xgrid[0].ticker = FixedTicker(ticks=at)
    plot.xaxis[0].major_label_overrides = dict(zip(at, names, strict=True))
    axes.plain_numbers(plot)
    return plot


def _has_bounds(one: Estimate) -> bool:
    return one.low is not None and one.high is not None


def _summary(moved: Mapping[str, Estimate]) -> str:
    parts = [
        f"{name} {signed_ns(one.value)} (95 %: {bounds_ns(one)})" for name, one in moved.items()
    ]
    return with_micro("; ".join(parts))
