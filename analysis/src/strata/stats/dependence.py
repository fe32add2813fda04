# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""How much do values that follow each other tell of each other?

Intervals and tests assume independent values. Latencies are not: a queue that is full stays full,
a beat between two clocks comes again. What counts then is the *effective count*: of how many
independent values a mean would be known as surely,

    n_eff = n * g(0) / (g(0) + 2 * sum over k < b of (1 - k / b) * g(k))

with the autocovariances g. The sum is the long-run variance with Bartlett's weights (Newey and
West, Econometrica 55, 1987), which is the variance that a block bootstrap gives to a mean; b is
its block length (Politis and White, "Automatic block-length selection for the dependent bootstrap",
Econometric Reviews 23, 2004, corrected by Patton, Politis and White 2009). With values that swing
from one side to the other n_eff is larger than n.

Do not trust it where values drift, or where a dependence lasts longer than a tenth of the sample:
then the sample tells too little of it, and n_eff is too large.
"""

from __future__ import annotations

import warnings

import numpy as np

from strata.stats.samples import Floats, Sample, checked, unlike

MIN_COUNT = 20
"""Of fewer values no dependence is told."""
ALPHA = 0.01
"""The p-value of the Ljung-Box test below which values are taken as autocorrelated."""
WORTH = 0.8
"""And only where the effective count is less than this share of the count."""
FEW = 100
"""Effective counts below which p and intervals are not to be trusted, although they allow for the
dependence: of so short a sample it is estimated too small. With autocorrelations of the first order
of 0.97, 300 or 1,000 values and a p of 0.05, chance is found in more than 10 % of all cases."""
LAGS = 10
_LONGEST = 20_000
"""A block length is found from so many values; it grows with the cube root of the count."""


def autocorrelation(values: Sample, lags: int) -> Floats:
    """Return the autocorrelation at the lags 0 to `lags` (or n - 1, if that is less).

    The estimate that divides by n (Box and Jenkins), so that it is a correlation function. Raises
    ValueError for fewer than two values and for equal values.
    """
    from statsmodels.tsa.stattools import acf

    sample = unlike(checked(values, at_least=2))
    found = acf(sample, nlags=min(lags, len(sample) - 1), fft=True, adjusted=False)
    return np.asarray(found, np.float64)


def ljung_box(values: Sample) -> float:
    """Return the p-value of no autocorrelation in the first LAGS lags (at most a fifth of n).

    Ljung and Box, "On a measure of lack of fit in time series models", Biometrika 65, 1978. Raises
    ValueError for fewer than MIN_COUNT values and for equal values.
    """
    from scipy.stats import chi2

    sample = checked(values, at_least=MIN_COUNT)
    lags = min(LAGS, len(sample) // 5)
    squares = autocorrelation(sample, lags)[1:] ** 2
    count = len(sample)
    q = count * (count + 2) * float((squares / (count - np.arange(1, lags + 1))).sum())
    return float(chi2.sf(q, lags))


def block_length(values: Sample) -> int:
    """Return the length of blocks for a circular block bootstrap, 1 for independent values.

    By Politis and White, rounded up; of more than 20 000 values the first tell it. 1 too for fewer
    than MIN_COUNT values and for equal ones.
    """
    sample = checked(values)
    if len(sample) < MIN_COUNT or sample.min() == sample.max():
        return 1
    first = sample[:_LONGEST]
    if first.min() == first.max():
        return 1
    from arch.bootstrap import optimal_block_length

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        length = float(optimal_block_length(first)["circular"].iloc[0])
    if not np.isfinite(length):
        return 1
    scaled = length * (len(sample) / len(first)) ** (1 / 3)
    return int(min(max(1, np.ceil(scaled)), len(sample) // 3))


def effective_count(values: Sample) -> float:
    """Return of how many independent values a mean would be known as surely (module's formula).

    The count itself for fewer than MIN_COUNT values and for equal ones.
    """
    sample = checked(values)
    length = block_length(sample)
    if length == 1 or sample.min() == sample.max():
        return float(len(sample))
    rho = autocorrelation(sample, length - 1)
    weights = 1 - np.arange(len(rho)) / length
    ratio = 2 * float((weights * rho).sum()) - 1
    # Bartlett's weights keep it positive, but not away from 0.
    return float(len(sample) / max(ratio, 1 / len(sample)))


def is_dependent(values: Sample) -> bool:
    """Return whether intervals of these values have to allow for autocorrelation.

    They have to where the Ljung-Box test finds it (p < ALPHA) and it costs something
    (effective count < WORTH of the count). Values that swing keep the intervals of independent
    ones, which are then too wide and never too narrow. False for fewer than MIN_COUNT values.
    """
    sample = checked(values)
    if len(sample) < MIN_COUNT or sample.min() == sample.max():
        return False
    return ljung_box(sample) < ALPHA and effective_count(sample) < WORTH * len(sample)


def is_too_dependent(effective_counts: tuple[float, float] | None) -> bool:
    """Return whether two samples depend on themselves too much for a p or an interval to hold.

    `effective_counts` are those of a test that allows for dependence; null: it found none, and
    nothing is to be feared however small the samples are.
    """
    return effective_counts is not None and min(effective_counts) < FEW
