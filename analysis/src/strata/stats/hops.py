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
    messages: pd.DataFrame, publications: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the tables `hops` and `hop_layers`; without dips and modes (strata.stats.modes)."""
    hops: list[dict[str, object]] = []
    layers: list[dict[str, object]] = []
    published = _Published(publications)
    counts = counted(messages)
    latency = messages["latency_ns"].to_numpy(np.int64)
    durations = {layer.name: filled(messages[layer.column]) for layer in HOP_LAYERS}
    publication = messages["publication_id"].to_numpy(np.int64)
    names = messages[["topic", "publisher_node", "subscription_node"]]
    for hop_id, every in partition(messages["hop_id"].to_numpy(np.int64)):
        rows = every[counts[every]]
        hops.append(
            {
                "hop_id": hop_id,
                **names.iloc[every[0]].to_dict(),
                "count": len(every),
                "lost": published.lost(publication[every]),
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
    """Publications of each publisher, in order of time, as they are numbered."""

    def __init__(self, publications: pd.DataFrame) -> None:
        # Those of unknown publishers are nobody's.
        self._publisher = filled(publications["publisher_id"])
        self._of = dict(partition(self._publisher))

    def lost(self, taken: Ints) -> int:
        """Count what the publishers of a hop published meanwhile and it did not take."""
        own = np.unique(taken)
        if not len(self._publisher):
            return 0
        publishers = np.unique(self._publisher[own])
        if publishers[0] == NONE:
            return 0
        meanwhile = sum(
            int(np.diff(np.searchsorted(self._of[publisher], [own[0], own[-1] + 1]))[0])
            for publisher in publishers.tolist()
        )
        return meanwhile - len(own)
