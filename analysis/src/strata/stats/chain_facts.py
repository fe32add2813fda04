# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a verdict on a chain needs beside its blame: its groups, start-up, backlog and losses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from strata.engine.groups import sums
from strata.schema.rows import NONE, Ints, Rows
from strata.stats.backlog import Backlog, find_backlogs
from strata.stats.grouped import counts, first_rows
from strata.stats.groups import ChainGroups, chain_groups
from strata.stats.partition import partition
from strata.stats.segments import Segments


@dataclass(frozen=True)
class Loss:
    """Messages of one hop of a chain that were lost."""

    topic: str
    publisher_node: str
    subscription_node: str
    lost: int


@dataclass(frozen=True)
class EarlyMessages:
    """The start-up of a chain: how many messages, up to how long, what most of that was.

    `only` tells that the chain has no other messages.
    """

    count: int
    longest_ns: int
    node: str
    layer: str
    share: float
    only: bool


@dataclass(frozen=True)
class ChainFacts:
    """Facts of one chain. `count` is without the start-up; shares are of it.

    `typical_share` is that of the mode that the typical messages are of; null for a single mode.
    `tail_from_ns` is the 99th percentile of latency, `tail_count` how many are at or above it.
    """

    count: int
    typical_share: float | None
    tail_count: int
    tail_from_ns: float
    outliers: int
    outliers_from_ns: float
    start_up: EarlyMessages | None
    backlog: Backlog | None
    losses: tuple[Loss, ...]


def chain_facts(
    chains: Rows,
    instances: Rows,
    segments: Segments,
    messages: Rows,
    hops: Rows,
    groups: ChainGroups | None = None,
) -> Mapping[int, ChainFacts]:
    """Return the facts of every chain that has messages; the arguments are declared tables.

    `groups` are those of `instances`, if they are known.
    """
    if not len(instances):
        return {}
    groups = groups or chain_groups(instances)
    size, usual, tail, far = (
        groups.of(flags).tolist()
        for flags in (groups.settled, groups.usual, groups.tail, groups.outliers)
    )
    early = _early(chains, instances, segments, groups)
    backlogs = find_backlogs(instances, groups, segments, messages)
    losses = _losses(chains, instances, segments, messages, hops)
    return {
        chain_id: ChainFacts(
            count=size[at],
            typical_share=None if usual[at] == size[at] else usual[at] / size[at],
            tail_count=tail[at],
            tail_from_ns=float(groups.tail_from_ns[at]),
            outliers=far[at],
            outliers_from_ns=float(groups.outliers_from_ns[at]),
            start_up=early.get(chain_id),
            backlog=backlogs.get(chain_id),
            losses=losses.get(chain_id, ()),
        )
        for at, chain_id in enumerate(groups.chains.tolist())
    }


def _early(
    chains: Rows, instances: Rows, segments: Segments, groups: ChainGroups
) -> dict[int, EarlyMessages]:
    """Return the start-up of every chain that has one."""
    early = np.flatnonzero(instances["start_up"])
    own_segments = segments.of(instances["chain_instance_id"][early])
    layers = own_segments.words("layer")
    count = max(len(layers.words), 1)
    chain = groups.chain[early]
    of = np.searchsorted(groups.chains, own_segments["chain_id"])
    keys = of * count + layers.codes
    ns = sums(keys, own_segments["duration_ns"], len(groups.chains) * count)
    by_layer = ns.reshape(len(groups.chains), count)
    nodes = dict(zip(chains["chain_id"].tolist(), chains.texts("start_up_node"), strict=True))
    sizes = counts(groups.chain, len(groups.chains))
    found = {}
    for at, own in partition(chain):
        # Of equal layers the first in the alphabet.
        total = dict(zip(layers.words, by_layer[at].tolist(), strict=True))
        layer = min(total, key=lambda name: (-total[name], name))
        chain_id = int(groups.chains[at])
        found[chain_id] = EarlyMessages(
            len(own),
            int(instances["latency_ns"][early[own]].max()),
            str(nodes[chain_id]),
            layer,
            total[layer] / max(sum(total.values()), 1),
            len(own) == sizes[at],
        )
    return found


def _losses(
    chains: Rows, instances: Rows, segments: Segments, messages: Rows, hops: Rows
) -> dict[int, tuple[Loss, ...]]:
    """Return what was lost on the hops of each chain, in the order of `hops`."""
    lossy = np.flatnonzero(hops["lost"] > 0)
    if not len(lossy):
        return {}
    topic, publisher, reader = (
        hops.texts(name)[lossy] for name in ("topic", "publisher_node", "subscription_node")
    )
    hop_ids, lost = hops["hop_id"][lossy], hops["lost"][lossy]
    found = {}
    # One message of each chain goes over all its hops.
    some = np.unique(instances["chain_id"], return_index=True)[1]
    ways = segments.of(instances["chain_instance_id"][some])
    for chain_id, of_chain in _hops_of_chains(chains, ways, messages).items():
        rows = np.flatnonzero(np.isin(hop_ids, of_chain))
        found[chain_id] = tuple(
            Loss(str(topic[row]), str(publisher[row]), str(reader[row]), int(lost[row]))
            for row in rows.tolist()
        )
    return found


def _hops_of_chains(chains: Rows, segments: Rows, messages: Rows) -> dict[int, Ints]:
    """Return the hops (rows of `hops`) of each chain."""
    steps = int(segments["hop"].max(initial=NONE)) + 1
    chain_count = int(chains["chain_id"].max(initial=NONE)) + 1
    first = first_rows(segments["chain_id"] * steps + segments["hop"], chain_count * steps)
    hop = np.append(messages["hop_id"], NONE)[
        np.append(segments["message_id"], len(messages))[first]
    ].reshape(chain_count, steps)
    return {
        chain_id: hop[chain_id][hop[chain_id] != NONE] for chain_id in chains["chain_id"].tolist()
    }
