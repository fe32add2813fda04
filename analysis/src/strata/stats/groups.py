# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Which messages of a chain stand for the typical ones, and which for the slowest.

Blame and the report's picture use the same groups, so that they agree. Messages of the start-up
are in none, unless there are no others. Where the latency has several modes, the typical messages
are those of the most frequent mode: the median of all may lie between two modes, where no message
is. The slowest need no such rule: a mode has 5 % of the messages at least, so the slowest 1 % are
of the slowest mode.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

OUTLIER_FACTOR = 5.0
OUTLIER_NS = 5_000_000
"""An outlier takes so many times the median of the typical mode, and so much longer than it.

5 ms are what a thread may wait for a CPU on a machine that is not idle: a time slice or two of
other threads (Linux gives 3 ms).
"""


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
    """Return the rows of one chain's `chain_instances` that lie in `group`, never none of some.

    Of a hop the frame may be any with a latency, and without the columns `start_up` and `mode`.
    """
    if not len(instances):
        return instances
    candidates = settled(instances)
    if group is TYPICAL:
        candidates = candidates[of_typical_mode(candidates)]
    latency = candidates["latency_ns"].to_numpy(dtype=np.int64)
    low, high = np.quantile(latency, [group.low, group.high])
    inside = (latency >= low) & (latency <= high)
    if not inside.any():
        # Between two values: the quantile range holds no message, so take those at its edges.
        nearest = np.abs(latency - (low + high) / 2)
        inside = nearest == nearest.min()
    chosen: pd.DataFrame = candidates.loc[inside]
    return chosen


def settled(instances: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of one chain that are not of its start-up; all where all are."""
    if "start_up" not in instances:
        return instances
    early = instances["start_up"].to_numpy(bool)
    return instances if early.all() else instances.loc[~early]


def of_typical_mode(instances: pd.DataFrame) -> Flags:
    """Flag the rows of the most frequent mode, of equals the fastest; all rows of a single one."""
    mode = typical_mode(instances)
    if mode is None:
        return np.ones(len(instances), bool)
    return instances["mode"].eq(mode).fillna(False).to_numpy(bool)


def typical_mode(instances: pd.DataFrame) -> int | None:
    """Return the most frequent mode of one chain, of equals the fastest; null for a single one."""
    if "mode" not in instances or instances["mode"].isna().all():
        return None
    return int(np.bincount(instances["mode"].dropna().to_numpy(np.int64)).argmax())


def outlier_bound(instances: pd.DataFrame) -> float:
    """Return the latency in ns above which a message of the chain is an outlier."""
    candidates = settled(instances)
    usual = candidates["latency_ns"].to_numpy(np.int64)[of_typical_mode(candidates)]
    median = float(np.median(usual))
    return max(OUTLIER_FACTOR * median, median + OUTLIER_NS)


def outliers(instances: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of one chain that are far slower than its typical ones; often none."""
    if not len(instances):
        return instances
    candidates = settled(instances)
    far: pd.DataFrame = candidates.loc[candidates["latency_ns"] > outlier_bound(instances)]
    return far
