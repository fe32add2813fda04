# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Quantiles of bootstrap resamples of independent values, without drawing the resamples.

A resample of n values is n uniform numbers looked up in the empirical distribution, and its k-th
smallest value is the k-th smallest of these numbers looked up. That one is Beta(k, n - k + 1), and
the next lies Beta(1, n - k) of the rest above it (David and Nagaraja, Order Statistics, 2003,
sections 2.1 and 2.5): two draws a resample in place of n.
"""

from __future__ import annotations

import numpy as np

from strata.stats.samples import Floats


def quantiles_of_resamples(sample: Floats, q: float, *, resamples: int, seed: int) -> Floats:
    """Return the quantile (type 7) of each of so many resamples of `sample`."""
    random = np.random.default_rng(seed)
    ordered, count = np.sort(sample), len(sample)
    place = q * (count - 1)
    rank = int(place)
    low = random.beta(rank + 1, count - rank, resamples)
    values = _looked_up(ordered, low)
    if rank + 1 == count:
        return values
    high = low + (1 - low) * random.beta(1, count - rank - 1, resamples)
    return np.asarray(values + (place - rank) * (_looked_up(ordered, high) - values))


def _looked_up(ordered: Floats, uniform: Floats) -> Floats:
    at = np.minimum((uniform * len(ordered)).astype(np.int64), len(ordered) - 1)
    return np.asarray(ordered[at])
