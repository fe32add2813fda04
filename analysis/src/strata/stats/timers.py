# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Statistics of timers: how far apart they fired, and how late."""

from __future__ import annotations

import numpy as np
import pandas as pd

from strata.schema import tables
from strata.stats.callbacks import UNKNOWN, symbol_of
from strata.stats.summary import prefixed, summarize

_CAUSES = {
    "overruns": "overrun",
    "undecided": "undecided",
    "pauses": "paused",
    "early": "early",
    "irregular": "irregular",
}


def timer_table(
    timers: pd.DataFrame,
    fires: pd.DataFrame,
    nodes: pd.DataFrame,
    objects: pd.DataFrame,
    instances: pd.DataFrame,
) -> pd.DataFrame:
    """Return the table `timer_statistics`.

    From the tables `timers`, `timer_fires`, `nodes`, `callback_objects` and `callback_instances`.
    """
    names = dict(zip(nodes["node_id"], nodes["name"], strict=True))
    owners = {row["callback_id"]: row for row in objects.to_dict("records")}
    made = {row["timer_id"]: row for row in timers.to_dict("records")}
    callback_of = instances.sort_values("instance_id")["callback_id"]
    rows = []
    for timer_id, own in fires.groupby("timer_id"):
        timer = made[timer_id]
        callback = int(callback_of.to_numpy()[own["instance_id"].iloc[-1]])
        period_ns = int(timer["period_ns"])
        intervals = _intervals(own)
        rows.append(
            {
                "timer_id": timer_id,
                "node": UNKNOWN if pd.isna(timer["node_id"]) else names[timer["node_id"]],
                "symbol": symbol_of(owners[callback]),
                "period_ns": period_ns,
                "count": len(own),
                "skipped": int(own["skipped"].sum()),
                **{name: int((own["cause"] == cause).sum()) for name, cause in _CAUSES.items()},
                **prefixed("interval_", summarize(intervals)),
                **prefixed("jitter_", summarize(np.abs(intervals - period_ns))),
                **prefixed("lateness_", summarize(own["lateness_ns"].dropna().to_numpy(np.int64))),
            }
        )
    return tables.TIMER_STATISTICS.frame(pd.DataFrame(rows, columns=tables.TIMER_STATISTICS.names))


def _intervals(fires: pd.DataFrame) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Times between two fires of one timer in ns, but for those that a pause ended."""
    intervals = np.diff(fires["start_ns"].to_numpy(np.int64))
    paused = fires["cause"].eq("paused").fillna(value=False).to_numpy(bool)
    return np.asarray(intervals[~paused[1:]])
