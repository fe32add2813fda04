# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What all figures share: their frame, their tools, and axes of time with readable units."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from bokeh.models import BasicTickFormatter, FactorRange, FixedTicker, Range1d
from bokeh.models.annotations.legends import Legend
from bokeh.plotting import figure

from strata.show.html import theme
from strata.show.html.theme import MICRO
from strata.units import format_tick

if TYPE_CHECKING:
    from typing import Any

    from bokeh.models.renderers import GlyphRenderer
    from bokeh.models.text import BaseText
    from bokeh.models.tools import Tool

    Entries = list[tuple[str, list[GlyphRenderer[Any]]]]
    """What a legend names, and the glyphs that each name shows or hides."""

_FONT = "system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif"
_TICKS_OF_A_DECADE = range(10, 100)
_FEW_DECADES = 2.2


def new_figure(
    *,
    height: int,
    x_label: str,
    y_label: str,
    y_log: bool,
    x_range: tuple[float, float],
    y_range: tuple[float, float] | list[str],
    hover: Tool,
    x_log: bool = False,
) -> figure:
    """Return an empty figure as wide as its place on the page, with the page's look and tools.

    A `y_range` of names is an axis with one place for each, the first at the bottom.
    """
    categories = isinstance(y_range, list)
    plot = figure(
        height=height,
        sizing_mode="stretch_width",
        x_range=Range1d(start=x_range[0], end=x_range[1]),
        y_range=_range(y_range),
        x_axis_type="log" if x_log else "linear",
        # Bokeh chooses the axis and the scale of names only where it is asked to choose.
        y_axis_type="auto" if categories else "log" if y_log else "linear",
        x_axis_label=x_label,
        y_axis_label=y_label,
        tools="box_zoom,pan,wheel_zoom,reset",
        active_drag="box_zoom",
        active_scroll=None,
        toolbar_location="above",
        output_backend="canvas",
    )
    plot.add_tools(hover)
    plot.toolbar.logo = None
    plot.outline_line_color = None
    plot.background_fill_color = "#ffffff"
    plot.border_fill_color = "#ffffff"
    plot.min_border_right = 16
    plot.xgrid.grid_line_color = theme.GRID
    plot.ygrid.grid_line_color = theme.GRID
    _style_axes(plot)
    return plot


def _range(of: tuple[float, float] | list[str]) -> Range1d | FactorRange:
    if isinstance(of, list):
        return FactorRange(factors=of)
    return Range1d(start=of[0], end=of[1])


def _style_axes(plot: figure) -> None:
    for axis in plot.axis:
        axis.axis_label_text_font = _FONT
        axis.axis_label_text_font_style = "normal"
        axis.axis_label_text_color = theme.TEXT
        axis.major_label_text_font = _FONT
        axis.major_label_text_font_size = "12px"
        axis.major_label_text_color = theme.TEXT
        axis.axis_line_color = theme.MUTED
        axis.major_tick_line_color = theme.MUTED
        axis.minor_tick_line_color = None


def add_legend(plot: figure, entries: Entries, *, columns: int) -> None:
    """Put a legend below the plot; a click on an entry hides or shows what it names."""
    legend = Legend(
        items=entries,
        click_policy="hide",
        ncols=columns,
        location="left",
        orientation="horizontal",
        border_line_color=None,
        background_fill_alpha=0.0,
        label_text_font=_FONT,
        label_text_font_size="12px",
        label_text_color=theme.TEXT,
        spacing=12,
        label_standoff=4,
        glyph_width=18,
        margin=0,
    )
    plot.add_layout(legend, "below")


def label_durations(plot: figure, low_ns: float, high_ns: float, *, along: str = "y") -> None:
    """Write a logarithmic axis of nanoseconds as ``10 us``, ``1 ms`` ..., also when zoomed."""
    axis, grid = (plot.xaxis, plot.xgrid) if along == "x" else (plot.yaxis, plot.ygrid)
    first = math.floor(math.log10(max(low_ns, 1)))
    last = math.ceil(math.log10(max(high_ns, 1)))
    labels: dict[float | str, str | BaseText] = {}
    for power in range(first, last + 1):
        for step in _TICKS_OF_A_DECADE:
            value = step * 10**power / 10
            labels[int(value) if value == int(value) else value] = format_tick(value, micro=MICRO)
    axis[0].major_label_overrides = labels
    decades = math.log10(max(high_ns, 1) / max(low_ns, 1))
    if decades <= _FEW_DECADES:
        # Bokeh's own ticks are evenly spaced below two decades, and crowd at the upper end.
        steps = (1, 2, 5) if decades > 1 else (1, 1.5, 2, 3, 4, 5, 7)
        ticks = [step * 10.0**power for power in range(first - 1, last + 1) for step in steps]
        axis[0].ticker = FixedTicker(ticks=ticks)
        grid[0].ticker = FixedTicker(ticks=ticks)


def plain_numbers(plot: figure) -> None:
    """Write a linear y axis without powers of ten."""
    plot.yaxis[0].formatter = BasicTickFormatter(use_scientific=False)
