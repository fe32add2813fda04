# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Per-layer quantiles: how long a message spends in each layer, from the fastest to the slowest."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from bokeh.models import ColumnDataSource, FixedTicker, HoverTool

from strata.show.html import theme
from strata.show.html.figures import axes
from strata.units import format_ns

if TYPE_CHECKING:
    import pandas as pd
    from bokeh.plotting import figure

_POINTS = 240
_TAIL_POINTS = 30
"""So many of the slowest messages are always drawn one by one."""
_LEGEND_COLUMNS = 4
_WHOLE = "whole chain"


@dataclass(frozen=True)
class QuantileFigure:
    """The figure and what it shows in words."""

    plot: figure
    summary: str


def layer_quantiles(instances: pd.DataFrame, segments: pd.DataFrame) -> QuantileFigure:
    """Plot the layers of one chain, each summed over its hops by message; frames must have rows.

    The x axis counts nines, -log10(1 - q), so that p50, p90, p99 and p99.9 are equally apart.
    """
    series = _series(instances, segments)
    longest = max(float(values[-1]) for values in series.values())
    positive = [float(v[v > 0][0]) for v in series.values() if (v > 0).any()]
    low, high = max(1.0, min(positive, default=1.0)), max(longest, 10.0)
    nines = _nines(1 - 0.5 / len(instances))
    plot = axes.new_figure(
        height=400,
        x_label="share of the messages that were at most this long",
        y_label="duration (log)",
        y_log=True,
        x_range=(0.0, nines * 1.02),
        y_range=(low * 0.7, high * 1.5),
        hover=HoverTool(
            tooltips=[("layer", "@layer"), ("quantile", "@quantile"), ("duration", "@text")],
            mode="mouse",
            visible=False,
            line_policy="nearest",
        ),
    )
    axes.label_durations(plot, low, high)
    _label_quantiles(plot, nines)
    _draw(plot, series)
    return QuantileFigure(plot, _summary(series))


def _series(instances: pd.DataFrame, segments: pd.DataFrame) -> dict[str, npt.NDArray[np.int64]]:
    """Sorted durations by layer, one a message; a message without that layer spent 0 ns in it."""
    ids = instances["chain_instance_id"].to_numpy()
    summed = segments.groupby(["layer", "chain_instance_id"])["duration_ns"].sum()
    out = {_WHOLE: np.sort(instances["latency_ns"].to_numpy(dtype=np.int64))}
    for layer in sorted(segments["layer"].unique(), key=theme.order):
        values = summed.loc[layer].reindex(ids, fill_value=0)
        out[str(layer)] = np.sort(values.to_numpy(dtype=np.int64))
    return out


def _draw(plot: figure, series: dict[str, npt.NDArray[np.int64]]) -> None:
    entries: axes.Entries = []
    # The whole chain is a wide band below the others: a layer that is nearly all of it stays seen.
    for name in series:
        whole = name == _WHOLE
        paint = theme.paint(name)
        line = plot.line(
            "x",
            "y",
            source=_source(name, series[name]),
            line_color=theme.CHAIN if whole else paint.fill,
            line_alpha=0.25 if whole else 1.0,
            line_width=8 if whole else 2,
            line_dash="dashed" if paint.merged else "solid",
        )
        entries.append((name, [line]))
    axes.add_legend(plot, entries, columns=_LEGEND_COLUMNS)


def _source(name: str, values: npt.NDArray[np.int64]) -> ColumnDataSource:
    at = _positions(len(values))
    quantiles = (at + 0.5) / len(values)
    chosen = values[at].astype(np.float64)
    return ColumnDataSource(
        {
            "x": -np.log10(1 - quantiles),
            # Zero has no place on a logarithmic axis: the line begins where the layer does.
            "y": np.where(chosen > 0, chosen, np.nan),
            "layer": [name] * len(at),
            "quantile": [f"p{100 * q:.4g}" for q in quantiles],
            "text": [format_ns(value, micro=theme.MICRO) for value in chosen],
        }
    )


def _positions(count: int) -> npt.NDArray[np.int64]:
    """Positions of the drawn values: evenly along the axis of nines, and all of the slowest."""
    if count <= _POINTS:
        return np.arange(count, dtype=np.int64)
    nines = np.linspace(0, _nines(1 - 0.5 / count), _POINTS)
    body = np.floor((1 - 10.0**-nines) * count).astype(np.int64)
    tail = np.arange(count - _TAIL_POINTS, count, dtype=np.int64)
    return np.unique(np.clip(np.concatenate([[0], body, tail]), 0, count - 1)).astype(np.int64)


def _nines(quantile: float) -> float:
    return -math.log10(1 - quantile)


def _label_quantiles(plot: figure, nines: float) -> None:
    named = [(0.0, "0 %"), (_nines(0.5), "50 %"), (1.0, "90 %"), (2.0, "99 %"), (3.0, "99.9 %")]
    named += [(float(n), f"{100 * (1 - 10.0**-n):.{n - 2}f} %") for n in range(4, 9)]
    shown = [(at, text) for at, text in named if at <= nines * 1.02]
    plot.xaxis[0].ticker = FixedTicker(ticks=[at for at, _ in shown])
    plot.xaxis[0].major_label_overrides = dict(shown)
    plot.xgrid[0].ticker = FixedTicker(ticks=[at for at, _ in shown])


def _summary(series: dict[str, npt.NDArray[np.int64]]) -> str:
    parts = []
    for name, values in series.items():
        median, p99 = (format_ns(np.quantile(values, q), micro=theme.MICRO) for q in (0.5, 0.99))
        parts.append(f"{name}: median {median}, p99 {p99}")
    return "; ".join(parts)
