# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Fewer points of a long series, without losing what matters in it: its extremes."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

_KEPT_PER_BUCKET = 3


def keep(values: npt.NDArray[np.int64], limit: int) -> npt.NDArray[np.int64]:
    """Return ascending positions of at most `limit` of `values` (a series in order of time).

    The series is cut in buckets of equal count; each keeps its smallest, its median and its
    largest value. A series of no more than `limit` values is kept whole.
    """
    count = len(values)
    if count <= limit:
        return np.arange(count, dtype=np.int64)
    buckets = max(1, limit // _KEPT_PER_BUCKET)
    edges = np.linspace(0, count, buckets + 1).astype(np.int64)
    kept: set[int] = set()
    for begin, end in pairwise(edges.tolist()):
        order = np.argsort(values[begin:end], kind="stable")
        if len(order):
            kept.update(int(begin + order[at]) for at in (0, len(order) // 2, -1))
    return np.array(sorted(kept), dtype=np.int64)
