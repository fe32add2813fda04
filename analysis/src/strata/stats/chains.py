# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Chains as tables: instances, their segments, and statistics of both.

A chain's time is cut into the layers of its hops: of every hop but the last the transfer layers and
the *hold*, of the last the transfer layers and the *callback*. Segments of one instance add up to
its latency exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from strata.layers.chains import Chain
from strata.schema import tables
from strata.schema.layers import (
    BETWEEN_NODES,
    CALLBACK,
    CLIENT_PUBLISH,
    DDS_RECEIVE,
    DDS_WRITE,
    HOLD,
    SERIALIZE,
    SERIALIZE_DDS_WRITE,
    TRANSFER_LAYERS,
    TRANSPORT,
    Layer,
)
from strata.schema.table import Table
from strata.stats.summary import Statistics, prefixed, summarize

Ints = npt.NDArray[np.int64]

_STEPS = (*TRANSFER_LAYERS, HOLD, CALLBACK)


@dataclass(frozen=True)
class ChainTables:
    """The four declared tables of chains."""

    chains: pd.DataFrame
    instances: pd.DataFrame
    segments: pd.DataFrame
    layers: pd.DataFrame


def chain_tables(chains: list[Chain], messages: pd.DataFrame, where: pd.DataFrame) -> ChainTables:
    """Return the tables of chains.

    `where` names, for each message (by row) and layer name (by column), the place of the time.
    """
    rows: list[dict[str, object]] = []
    instances: list[pd.DataFrame] = []
    segments: list[pd.DataFrame] = []
    layers: list[pd.DataFrame] = []
    begin = 0
    for chain_id, chain in enumerate(chains):
        cut = _instances(chain_id, chain, messages, begin)
        begin += len(cut)
        parts = _segments(chain_id, chain, messages, cut["chain_instance_id"].to_numpy(np.int64))
        instances.append(cut)
        segments.append(parts)
        layers.append(_layer_statistics(chain_id, parts, where, cut))
        rows.append(_chain_row(chain_id, chain, messages, cut))
    return ChainTables(
        tables.CHAINS.frame(pd.DataFrame(rows, columns=tables.CHAINS.names)),
        _joined(tables.CHAIN_INSTANCES, instances),
        _joined(tables.CHAIN_SEGMENTS, segments),
        _joined(tables.CHAIN_LAYER_STATS, layers),
    )


def _joined(table: Table, parts: list[pd.DataFrame]) -> pd.DataFrame:
    return table.frame(pd.concat(parts, ignore_index=True)) if parts else table.empty()


def _chain_row(
    chain_id: int, chain: Chain, messages: pd.DataFrame, cut: pd.DataFrame
) -> dict[str, object]:
    steps = messages.iloc[chain.messages[0]]
    nodes = [str(steps["publisher_node"].iloc[0]), *steps["subscription_node"].astype(str)]
    return {
        "chain_id": chain_id,
        "name": " -> ".join(steps["topic"].astype(str)),
        "nodes": " -> ".join(nodes),
        "hop_count": len(chain.hops),
        "count": len(chain.messages),
        **prefixed("latency_", summarize(cut["latency_ns"].to_numpy(np.int64))),
    }


def _instances(chain_id: int, chain: Chain, messages: pd.DataFrame, begin: int) -> pd.DataFrame:
    """Instances whose last message reaches the end of its callback, where any does."""
    last = messages.iloc[chain.messages[:, -1]]
    first = messages.iloc[chain.messages[:, 0]]
    begin_ns = first["publish_ns"].to_numpy(np.int64)
    end_ns = (last["publish_ns"] + last["latency_ns"]).to_numpy(np.int64)
    return pd.DataFrame(
        {
            "chain_instance_id": np.arange(begin, begin + len(last)),
            "chain_id": chain_id,
            "message_id": chain.messages[:, -1],
            "begin_ns": begin_ns,
            "end_ns": end_ns,
            "latency_ns": end_ns - begin_ns,
        }
    )


def _segments(
    chain_id: int,
    chain: Chain,
    messages: pd.DataFrame,
    instance: Ints,
) -> pd.DataFrame:
    columns: list[tuple[Ints, Ints, Ints]] = []
    places: list[tuple[int, int, Layer]] = []
    last = len(chain.hops) - 1
    for hop in range(len(chain.hops)):
        rows = chain.messages[:, hop]
        for step, layer in enumerate(_STEPS):
            if (layer is HOLD and hop == last) or (layer is CALLBACK and hop != last):
                continue
            # A hold is a property of the message that was published in it: the next one.
            source = chain.messages[:, hop + 1] if layer is HOLD else rows
            durations = messages[layer.column].array[source]
            there = ~np.asarray(durations.isna())
            if there.any():
                columns.append((instance[there], rows[there], durations[there].to_numpy(np.int64)))
                places.append((hop * len(_STEPS) + step, hop, layer))
    return _segments_frame(chain_id, messages, columns, places)


def _segments_frame(
    chain_id: int,
    messages: pd.DataFrame,
    columns: list[tuple[Ints, Ints, Ints]],
    places: list[tuple[int, int, Layer]],
) -> pd.DataFrame:
    # Positions are dense: layers that no instance has leave no holes.
    place = np.repeat(np.arange(len(places)), [len(rows) for _, rows, _ in columns])
    instance, row, duration = (np.concatenate(parts) for parts in zip(*columns, strict=True))
    order = np.lexsort((place, instance))
    place = place[order]
    names = pa.array([layer.name for _, _, layer in places])
    layer = pa.DictionaryArray.from_arrays(pa.array(place.astype(np.int32)), names)
    return pd.DataFrame(
        {
            "chain_instance_id": instance[order],
            "chain_id": chain_id,
            "position": place,
            "hop": np.array([hop for _, hop, _ in places], np.int64)[place],
            "message_id": messages["message_id"].to_numpy(np.int64)[row[order]],
            "layer": pd.Series(layer.cast(pa.string()).to_pandas(), dtype="str"),
            "duration_ns": duration[order],
        }
    )


def _layer_statistics(
    chain_id: int, segments: pd.DataFrame, where: pd.DataFrame, cut: pd.DataFrame
) -> pd.DataFrame:
    total = int(cut["latency_ns"].sum())
    rows: list[dict[str, object]] = []
    for position, part in segments.groupby("position"):
        durations = part["duration_ns"].to_numpy(np.int64)
        layer = str(part["layer"].iloc[0])
        statistics: Statistics = summarize(durations)
        rows.append(
            {
                "chain_id": chain_id,
                "position": position,
                "hop": int(part["hop"].iloc[0]),
                "layer": layer,
                "where": where[layer].iloc[int(part["message_id"].iloc[0])],
                "share": int(durations.sum()) / total if total else 0.0,
                **statistics,
            }
        )
    return pd.DataFrame(rows)


def layer_totals(segments: pd.DataFrame, latency_total: int) -> list[dict[str, object]]:
    """Return share and statistics of each layer of one chain, added up over its hops.

    Per instance the durations of a layer are summed first, so the means add up to the mean latency.
    """
    order = list(dict.fromkeys(layer.name for layer in _STEPS))
    sums = segments.groupby(["layer", "chain_instance_id"])["duration_ns"].sum()
    rows: list[dict[str, object]] = []
    for name in order:
        if name in sums.index.get_level_values("layer"):
            durations = sums.loc[name].to_numpy(np.int64)
            share = int(durations.sum()) / latency_total if latency_total else 0.0
            rows.append({"layer": name, "share": share, **summarize(durations)})
    return rows


def place_of_layer(
    layer: Layer, message: pd.DataFrame, callbacks: pd.Series[str]
) -> pd.Series[str]:
    """Name where a layer's time was spent, for each message: topic, node or callback."""
    if layer in (CALLBACK, HOLD):
        return message["callback_id"].map(callbacks).fillna(message["subscription_node"])
    if layer is CLIENT_PUBLISH:
        return message["publisher_node"]
    if layer in (SERIALIZE, DDS_WRITE, SERIALIZE_DDS_WRITE):
        return message["topic"] + " (" + message["publisher_node"] + ")"
    if layer is DDS_RECEIVE:
        return message["topic"] + " (" + message["subscription_node"] + ")"
    if layer is TRANSPORT:
        carried = " over " + message["transport"].astype("string")
        return (message["topic"].astype(str) + carried.fillna("")).astype(object)
    if layer in BETWEEN_NODES:
        return message["topic"]
    return message["subscription_node"]
