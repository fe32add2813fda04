# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A chain over hours: latency by interval of time, and below it the mean time in each layer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from bokeh.layouts import column
from bokeh.models import ColumnDataSource, HoverTool

from strata.schema.rows import Floats, Ints, Rows
from strata.show.html import theme
from strata.show.html.figures import axes
from strata.stats.chain_drifts import MIN_MESSAGES, STEP
from strata.units import Unit, format_ns, unit_for

if TYPE_CHECKING:
    from bokeh.models import LayoutDOM
    from bokeh.plotting import figure

_HEIGHT = 280
_LEGEND_COLUMNS = 8
_LEFT = 84
"""Space of the y axes: the same, so that the plots begin below each other."""
_MIN, _HOUR = 60e9, 3_600e9
_HOURS_FROM = 3 * _HOUR
_LINES = {"p50": "#0072b2", "p99": "#d55e00", "max": "#8a8f98"}
_CHANGE = "#d6006d"


@dataclass(frozen=True)
class TrendFigure:
    """The figure and what it shows in words."""

    plot: LayoutDOM
    summary: str


@dataclass(frozen=True)
class _Axis:
    """Time since the recording's begin, in minutes or hours."""

    begin_ns: int
    name: str
    ns: float

    def at(self, ns: Ints) -> Floats:
        return np.asarray((ns - self.begin_ns) / self.ns, np.float64)


def trend_figure(
    trend: Rows, layers: Rows, drift: Mapping[str, Any] | None, begin_ns: int
) -> TrendFigure:
    """Plot one chain: its rows of `trend` (one at least), of `layer_trend`, and of `drifts`.

    x is the time since `begin_ns`. Without a change in `drift` no line of it is drawn.
    """
    ends = trend["end_ns"]
    hours = int(ends[-1]) - begin_ns >= _HOURS_FROM
    axis = _Axis(begin_ns, "h", _HOUR) if hours else _Axis(begin_ns, "min", _MIN)
    low, high = axis.at(trend["begin_ns"][:1])[0], axis.at(ends[-1:])[0]
    pad = (high - low) * 0.01
    x_range = (float(low - pad), float(high + pad))
    latency = _latency(trend, axis, x_range, drift if drift and drift["changed"] else None)
    below = _layers(trend, layers, axis, x_range)
    below.x_range = latency.x_range
    for plot in (latency, below):
        plot.min_border_left = _LEFT
    whole = column(latency, below, sizing_mode="stretch_width")
    return TrendFigure(whole, _summary(trend))


def _summary(trend: Rows) -> str:
    parts = []
    for name in ("p50", "p99"):
        first, last = (
            format_ns(trend[f"latency_{name}_ns"][at], micro=theme.MICRO) for at in (0, -1)
        )
        parts.append(f"{name}: {first} in the first interval, {last} in the last")
    return "; ".join(parts)


def _frame(
    axis: _Axis,
    x_range: tuple[float, float],
    y_range: tuple[float, float],
    y_label: str,
    tooltips: list[tuple[str, str]],
    *,
    y_log: bool,
) -> figure:
    return axes.new_figure(
        height=_HEIGHT,
        x_label=f"time since the recording began ({axis.name})",
        y_label=y_label,
        y_log=y_log,
        x_range=x_range,
        y_range=y_range,
        hover=HoverTool(
            tooltips=[*tooltips, ("interval from", f"@x{{0.00}} {axis.name}")],
            mode="mouse",
            visible=False,
        ),
    )


def _latency(
    trend: Rows, axis: _Axis, x_range: tuple[float, float], drift: Mapping[str, Any] | None
) -> figure:
    low = max(1.0, float(trend["latency_p50_ns"].min()))
    high = max(10.0, float(trend["latency_max_ns"].max()))
    tooltips = [("value", "@text"), ("of", "@name"), ("messages", "@count{0,0}")]
    plot = _frame(axis, x_range, (low / 1.3, high * 1.3), "latency (log)", tooltips, y_log=True)
    axes.label_durations(plot, low, high)
    entries: axes.Entries = []
    if drift is not None:
        middle = (trend["begin_ns"] + trend["end_ns"]) // 2
        used = middle[trend["count"] >= MIN_MESSAGES]
        entries.append((str(drift["kind"]), [_change(plot, drift, axis, used)]))
    for name, colour in _LINES.items():
        source = _source(trend, axis, name)
        if name == "max":
            drawn: Any = plot.scatter("middle", "y", source=source, size=4, color=colour, alpha=0.8)
        else:
            drawn = plot.line("middle", "y", source=source, line_color=colour, line_width=2)
        entries.append((name, [drawn]))
    for tool in plot.tools:
        if isinstance(tool, HoverTool):
            # Not of the change, which has no values of its own.
            tool.renderers = [drawn for _, (drawn,) in entries[-len(_LINES) :]]
    # That of the plot below is for both.
    plot.xaxis[0].axis_label = None
    axes.add_legend(plot, entries, columns=_LEGEND_COLUMNS)
    return plot


def _source(trend: Rows, axis: _Axis, name: str) -> ColumnDataSource:
    """Return a statistic by interval, with a gap where intervals have no message."""
    begin_ns, end_ns = trend["begin_ns"], trend["end_ns"]
    data = {
        "x": axis.at(begin_ns),
        "middle": axis.at((begin_ns + end_ns) // 2),
        "y": np.maximum(trend[f"latency_{name}_ns"], 1.0),
        "count": trend["count"].astype(np.float64),
    }
    apart = np.flatnonzero(begin_ns[1:] > end_ns[:-1]) + 1
    data = {key: np.insert(values, apart, np.nan) for key, values in data.items()}
    texts = [format_ns(value, micro=theme.MICRO) for value in data["y"]]
    return ColumnDataSource({**data, "text": texts, "name": [name] * len(texts)})


def _change(plot: figure, drift: Mapping[str, Any], axis: _Axis, middle: Ints) -> Any:
    """Draw the line of a drift, or the two levels of a step."""
    first, last = axis.at(middle[[0, -1]]).tolist()
    before, after = (max(drift[name], 1.0) for name in ("from_ns", "to_ns"))
    if drift["kind"] == STEP:
        at = float(axis.at(np.array([drift["step_ns"]]))[0])
        x, y = [first, at, at, last], [before, before, after, after]
    else:
        # On a logarithmic axis a straight line is none.
        x = np.linspace(first, last, 60).tolist()
        y = np.maximum(np.linspace(before, after, 60), 1.0).tolist()
    # A wide band below the medians, which it lies on.
    return plot.line(x, y, line_color=_CHANGE, line_width=8, line_alpha=0.35)


def _layers(trend: Rows, layers: Rows, axis: _Axis, x_range: tuple[float, float]) -> figure:
    """Draw the mean time in each layer, all hops together, stacked in order of a message."""
    sums = _summed(trend, layers)
    names = sorted(sums, key=theme.order)
    totals = np.sum([sums[name] for name in names], axis=0) if names else np.zeros(len(trend))
    unit = unit_for(float(totals.max()))
    tooltips = [("layer", "$name"), ("mean", f"@$name{{0.000}} {_name(unit)}")]
    label = f"mean in each layer ({_name(unit)})"
    top = max(float(totals.max()) / unit.ns, 1e-3) * 1.05
    plot = _frame(axis, x_range, (0.0, top), label, tooltips, y_log=False)
    axes.plain_numbers(plot)
    source = ColumnDataSource(
        {
            "x": axis.at(trend["begin_ns"]),
            "middle": axis.at((trend["begin_ns"] + trend["end_ns"]) // 2),
            "width": (trend["end_ns"] - trend["begin_ns"]) / axis.ns,
            **{name: sums[name] / unit.ns for name in names},
        }
    )
    entries: axes.Entries = []
    for at, (name, drawn) in enumerate(zip(names, _stacked(plot, names, source), strict=True)):
        entries.append((name, [drawn]))
        paint = theme.paint(names[at])
        drawn.glyph.hatch_pattern = "/" if paint.merged else " "
    if entries:
        axes.add_legend(plot, entries, columns=_LEGEND_COLUMNS)
    return plot


def _stacked(plot: figure, names: list[str], source: ColumnDataSource) -> list[Any]:
    if not names:
        return []
    fills = [theme.paint(name).fill for name in names]
    # A line of the same colour closes the hairlines between bars.
    return plot.vbar_stack(
        names,
        x="middle",
        width="width",
        source=source,
        fill_color=fills,
        line_color=fills,
        line_width=0.5,
        hatch_color="#ffffff",
        hatch_alpha=0.5,
    )


def _summed(trend: Rows, layers: Rows) -> dict[str, Floats]:
    """Return the mean ns of each layer, over all hops, by row of `trend`."""
    row = np.searchsorted(trend["begin_ns"], layers["begin_ns"])
    words = layers.words("layer")
    out: dict[str, Floats] = {}
    for code in np.unique(words.codes).tolist():
        own = words.codes == code
        weights = layers["mean_ns"][own]
        out[words.words[code]] = np.bincount(row[own], weights, len(trend)).astype(np.float64)
    return out


def _name(unit: Unit) -> str:
    return theme.MICRO if unit.name == "us" else unit.name
