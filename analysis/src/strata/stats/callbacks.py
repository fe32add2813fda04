# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Statistics of callbacks: how long they ran, and how far apart they began."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from strata.schema import tables
from strata.stats.summary import prefixed, summarize
from strata.symbols import is_dotted

UNKNOWN = "(unknown)"


def callback_table(objects: pd.DataFrame, instances: pd.DataFrame) -> pd.DataFrame:
    """Return the table `callbacks` from `callback_objects` and `callback_instances`.

    A coroutine that was suspended is one execution, that took as long as its pieces ran.
    """
    owners = {row["callback_id"]: row for row in objects.to_dict("records")}
    instances = executions_of(instances)
    rows = []
    for callback_id, runs in instances.groupby("callback_id"):
        owner = owners[callback_id]
        duration = runs["ran_ns"].dropna().to_numpy(np.int64)
        period = np.diff(np.sort(runs["start_ns"].to_numpy(np.int64)))
        rows.append(
            {
                "callback_id": callback_id,
                "node": UNKNOWN if pd.isna(owner["node"]) else owner["node"],
                "symbol": symbol_of(owner),
                "kind": owner["kind"],
                "trigger": owner["trigger"],
                "count": len(runs),
                **prefixed("duration_", summarize(duration)),
                **prefixed("period_", summarize(period)),
            }
        )
    return tables.CALLBACKS.frame(pd.DataFrame(rows, columns=tables.CALLBACKS.names))


def executions_of(instances: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of `callback_instances` that begin an execution, with `ran_ns`.

    That is how long all its pieces ran; null for one that never ended.
    """
    took = instances["end_ns"] - instances["start_ns"]
    begun = instances[~instances["is_resumed"]]
    if len(begun) == len(instances):
        return begun.assign(ran_ns=took)
    whole = took.groupby(instances["execution_id"]).sum().reindex(begun["execution_id"])
    ran = pd.Series(whole.array, index=begun.index)
    return begun.assign(ran_ns=ran.where(begun["finished_ns"].notna()))


def symbol_of(callback: Mapping[Hashable, Any]) -> str:
    """Return a callback's symbol; its address in hex when it was never registered."""
    symbol = callback["symbol"]
    return f"0x{int(callback['address']):x}" if pd.isna(symbol) else str(symbol)


def descriptions(objects: pd.DataFrame) -> pd.Series[str]:
    """Return the description of each row of `callback_objects`, by callback id."""
    rows = objects.to_dict("records")
    return pd.Series({row["callback_id"]: describe(row) for row in rows}, dtype=object)


def describe(callback: Mapping[Hashable, Any]) -> str:
    """Return "symbol [trigger] (node)" for a row of `callback_objects`.

    The trigger (topic, period or service) tells apart callbacks of one function.
    """
    node, trigger = callback["node"], callback["trigger"]
    of = "" if pd.isna(trigger) else f" [{trigger}]"
    owner = UNKNOWN if pd.isna(node) else f"({node})"
    return f"{symbol_of(callback)}{of} {owner}"


def awaited(callback_ids: pd.Series[int], objects: pd.DataFrame) -> pd.Series[str]:
    """Say what came when a callback began: " until /right came"; empty where that is not known.

    `callback_ids` are rows of `callback_objects`, null for none.
    """
    words = {
        row["callback_id"]: _AWAITED[row["kind"]].format(row["trigger"])
        for row in objects.to_dict("records")
        if row["kind"] in _AWAITED and not pd.isna(row["trigger"])
    }
    return callback_ids.map(words).astype(object).fillna("")


_AWAITED = {
    "subscription": " until {} came",
    "timer": " until the timer of {} fired",
    "service": " until a request of {} came",
}


def python_nodes(objects: pd.DataFrame) -> frozenset[str]:
    """Return the nodes whose client library is rclpy, by the names of their callbacks.

    rclcpp names each callback by its C++ symbol, rclpy by module and function. A node of which no
    callback was registered is not told.
    """
    known = objects[objects["symbol"].notna() & objects["node"].notna()]
    of_python = known["symbol"].astype(str).map(is_dotted).astype(bool)
    every = of_python.groupby(known["node"]).all()
    return frozenset(str(node) for node in every.index[every])
