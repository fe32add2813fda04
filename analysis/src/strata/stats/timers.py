# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Statistics of timers: how far apart they fired, and how late."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from strata.schema import tables
from strata.schema.rows import NONE, Rows
from strata.stats.callbacks import UNKNOWN, symbols_of
from strata.stats.partition import partition
from strata.stats.summary import prefixed, summarize

Ints = npt.NDArray[np.int64]

_CAUSES = {
    "overruns": "overrun",
    "undecided": "undecided",
    "pauses": "paused",
    "early": "early",
    "irregular": "irregular",
}


def timer_table(timers: Rows, fires: Rows, nodes: Rows, objects: Rows, instances: Rows) -> Rows:
    """Return the table `timer_statistics`.

    From the tables `timers`, `timer_fires`, `nodes`, `callback_objects` and `callback_instances`.
    """
    names, symbols = nodes.texts("name"), symbols_of(objects)
    callback_of = np.empty(len(instances), np.int64)
    callback_of[instances["instance_id"]] = instances["callback_id"]
    causes = {name: fires.words("cause").are(cause) for name, cause in _CAUSES.items()}
    due = fires["expected_ns"] != NONE
    lateness = fires["start_ns"] - fires["expected_ns"]
    records = []
    for timer_id, own in partition(fires["timer_id"]):
        node, period_ns = int(timers["node_id"][timer_id]), int(timers["period_ns"][timer_id])
        intervals = _intervals(fires["start_ns"][own], causes["pauses"][own])
        records.append(
            {
                "timer_id": timer_id,
                "node": UNKNOWN if node == NONE else names[node],
                "symbol": symbols.at(int(callback_of[fires["instance_id"][own[-1]]])),
                "period_ns": period_ns,
                "count": len(own),
                "skipped": int(fires["skipped"][own].sum()),
                **{name: int(flags[own].sum()) for name, flags in causes.items()},
                **prefixed("interval_", summarize(intervals)),
                **prefixed("jitter_", summarize(np.abs(intervals - period_ns))),
                **prefixed("lateness_", summarize(lateness[own][due[own]])),
            }
        )
    return Rows.of_records(tables.TIMER_STATISTICS, records)


def _intervals(start_ns: Ints, paused: npt.NDArray[np.bool_]) -> Ints:
    """Times between two fires of one timer in ns, but for those that a pause ended."""
    return np.asarray(np.diff(start_ns)[~paused[1:]])
