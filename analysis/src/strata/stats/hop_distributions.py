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
from strata.model.columns import filled
from strata.schema.layers import BY_NAME
from strata.schema.quality import SAID_FIRST
from strata.schema.rows import NONE, Ints, Rows
from strata.stats.groups import TAIL, TYPICAL, Group, members
from strata.stats.mode_tables import modes_found
from strata.stats.modes import Modes, find_modes
from strata.stats.partition import partition
from strata.stats.quantiles import name_of
from strata.stats.summary import Statistics, summarize
from strata.stats.transfers import End, HopLosses, Transfers

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
    transfer, whole = (_Cut(transfers, until, fractions) for until in End)
    modes = modes_found(analysis.hops, "hop_id", analysis.modes)
    layers = _layer_statistics(analysis.rows("hop_layers"), whole)
    losses = HopLosses.of(analysis.rows("hop_losses"))
    hops = {}
    for row in analysis.hops.to_dict("records"):
        way = Way(row["topic"], (row["publisher_node"], row["subscription_node"]))
        at = row["hop_id"]
        own = layers.get(at, ())
        of_both = transfer.measure(at), whole.measure(at, modes[at])
        hops[way] = Hop(
            row["count"],
            row["lost"],
            *of_both,
            own,
            row["published"],
            losses.rows(at),
        )
    path, begin_ns = analysis.trace.path, analysis.trace.begin_ns
    quality = analysis.rows("quality")
    recording = tuple(quality.words("text").take(quality.words("code").are(*SAID_FIRST)).texts())
    names = tuple(map(name_of, fractions))
    return TraceHops(name, path, hops, _chains(analysis, fractions), begin_ns, recording, names)


class _Cut:
    """All transfers up to one end."""

    def __init__(self, transfers: Transfers, until: End, fractions: Sequence[float]) -> None:
        self._transfers, self._until, self._fractions = transfers, until, fractions
        self._latency = transfers.latency_ns(until)
        self._rows = transfers.rows(until)

    def rows(self, hop_id: int) -> Ints:
        """Return the transfers of one hop."""
        return self._rows.get(hop_id, np.empty(0, np.int64))

    def measure(self, hop_id: int, modes: Modes | None = None) -> Measure:
        """Return the measure of one hop; `modes` are those of its values, where they are known."""
        rows = self.rows(hop_id)
        values = self._latency[rows]
        modes = modes or find_modes(values)
        frame = pd.DataFrame({"latency_ns": values, "row": rows})
        if modes.bounds_ns:
            frame["mode"] = modes.number(values)
        typical, tail = (self._largest(frame, group) for group in (TYPICAL, TAIL))
        chosen = chosen_quantiles(values, self._fractions)
        return Measure(values, summarize(values), modes, chosen, typical, tail)

    def of_layer(self, hop_id: int, layer: str) -> Chosen:
        """Return the chosen quantiles of a layer of one hop, of the transfers that have it."""
        if not self._fractions:
            return {}
        ns = self._transfers.layer_ns(BY_NAME[layer])[self.rows(hop_id)]
        return chosen_quantiles(ns[ns != NONE], self._fractions)

    def _largest(self, frame: pd.DataFrame, group: Group) -> Largest:
        if frame.empty:
            return Largest("", 0.0)
        chosen = members(frame, group)
        rows = chosen["row"].to_numpy()
        sums = {
            layer.name: int(np.maximum(self._transfers.layer_ns(layer)[rows], 0).sum())
            for layer in self._until.layers
        }
        most = max(sums, key=lambda name: sums[name])
        return Largest(most, sums[most] / max(int(chosen["latency_ns"].sum()), 1))


def chosen_quantiles(values: Ints, fractions: Sequence[float]) -> Chosen:
    """Return the quantiles of some values by name, as strata.stats.summary defines them."""
    return {
        name_of(fraction): float(np.quantile(values, fraction)) if len(values) else None
        for fraction in fractions
    }


def _layer_statistics(hop_layers: Rows, whole: _Cut) -> dict[int, tuple[LayerStatistics, ...]]:
    out: dict[int, tuple[LayerStatistics, ...]] = {}
    for row in hop_layers.records():
        hop_id, layer, share = row.pop("hop_id"), row.pop("layer"), row.pop("share")
        apart = row.pop("unsynchronised")
        statistics: Statistics = {str(name): value for name, value in row.items()}
        found = LayerStatistics(layer, share, statistics, apart, whole.of_layer(hop_id, layer))
        out[hop_id] = (*out.get(hop_id, ()), found)
    return out


def _chains(analysis: Analysis, fractions: Sequence[float]) -> dict[Way, Distribution]:
    latency = filled(analysis.chain_instances["latency_ns"])
    rows = dict(partition(filled(analysis.chain_instances["chain_id"])))
    modes = modes_found(analysis.chains, "chain_id", analysis.modes)
    chains = {}
    for row in analysis.chains.to_dict("records"):
        at = row["chain_id"]
        values = latency[rows[at]]
        way = Way(row["name"], tuple(row["nodes"].split(" -> ")))
        chosen = chosen_quantiles(values, fractions)
        chains[way] = Distribution(values, summarize(values), modes[at], chosen)
    return chains
