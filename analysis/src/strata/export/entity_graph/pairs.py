# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Durations by pairs of numbers, such as a callback and the publisher that it published with."""

from __future__ import annotations

import numpy as np

from strata.export.entity_graph.entities import Timed
from strata.schema.rows import NONE, Flags, Ints
from strata.stats.partition import partition

Pair = tuple[int, int]


def by_pair(
    source: Ints, target: Ints, duration_ns: Ints, wanted: Flags, *, known: Flags | None = None
) -> dict[Pair, Timed]:
    """Return the pairs that have a wanted row, with the statistics of all their rows.

    A row whose source or target is null (-1) is left out. A duration that is not `known` counts as
    a row, but not in the quantiles; without `known` these are those that are not null.
    """
    known = duration_ns != NONE if known is None else known
    rows = np.flatnonzero((source != NONE) & (target != NONE))
    found: dict[Pair, Timed] = {}
    targets, of_target = np.unique(target[rows], return_inverse=True)
    _, of_source = np.unique(source[rows], return_inverse=True)
    for _, own in partition(of_source * len(targets) + of_target):
        at = rows[own]
        if wanted[at].any():
            pair = int(source[at[0]]), int(target[at[0]])
            found[pair] = timed(duration_ns[at[known[at]]], len(at))
    return found


def timed(duration_ns: Ints, count: int | None = None) -> Timed:
    """Return statistics of durations; `count` is their number unless some are not known."""
    number = len(duration_ns) if count is None else count
    if not len(duration_ns):
        return Timed(number)
    p50, p99 = np.quantile(duration_ns, [0.5, 0.99])
    return Timed(number, float(p50), float(p99))
