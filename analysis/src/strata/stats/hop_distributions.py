# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The distribution of every hop of one trace, to be put beside those of others.

Each message's own hop is measured, never the latency of its chain divided by the hops: a mean over
hops hides which of them is slow, and its quantiles are those of no hop.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from strata.analysis import Analysis
from strata.lazy import pandas as pd
from strata.model.columns import NONE, filled
from strata.schema.layer import Layer
from strata.schema.layers import CALLBACK, HOP_LAYERS, SUSPENDED
from strata.schema.quality import SAID_FIRST
from strata.schema.rows import Rows
from strata.stats.groups import TAIL, TYPICAL, Group, members
from strata.stats.hops import counted
from strata.stats.mode_tables import modes_found
from strata.stats.modes import Modes, find_modes
from strata.stats.partition import partition
from strata.stats.summary import Statistics, summarize

Ints = npt.NDArray[np.int64]
Layers = Mapping[Layer, Ints]


@dataclass(frozen=True)
class Way:
    """What hops or chains of two traces have in common: `name` is the topic, or topics."""

    name: str
    nodes: tuple[str, ...]


@dataclass(frozen=True)
class Distribution:
    """Latencies in ns with their summary and modes."""

    values: Ints
    statistics: Statistics
    modes: Modes


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
    unsynchronised: int = 0


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
    whole: why it is incomplete, say.
    """

    name: str
    path: str
    hops: dict[Way, Hop]
    chains: dict[Way, Distribution]
    begin_ns: int = 0
    recording: tuple[str, ...] = ()


def trace_hops(analysis: Analysis, name: str) -> TraceHops:
    """Measure all hops and chains of a trace."""
    messages = analysis.messages
    durations = {layer: filled(messages[layer.column]) for layer in HOP_LAYERS}
    transfer = _Cut(messages, "callback_start_ns", _without(durations, SUSPENDED, CALLBACK))
    whole = _Cut(messages, "callback_end_ns", durations)
    modes = modes_found(analysis.hops, "hop_id", analysis.modes)
    layers = _layer_statistics(analysis.rows("hop_layers"))
    losses = _losses(analysis.rows("hop_losses"))
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
            tuple(losses.get(at, ())),
        )
    path, begin_ns = analysis.trace.path, analysis.trace.begin_ns
    quality = analysis.rows("quality")
    recording = tuple(quality.words("text").take(quality.words("code").are(*SAID_FIRST)).texts())
    return TraceHops(name, path, hops, _chains(analysis), begin_ns, recording)


class _Cut:
    """All messages from where their latency begins to one checkpoint."""

    def __init__(self, messages: pd.DataFrame, until: str, layers: Layers) -> None:
        end_ns = filled(messages[until])
        begin_ns = filled(messages["begin_ns"])
        last_ns = begin_ns + filled(messages["latency_ns"])
        self._latency = np.where(end_ns != NONE, end_ns, last_ns) - begin_ns
        self._layers = layers
        kept = np.flatnonzero(counted(messages, until))
        hop = filled(messages["hop_id"])
        self._rows = {hop_id: kept[own] for hop_id, own in partition(hop[kept])}

    def measure(self, hop_id: int, modes: Modes | None = None) -> Measure:
        """Return the measure of one hop; `modes` are those of its values, where they are known."""
        rows = self._rows.get(hop_id, np.empty(0, np.int64))
        values = self._latency[rows]
        modes = modes or find_modes(values)
        frame = pd.DataFrame({"latency_ns": values, "row": rows})
        if modes.bounds_ns:
            frame["mode"] = modes.number(values)
        typical, tail = (self._largest(frame, group) for group in (TYPICAL, TAIL))
        return Measure(values, summarize(values), modes, typical, tail)

    def _largest(self, frame: pd.DataFrame, group: Group) -> Largest:
        if frame.empty:
            return Largest("", 0.0)
        chosen = members(frame, group)
        rows = chosen["row"].to_numpy()
        sums = {
            layer.name: int(np.maximum(column[rows], 0).sum())
            for layer, column in self._layers.items()
        }
        most = max(sums, key=lambda name: sums[name])
        return Largest(most, sums[most] / max(int(chosen["latency_ns"].sum()), 1))


def _without(layers: Layers, *left_out: Layer) -> Layers:
    return {layer: column for layer, column in layers.items() if layer not in left_out}


def _losses(hop_losses: Rows) -> dict[int, list[dict[str, Any]]]:
    """Rows of `hop_losses` by hop, without it."""
    out: dict[int, list[dict[str, Any]]] = {}
    for row in hop_losses.records():
        out.setdefault(row.pop("hop_id"), []).append(row)
    return out


def _layer_statistics(hop_layers: Rows) -> dict[int, tuple[LayerStatistics, ...]]:
    out: dict[int, tuple[LayerStatistics, ...]] = {}
    for row in hop_layers.records():
        hop_id, layer, share = row.pop("hop_id"), row.pop("layer"), row.pop("share")
        apart = row.pop("unsynchronised")
        statistics: Statistics = {str(name): value for name, value in row.items()}
        out[hop_id] = (*out.get(hop_id, ()), LayerStatistics(layer, share, statistics, apart))
    return out


def _chains(analysis: Analysis) -> dict[Way, Distribution]:
    latency = filled(analysis.chain_instances["latency_ns"])
    rows = dict(partition(filled(analysis.chain_instances["chain_id"])))
    modes = modes_found(analysis.chains, "chain_id", analysis.modes)
    chains = {}
    for row in analysis.chains.to_dict("records"):
        at = row["chain_id"]
        values = latency[rows[at]]
        way = Way(row["name"], tuple(row["nodes"].split(" -> ")))
        chains[way] = Distribution(values, summarize(values), modes[at])
    return chains
