# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""How long every message of each hop and chain of one run took: what all verbs' numbers are of.

`strata analyze`, `hops` and `compare` count the same messages. A hop has two ends: to the end of
its callback, which is what is called its latency everywhere, and to its callback's start, which is
called its transfer (strata.stats.transfers). A chain is from the first publish to the end of its
last callback.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from strata.analysis import Analysis
from strata.model.columns import filled
from strata.schema.rows import Ints
from strata.stats.partition import partition
from strata.stats.transfers import End, HopLosses, Transfers

_NONE = np.empty(0, np.int64)


@dataclass(frozen=True)
class HopDurations:
    """The messages of one hop, in the order of their begin, and their durations in ns.

    `rows` are those of `Transfers` that each end's statistics are over, `latency_ns` as long as
    these. `count` are the messages taken, `received`, `lost`, `unknown` and `published` the columns
    of the table `hops`; `losses` are its rows of `hop_losses`, and of `unseen` the trace does not
    show what became of them at their reader.
    """

    hop_id: int
    topic: str
    publisher_node: str
    subscription_node: str
    count: int
    received: int
    lost: int
    unknown: int
    published: int
    losses: tuple[dict[str, Any], ...]
    unseen: int
    rows: Mapping[End, Ints]
    latency_ns: Mapping[End, Ints]


@dataclass(frozen=True)
class ChainDurations:
    """The messages of one chain, in the order of their begin, and their latencies in ns.

    `rows` are those of the table `chain_instances`; of `unseen` messages of its hops the trace does
    not show what became of them at their reader.
    """

    chain_id: int
    name: str
    nodes: tuple[str, ...]
    unseen: int
    rows: Ints
    latency_ns: Ints


def hop_durations(analysis: Analysis, transfers: Transfers) -> Iterator[HopDurations]:
    """Yield the hops of an analysis, in the order of its table `hops`."""
    losses = HopLosses.of(analysis.rows("hop_losses"))
    latency = {end: transfers.latency_ns(end) for end in End}
    rows = {end: transfers.rows(end) for end in End}
    for row in analysis.hops.to_dict("records"):
        hop_id = row["hop_id"]
        own = {end: transfers.by_begin(rows[end].get(hop_id, _NONE)) for end in End}
        yield HopDurations(
            hop_id,
            row["topic"],
            row["publisher_node"],
            row["subscription_node"],
            count=int(row["count"]),
            received=int(row["received"]),
            lost=int(row["lost"]),
            unknown=int(row["unknown"]),
            published=int(row["published"]),
            losses=losses.rows(hop_id),
            unseen=losses.unseen(hop_id),
            rows=own,
            latency_ns={end: latency[end][own[end]] for end in End},
        )


def chain_durations(analysis: Analysis) -> Iterator[ChainDurations]:
    """Yield the chains of an analysis, in the order of its table `chains`."""
    instances = analysis.chain_instances
    latency, begin_ns = filled(instances["latency_ns"]), filled(instances["begin_ns"])
    rows = dict(partition(filled(instances["chain_id"])))
    losses = HopLosses.of(analysis.rows("hop_losses"))
    unseen = {
        (row["topic"], row["publisher_node"], row["subscription_node"]): losses.unseen(
            row["hop_id"]
        )
        for row in analysis.hops.to_dict("records")
    }
    for row in analysis.chains.to_dict("records"):
        own = rows.get(row["chain_id"], _NONE)
        own = own[np.argsort(begin_ns[own], kind="stable")]
        nodes = tuple(str(row["nodes"]).split(" -> "))
        hops = zip(str(row["name"]).split(" -> "), nodes, nodes[1:], strict=False)
        missing = sum(unseen.get(hop, 0) for hop in hops)
        yield ChainDurations(
            int(row["chain_id"]), str(row["name"]), nodes, missing, own, latency[own]
        )
