# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Statistics of hops and their layers, over the rows that reach the end of their callback.

Where no message of a hop reaches one (callbacks were not recorded), all its rows count, up to their
last checkpoint.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from strata.model.columns import NONE, filled
from strata.schema import tables
from strata.schema.layers import HOP_LAYERS
from strata.stats.partition import partition
from strata.stats.summary import prefixed, summarize

Ints = npt.NDArray[np.int64]


def hop_tables(
    messages: pd.DataFrame, publications: pd.DataFrame, takes: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the tables `hops` and `hop_layers`; without dips and modes (strata.stats.modes)."""
    hops: list[dict[str, object]] = []
    layers: list[dict[str, object]] = []
    published = _Published(messages, publications, takes)
    counts = counted(messages)
    latency = messages["latency_ns"].to_numpy(np.int64)
    durations = {layer.name: filled(messages[layer.column]) for layer in HOP_LAYERS}
    names = messages[["topic", "publisher_node", "subscription_node"]]
    for hop_id, every in partition(messages["hop_id"].to_numpy(np.int64)):
        rows = every[counts[every]]
        hops.append(
            {
                "hop_id": hop_id,
                **names.iloc[every[0]].to_dict(),
                "count": len(every),
                "lost": published.lost(every),
                **prefixed("latency_", summarize(latency[rows])),
            }
        )
        total = int(latency[rows].sum())
        for layer, column in durations.items():
            there = column[rows]
            there = there[there != NONE]
            if len(there):
                share = int(there.sum()) / total if total else 0.0
                layers.append(
                    {"hop_id": hop_id, "layer": layer, "share": share, **summarize(there)}
                )
    return (
        tables.HOPS.frame(pd.DataFrame(hops, columns=tables.HOPS.names)),
        tables.HOP_LAYER_STATS.frame(pd.DataFrame(layers, columns=tables.HOP_LAYER_STATS.names)),
    )


def counted(messages: pd.DataFrame, until: str = "callback_end_ns") -> npt.NDArray[np.bool_]:
    """Tell which rows of `messages` the statistics of their hop up to a checkpoint are over."""
    reached = messages[until].notna().to_numpy(bool)
    hop = messages["hop_id"].to_numpy(np.int64)
    some = np.zeros(int(hop.max(initial=-1)) + 1, bool)
    some[hop[reached]] = True
    return np.asarray(reached | ~some[hop])


class _Published:
    """Publications of each publisher, in order of time, as they are numbered, and who took them."""

    def __init__(
        self, messages: pd.DataFrame, publications: pd.DataFrame, takes: pd.DataFrame
    ) -> None:
        # Those of unknown publishers are nobody's.
        self._publisher = filled(publications["publisher_id"])
        self._of = dict(partition(self._publisher))
        self._publication = messages["publication_id"].to_numpy(np.int64)
        self._take = messages["take_id"].to_numpy(np.int64)
        self._subscription = filled(takes["subscription_id"])

    def lost(self, rows: Ints) -> int:
        """Count what the publishers of a hop published and its subscriptions did not take.

        `rows` are its messages. Of each subscription, what was published from the first that it
        took to the last.
        """
        if not len(self._publisher):
            return 0
        publishers = np.unique(self._publisher[self._publication[rows]])
        if publishers[0] == NONE:
            return 0
        subscription = self._subscription[self._take[rows]]
        lost = 0
        for _, own in partition(subscription):
            taken = np.unique(self._publication[rows[own]])
            within = [taken[0], taken[-1] + 1]
            meanwhile = sum(
                int(np.diff(np.searchsorted(self._of[publisher], within))[0])
                for publisher in publishers.tolist()
            )
            lost += meanwhile - len(taken)
        return lost
