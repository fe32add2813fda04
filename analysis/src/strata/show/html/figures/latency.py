# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Latency over time: one point a message, coloured by the layer in which it spent the most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from bokeh.models import ColumnDataSource, HoverTool
from bokeh.models.annotations.geometry import Span

from strata.show.html import theme
from strata.show.html.figures import axes, thinning
from strata.units import Unit, format_ns, unit_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from bokeh.plotting import figure

_LOG_ABOVE = 8
"""Largest over median latency above which a linear axis would flatten the typical messages."""
_LEGEND_COLUMNS = 4


@dataclass(frozen=True)
class LatencyFigure:
    """The figure, what it leaves out (`shown` of `count` messages), and its axis."""

    plot: figure
    shown: int
    count: int
    is_log: bool
    summary: str


def latency_over_time(
    instances: pd.DataFrame,
    segments: pd.DataFrame,
    *,
    trace_begin_ns: int,
    limit: int,
    modes_ns: Sequence[float] = (),
) -> LatencyFigure:
    """Plot the `chain_instances` and `chain_segments` of one chain, at most `limit` messages.

    x is seconds since the beginning of the trace. Both frames must have rows. `modes_ns` are the
    medians of the chain's modes, of which each gets a line.
    """
    ordered = instances.sort_values("begin_ns", kind="stable").reset_index(drop=True)
    latency = ordered["latency_ns"].to_numpy(dtype=np.int64)
    median, p99, top = (float(np.quantile(latency, q)) for q in (0.5, 0.99, 1.0))
    is_log = median > 0 and top / median > _LOG_ABOVE
    unit = unit_for(median)
    kept = ordered.iloc[thinning.keep(latency, limit)]
    points = _points(kept, segments, trace_begin_ns, unit, is_log=is_log)
    plot = _frame(points, unit, is_log=is_log, low=float(latency.min()), top=top)
    _draw(plot, points)
    marks = [(median, "solid"), (p99, "dashed"), *((mode, "dotted") for mode in modes_ns)]
    _mark(plot, marks, 1 if is_log else unit.ns)
    span = (ordered["begin_ns"].iloc[-1] - ordered["begin_ns"].iloc[0]) / 1e9
    return LatencyFigure(
        plot, len(kept), len(ordered), is_log, _summary(median, p99, top, len(ordered), span)
    )


def _points(
    kept: pd.DataFrame,
    segments: pd.DataFrame,
    trace_begin_ns: int,
    unit: Unit,
    *,
    is_log: bool,
) -> pd.DataFrame:
    """One row a message: its place in the figure, and its time in every layer in `unit`."""
    mine = segments[segments["chain_instance_id"].isin(kept["chain_instance_id"])]
    by_layer = mine.pivot_table(
        index="chain_instance_id",
        columns="layer",
        values="duration_ns",
        aggfunc="sum",
        fill_value=0,
    ).reindex(kept["chain_instance_id"].to_numpy(), fill_value=0)
    names = sorted([str(name) for name in by_layer.columns], key=theme.order)
    by_layer = by_layer[names]
    latency = kept["latency_ns"].to_numpy(dtype=np.float64)
    points = (by_layer / unit.ns).astype(np.float32).reset_index(drop=True)
    points.insert(0, "largest", by_layer.idxmax(axis=1).to_numpy())
    points.insert(0, "latency", latency / unit.ns)
    points.insert(0, "y", latency if is_log else latency / unit.ns)
    points.insert(0, "x", (kept["begin_ns"].to_numpy(dtype=np.int64) - trace_begin_ns) / 1e9)
    return points


def _layers_of(points: pd.DataFrame) -> list[str]:
    return [str(name) for name in points.columns[4:]]


def _frame(points: pd.DataFrame, unit: Unit, *, is_log: bool, low: float, top: float) -> figure:
    name = axes.MICRO if unit.name == "us" else unit.name
    rows = [("at", "@x{0.000} s"), ("latency", f"@latency{{0,0.000}} {name}")]
    rows += [(layer, f"@{{{layer}}}{{0,0.000}} {name}") for layer in _layers_of(points)]
    begin, end = float(points["x"].min()), float(points["x"].max())
    pad = max((end - begin) * 0.02, 0.001)
    plot = axes.new_figure(
        height=340,
        x_label="time since the trace began (s)",
        y_label="latency" if is_log else f"latency ({name})",
        y_log=is_log,
        x_range=(begin - pad, end + pad),
        y_range=(max(low, 1) * 0.7, top * 1.5) if is_log else (0.0, max(top, 1) / unit.ns * 1.08),
        hover=HoverTool(tooltips=rows, mode="mouse", visible=False, point_policy="snap_to_data"),
    )
    if is_log:
        axes.label_durations(plot, low, top)
    else:
        axes.plain_numbers(plot)
    return plot


def _draw(plot: figure, points: pd.DataFrame) -> None:
    entries: axes.Entries = []
    counts = points["largest"].value_counts()
    for layer in sorted(counts.index, key=theme.order):
        rows = points[points["largest"] == layer].drop(columns="largest")
        source = ColumnDataSource({str(name): rows[name].to_numpy() for name in rows.columns})
        glyphs = plot.scatter(
            "x",
            "y",
            source=source,
            size=5,
            fill_color=theme.paint(layer).fill,
            fill_alpha=0.75,
            line_color=None,
        )
        entries.append((f"mostly {layer}", [glyphs]))
    axes.add_legend(plot, entries, columns=_LEGEND_COLUMNS)


def _mark(plot: figure, marks: list[tuple[float, str]], scale: int) -> None:
    for value, dash in marks:
        line = Span(
            location=value / scale,
            dimension="width",
            line_color=theme.CHAIN,
            line_width=1,
            line_dash=dash,
            line_alpha=0.7,
        )
        plot.add_layout(line)


def _summary(median: float, p99: float, top: float, count: int, span_s: float) -> str:
    half, slow, most = (format_ns(value, micro=axes.MICRO) for value in (median, p99, top))
    return f"{count:,} messages over {span_s:.1f} s: median {half}, p99 {slow}, largest {most}"
