# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Quantiles of durations without keeping the durations."""

from __future__ import annotations

import numpy as np
from ddsketch import LogCollapsingLowestDenseDDSketch

from strata.schema.rows import Ints

ACCURACY = 0.01
"""A quantile is that of one of the values, and differs from it by this fraction at most."""
_BINS = 2048
"""Enough for 1 ns to 10 years, so none is ever merged with its neighbour; 16 KiB."""


class QuantileSketch:
    """Count, sum and extremes of durations in ns, exactly; quantiles by a DDSketch.

    Masson, Rim, Lee: DDSketch: a fast and fully-mergeable quantile sketch with relative-error
    guarantees (VLDB 2019).
    """

    def __init__(self) -> None:
        self.count = 0
        self.sum_ns = 0
        self.max_ns = 0
        self._sketch = LogCollapsingLowestDenseDDSketch(ACCURACY, _BINS)

    def add(self, values_ns: Ints) -> None:
        """Count durations."""
        if not len(values_ns):
            return
        self.count += len(values_ns)
        self.sum_ns += int(values_ns.sum())
        self.max_ns = max(self.max_ns, int(values_ns.max()))
        for value, weight in zip(*np.unique(values_ns, return_counts=True), strict=True):
            self._sketch.add(float(value), float(weight))

    def merge(self, other: QuantileSketch) -> None:
        """Count what another sketch has counted."""
        self.count += other.count
        self.sum_ns += other.sum_ns
        self.max_ns = max(self.max_ns, other.max_ns)
        self._sketch.merge(other._sketch)

    def quantile_ns(self, fraction: float) -> float | None:
        """Return the value of which `fraction` of the others are smaller; null without any."""
        value = self._sketch.get_quantile_value(fraction)
        return None if value is None else float(value)
