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

UNKNOWN = "(unknown)"


def callback_table(objects: pd.DataFrame, instances: pd.DataFrame) -> pd.DataFrame:
    """Return the table `callbacks` from `callback_objects` and `callback_instances`."""
    owners = {row["callback_id"]: row for row in objects.to_dict("records")}
    rows = []
    for callback_id, runs in instances.groupby("callback_id"):
        owner = owners[callback_id]
        ended = runs.dropna(subset=["end_ns"])
        duration = ended["end_ns"].to_numpy(np.int64) - ended["start_ns"].to_numpy(np.int64)
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
