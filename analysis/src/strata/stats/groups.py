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
from typing import TYPE_CHECKING, Any

import numpy as np

from strata.schema.rows import NONE, Flags, Floats, Ints, Rows
from strata.stats.grouped import Ordered, counts, distinct, each

if TYPE_CHECKING:
    import pandas as pd

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


@dataclass(frozen=True)
class ChainGroups:
    """The groups of every chain: flags by message, and figures by chain.

    `chains` are the ids that have messages, ascending; `chain` is the row of `chains` of each
    message. `settled` are not of their chain's start-up, or it has no others; `usual` are those of
    them that are of the most frequent mode, of equals the fastest, or their chain has one mode.
    `outliers` are far slower than the usual ones. Of each chain, `tail_from_ns` is the 99th
    percentile of the settled, `outliers_from_ns` what outliers take more than.
    """

    chains: Ints
    chain: Ints
    settled: Flags
    usual: Flags
    typical: Flags
    tail: Flags
    outliers: Flags
    tail_from_ns: Floats
    outliers_from_ns: Floats

    def of(self, flags: Flags) -> Ints:
        """Count the flagged messages of each chain."""
        return counts(self.chain[flags], len(self.chains))


def chain_groups(instances: Rows) -> ChainGroups:
    """Return the groups of all chains; `instances` is the table `chain_instances`."""
    return find_groups(
        instances["chain_id"], instances["latency_ns"], instances["start_up"], instances["mode"]
    )


def find_groups(chain_id: Ints, latency: Ints, start_up: Flags, mode: Ints) -> ChainGroups:
    """Return the groups of chains whose messages have these latencies; `mode` may be `NONE`."""
    chains, chain = distinct(chain_id, int(chain_id.max(initial=0)) + 1)
    count = len(chains)
    settled = ~start_up | each(start_up, chain, count)[chain]
    usual = settled & _of_typical_mode(chain, np.where(settled, mode, NONE), count)
    of_settled = Ordered(chain[settled], latency[settled], count)
    of_usual = Ordered(chain[usual], latency[usual], count)
    median = of_usual.median()
    bound = np.maximum(OUTLIER_FACTOR * median, median + OUTLIER_NS)
    return ChainGroups(
        chains,
        chain,
        settled,
        usual,
        _between(chain, latency, usual, of_usual, TYPICAL),
        _between(chain, latency, settled, of_settled, TAIL),
        settled & (latency > bound[chain]),
        of_settled.quantile(TAIL.low),
        bound,
    )


def _of_typical_mode(chain: Ints, mode: Ints, count: int) -> Flags:
    """Flag what is of the most frequent mode of its chain; all of a chain without modes."""
    modes = int(mode.max(initial=NONE)) + 1
    if not modes:
        return np.ones(len(chain), bool)
    there = mode != NONE
    sizes = counts(chain[there] * modes + mode[there], count * modes).reshape(count, modes)
    most = np.where(sizes.any(axis=1), sizes.argmax(axis=1), NONE)[chain]
    return np.asarray((most == NONE) | (mode == most), bool)


def _between(chain: Ints, latency: Ints, of: Flags, ordered: Ordered, group: Group) -> Flags:
    """Flag the messages of `of` that lie between two quantiles of their chain, never none."""
    low, high = ordered.quantile(group.low), ordered.quantile(group.high)
    inside = of & (latency >= low[chain]) & (latency <= high[chain])
    empty = counts(chain[inside], len(low)) == 0
    if empty.any():
        # Between two values: the quantile range holds no message, so take those at its edges.
        rows = np.flatnonzero(of & empty[chain])
        distance = np.abs(latency[rows] - ((low + high) / 2)[chain[rows]])
        nearest = np.full(len(low), np.inf)
        np.minimum.at(nearest, chain[rows], distance)
        inside[rows] = distance == nearest[chain[rows]]
    return inside


def members(instances: pd.DataFrame, group: Group) -> pd.DataFrame:
    """Return the rows of one chain's `chain_instances` that lie in `group`, never none of some.

    Of a hop the frame may be any with a latency, and without the columns `start_up` and `mode`.
    """
    found = _of_one(instances)
    chosen: pd.DataFrame = instances.loc[found.typical if group is TYPICAL else found.tail]
    return chosen


def settled(instances: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of one chain that are not of its start-up; all where all are."""
    chosen: pd.DataFrame = instances.loc[_of_one(instances).settled]
    return chosen


def outliers(instances: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of one chain that are far slower than its typical ones; often none."""
    far: pd.DataFrame = instances.loc[_of_one(instances).outliers]
    return far


def _of_one(instances: pd.DataFrame) -> ChainGroups:
    count = len(instances)
    early, mode = np.zeros(count, bool), np.full(count, NONE, np.int64)
    if "start_up" in instances:
        early = instances["start_up"].to_numpy(bool)
    if "mode" in instances:
        modes: Any = instances["mode"]
        mode = modes.fillna(NONE).to_numpy(np.int64)
    latency = instances["latency_ns"].to_numpy(np.int64)
    return find_groups(np.zeros(count, np.int64), latency, early, mode)
