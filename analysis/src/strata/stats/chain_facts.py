# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a verdict on a chain needs beside its blame: its groups, start-up, backlog and losses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from strata.stats import groups
from strata.stats.backlog import Backlog, find_backlog


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
    chains: pd.DataFrame,
    instances: pd.DataFrame,
    segments: pd.DataFrame,
    messages: pd.DataFrame,
    hops: pd.DataFrame,
) -> Mapping[int, ChainFacts]:
    """Return the facts of every chain that has messages; the frames are declared tables."""
    of_instances = dict(tuple(instances.groupby("chain_id")))
    of_segments = dict(tuple(segments.groupby("chain_id")))
    found = {}
    for chain in chains.to_dict("records"):
        number = chain["chain_id"]
        if number in of_instances:
            own = of_instances[number], of_segments[number]
            found[int(number)] = _facts(*own, str(chain["start_up_node"]), messages, hops)
    return found


def _facts(
    instances: pd.DataFrame,
    segments: pd.DataFrame,
    node: str,
    messages: pd.DataFrame,
    hops: pd.DataFrame,
) -> ChainFacts:
    candidates = groups.settled(instances)
    latency = candidates["latency_ns"].to_numpy(np.int64)
    inside = groups.of_typical_mode(candidates)
    bound = groups.outlier_bound(instances)
    return ChainFacts(
        count=len(candidates),
        typical_share=None if inside.all() else float(inside.mean()),
        tail_count=len(groups.members(instances, groups.TAIL)),
        tail_from_ns=float(np.quantile(latency, groups.TAIL.low)),
        outliers=int((latency > bound).sum()),
        outliers_from_ns=bound,
        start_up=_early(instances, segments, node),
        backlog=find_backlog(candidates, segments, messages),
        losses=_losses(segments, messages, hops),
    )


def _early(instances: pd.DataFrame, segments: pd.DataFrame, node: str) -> EarlyMessages | None:
    early = instances[instances["start_up"].astype(bool)]
    if early.empty:
        return None
    own = segments[segments["chain_instance_id"].isin(early["chain_instance_id"])]
    sums = own.groupby("layer")["duration_ns"].sum().sort_values(ascending=False, kind="stable")
    return EarlyMessages(
        len(early),
        int(early["latency_ns"].max()),
        node,
        str(sums.index[0]),
        float(sums.iloc[0] / max(int(sums.sum()), 1)),
        len(early) == len(instances),
    )


def _losses(segments: pd.DataFrame, messages: pd.DataFrame, hops: pd.DataFrame) -> tuple[Loss, ...]:
    firsts = segments.drop_duplicates("hop")["message_id"].to_numpy(np.int64)
    own = hops[hops["hop_id"].isin(messages["hop_id"].to_numpy(np.int64)[firsts])]
    columns = ["topic", "publisher_node", "subscription_node", "lost"]
    lost = own.loc[own["lost"] > 0, columns]
    return tuple(Loss(**{str(k): v for k, v in row.items()}) for row in lost.to_dict("records"))
