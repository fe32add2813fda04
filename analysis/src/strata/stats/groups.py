# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Which messages of a chain stand for the typical ones, and which for the slowest.

Blame and the report's picture use the same two groups, so that they agree.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Group:
    """A range of a chain's messages by latency, from quantile `low` to `high`, both included."""

    key: str
    label: str
    low: float
    high: float


TYPICAL = Group("typical", "Typical messages", 0.40, 0.60)
TAIL = Group("tail", "Slowest 1 %", 0.99, 1.0)
GROUPS = (TYPICAL, TAIL)


def members(instances: pd.DataFrame, group: Group) -> pd.DataFrame:
    """Return the rows of one chain's `chain_instances` that lie in `group`, never none of some."""
    latency = instances["latency_ns"].to_numpy(dtype=np.int64)
    if not len(latency):
        return instances
    low, high = np.quantile(latency, [group.low, group.high])
    inside = (latency >= low) & (latency <= high)
    if not inside.any():
        # Between two values: the quantile range holds no message, so take those at its edges.
        nearest = np.abs(latency - (low + high) / 2)
        inside = nearest == nearest.min()
    chosen: pd.DataFrame = instances.loc[inside]
    return chosen
