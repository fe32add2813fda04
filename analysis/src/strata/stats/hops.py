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

from strata.schema import tables
from strata.schema.layers import HOP_LAYERS
from strata.stats.summary import prefixed, summarize


def hop_tables(
    messages: pd.DataFrame, publications: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the tables `hops` and `hop_layers`."""
    hops, layers = [], []
    # Publications are numbered in order of time; those of unknown publishers are nobody's.
    publisher = publications["publisher_id"].fillna(-1).to_numpy(np.int64)
    for hop_id, every in messages.groupby("hop_id"):
        complete = every[every["complete"]]
        rows = complete if len(complete) else every
        latency = rows["latency_ns"].to_numpy(np.int64)
        first = every.iloc[0]
        hops.append(
            {
                "hop_id": hop_id,
                "topic": first["topic"],
                "publisher_node": first["publisher_node"],
                "subscription_node": first["subscription_node"],
                "count": len(every),
                "lost": _lost(every["publication_id"].to_numpy(np.int64), publisher),
                **prefixed("latency_", summarize(latency)),
            }
        )
        total = int(latency.sum())
        for layer in HOP_LAYERS:
            durations = rows[layer.column].dropna().to_numpy(np.int64)
            if len(durations):
                share = int(durations.sum()) / total if total else 0.0
                layers.append(
                    {
                        "hop_id": hop_id,
                        "layer": layer.name,
                        "share": share,
                        **summarize(durations),
                    }
                )
    return (
        tables.HOPS.frame(pd.DataFrame(hops, columns=tables.HOPS.names)),
        tables.HOP_LAYER_STATS.frame(pd.DataFrame(layers, columns=tables.HOP_LAYER_STATS.names)),
    )


def _lost(taken: npt.NDArray[np.int64], publisher: npt.NDArray[np.int64]) -> int:
    """Count what the publishers of a hop published meanwhile and it did not take."""
    own = np.unique(taken)
    if not len(publisher):
        return 0
    publishers = np.unique(publisher[own])
    meanwhile = publisher[own[0] : own[-1] + 1]
    known = publishers[publishers >= 0]
    if len(known) < len(publishers):
        return 0
    return int(np.isin(meanwhile, known).sum()) - len(own)
