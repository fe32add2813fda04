# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What fills executors: callbacks and takes, by how long they ran, and how busy the threads were.

Only outermost callbacks: what runs inside one (it spins) is part of it. A callback that never ended
counts until its thread did something else, or until its process was last seen
(strata.model.last_seen): an executor that hangs in it is full of it.

How busy it is, is judged over its traffic: of an executor that is idle for most of the trace, and
full while messages come, the whole trace would say little.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from strata.model.search import greatest_so_far
from strata.schema import tables

_THREAD = ["host", "vpid", "vtid"]
_KEY = ["executor_id", "callback_id", "work"]
_PARTS = [*_KEY, "start_ns", "until_ns", "unfinished"]


def busy_shares(threads: pd.DataFrame) -> pd.DataFrame:
    """Return what the threads of each executor did, as fractions of their time, by executor id.

    Columns are threads, span_ns (of the whole trace), traffic_ns, executing, waiting, outside
    (between two calls of spin_some or spin_all) and busy: all but waiting for work or for the
    executor's mutex, and but outside. Executing, waiting and busy are of traffic_ns: from the first
    message that the executor took to the end of the last one's callback; without messages of the
    whole trace. Waiting and busy are null where waits were not recorded. `threads` is the table
    `executor_threads`.
    """
    idle = threads["waiting_ns"] + threads["mutex_ns"].fillna(0) + threads["outside_ns"].fillna(0)
    span_ns = threads["end_ns"] - threads["begin_ns"]
    none = threads["traffic_begin_ns"].isna()
    sums = threads.assign(
        span_ns=span_ns,
        traffic_ns=(threads["traffic_end_ns"] - threads["traffic_begin_ns"]).mask(none, span_ns),
        traffic_executing_ns=threads["traffic_executing_ns"].mask(none, threads["executing_ns"]),
        traffic_waiting_ns=threads["traffic_waiting_ns"].mask(none, threads["waiting_ns"]),
        traffic_idle_ns=threads["traffic_idle_ns"].mask(none, idle),
    )
    grouped = sums.groupby("executor_id")
    span = grouped["span_ns"].sum().astype(float)
    traffic = grouped["traffic_ns"].sum().astype(float)
    known = grouped["traffic_waiting_ns"].count() == grouped.size()
    over = traffic.where(traffic > 0)
    waiting = (grouped["traffic_waiting_ns"].sum().astype(float) / over).where(known)
    idle_share = (grouped["traffic_idle_ns"].sum().astype(float) / over).where(known)
    return pd.DataFrame(
        {
            "threads": grouped.size(),
            "span_ns": span,
            "traffic_ns": traffic,
            "executing": grouped["traffic_executing_ns"].sum().astype(float) / over,
            "waiting": waiting,
            "outside": grouped["outside_ns"].sum().astype(float) / span.where(span > 0),
            "busy": 1.0 - idle_share,
        }
    )


def executor_load(
    messages: pd.DataFrame,
    instances: pd.DataFrame,
    objects: pd.DataFrame,
    threads: pd.DataFrame,
    blockers: pd.DataFrame,
) -> pd.DataFrame:
    """Return the table `executor_load`.

    `messages` has the column executor_id (strata.verdict.time_parts) of all messages; the others
    are the tables `callback_instances`, `callback_objects`, `executor_threads` and
    `executor_blockers`.
    """
    executor_of = threads[[*_THREAD, "executor_id"]].drop_duplicates(_THREAD)
    ran = instances.merge(executor_of, on=_THREAD)
    ran = _outermost(ran).assign(work="callback")
    ran["unfinished"] = ran["end_ns"].isna()
    parts = [ran[_PARTS], _takes(messages, ran)]
    every = _with_traffic(pd.concat(parts, ignore_index=True), threads)
    grouped = every.groupby(_KEY)
    load = pd.DataFrame(
        {
            "count": grouped.size(),
            **{name: grouped[name].sum() for name in ("duration_ns", "traffic_ns", "unfinished")},
        }
    ).reset_index()
    behind = blockers.dropna(subset=["callback_id"]).merge(
        messages[["message_id", "executor_id"]].dropna(), on="message_id"
    )
    waited = behind.groupby(_KEY)["duration_ns"].sum()
    pairs = pd.MultiIndex.from_frame(load[_KEY])
    load["waited_ns"] = waited.reindex(pairs, fill_value=0).to_numpy()
    return _named(load, objects, threads)


def _takes(messages: pd.DataFrame, ran: pd.DataFrame) -> pd.DataFrame:
    """Takes of messages from picked (else taken) to the start of their callback, one in `ran`."""
    own = messages.dropna(subset=["executor_id", "callback_id", "callback_start_ns"])
    taken = own["rmw_take_ns"].fillna(own["dequeue_ns"])
    began = own["picked_ns"].fillna(taken).astype("int64")
    took = pd.DataFrame(
        {
            "executor_id": own["executor_id"].astype("int64"),
            "callback_id": own["callback_id"].astype("int64"),
            "start_ns": own["callback_start_ns"].astype("int64"),
            "picked_ns": began,
        }
    )
    outer = ["executor_id", "callback_id", "start_ns"]
    own = took.merge(ran[outer].drop_duplicates(), on=outer)
    own = own.rename(columns={"start_ns": "until_ns", "picked_ns": "start_ns"})
    return own.assign(work="take", unfinished=False)[_PARTS]


def _with_traffic(parts: pd.DataFrame, threads: pd.DataFrame) -> pd.DataFrame:
    """Add duration_ns, and traffic_ns: what of it lies within the traffic of the executor."""
    grouped = threads.groupby("executor_id")
    begin = parts["executor_id"].map(grouped["traffic_begin_ns"].min()).astype("Int64")
    end = parts["executor_id"].map(grouped["traffic_end_ns"].max()).astype("Int64")
    start_ns, until_ns = parts["start_ns"].astype("Int64"), parts["until_ns"].astype("Int64")
    inside = until_ns.where(until_ns < end, end) - start_ns.where(start_ns > begin, begin)
    return parts.assign(
        duration_ns=(until_ns - start_ns).astype("int64"),
        traffic_ns=inside.where(inside > 0, 0).fillna(0).astype("int64"),
    )


def _outermost(ran: pd.DataFrame) -> pd.DataFrame:
    """Leave out what began before another execution of its thread had ended."""
    ordered = ran.sort_values([*_THREAD, "start_ns"])
    thread = np.asarray(ordered.groupby(_THREAD, sort=False).ngroup(), np.int64)
    start_ns = ordered["start_ns"].to_numpy(np.int64)
    until_ns = greatest_so_far(thread, ordered["until_ns"].to_numpy(np.int64))
    inside = np.zeros(len(ordered), bool)
    inside[1:] = (thread[1:] == thread[:-1]) & (until_ns[:-1] > start_ns[1:])
    return ordered[~inside]


def _named(load: pd.DataFrame, objects: pd.DataFrame, threads: pd.DataFrame) -> pd.DataFrame:
    shares = busy_shares(threads)
    span, traffic = shares["span_ns"], shares["traffic_ns"]
    named = load.merge(objects[["callback_id", "node", "trigger"]], on="callback_id", how="left")
    named = named.sort_values(
        ["executor_id", "duration_ns", "callback_id"], ascending=[True, False, True]
    )
    return tables.EXECUTOR_LOAD.frame(
        named.assign(
            rank=named.groupby("executor_id").cumcount() + 1,
            share=named["duration_ns"] / named["executor_id"].map(span).clip(lower=1),
            traffic_share=named["traffic_ns"] / named["executor_id"].map(traffic).clip(lower=1),
        )
    )
