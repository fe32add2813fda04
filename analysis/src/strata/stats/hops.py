# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Statistics of hops: over the messages of each that reach the end of their callback.

And what happened to the messages that were published for each (strata.layers.deliveries).

Where no message of a hop reaches one (callbacks were not recorded), all its rows count, up to their
last checkpoint.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from strata.schema import tables
from strata.schema.fates import FATES, NUMBER, OUTCOMES, RECEIVED
from strata.schema.layers import BETWEEN_HOSTS, HOP_LAYERS
from strata.schema.rows import NONE, Coded, Flags, Ints, Rows, Values
from strata.stats._grouped import Groups
from strata.stats.partition import numbered
from strata.stats.summary import picked, shares_of, summarize_groups
from strata.stats.transfers import End, Transfers, counted

if TYPE_CHECKING:
    from strata.layers.deliveries import Deliveries

_NO_QUANTILES = np.empty(0)
_OUTCOME = np.array([OUTCOMES.index(fate.outcome) for fate in FATES])


def hop_tables(messages: Rows, counts: Mapping[str, Values]) -> tuple[Rows, Rows]:
    """Return the tables `hops` and `hop_layers`; without dips and modes (strata.stats.modes).

    `counts` are columns of `hops`, by hop: its names, and what happened to its messages.
    """
    transfers, count = Transfers(messages), len(counts["published"])
    hop, apart = transfers.hop_id, transfers.unsynchronised
    groups = Groups(np.where(counted(messages), hop, NONE), count)
    latency = summarize_groups(groups, transfers.latency_ns(End.END))
    hops = Rows(
        tables.HOPS,
        {
            **counts,
            "hop_id": np.arange(count),
            "count": np.bincount(hop, minlength=count),
            **latency.prefixed("latency_"),
            "unsynchronised": np.bincount(hop[apart], minlength=count),
        },
    )
    return hops, _layers(transfers, groups, latency.total, apart)


def _layers(transfers: Transfers, groups: Groups, totals: Ints, apart: Flags) -> Rows:
    found = [
        summarize_groups(groups, transfers.layer_ns(layer), absent=NONE) for layer in HOP_LAYERS
    ]
    # One row a layer that a hop has, by hop.
    hop, layer = np.nonzero(np.array([of.count for of in found]).T)
    between = np.zeros((len(found), len(groups)), np.int64)
    if apart.any():
        for at, item in enumerate(HOP_LAYERS):
            if item in BETWEEN_HOSTS:
                values = transfers.layer_ns(item)
                between[at] = summarize_groups(groups, values, there=apart, absent=NONE).count
    own = np.array([of.total for of in found])[layer, hop]
    return Rows(
        tables.HOP_LAYER_STATS,
        {
            "hop_id": hop,
            "layer": Coded(layer, tuple(item.name for item in HOP_LAYERS)),
            "share": shares_of(own, totals[hop]),
            **picked(found, layer, hop),
            "unsynchronised": between[layer, hop],
        },
    )


def delivery_tables(deliveries: Deliveries) -> tuple[dict[str, Values], Rows]:
    """Return what hops are called and counted (columns of `hops`), and the table `hop_losses`."""
    count = len(deliveries.hops)
    names = ("topic", "publisher_node", "subscription_node")
    counts: dict[str, Values] = {
        name: Coded.of(hop[at] for hop in deliveries.hops) for at, name in enumerate(names)
    }
    counts["published"] = np.bincount(deliveries.hop, minlength=count)
    for outcome in OUTCOMES:
        of = np.array([fate.outcome == outcome for fate in FATES])
        own = deliveries.hop[of[deliveries.fate]]
        counts[outcome.replace(" ", "_")] = np.bincount(own, minlength=count)
    return counts | {"before_first": deliveries.before_first}, _losses(deliveries)


def _losses(deliveries: Deliveries) -> Rows:
    missing = np.flatnonzero(deliveries.fate != NUMBER[RECEIVED])
    key = deliveries.hop[missing] * len(FATES) + deliveries.fate[missing]
    keys, groups = numbered(key)
    published = groups.summarize(deliveries.published_ns[missing], _NO_QUANTILES)
    since = groups.summarize(deliveries.since_ns[missing], _NO_QUANTILES, absent=NONE)
    hop, fate = np.divmod(keys, len(FATES))
    return Rows(
        tables.HOP_LOSSES,
        {
            "hop_id": hop,
            "outcome": Coded(_OUTCOME[fate], OUTCOMES),
            "cause": Coded(fate, tuple(item.cause for item in FATES)),
            "count": published["count"],
            "begin_ns": published["min"],
            "end_ns": published["max"],
            "since_ns": np.where(since["count"] > 0, since["min"], NONE),
        },
    )
