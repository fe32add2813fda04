# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""From the analysis of a cell's session to the measured transfers, chains and hops.

A message is identified by its number: its place among its publisher's publications, from 0. Those
below the cell's warm-up are marked, taken or not, and left out of everything.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from strata.analysis import Analysis
from strata.model.columns import filled
from strata.schema.layers import CALLBACK, HOP_LAYERS
from strata.schema.quality import NOTHING_FOUND, Finding, Findings
from strata.schema.tables.measured import (
    CHAIN_LAYERS,
    MEASURED_CHAINS,
    MEASURED_HOPS,
    MEASURED_PUBLICATIONS,
    MEASURED_TRANSFERS,
)
from strata.stats.transfers import End, Transfers
from strata.study.client_libraries import clients_of, ends_of
from strata.study.hop_selection import HopSelection
from strata.study.node_result_files import OwnCounts, OwnFiles

Ints = npt.NDArray[np.int64]

NOBODY = "(nobody)"
"""The name of a node that is not known."""

_COLUMNS = [layer.column for layer in HOP_LAYERS]


@dataclass(frozen=True)
class Traffic:
    """The tables measured_transfers, measured_publications and measured_hops."""

    transfers: pd.DataFrame
    publications: pd.DataFrame
    hops: pd.DataFrame


def measured_traffic(
    analysis: Analysis, wanted: HopSelection, own: OwnFiles
) -> tuple[Traffic, Findings]:
    """Return what went over the measured hops and what became of it, and what is wrong with it."""
    number = _numbers(analysis)
    transfers, inexact = _transfers(analysis, wanted, number)
    publications = _publications(analysis, wanted, number)
    hops, contradicted = _hops(analysis, wanted, transfers, publications, own)
    traffic = Traffic(
        MEASURED_TRANSFERS.frame(transfers),
        MEASURED_PUBLICATIONS.frame(publications),
        MEASURED_HOPS.frame(hops),
    )
    return traffic, Findings(inexact, contradicted)


def measured_chains(analysis: Analysis, wanted: HopSelection) -> tuple[pd.DataFrame, Findings]:
    """Return the table measured_chains, and findings.

    It has the instances of the chains of which all hops are measured.
    """
    chains = analysis.chains
    is_measured = [
        all(wanted.has_topic(topic) for topic in name.split(" -> ")) for name in chains["name"]
    ]
    chains = chains[np.asarray(is_measured, bool)]
    instances = analysis.chain_instances
    instances = instances[
        instances["chain_id"].isin(chains["chain_id"]) & instances["critical"]
    ].reset_index(drop=True)
    if instances.empty:
        return MEASURED_CHAINS.empty(), NOTHING_FOUND
    segments = analysis.chain_segments
    segments = segments[segments["chain_instance_id"].isin(instances["chain_instance_id"])]
    first = segments[segments["hop"] == 0].drop_duplicates("chain_instance_id")
    first_message = first.set_index("chain_instance_id")["message_id"]
    message = first_message.loc[instances["chain_instance_id"]].to_numpy(np.int64)
    publication = analysis.messages["publication_id"].to_numpy(np.int64)[message]
    layers = segments.groupby(["chain_instance_id", "layer"])["duration_ns"].sum().unstack()
    layers = layers.reindex(instances["chain_instance_id"]).astype("Int64").reset_index(drop=True)
    columns = {
        layer.column: layers[layer.name] for layer in CHAIN_LAYERS if layer.name in layers.columns
    }
    callback = _or_zero(columns.get(CALLBACK.column), len(instances))
    whole = instances["latency_ns"].to_numpy(np.int64)
    known = chains.set_index("chain_id").loc[instances["chain_id"]]
    number = _numbers(analysis)[publication]
    frame = pd.DataFrame(
        {
            "chain": known["name"].to_numpy(),
            "hops": known["hop_count"].to_numpy(),
            "number": number,
            "begin_ns": instances["begin_ns"],
            "end_ns": instances["end_ns"].to_numpy(np.int64) - callback,
            "latency_ns": whole - callback,
            "whole_ns": whole,
            **columns,
            "unsynchronised": _unsynchronised(analysis, segments, instances["chain_instance_id"]),
            "warm_up": number < wanted.warm_up,
        }
    )
    out = MEASURED_CHAINS.frame(
        frame.sort_values(["hops", "chain", "begin_ns"], ascending=[False, True, True])
    )
    inexact = _inexact(out, [layer.column for layer in CHAIN_LAYERS])
    return out, Findings(Finding("inexact_chains", inexact))


def _unsynchronised(
    analysis: Analysis, segments: pd.DataFrame, instances: pd.Series[int]
) -> npt.NDArray[np.bool_]:
    """Flag the instances of chains with a message between hosts of unsynchronised clocks."""
    # A segment of no message, NONE, takes the last.
    flags = np.append(Transfers(analysis.rows("messages")).unsynchronised, False)
    apart = flags[filled(segments["message_id"])]
    return instances.isin(segments["chain_instance_id"][apart]).to_numpy(bool)


def _numbers(analysis: Analysis) -> Ints:
    """Number the publications of each node on a topic, in order of time, from 0."""
    publishers = _endpoints(analysis, analysis.publishers)
    of_publisher = np.append(publishers.groupby(["topic", "node"]).ngroup().to_numpy(np.int64), -1)
    # Publications of unknown publishers, NONE, take the last: a group of their own.
    group = of_publisher[filled(analysis.publications["publisher_id"])]
    return np.asarray(pd.Series(group).groupby(group).cumcount(), np.int64)


def _transfers(
    analysis: Analysis, wanted: HopSelection, number: Ints
) -> tuple[pd.DataFrame, Finding]:
    messages = analysis.messages
    topics = [topic for topic in messages["topic"].unique() if wanted.has_topic(topic)]
    nodes = [node for node in messages["subscription_node"].unique() if wanted.has_node(node)]
    chosen = messages["topic"].isin(topics) & messages["subscription_node"].isin(nodes)
    rows = messages[chosen].reset_index(drop=True)
    transfers = Transfers(analysis.rows("messages"))
    own = np.flatnonzero(chosen.to_numpy(bool))
    numbers = number[transfers.publication_id[own]]
    begin = transfers.begin_ns[own]
    latency, whole = (transfers.latency_ns(end)[own] for end in End)
    frame = pd.DataFrame(
        {
            "hop": _hop_name(rows),
            **{name: rows[name] for name in ("topic", "publisher_node", "subscription_node")},
            "number": numbers,
            "begin_ns": begin,
            "publish_ns": rows["publish_ns"],
            "end_ns": begin + latency,
            "latency_ns": latency,
            "whole_ns": pd.Series(whole, dtype="Int64").where(transfers.there(End.END)[own]),
            **{column: rows[column] for column in _COLUMNS},
            "size": rows["size"],
            "transport": rows["transport"],
            "unsynchronised": transfers.unsynchronised[own],
            "warm_up": numbers < wanted.warm_up,
        }
    )
    inexact = Finding("inexact_transfers", transfers.inexact(own))
    return frame.sort_values(["hop", "end_ns"], kind="stable", ignore_index=True), inexact


def _inexact(frame: pd.DataFrame, columns: list[str]) -> int:
    """Count rows in which begin, end, latency and layers do not agree to the nanosecond."""
    total = np.zeros(len(frame), np.int64)
    for column in columns:
        if column != CALLBACK.column:
            total += _or_zero(frame.get(column), len(frame))
    latency = frame["latency_ns"].to_numpy(np.int64)
    between = frame["end_ns"].to_numpy(np.int64) - frame["begin_ns"].to_numpy(np.int64)
    return int(((total != latency) | (between != latency)).sum())


def _or_zero(values: pd.Series[int] | None, count: int) -> Ints:
    if values is None:
        return np.zeros(count, np.int64)
    return np.asarray(values.astype("Int64").fillna(0), np.int64)


def _hop_name(rows: pd.DataFrame) -> pd.Series[str]:
    topic, publisher, subscription = (rows[name].astype(str) for name in _KEY)
    return topic + ": " + publisher + " -> " + subscription


def _endpoints(analysis: Analysis, table: pd.DataFrame) -> pd.DataFrame:
    """Return topic and node name of publishers or subscriptions."""
    names = dict(zip(analysis.nodes["node_id"], analysis.nodes["name"], strict=True))
    node = table["node_id"].map(lambda number: NOBODY if pd.isna(number) else names[number])
    return table.assign(node=node.astype(str))


def _publications(analysis: Analysis, wanted: HopSelection, number: Ints) -> pd.DataFrame:
    publishers = _endpoints(analysis, analysis.publishers)
    topics = [topic for topic in publishers["topic"].unique() if wanted.has_topic(str(topic))]
    publishers = publishers[publishers["topic"].isin(topics)]
    of = analysis.publications["publisher_id"]
    chosen = of.isin(publishers["publisher_id"]).to_numpy(bool)
    rows = analysis.publications[chosen]
    known = publishers.set_index("publisher_id").loc[rows["publisher_id"].astype("int64")]
    numbers = number[chosen]
    publish = rows["client_ns"].fillna(rows["rmw_publish_ns"])
    frame = pd.DataFrame(
        {
            "topic": known["topic"].to_numpy(),
            "publisher_node": known["node"].to_numpy(),
            "number": numbers,
            "publish_ns": publish.to_numpy(),
            "warm_up": numbers < wanted.warm_up,
        }
    )
    return frame.sort_values(["topic", "publisher_node", "number"], ignore_index=True)


def _hops(
    analysis: Analysis,
    wanted: HopSelection,
    transfers: pd.DataFrame,
    publications: pd.DataFrame,
    own: OwnFiles,
) -> tuple[pd.DataFrame, Finding]:
    published: dict[tuple[str, str], pd.DataFrame] = {
        (str(topic), str(sender)): rows
        for (topic, sender), rows in publications.groupby(["topic", "publisher_node"])
    }
    taken: dict[tuple[str, str, str], pd.DataFrame] = {
        (str(topic), str(sender), str(node)): rows
        for (topic, sender, node), rows in transfers.groupby(_KEY)
    }
    silent = [key for key in _silent(analysis, wanted) if key not in taken]
    takers = {node for _, _, node in taken}
    clients = clients_of(analysis)
    out = []
    for key in [*taken, *silent]:
        topic, sender, node = key
        told = own.of(node, topic)
        if told and sender in takers:
            # The numbers are the source's: what is missing may have been lost on a hop before.
            told = replace(told, lost=None)
        rows = taken.get(key, transfers.iloc[:0])
        hop = _hop(key, published.get((topic, sender)), rows, told, own.payload_bytes, wanted)
        out.append({**hop, **ends_of(clients, sender, node)})
    contradicted = Finding("loss_disagreements", sum(not row.pop("agrees") for row in out))
    nullable = ("first_ns", "last_ns", "own_received", "own_lost", "payload_bytes")
    frame = pd.DataFrame(out, columns=MEASURED_HOPS.names)
    return frame.astype(dict.fromkeys(nullable, "Int64")), contradicted


def _hop(
    key: tuple[str, str, str],
    sent: pd.DataFrame | None,
    rows: pd.DataFrame,
    told: OwnCounts | None,
    stated_bytes: int | None,
    wanted: HopSelection,
) -> dict[str, Any]:
    """Return a row of measured_hops, and whether the node's own counts agree with the matches."""
    topic, publisher, node = key
    # A perf node counts what it sampled, and no more; the others everything.
    seen = fate(sent, rows.iloc[told.begin : told.end] if told else rows, warm_up=0)
    ends = rows.loc[~rows["warm_up"], "end_ns"]
    size, size_from = _payload(told.payload_bytes if told else None, stated_bytes, rows)
    return {
        "hop": f"{topic}: {publisher} -> {node}",
        "topic": topic,
        "publisher_node": publisher,
        "subscription_node": node,
        **fate(sent, rows, wanted.warm_up),
        "first_ns": ends.min() if len(ends) else None,
        "last_ns": ends.max() if len(ends) else None,
        "own_received": told.received if told else None,
        "own_lost": told.lost if told else None,
        "own_file": told.file if told else None,
        "matched_received": seen["received"],
        "matched_lost": seen["lost"],
        "payload_bytes": size,
        "payload_from": size_from,
        "agrees": told is None
        or agree(told.received, told.lost, seen, is_lower_bound=told.is_lower_bound),
    }


_KEY = ["topic", "publisher_node", "subscription_node"]


def _silent(analysis: Analysis, wanted: HopSelection) -> list[tuple[str, str, str]]:
    """Name the measured hops over which nothing may have come: a publisher and a subscription."""
    publishers = _endpoints(analysis, analysis.publishers)
    subscriptions = _endpoints(analysis, analysis.subscriptions)
    pairs = publishers.merge(subscriptions, on="topic", suffixes=("_publisher", "_subscription"))
    keys = zip(pairs["topic"], pairs["node_publisher"], pairs["node_subscription"], strict=True)
    return [
        (str(topic), publisher, node)
        for topic, publisher, node in dict.fromkeys(keys)
        if wanted.has_topic(str(topic)) and wanted.has_node(node)
    ]


def fate(sent: pd.DataFrame | None, rows: pd.DataFrame, warm_up: int) -> dict[str, int]:
    """Say what became of the publications of a hop; the parts add up to `published`."""
    taken = np.unique(rows["number"].to_numpy(np.int64))
    # Without init events nobody's publications are known: those that came are what there is.
    published = len(sent) if sent is not None else int(taken.max(initial=-1)) + 1
    left_out = min(warm_up, published)
    taken = taken[taken >= warm_up]
    counted = published - left_out
    if not len(taken):
        lost = counted if not len(rows) else 0
        return {
            "published": published,
            "left_out": left_out,
            "before_first": 0,
            "received": 0,
            "lost": lost,
            "after_last": counted - lost,
        }
    first, last = int(taken[0]), int(taken[-1])
    # One that a subscription took before the warm-up ended was there: what follows can be lost.
    begin = warm_up if len(rows) and rows["number"].min() < warm_up else first
    return {
        "published": published,
        "left_out": left_out,
        "before_first": begin - left_out,
        "received": len(taken),
        "lost": last + 1 - begin - len(taken),
        "after_last": published - last - 1,
    }


def agree(
    received: int, lost: int | None, seen: dict[str, int], *, is_lower_bound: bool = False
) -> bool:
    """Tell whether a node's own counts can be those of the matches.

    A node may know that one before its first or after its last was lost, which a trace cannot tell
    from one that it was not there for, or that was in flight. A lower bound may be below both: the
    publications of the trace are exact.
    """
    if received != seen["received"]:
        return False
    if lost is None:
        return True
    most = seen["lost"] + seen["before_first"] + seen["after_last"]
    return lost <= most and (is_lower_bound or seen["lost"] <= lost)


def _payload(told: int | None, stated: int | None, rows: pd.DataFrame) -> tuple[int | None, str]:
    if told is not None:
        return told, "node"
    if stated is not None:
        return stated, "setting"
    sizes = rows["size"].dropna()
    return (int(sizes.median()), "trace") if len(sizes) else (None, "")
