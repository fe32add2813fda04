# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What fills executors: callbacks and takes, by how long they ran, and how busy the threads were.

Only outermost callbacks: what runs inside one (it spins) is part of it.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from strata.model.search import greatest_so_far
from strata.schema import tables

_THREAD = ["host", "vpid", "vtid"]
_KEY = ["executor_id", "callback_id", "work"]


def busy_shares(threads: pd.DataFrame) -> pd.DataFrame:
    """Return what the threads of each executor did, as fractions of their time, by executor id.

    Columns are threads, span_ns, executing, waiting, outside (between two calls of spin_some or
    spin_all) and busy: all but waiting for work or for the executor's mutex, and but outside.
    Waiting and busy are null where waits were not recorded. `threads` is the table
    `executor_threads`.
    """
    sums = threads.assign(span_ns=threads["end_ns"] - threads["begin_ns"])
    idle = sums["waiting_ns"] + sums["mutex_ns"].fillna(0) + sums["outside_ns"].fillna(0)
    grouped = sums.assign(idle_ns=idle).groupby("executor_id")
    span = grouped["span_ns"].sum().astype(float)
    known = grouped["waiting_ns"].count() == grouped.size()
    over = span.where(span > 0)
    waiting = (grouped["waiting_ns"].sum().astype(float) / over).where(known)
    idle_share = (grouped["idle_ns"].sum().astype(float) / over).where(known)
    return pd.DataFrame(
        {
            "threads": grouped.size(),
            "span_ns": span,
            "executing": grouped["executing_ns"].sum() / over,
            "waiting": waiting,
            "outside": grouped["outside_ns"].sum().astype(float) / over,
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
    ran = instances.dropna(subset=["end_ns"]).merge(executor_of, on=_THREAD)
    ran = _outermost(ran).assign(work="callback")
    ran["duration_ns"] = ran["end_ns"].astype("int64") - ran["start_ns"]
    parts = [ran[[*_KEY, "duration_ns"]], _takes(messages, ran)]
    grouped = pd.concat(parts, ignore_index=True).groupby(_KEY)["duration_ns"]
    load = pd.DataFrame({"count": grouped.size(), "duration_ns": grouped.sum()}).reset_index()
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
            "duration_ns": own["callback_start_ns"].astype("int64") - began,
        }
    )
    outer = ["executor_id", "callback_id", "start_ns"]
    return took.merge(ran[outer].drop_duplicates(), on=outer).assign(work="take")[
        [*_KEY, "duration_ns"]
    ]


def _outermost(ran: pd.DataFrame) -> pd.DataFrame:
    """Leave out what began before another execution of its thread had ended."""
    ordered = ran.sort_values([*_THREAD, "start_ns"])
    thread = np.asarray(ordered.groupby(_THREAD, sort=False).ngroup(), np.int64)
    start_ns = ordered["start_ns"].to_numpy(np.int64)
    until_ns = greatest_so_far(thread, np.asarray(ordered["end_ns"].astype("int64")))
    inside = np.zeros(len(ordered), bool)
    inside[1:] = (thread[1:] == thread[:-1]) & (until_ns[:-1] > start_ns[1:])
    return ordered[~inside]


def _named(load: pd.DataFrame, objects: pd.DataFrame, threads: pd.DataFrame) -> pd.DataFrame:
    span = busy_shares(threads)["span_ns"]
    named = load.merge(objects[["callback_id", "node", "trigger"]], on="callback_id", how="left")
    named = named.sort_values(
        ["executor_id", "duration_ns", "callback_id"], ascending=[True, False, True]
    )
    return tables.EXECUTOR_LOAD.frame(
        named.assign(
            rank=named.groupby("executor_id").cumcount() + 1,
            share=named["duration_ns"] / named["executor_id"].map(span).clip(lower=1),
        )
    )
