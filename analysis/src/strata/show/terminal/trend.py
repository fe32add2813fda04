# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""How the latency of chains changed over time, for a terminal of 80 columns or more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.text import Text

from strata.analysis import Analysis
from strata.schema.rows import Rows
from strata.show.terminal.breaking import Named
from strata.show.terminal.sparkline import series
from strata.show.words.chain_choice import chosen_chains
from strata.show.words.trend import (
    TOO_FEW,
    chain_name,
    change_words,
    changed_chains,
    no_change,
    span_words,
)
from strata.units import format_count, format_ns

_BESIDE = 32
"""Columns of a line that are no bars: its name, first and last value."""
_WIDEST = 60
_LEGEND = (
    "bars: median and 99th percentile over time, as high as the largest is and down to the "
    "smallest, or to three quarters of the largest; beside them the first and the last interval"
)


def trend_section(analysis: Analysis, width: int, *, everything: bool) -> Iterator[RenderableType]:
    """Yield the chains over time, those that changed first; nothing where the trend has no rows.

    Without `everything` the others are one of each group.
    """
    trend = analysis.rows("trend")
    if not len(trend):
        return
    drifts = {row["chain_id"]: row for row in analysis.rows("drifts").records()}
    changed = [row["chain_id"] for row in changed_chains(analysis)]
    there = np.unique(trend["chain_id"]).tolist()
    others = there if everything else [one for one in chosen_chains(analysis) if one in there]
    shown = [*changed, *(chain for chain in others if chain not in changed)]
    width_ns = int(trend["end_ns"][0] - trend["begin_ns"][0])
    first_ns = int(trend["begin_ns"].min())
    count = (int(trend["end_ns"].max()) - first_ns) // width_ns
    title = f"over time, {format_count(count, 'interval', 'intervals')} of {span_words(width_ns)}"
    yield Rule(Text(title, style="bold"), align="left")
    if text := no_change(analysis):
        yield Padding(Text(text), (0, 1))
    for chain in shown:
        own = trend.take(trend["chain_id"] == chain)
        number = (own["begin_ns"] - first_ns) // width_ns
        yield _chain(analysis, own, number, count, width, drifts.get(chain))
    if len(there) > len(shown):
        more = format_count(len(there) - len(shown), "more chain", "more chains")
        yield Padding(Text(f"and {more} (--all)", style="dim"), (0, 1))
    yield Padding(Text(_LEGEND, style="dim"), (0, 1))
    yield Text()


def _chain(
    analysis: Analysis,
    trend: Rows,
    number: Any,
    count: int,
    width: int,
    drift: Mapping[str, Any] | None,
) -> RenderableType:
    """Return the lines of a chain; `number` is that of each row's interval, of `count`."""
    parts: list[RenderableType] = [
        Padding(Named(chain_name(analysis, int(trend["chain_id"][0])), "bold"), (0, 1))
    ]
    for name in ("p50", "p99"):
        values = np.full(count, np.nan)
        values[number] = trend[f"latency_{name}_ns"]
        bars = series(values, min(_WIDEST, max(width - _BESIDE, 8)))
        first, last = (format_ns(trend[f"latency_{name}_ns"][at]) for at in (0, -1))
        parts.append(Text(f"   {name}  {bars}  {first} to {last}", no_wrap=True))
    changed = drift is not None and drift["changed"]
    words = TOO_FEW if drift is None else change_words(analysis, drift)
    parts.append(Padding(Named(words, "yellow" if changed else "dim"), (0, 0, 0, 3)))
    return Group(*parts)
