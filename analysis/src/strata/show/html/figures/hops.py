# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The hops of a system: from the median to the slowest message of each, on one scale."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bokeh.models import ColumnDataSource, HoverTool

from strata.show.html import theme
from strata.show.html.figures import axes
from strata.units import format_ns

if TYPE_CHECKING:
    import pandas as pd
    from bokeh.plotting import figure

MOST = 40
"""More lines than this cannot be told apart in one figure."""


def hop_ranges(hops: pd.DataFrame) -> figure:
    """Plot rows of `hops` that have a latency: p50, p99 and the largest, each a mark on a line.

    The hops with the most time in all come first, at most `MOST` of them. Frames must have rows.
    """
    shown = hops.assign(total=hops["count"] * hops["latency_mean_ns"])
    shown = shown.sort_values("total", ascending=False, kind="stable").head(MOST)
    names = _names(shown)
    low = max(1.0, float(shown["latency_p50_ns"].min()))
    high = max(low * 10, float(shown["latency_max_ns"].max()))
    plot = axes.new_figure(
        height=90 + 26 * len(shown),
        x_label="publish to the end of the callback (log)",
        y_label="",
        y_log=False,
        x_log=True,
        x_range=(low * 0.7, high * 1.4),
        y_range=list(reversed(names)),
        hover=HoverTool(
            tooltips=[("hop", "@y"), ("messages", "@count{0,0}"), ("p50, p99, max", "@text")],
            visible=False,
        ),
    )
    axes.label_durations(plot, low * 0.7, high * 1.4, along="x")
    _draw(plot, shown, names)
    return plot


def _names(hops: pd.DataFrame) -> list[str]:
    """Name each hop by topic and nodes, with its number where another is called the same."""
    columns = (hops["topic"], hops["publisher_node"], hops["subscription_node"], hops["hop_id"])
    names: list[str] = []
    for topic, publisher, subscriber, number in zip(*columns, strict=True):
        name = f"{topic}: {publisher} -> {subscriber}"
        names.append(name if name not in names else f"{name} ({number})")
    return names


def _draw(plot: figure, hops: pd.DataFrame, names: list[str]) -> None:
    quantiles = [hops[f"latency_{name}_ns"].to_numpy(float) for name in ("p50", "p99", "max")]
    text = [
        ", ".join(format_ns(ns, micro=theme.MICRO) for ns in of_hop)
        for of_hop in zip(*quantiles, strict=True)
    ]
    p50, p99, largest = quantiles
    source = ColumnDataSource(
        {
            "y": names,
            "p50": p50,
            "p99": p99,
            "max": largest,
            "count": hops["count"].to_numpy(),
            "text": text,
        }
    )
    plot.segment("p50", "y", "max", "y", source=source, line_color=theme.MUTED, line_width=2)
    entries: axes.Entries = []
    # Shape tells the marks apart where colour does not.
    for name, marker in (("p50", "circle"), ("p99", "diamond"), ("max", "x")):
        marks = plot.scatter(
            name,
            "y",
            source=source,
            marker=marker,
            size=9,
            fill_color=theme.CHAIN,
            line_color=theme.CHAIN,
        )
        entries.append((name, [marks]))
    axes.add_legend(plot, entries, columns=3)
