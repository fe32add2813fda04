# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Chains as tables: instances, their segments, and statistics of both.

A chain's time is cut into the layers of its hops: of every hop but the last the transfer layers and
the link to the next (*hold*; of stored messages *callback*, *stored* and *link hold*), of the last
the transfer layers and the *callback*; of coroutine callbacks *suspended*, too. Segments of one
instance add up to its latency exactly.

Instances are the messages whose last callback ended, as in the statistics of hops. A callback that
threw has no end: its messages would stop at its start, and mix two different latencies. Where no
message of a chain reaches the end of a callback (callbacks were not recorded), all are instances.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from strata.layers.chains import Chain
from strata.layers.readiness import Readiness
from strata.schema import tables
from strata.schema.confidence import UNSYNCHRONISED
from strata.schema.layers import (
    BETWEEN_HOSTS,
    CALLBACK,
    HOLD,
    LINK_HOLD,
    STORED,
    SUSPENDED,
    TRANSFER_LAYERS,
    Layer,
    transfer_layers,
)
from strata.schema.table import Table
from strata.stats.layer_places import LayerPlaces
from strata.stats.partition import partition
from strata.stats.start_up import find_start_up
from strata.stats.summary import prefixed, summarize, summarize_part

Ints = npt.NDArray[np.int64]

_STEPS = (*TRANSFER_LAYERS, HOLD, SUSPENDED, CALLBACK, STORED, LINK_HOLD)


@dataclass(frozen=True)
class ChainTables:
    """The four declared tables of chains."""

    chains: pd.DataFrame
    instances: pd.DataFrame
    segments: pd.DataFrame
    layers: pd.DataFrame


def chain_tables(
    chains: list[Chain],
    messages: pd.DataFrame,
    links: pd.DataFrame,
    places: LayerPlaces,
    ready: Readiness | None = None,
    clocks: tuple[Ints, Ints] | None = None,
) -> ChainTables:
    """Return the tables of chains.

    `links` is the table `links`. Without `ready` no message is of the start-up. `clocks` number
    the clocks of the publisher and the reader of each message; without it all have one.
    """
    rows: list[dict[str, object]] = []
    instances: list[pd.DataFrame] = []
    segments: list[pd.DataFrame] = []
    layers: list[pd.DataFrame] = []
    begin = 0
    ended = messages["callback_end_ns"].notna().to_numpy(bool)
    called = messages["callback_start_ns"].notna().to_numpy(bool)
    for chain_id, found in enumerate(chains):
        chain = _finished(found, ended)
        cut = _instances(chain_id, chain, messages, links, begin)
        started = find_start_up(chain, messages, cut["begin_ns"].to_numpy(np.int64), ready)
        cut = cut.assign(start_up=started.early, unsynchronised=_two_clocks(chain, clocks))
        begin += len(cut)
        parts = _segments(chain_id, chain, messages, links, begin - len(cut))
        instances.append(cut)
        segments.append(parts)
        apart = between_hosts(parts, messages)
        layers.append(_layer_statistics(chain_id, parts, places, cut, apart))
        # What started no callback (feedback of another client's goal) did not leave one unfinished.
        last = found.messages[:, -1]
        some_left_out = len(chain.messages) < len(last)
        unfinished = int((called & ~ended)[last].sum()) if some_left_out else 0
        row = _chain_row(chain_id, chain, messages, cut)
        rows.append(
            row | {"unfinished": unfinished, "cut_short": found.cut_short} | started.columns
        )
    return ChainTables(
        tables.CHAINS.frame(pd.DataFrame(rows, columns=tables.CHAINS.names)),
        _joined(tables.CHAIN_INSTANCES, instances),
        _joined(tables.CHAIN_SEGMENTS, segments),
        _joined(tables.CHAIN_LAYER_STATS, layers),
    )


def _finished(chain: Chain, ended: npt.NDArray[np.bool_]) -> Chain:
    """Leave out the instances whose last callback has no end, unless none has one."""
    kept = ended[chain.messages[:, -1]]
    if not kept.any():
        return chain
    return replace(chain, messages=chain.messages[kept], links=chain.links[kept])


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
        "unsynchronised": int(cut["unsynchronised"].sum()),
        **prefixed("latency_", summarize(cut["latency_ns"].to_numpy(np.int64))),
    }


def _instances(
    chain_id: int, chain: Chain, messages: pd.DataFrame, links: pd.DataFrame, begin: int
) -> pd.DataFrame:
    """Return the rows of `chain_instances` of a chain."""
    last = messages.iloc[chain.messages[:, -1]]
    first = messages.iloc[chain.messages[:, 0]]
    begin_ns = first["begin_ns"].to_numpy(np.int64)
    end_ns = (last["begin_ns"] + last["latency_ns"]).to_numpy(np.int64)
    return pd.DataFrame(
        {
            "chain_instance_id": np.arange(begin, begin + len(last)),
            "chain_id": chain_id,
            "message_id": chain.messages[:, -1],
            "begin_ns": begin_ns,
            "end_ns": end_ns,
            "latency_ns": end_ns - begin_ns,
            "critical": links["critical"].to_numpy(bool)[chain.links].all(axis=1),
        }
    )


@dataclass(frozen=True)
class _Part:
    """One layer of one hop, in those instances that have it; `row` places the time."""

    hop: int
    layer: Layer
    instance: Ints
    row: Ints
    duration_ns: Ints


def _segments(
    chain_id: int, chain: Chain, messages: pd.DataFrame, links: pd.DataFrame, begin: int
) -> pd.DataFrame:
    parts: list[_Part] = []
    last = len(chain.hops) - 1
    instance = np.arange(begin, begin + len(chain.messages))
    for hop in range(len(chain.hops)):
        rows = chain.messages[:, hop]
        wanted = [
            (layer, rows, messages[layer.column].array[rows]) for layer in transfer_layers(hop)
        ]
        if hop == last:
            wanted += [
                (layer, rows, messages[layer.column].array[rows]) for layer in (SUSPENDED, CALLBACK)
            ]
        else:
            wanted += _link_layers(chain, hop, links)
        for layer, at, durations in wanted:
            there = ~np.asarray(durations.isna())
            if there.any():
                ns = durations[there].to_numpy(np.int64)
                parts.append(_Part(hop, layer, instance[there], at[there], ns))
    return _segments_frame(chain_id, messages, parts)


def _link_layers(
    chain: Chain, hop: int, links: pd.DataFrame
) -> list[tuple[Layer, Ints, pd.api.extensions.ExtensionArray]]:
    """What lies between the callback's start of a hop's message and the next publish."""
    link, parent, child = chain.links[:, hop], chain.messages[:, hop], chain.messages[:, hop + 1]
    own = links.iloc[link]
    direct = (own["kind"] == "callback").to_numpy()
    return [
        (HOLD, parent, own["hold_ns"].where(direct).array),
        (SUSPENDED, parent, own["suspended_ns"].array),
        (CALLBACK, parent, own["callback_ns"].array),
        (STORED, parent, own["stored_ns"].array),
        (LINK_HOLD, child, own["hold_ns"].where(~direct).array),
    ]


def _segments_frame(chain_id: int, messages: pd.DataFrame, parts: list[_Part]) -> pd.DataFrame:
    # Positions are dense: layers that no instance has leave no holes.
    place = np.repeat(np.arange(len(parts)), [len(part.row) for part in parts])
    instance = np.concatenate([part.instance for part in parts])
    row = np.concatenate([part.row for part in parts])
    duration = np.concatenate([part.duration_ns for part in parts])
    order = np.lexsort((place, instance))
    place = place[order]
    names = pa.array([part.layer.name for part in parts])
    layer = pa.DictionaryArray.from_arrays(pa.array(place.astype(np.int32)), names)
    return pd.DataFrame(
        {
            "chain_instance_id": instance[order],
            "chain_id": chain_id,
            "position": place,
            "hop": np.array([part.hop for part in parts], np.int64)[place],
            "message_id": messages["message_id"].to_numpy(np.int64)[row[order]],
            "layer": pd.Series(layer.cast(pa.string()).to_pandas(), dtype="str"),
            "duration_ns": duration[order],
        }
    )


def _two_clocks(chain: Chain, clocks: tuple[Ints, Ints] | None) -> npt.NDArray[np.bool_]:
    """Tell which instances begin by another clock than they end; hops in between may be apart."""
    if clocks is None:
        return np.zeros(len(chain.messages), bool)
    begun, ended = clocks
    return np.asarray(begun[chain.messages[:, 0]] != ended[chain.messages[:, -1]], bool)


def between_hosts(segments: pd.DataFrame, messages: pd.DataFrame) -> npt.NDArray[np.bool_]:
    """Tell which segments lie between hosts whose clocks are not synchronised."""
    apart = (messages["confidence"] == UNSYNCHRONISED).to_numpy(bool)
    if not apart.any():
        return np.zeros(len(segments), bool)
    crossing = segments["layer"].isin([layer.name for layer in BETWEEN_HOSTS]).to_numpy(bool)
    return np.asarray(crossing & apart[segments["message_id"].to_numpy(np.int64)], bool)


def _layer_statistics(
    chain_id: int,
    segments: pd.DataFrame,
    places: LayerPlaces,
    cut: pd.DataFrame,
    apart: npt.NDArray[np.bool_],
) -> pd.DataFrame:
    total = int(cut["latency_ns"].sum())
    hop, message, duration_ns = (
        segments[name].to_numpy(np.int64) for name in ("hop", "message_id", "duration_ns")
    )
    layers = segments["layer"].to_numpy(object)
    rows: list[dict[str, object]] = []
    for position, own in partition(segments["position"].to_numpy(np.int64)):
        layer = str(layers[own[0]])
        place, different = _most_frequent(places, layer, message[own])
        rows.append(
            {
                "chain_id": chain_id,
                "position": position,
                "hop": int(hop[own[0]]),
                "layer": layer,
                "where": place,
                "places": different,
                **summarize_part(duration_ns[own], total),
                "unsynchronised": int(apart[own].sum()),
            }
        )
    return pd.DataFrame(rows)


def _most_frequent(places: LayerPlaces, layer: str, messages: Ints) -> tuple[str, int]:
    """Return the place of most messages, of equals the first, and how many there are."""
    code, first, count = np.unique(
        places.at(layer, messages), return_index=True, return_counts=True
    )
    return places.words.texts()[code[np.lexsort((first, -count))[0]]], len(code)


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
            rows.append({"layer": name, **summarize_part(durations, latency_total)})
    return rows
