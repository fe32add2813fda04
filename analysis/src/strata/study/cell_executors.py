# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""From the analysis of a cell's session to how busy its executors were, and with what.

All of it is over an executor's traffic: from its first message or request to the end of the last.
The warm-up is part of it: an executor does not know of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from strata.analysis import Analysis
from strata.schema.tables.measured_executors import MEASURED_EXECUTORS, MEASURED_WORK
from strata.study.client_libraries import clients_of

Ints = npt.NDArray[np.int64]

_WORK = ["node", "trigger"]


@dataclass(frozen=True)
class _Ran:
    """What one executor ran: the rows of `callback_instances` of its threads, with their work."""

    executor: int
    threads: pd.DataFrame
    rows: pd.DataFrame


def measured_executors(
    analysis: Analysis, hops: pd.DataFrame, calls: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the tables measured_executors and measured_work.

    `hops` and `calls` are the tables of the cell: their topics and services are the traffic.
    """
    senders = _senders(hops, calls)
    clients = clients_of(analysis)
    executors: list[dict[str, Any]] = []
    work: list[pd.DataFrame] = []
    takes = _takes(analysis)
    for ran in _by_executor(analysis):
        triggers = ran.rows["trigger"].map(senders).fillna(0).astype("int64")
        of_traffic = ran.rows[(triggers > 0).to_numpy(bool)]
        if of_traffic.empty:
            continue
        begin = int(of_traffic["start_ns"].min())
        end = int(of_traffic["until_ns"].max())
        begin = min(begin, _first_published(ran.threads, begin))
        node = of_traffic["node"].dropna()
        client = clients.get(str(node.iloc[0])) if len(node) else None
        executors.append(_executor(analysis, ran, begin, end, client))
        work.append(_work(ran, triggers, takes, begin, end))
    joined = pd.concat(work, ignore_index=True) if work else MEASURED_WORK.empty()
    made = pd.DataFrame(executors, columns=MEASURED_EXECUTORS.names).astype({"busy_ns": "Int64"})
    return MEASURED_EXECUTORS.frame(made), MEASURED_WORK.frame(joined)


def _senders(hops: pd.DataFrame, calls: pd.DataFrame) -> dict[str, int]:
    """Return how many nodes publish on each measured topic, and call each service."""
    of_topics = hops.groupby("topic", observed=True)["publisher_node"].nunique()
    of_services = calls.groupby("service", observed=True)["client_node"].nunique()
    both = [*of_topics.items(), *of_services.items()]
    return {str(name): int(count) for name, count in both}


def _by_executor(analysis: Analysis) -> list[_Ran]:
    """Return the outermost callbacks of each executor, in order of time."""
    threads = analysis.executor_threads
    key = ["host", "vpid", "vtid"]
    objects = analysis.callback_objects[["callback_id", "node", "trigger", "timer_id"]]
    periods = analysis.timers.set_index("timer_id")["period_ns"].astype("Int64")
    objects = objects.assign(period_ns=objects["timer_id"].map(periods).astype("Int64"))
    instances = analysis.callback_instances[[*key, "callback_id", "start_ns", "until_ns"]]
    rows = instances.astype({"host": str}).merge(
        threads[[*key, "executor_id"]].astype({"host": str}), on=key
    )
    rows = rows.merge(objects, on="callback_id").sort_values("start_ns", kind="stable")
    latest = rows.groupby(key, observed=True)["until_ns"].cummax()
    before = latest.groupby([rows[name] for name in key], observed=True).shift()
    inside = before.notna() & (before > rows["start_ns"])
    rows = rows[~inside]
    return [
        _Ran(one, threads[threads["executor_id"] == one], rows[rows["executor_id"] == one])
        for one in np.unique(rows["executor_id"].to_numpy(np.int64)).tolist()
    ]


def _first_published(threads: pd.DataFrame, begin: int) -> int:
    """Return when the executor's traffic begins: not before its first message was published."""
    begun = threads["traffic_begin_ns"].dropna().to_numpy(np.int64)
    return int(begun.min(initial=begin))


def _executor(
    analysis: Analysis, ran: _Ran, begin: int, end: int, client: str | None
) -> dict[str, Any]:
    start, until = _clipped(ran.rows, begin, end)
    known = analysis.executors.set_index("executor_id").loc[ran.executor]
    threads = ran.threads
    took = threads["traffic_end_ns"] - threads["traffic_begin_ns"]
    idle = threads["traffic_idle_ns"]
    whole = (end - begin) * len(threads)
    busy = None
    if idle.notna().all() and len(idle):
        # Each thread's traffic may end a little earlier than that of all: its share counts.
        share = float(idle.sum()) / float(took.sum()) if float(took.sum()) > 0 else 0.0
        busy = round((1.0 - share) * whole)
    return {
        "executor": ran.executor,
        "nodes": str(known["nodes"]),
        "kind": str(known["kind"]),
        "client": client,
        "threads": len(threads),
        "traffic_ns": end - begin,
        "threads_ns": whole,
        "executing_ns": int((until - start).sum()),
        "any_executing_ns": union_ns(start, until),
        "busy_ns": busy,
    }


def _clipped(rows: pd.DataFrame, begin: int, end: int) -> tuple[Ints, Ints]:
    start = np.clip(rows["start_ns"].to_numpy(np.int64), begin, end)
    return start, np.clip(rows["until_ns"].to_numpy(np.int64), begin, end)


def union_ns(start: Ints, until: Ints) -> int:
    """Return how much time intervals cover together; they are in order of their starts."""
    if not len(start):
        return 0
    latest = np.maximum.accumulate(until)
    before = np.concatenate([[start[0]], latest[:-1]])
    return int(np.maximum(latest - np.maximum(start, before), 0).sum())


def _takes(analysis: Analysis) -> pd.Series[int]:
    """Return the time of the takes of messages, by executor, node and trigger."""
    load = analysis.executor_load
    load = load[load["work"] == "take"]
    return load.groupby(["executor_id", *_WORK], observed=True)["traffic_ns"].sum()


def _work(
    ran: _Ran, senders: pd.Series[int], takes: pd.Series[int], begin: int, end: int
) -> pd.DataFrame:
    start, until = _clipped(ran.rows, begin, end)
    inside = (ran.rows["until_ns"] > begin) & (ran.rows["start_ns"] < end)
    rows = ran.rows[[*_WORK, "period_ns"]].assign(
        senders=senders, callback_ns=until - start, count=inside.astype("int64")
    )
    own = rows.groupby(_WORK, dropna=False, observed=True, sort=False).agg(
        {"period_ns": "max", "senders": "max", "count": "sum", "callback_ns": "sum"}
    )
    own = own.reset_index()
    taken = [
        int(takes.get((ran.executor, node, trigger), 0))
        for node, trigger in zip(own["node"], own["trigger"], strict=True)
    ]
    return own.assign(executor=ran.executor, take_ns=taken, is_traffic=own["senders"] > 0)
