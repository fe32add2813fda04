# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""How long lifecycle nodes were in each state."""

from __future__ import annotations

import numpy as np
import pandas as pd

from strata.schema import tables
from strata.stats.callbacks import UNKNOWN
from strata.stats.summary import prefixed, summarize


def lifecycle_table(
    states: pd.DataFrame, nodes: pd.DataFrame, begin_ns: int, end_ns: int
) -> pd.DataFrame:
    """Return the table `lifecycle_statistics`, the state of the most time of each node first.

    From the tables `lifecycle_states` and `nodes`, and the trace's begin and end: what lasts beyond
    them counts up to them.
    """
    names = dict(zip(nodes["node_id"], nodes["name"], strict=True))
    rows = []
    for (machine, state), stays in states.groupby(["lifecycle_node_id", "state"]):
        since = stays["begin_ns"].fillna(begin_ns).to_numpy(np.int64)
        until = stays["end_ns"].fillna(end_ns).to_numpy(np.int64)
        whole = (stays["begin_ns"].notna() & stays["end_ns"].notna()).to_numpy(bool)
        node_id = stays["node_id"].iloc[0]
        rows.append(
            {
                "lifecycle_node_id": machine,
                "node": UNKNOWN if pd.isna(node_id) else names[node_id],
                "state": state,
                "count": len(stays),
                "total_ns": int((until - since).sum()),
                **prefixed("duration_", summarize((until - since)[whole])),
            }
        )
    frame = tables.LIFECYCLE_STATISTICS.frame(
        pd.DataFrame(rows, columns=tables.LIFECYCLE_STATISTICS.names)
    )
    order = ["lifecycle_node_id", "total_ns"]
    return frame.sort_values(order, ascending=[True, False], kind="stable", ignore_index=True)
