# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Causes of the time that all messages took, ranked over the whole system.

A cause *stands out* when it has 30 % or more of the messages' time and its largest layer costs a
message more, on average, than a healthy hop may need for it (strata.stats.stands_out), also without
the few messages in which it was longest, since a few slow ones are the machine's (MIN_OUTLIERS of
stands_out less one, and at most a tenth of its messages). An executor
also does when it is full (its threads did something for 90 % or more of their time) and the
messages that it took spent 10 % or more of all time waiting for it, and as long each. A process
does when its threads, for 30 % or more of the time in which they wanted a CPU while it exchanged
messages, had none, and that was 1 ms or more for each message that they published or took.

Those that stand out come first: executors, then processes without CPU, then topics, then hops,
as the one before is what the one after waits for; within a kind the largest share. The others
follow by share.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from strata.schema import tables
from strata.stats.stands_out import MIN_OUTLIERS, allowance
from strata.verdict.executor_load import busy_shares

STANDS_OUT_SHARE = 0.3
STARVED_NS = 1_000_000
FULL = 0.9
FULL_SHARE = 0.1
STARVED = 0.3
FEW = 0.1
"""Of the messages of a cause: fewer than these are not counted as the machine's."""
LEAST_SHARE = 0.01
MOST_NODES = 3
"""Of a process: more nodes are counted, not named."""

_KINDS = ("executor", "cpu", "topic", "hop")
_THREAD = ["host", "vpid", "vtid"]


@dataclass(frozen=True)
class Results:
    """The declared tables that causes are made from; `parts` is of strata.verdict.time_parts.

    `messages` are the finished ones of the application. `thread_cpu` tells how long threads waited
    for a CPU: host, vpid, vtid, process, source, traffic_on_cpu_ns, traffic_cpu_wait_ns.
    """

    parts: pd.DataFrame
    messages: pd.DataFrame
    publications: pd.DataFrame
    takes: pd.DataFrame
    hops: pd.DataFrame
    executors: pd.DataFrame
    threads: pd.DataFrame
    thread_cpu: pd.DataFrame


def find_causes(results: Results) -> pd.DataFrame:
    """Return the table `system_causes`; its column text is still empty."""
    total = int(results.messages["latency_ns"].sum())
    if total <= 0:
        return tables.SYSTEM_CAUSES.empty()
    found = pd.concat(
        [_executors(results), _topics(results), _hops(results)], ignore_index=True
    ).assign(share=lambda frame: frame["duration_ns"] / total)
    found = found[found["share"] >= LEAST_SHARE]
    found["mean_ns"] = found["duration_ns"] / found["count"].clip(lower=1)
    # What a healthy hop may need is known by layer: the largest of a cause is held against it.
    long = found["largest_ns"] / found["count"].clip(lower=1) > found["layer"].map(allowance)
    full = (found["kind"] == "executor") & (found["busy"].fillna(0.0) >= FULL)
    found["stands_out"] = long & (found["share"] >= np.where(full, FULL_SHARE, STANDS_OUT_SHARE))
    found = found.drop(columns="largest_ns")
    starved = _starved(results)
    found = pd.concat([found, starved], ignore_index=True) if len(starved) else found
    return tables.SYSTEM_CAUSES.frame(_ranked(found).assign(text=""))


def _ranked(found: pd.DataFrame) -> pd.DataFrame:
    kind = found["kind"].map(dict(zip(_KINDS, range(len(_KINDS)), strict=True)))
    order = pd.DataFrame(
        {
            "after": ~found["stands_out"].astype(bool),
            "kind": kind.where(found["stands_out"].astype(bool), 0),
            "share": -found["share"].fillna(0.0).astype(float),
        }
    )
    ranked = found.loc[order.sort_values(["after", "kind", "share"], kind="stable").index]
    return ranked.reset_index(drop=True).assign(rank=range(1, len(ranked) + 1))


def _summed(parts: pd.DataFrame, key: list[str]) -> pd.DataFrame:
    """Sums by key, with the number of messages and the layer that has most of each.

    `largest_ns` is of that layer, without the few messages that have most of it.
    """
    by_layer = parts.groupby([*key, "layer"])["duration_ns"].sum().reset_index()
    largest = by_layer.sort_values("duration_ns", ascending=False).drop_duplicates(key)
    largest = largest[[*key, "layer"]]
    grouped = parts.groupby(key)
    sums = pd.DataFrame(
        {"duration_ns": grouped["duration_ns"].sum(), "count": grouped["message_id"].nunique()}
    )
    own = parts.merge(largest, on=[*key, "layer"])
    sums["largest_ns"] = own.groupby(key)["duration_ns"].sum() - _few(own, key)
    return sums.reset_index().merge(largest, on=key)


def _few(parts: pd.DataFrame, key: list[str]) -> pd.Series[int]:
    """Return by key the time of the few messages that have most of it."""
    of_message = parts.groupby([*key, "message_id"])["duration_ns"].sum()
    grouped = of_message.sort_values(ascending=False).groupby(level=key)
    few = (grouped.transform("size") * FEW).clip(upper=MIN_OUTLIERS - 1).astype("int64")
    longest = few.index[grouped.cumcount() < few]
    return of_message[longest].groupby(level=key).sum().reindex(grouped.size().index, fill_value=0)


def _executors(results: Results) -> pd.DataFrame:
    parts = results.parts
    own = parts[(parts["kind"] == "executor") & parts["executor_id"].notna()]
    sums = _summed(own.astype({"executor_id": "int64"}), ["executor_id"])
    busy = busy_shares(results.threads)["busy"]
    nodes = results.executors.set_index("executor_id")["nodes"]
    return sums.assign(
        kind="executor",
        where=sums["executor_id"].map(nodes).astype(object),
        busy=sums["executor_id"].map(busy).astype(float),
    )


def _topics(results: Results) -> pd.DataFrame:
    parts = results.parts
    sums = _summed(parts[parts["kind"] == "topic"], ["topic"])
    return sums.rename(columns={"topic": "where"}).assign(kind="topic")


def _hops(results: Results) -> pd.DataFrame:
    """What nodes did with what they received: a row a hop and layer."""
    parts = results.parts
    own = parts[parts["kind"] == "hop"]
    sums = _summed(own.assign(part=own["layer"]), ["hop_id", "part"])
    hop = results.hops.set_index("hop_id")
    names = hop["topic"] + " in " + hop["subscription_node"]
    where = sums["hop_id"].map(names).astype(object)
    return sums.drop(columns="part").assign(kind="hop", where=where)


def _nodes_of(executors: pd.DataFrame, processes: pd.DataFrame) -> pd.Series[str]:
    """Say which nodes run in each process: " of /a, /b", or how many; nothing without names."""
    named: dict[tuple[str, int], list[str]] = {}
    for row in executors[executors["nodes"].notna()].to_dict("records"):
        nodes = named.setdefault((row["host"], row["vpid"]), [])
        nodes += [node for node in str(row["nodes"]).split(", ") if node and node not in nodes]
    words = []
    for key in zip(processes["host"], processes["vpid"], strict=True):
        nodes = named.get(key, [])
        many = len(nodes) > MOST_NODES
        words.append(
            f" of {len(nodes)} nodes" if many else f" of {', '.join(nodes)}" if nodes else ""
        )
    return pd.Series(words, processes.index, dtype=object)


def _starved(results: Results) -> pd.DataFrame:
    """Processes whose threads with messages wanted CPUs and had none."""
    cpu = results.thread_cpu
    if cpu.empty:
        return pd.DataFrame()
    ends = [results.publications[_THREAD], results.takes[_THREAD]]
    messages = pd.concat(ends).groupby(_THREAD).size().rename("count").reset_index()
    own = cpu.merge(messages, on=_THREAD)
    grouped = own.groupby(["host", "vpid", "process", "source"])
    columns = ["traffic_on_cpu_ns", "traffic_cpu_wait_ns", "count"]
    sums = grouped[columns].sum().reset_index()
    waited = sums["traffic_cpu_wait_ns"]
    wanted = sums["traffic_on_cpu_ns"] + waited
    out = pd.DataFrame(
        {
            "kind": "cpu",
            "source": sums["source"],
            "where": sums["process"].astype(str)
            + " ("
            + sums["vpid"].astype(str)
            + ")"
            + _nodes_of(results.executors, sums),
            "duration_ns": waited.astype("int64"),
            "count": sums["count"].astype("int64"),
            "mean_ns": (waited / sums["count"].clip(lower=1)).astype(float),
            "busy": (waited / wanted.where(wanted > 0)).astype(float),
        }
    )
    out["stands_out"] = (out["busy"].fillna(0.0) >= STARVED) & (out["mean_ns"] >= STARVED_NS)
    return out[out["stands_out"]]
