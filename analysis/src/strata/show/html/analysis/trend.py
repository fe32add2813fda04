# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The page's section on how the latency of chains changed in the course of a long recording."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from strata.analysis import Analysis
from strata.show.html.figures.trend import TrendFigure, trend_figure
from strata.show.words.trend import (
    TOO_FEW,
    chain_name,
    change_words,
    changed_chains,
    no_change,
    span_words,
)


@dataclass(frozen=True)
class TrendRow:
    """A chain over time; `place` is that of its figure on the page."""

    name: str
    words: str
    changed: bool
    place: str
    figure: TrendFigure


@dataclass(frozen=True)
class Trend:
    """The section: chains that changed first. `hidden` others have no figure."""

    rows: list[TrendRow]
    width: str
    none: str
    hidden: int


def trend_of(analysis: Analysis, shown: list[int], most: int) -> Trend | None:
    """Return the section: of chains that changed, then of those `shown`, `most` in all.

    Null where the trend has no rows.
    """
    trend = analysis.rows("trend")
    if not len(trend):
        return None
    there = set(np.unique(trend["chain_id"]).tolist())
    changed = [row["chain_id"] for row in changed_chains(analysis)]
    chosen = list(dict.fromkeys([*changed, *(chain for chain in shown if chain in there)]))[:most]
    rows = [_row(analysis, chain_id) for chain_id in chosen]
    width = span_words(int(trend["end_ns"][0] - trend["begin_ns"][0]))
    return Trend(rows, width, no_change(analysis), len(there) - len(rows))


def _row(analysis: Analysis, chain_id: int) -> TrendRow:
    trend, layers, drifts = (
        rows.take(rows["chain_id"] == chain_id)
        for rows in map(analysis.rows, ("trend", "layer_trend", "drifts"))
    )
    drift = drifts.record(0) if len(drifts) else None
    return TrendRow(
        name=chain_name(analysis, chain_id),
        words=TOO_FEW if drift is None else change_words(analysis, drift),
        changed=drift is not None and drift["changed"],
        place=f"trend-{chain_id}",
        figure=trend_figure(trend, layers, drift, analysis.trace.begin_ns),
    )
