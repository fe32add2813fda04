# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The distribution of every hop of one trace, to be put beside those of others.

Each message's own hop is measured, never the latency of its chain divided by the hops: a mean over
hops hides which of them is slow, and its quantiles are those of no hop.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from strata.analysis import Analysis
from strata.lazy import pandas as pd
from strata.schema.columns import STATISTICS, statistic
from strata.schema.layers import BY_NAME
from strata.schema.quality import SAID_FIRST
from strata.schema.rows import NONE, Ints
from strata.stats.durations import HopDurations, chain_durations, hop_durations
from strata.stats.groups import TAIL, TYPICAL, Group, members
from strata.stats.mode_tables import modes_found
from strata.stats.modes import Modes, find_modes
from strata.stats.quantiles import name_of
from strata.stats.summary import Statistics, summarize
from strata.stats.transfers import End, Transfers

Chosen = Mapping[str, float | None]
"""Quantiles that the user chose, in ns by name (p99.9), ascending; null without values."""


@dataclass(frozen=True)
class Way:
    """What hops or chains of two traces have in common: `name` is the topic, or topics."""

    name: str
    nodes: tuple[str, ...]


@dataclass(frozen=True)
class Distribution:
    """Latencies in ns with their summary, modes and the quantiles that the user chose."""

    values: Ints
    statistics: Statistics
    modes: Modes
    quantiles: Chosen


@dataclass(frozen=True)
class Largest:
    """The layer with the largest share of the latency of a group of messages."""

    layer: str
    share: float


@dataclass(frozen=True)
class Measure(Distribution):
    """A hop from publish to some checkpoint, and its largest layers."""

    typical: Largest
    tail: Largest


@dataclass(frozen=True)
class LayerStatistics:
    """A layer of a hop, over the rows that reach the end of their callback.

    `unsynchronised` durations lie between hosts whose clocks are not synchronised.
    """

    layer: str
    share: float
    statistics: Statistics
    unsynchronised: int
    quantiles: Chosen


@dataclass(frozen=True)
class Hop:
    """One hop of one trace: `count` takes, `lost` messages of those `published` for it.

    `losses` are its rows of the table `hop_losses`. Without a take it has no values and no layers.
    `transfer` is from publish (of a driver's message, from the arrival of its data) to
    callback_start, `whole` to callback_end. Where no message of the hop reaches that, it is up to
    the last checkpoint of each.
    """

    count: int
    lost: int
    transfer: Measure
    whole: Measure
    layers: tuple[LayerStatistics, ...]
    published: int = 0
    losses: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True)
class TraceHops:
    """The hops of one trace and, for reference, its chains from end to end.

    `begin_ns` is when the trace began. `recording` is what its manifest says of the recording as a
    whole: why it is incomplete, say. `quantiles` are the names of those that the user chose.
    """

    name: str
    path: str
    hops: dict[Way, Hop]
    chains: dict[Way, Distribution]
    begin_ns: int = 0
    recording: tuple[str, ...] = ()
    quantiles: tuple[str, ...] = ()


def trace_hops(analysis: Analysis, name: str, fractions: Sequence[float] = ()) -> TraceHops:
    """Measure all hops and chains of a trace, and the quantiles of `fractions` (of 1) of each."""
    transfers = Transfers(analysis.rows("messages"))
    modes = modes_found(analysis.hops, "hop_id", analysis.modes)
    declared: dict[int, list[dict[Any, Any]]] = {}
    for row in analysis.rows("hop_layers").records():
        declared.setdefault(row.pop("hop_id"), []).append(row)
    hops = {}
    for own in hop_durations(analysis, transfers):
        way = Way(own.topic, (own.publisher_node, own.subscription_node))
        hops[way] = Hop(
            own.count,
            own.lost,
            _measure(own, End.START, transfers, fractions),
            _measure(own, End.END, transfers, fractions, modes[own.hop_id]),
            tuple(_layer(row, own, transfers, fractions) for row in declared.get(own.hop_id, ())),
            own.published,
            own.losses,
        )
    path, begin_ns = analysis.trace.path, analysis.trace.begin_ns
    quality = analysis.rows("quality")
    recording = tuple(quality.words("text").take(quality.words("code").are(*SAID_FIRST)).texts())
    names = tuple(map(name_of, fractions))
    return TraceHops(name, path, hops, _chains(analysis, fractions), begin_ns, recording, names)


def _measure(
    own: HopDurations,
    until: End,
    transfers: Transfers,
    fractions: Sequence[float],
    modes: Modes | None = None,
) -> Measure:
    """Measure a hop up to an end; `modes` are those of its values, where they are known."""
    values = own.latency_ns[until]
    modes = modes or find_modes(values)
    frame = pd.DataFrame({"latency_ns": values, "row": own.rows[until]})
    if modes.bounds_ns:
        frame["mode"] = modes.number(values)
    typical, tail = (_largest(frame, group, until, transfers) for group in (TYPICAL, TAIL))
    chosen = chosen_quantiles(values, fractions)
    return Measure(values, summarize(values), modes, chosen, typical, tail)


def _largest(frame: pd.DataFrame, group: Group, until: End, transfers: Transfers) -> Largest:
    if frame.empty:
        return Largest("", 0.0)
    chosen = members(frame, group)
    rows = chosen["row"].to_numpy()
    sums = {
        layer.name: int(np.maximum(transfers.layer_ns(layer)[rows], 0).sum())
        for layer in until.layers
    }
    most = max(sums, key=lambda name: sums[name])
    return Largest(most, sums[most] / max(int(chosen["latency_ns"].sum()), 1))


def chosen_quantiles(values: Ints, fractions: Sequence[float]) -> Chosen:
    """Return the quantiles of some values by name, as strata.stats.summary defines them."""
    return {
        name_of(fraction): float(np.quantile(values, fraction)) if len(values) else None
        for fraction in fractions
    }


def _layer(
    declared: Mapping[Any, Any], own: HopDurations, transfers: Transfers, fractions: Sequence[float]
) -> LayerStatistics:
    """Return a layer by its row of `hop_layers`, with the quantiles that the user chose."""
    row = dict(declared)
    layer, share, apart = row.pop("layer"), row.pop("share"), row.pop("unsynchronised")
    statistics: Statistics = {name: row[statistic("", name)] for name in STATISTICS}
    chosen: Chosen = {}
    if fractions:
        ns = transfers.layer_ns(BY_NAME[layer])[own.rows[End.END]]
        chosen = chosen_quantiles(ns[ns != NONE], fractions)
    return LayerStatistics(layer, share, statistics, apart, chosen)


def _chains(analysis: Analysis, fractions: Sequence[float]) -> dict[Way, Distribution]:
    modes = modes_found(analysis.chains, "chain_id", analysis.modes)
    chains = {}
    for own in chain_durations(analysis):
        values = own.latency_ns
        chosen = chosen_quantiles(values, fractions)
        found = Distribution(values, summarize(values), modes[own.chain_id], chosen)
        chains[Way(own.name, own.nodes)] = found
    return chains
