# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Statistics of hops and their layers, over the rows that reach the end of their callback.

And what became of the messages that were published for each (strata.layers.deliveries).

Where no message of a hop reaches one (callbacks were not recorded), all its rows count, up to their
last checkpoint.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from strata.layers.deliveries import Deliveries
from strata.model.columns import NONE, filled
from strata.model.matching import UNSYNCHRONISED
from strata.schema import tables
from strata.schema.fates import FATES, NUMBER, OUTCOMES, RECEIVED
from strata.schema.layers import BETWEEN_HOSTS, HOP_LAYERS
from strata.stats.partition import partition
from strata.stats.summary import prefixed, summarize, summarize_part

Ints = npt.NDArray[np.int64]


def hop_tables(messages: pd.DataFrame, counts: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the tables `hops` and `hop_layers`; without dips and modes (strata.stats.modes).

    `counts` has one row a hop, by its number: its names, and what became of its messages.
    """
    hops: list[dict[str, object]] = []
    layers: list[dict[str, object]] = []
    reached = counted(messages)
    latency = messages["latency_ns"].to_numpy(np.int64)
    durations = {layer: filled(messages[layer.column]) for layer in HOP_LAYERS}
    apart = (messages["confidence"] == UNSYNCHRONISED).to_numpy(bool)
    rows_of = dict(partition(messages["hop_id"].to_numpy(np.int64)))
    for hop in counts.to_dict("records"):
        hop_id = hop["hop_id"]
        every = rows_of.get(hop_id, np.empty(0, np.int64))
        rows = every[reached[every]]
        statistics = prefixed("latency_", summarize(latency[rows]))
        named = {str(name): value for name, value in hop.items()}
        apart_rows = {"unsynchronised": int(apart[every].sum())}
        hops.append({**named, "count": len(every), **statistics, **apart_rows})
        total = int(latency[rows].sum())
        for layer, column in durations.items():
            there = rows[column[rows] != NONE]
            if len(there):
                part = summarize_part(column[there], total)
                between = int(apart[there].sum()) if layer in BETWEEN_HOSTS else 0
                row = {"hop_id": hop_id, "layer": layer.name, **part}
                layers.append({**row, "unsynchronised": between})
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


def delivery_tables(deliveries: Deliveries) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return what hops are called and counted (columns of `hops`), and the table `hop_losses`."""
    count = len(deliveries.hops)
    outcomes = {
        outcome: np.array([fate.outcome == outcome for fate in FATES]) for outcome in OUTCOMES
    }
    counts = deliveries.hops.assign(hop_id=np.arange(count), before_first=deliveries.before_first)
    counts["published"] = np.bincount(deliveries.hop, minlength=count)
    for outcome, of in outcomes.items():
        own = deliveries.hop[of[deliveries.fate]]
        counts[outcome.replace(" ", "_")] = np.bincount(own, minlength=count)
    return counts, _losses(deliveries)


def _losses(deliveries: Deliveries) -> pd.DataFrame:
    rows = []
    key = deliveries.hop * len(FATES) + deliveries.fate
    missing = np.flatnonzero(deliveries.fate != NUMBER[RECEIVED])
    for code, own in partition(key[missing]):
        hop_id, number = divmod(code, len(FATES))
        own = missing[own]
        published_ns, since_ns = deliveries.published_ns[own], deliveries.since_ns[own]
        told = since_ns[since_ns != NONE]
        rows.append(
            {
                "hop_id": hop_id,
                "outcome": FATES[number].outcome,
                "cause": FATES[number].cause,
                "count": len(own),
                "begin_ns": int(published_ns.min()),
                "end_ns": int(published_ns.max()),
                "since_ns": int(told.min()) if len(told) else None,
            }
        )
    # Not by way of floats, which have no nanoseconds since the epoch.
    frame = pd.DataFrame(rows, columns=tables.HOP_LOSSES.names, dtype=object)
    return tables.HOP_LOSSES.frame(frame)
