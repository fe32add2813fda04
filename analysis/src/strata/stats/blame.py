# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Who is to blame for a chain's latency: each cause's share of the median and of the tail.

A cause's share is its summed duration over the summed latency of a group of messages: the *typical*
ones (latency between the 40th and 60th percentile of the chain, or of its most frequent mode) and
the *slowest* (at or above the 99th; strata.stats.groups). Shares are conditional on the messages of
the group; differences of quantiles are not used, as quantiles of parts do not add up. Shares of one
group add up to 1. Outliers are counted by their largest cause. What the causes are, says
strata.stats.causes.
"""

from __future__ import annotations

import numpy as np

from strata.engine.groups import sums
from strata.schema import tables
from strata.schema.rows import Coded, Flags, Floats, Ints, Rows, Values
from strata.stats.causes import Causes, Evidence, find_causes
from strata.stats.grouped import counts, distinct, ranks
from strata.stats.groups import ChainGroups, chain_groups
from strata.stats.segments import Segments


def blame_table(
    instances: Rows, segments: Segments, evidence: Evidence, groups: ChainGroups | None = None
) -> Rows:
    """Return the table `blame`.

    `instances` and `segments` are the tables `chain_instances`, with modes, and `chain_segments`,
    both in the order of their keys. `groups` are those of `instances`, if they are known.
    """
    if not len(instances):
        return Rows.none(tables.BLAME)
    groups = groups or chain_groups(instances)
    # Only messages of some group are looked at: a fifth of them all.
    chosen = np.flatnonzero(groups.typical | groups.tail | groups.outliers)
    causes = find_causes(segments.of(instances["chain_instance_id"][chosen]), evidence)
    row = np.searchsorted(instances["chain_instance_id"], causes.instance)
    return _Blamed(instances, groups, causes, row).table()


class _Blamed:
    """Causes numbered by chain, layer and place; `row` is that of each in `chain_instances`."""

    def __init__(self, instances: Rows, groups: ChainGroups, causes: Causes, row: Ints) -> None:
        self._groups, self._causes, self._row = groups, causes, row
        self._latency = instances["latency_ns"]
        layers, places = causes.layer.words, causes.where.words
        kinds = causes.layer.codes * len(places) + causes.where.codes
        found, kind = distinct(kinds, max(len(layers) * len(places), 1))
        # In alphabetical order: of two causes with one share, the first in it comes first.
        self._layer, self._place = np.divmod(found, max(len(places), 1))
        order = np.lexsort((ranks(places)[self._place], ranks(layers)[self._layer]))
        rank = np.empty(len(found), np.int64)
        rank[order] = np.arange(len(found))
        self._layer, self._place = self._layer[order], self._place[order]
        bound = len(groups.chains) * len(found)
        pairs, self._cause = distinct(groups.chain[row] * len(found) + rank[kind], bound)
        self._chain, self._kind = np.divmod(pairs, max(len(found), 1))

    def table(self) -> Rows:
        """Return the table `blame`."""
        groups, causes, chain = self._groups, self._causes, self._chain
        columns: dict[str, Values] = {
            "chain_id": groups.chains[chain],
            "layer": Coded(self._layer[self._kind], causes.layer.words),
            "where": Coded(self._place[self._kind], causes.where.words),
        }
        bands = (("typical", "share_p50", groups.typical), ("tail", "share_p99", groups.tail))
        for name, share, flags in bands:
            own = flags[self._row]
            size = groups.of(flags)[chain]
            latency = sums(groups.chain[flags], self._latency[flags], len(groups.chains))
            total = self._sums(own, "duration_ns")
            columns[share] = total / np.maximum(latency, 1)[chain]
            columns[f"{name}_ns"] = total / size
            columns[f"{name}_cpu_wait_ns"] = self._sums(own, "cpu_wait_ns") / size
            columns[f"{name}_silent_ns"] = self._sums(own, "silent_ns") / size
        columns["outlier_ns"], columns["outliers"] = self._outliers()
        columns["unsynchronised"] = counts(self._cause[causes.unsynchronised], len(chain)) > 0
        table = Rows(tables.BLAME, columns)
        order = np.lexsort((self._kind, -table["share_p99"], -table["share_p50"], chain))
        return table.take(order)

    def _sums(self, rows: Flags, name: str) -> Ints:
        values = getattr(self._causes, name)
        if not values.any():
            return np.zeros(len(self._chain), np.int64)
        return sums(self._cause[rows], values[rows], len(self._chain))

    def _outliers(self) -> tuple[Floats, Ints]:
        """Return the mean in the outliers, and of how many of them each cause is the largest."""
        size = self._groups.of(self._groups.outliers)[self._chain]
        own = np.flatnonzero(self._groups.outliers[self._row])
        cause, ns = self._cause[own], self._causes.duration_ns[own]
        total = sums(cause, ns, len(self._chain))
        mean = np.divide(total, size, out=np.full(len(size), np.nan), where=size > 0)
        if not len(own):
            return mean, np.zeros(len(size), np.int64)
        keys = self._row[own] * len(self._chain) + cause
        pairs, pair = distinct(keys, int(keys.max()) + 1)
        message, cause = np.divmod(pairs, len(self._chain))
        order = np.lexsort((cause, -sums(pair, ns, len(pairs)), message))
        first = order[np.unique(message[order], return_index=True)[1]]
        return mean, counts(cause[first], len(self._chain))
