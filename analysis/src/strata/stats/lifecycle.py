# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""How long lifecycle nodes were in each state."""

from __future__ import annotations

from typing import Any

import numpy as np

from strata.schema import tables
from strata.schema.rows import NONE, Rows, numbered
from strata.stats.callbacks import UNKNOWN
from strata.stats.partition import partition
from strata.stats.summary import prefixed, summarize


def lifecycle_table(states: Rows, nodes: Rows, begin_ns: int, end_ns: int) -> Rows:
    """Return the table `lifecycle_statistics`, the state of the most time of each node first.

    From the tables `lifecycle_states` and `nodes`, and the trace's begin and end: what lasts beyond
    them counts up to them.
    """
    names = nodes.texts("name")
    whole = states.there("begin_ns") & states.there("end_ns")
    since = np.where(states.there("begin_ns"), states["begin_ns"], begin_ns)
    stayed = np.where(states.there("end_ns"), states["end_ns"], end_ns) - since
    records: list[dict[str, Any]] = []
    for _, own in partition(numbered(states["lifecycle_node_id"], states.words("state"))):
        node = int(states["node_id"][own[0]])
        records.append(
            {
                "lifecycle_node_id": int(states["lifecycle_node_id"][own[0]]),
                "node": UNKNOWN if node == NONE else names[node],
                "state": states.words("state").at(int(own[0])),
                "count": len(own),
                "total_ns": int(stayed[own].sum()),
                **prefixed("duration_", summarize(stayed[own][whole[own]])),
            }
        )
    records.sort(key=lambda row: (row["lifecycle_node_id"], -row["total_ns"]))
    return Rows.of_records(tables.LIFECYCLE_STATISTICS, records)
