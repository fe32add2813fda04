# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Where the latency of a chain goes: its layers as stacked bars, one bar for each group."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bokeh.models import BasicTickFormatter, ColumnDataSource, HoverTool

from strata.show.html import theme
from strata.show.html.figures import axes
from strata.stats import groups
from strata.units import format_ns, format_share, unit_for

if TYPE_CHECKING:
    import pandas as pd
    from bokeh.plotting import figure

_LEGEND_COLUMNS = 4
_BAR = 0.7


def layer_bars(instances: pd.DataFrame, segments: pd.DataFrame) -> figure:
    """Plot the mean time in each layer, of all, the typical and the slowest messages of one chain.

    Takes the rows of one chain of `chain_instances` and `chain_segments`, which must have some. The
    layers of a bar add up to the mean latency of its messages.
    """
    means = _means(instances, segments)
    totals = means.sum(axis=0)
    unit = unit_for(float(totals.max()))
    plot = axes.new_figure(
        height=80 + 50 * len(totals),
        x_label=f"mean latency ({theme.MICRO if unit.name == 'us' else unit.name})",
        y_label="",
        y_log=False,
        x_range=(0.0, max(float(totals.max()), 1.0) / unit.ns * 1.02),
        y_range=[str(name) for name in reversed(totals.index)],
        hover=HoverTool(
            tooltips=[("layer", "@layer"), ("messages", "@group"), ("mean", "@text")],
            visible=False,
        ),
    )
    plot.xaxis[0].formatter = BasicTickFormatter(use_scientific=False)
    _draw(plot, means, unit.ns)
    return plot


def _means(instances: pd.DataFrame, segments: pd.DataFrame) -> pd.DataFrame:
    """Mean ns of each layer (row) in each group of messages (column)."""
    import pandas as pd

    chosen = {"all messages": instances}
    chosen |= {group.label: groups.members(instances, group) for group in groups.GROUPS}
    columns = {}
    for label, rows in chosen.items():
        own = segments[segments["chain_instance_id"].isin(rows["chain_instance_id"])]
        sums = own.groupby("layer", observed=True)["duration_ns"].sum()
        # A message without a layer spent no time in it.
        columns[label] = sums / len(rows)
    means = pd.DataFrame(columns).fillna(0.0)
    means.index = means.index.astype(str)
    return means.loc[sorted(means.index, key=theme.order)]


def _draw(plot: figure, means: pd.DataFrame, unit_ns: int) -> None:
    entries: axes.Entries = []
    totals = means.sum(axis=0)
    left = totals * 0.0
    for layer, row in means.iterrows():
        right = left + row
        source = ColumnDataSource(
            {
                "y": [str(name) for name in row.index],
                "left": (left / unit_ns).to_numpy(),
                "right": (right / unit_ns).to_numpy(),
                "layer": [str(layer)] * len(row),
                "group": [str(name) for name in row.index],
                "text": [
                    f"{format_ns(ns, micro=theme.MICRO)} ({format_share(ns / total)})"
                    for ns, total in zip(row, totals, strict=True)
                ],
            }
        )
        paint = theme.paint(str(layer))
        bars = plot.hbar(
            y="y",
            left="left",
            right="right",
            height=_BAR,
            source=source,
            fill_color=paint.fill,
            line_color="#ffffff",
            hatch_pattern="/" if paint.merged else " ",
            hatch_color="#ffffff",
            hatch_alpha=0.5,
        )
        entries.append((str(layer), [bars]))
        left = right
    axes.add_legend(plot, entries, columns=_LEGEND_COLUMNS)
