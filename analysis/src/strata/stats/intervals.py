# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""How surely a statistic is known: confidence intervals of means and quantiles.

`interval` chooses. Independent values get Student's interval for the mean and order statistics for
a quantile; autocorrelated ones (strata.stats.dependence says which are) a circular block bootstrap.
What is asked for autocorrelation is what the statistic averages: the values for the mean, and
for a quantile whether each value is at or below it.

A confidence is a property of the method: of many such samples, so many intervals hold the true
value. It is no probability that this one does.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from strata.stats.dependence import block_length, effective_count, is_dependent
from strata.stats.samples import Floats, Sample, checked, checked_share, unlike

StatisticName = Literal["mean", "p50", "p90", "p99"]
Statistic = Callable[..., Any]

QUANTILES: dict[str, float] = {"p50": 0.5, "p90": 0.9, "p99": 0.99}

_NAME = re.compile(r"p\d+(\.\d+)?")

RESAMPLES = 2_000
_FEWEST = 200
_DRAWS = 40_000_000
"""Of large samples fewer resamples are drawn: their quantiles differ little from each other."""
_CHUNK = 2_000_000


@dataclass(frozen=True)
class Interval:
    """A statistic with its confidence interval, in the unit of the values.

    `low` and `high` are null where the sample is too small to have that bound. `effective_count`
    is null where values are taken as independent; `coverage` is the true confidence of an interval
    of order statistics (it is at least what was asked for) and else null.
    """

    estimate: float
    low: float | None
    high: float | None
    confidence: float
    method: str
    count: int
    effective_count: float | None = None
    coverage: float | None = None


def mean_interval(values: Sample, confidence: float = 0.95) -> Interval:
    """Return Student's interval of the mean: mean +- t(n - 1) * s / sqrt(n), s with n - 1.

    For independent values; they need not be normal where n is large (central limit theorem), but
    for a heavy tail that takes thousands. One value has no bounds.
    """
    sample = checked(values)
    std = float(sample.std(ddof=1)) if len(sample) > 1 else 0.0
    return mean_interval_of(len(sample), float(sample.mean()), std, confidence)


def mean_interval_of(count: int, mean: float, std: float, confidence: float = 0.95) -> Interval:
    """Return Student's interval from a printed summary; `std` is the one with n - 1."""
    from scipy.stats import t

    checked_share(confidence, "confidence")
    if count < 1 or not np.isfinite([mean, std]).all() or std < 0:
        raise ValueError(
            f"Cannot make an interval of {count} values, mean {mean}, standard deviation {std}."
            " Give at least one value and finite numbers."
        )
    if count == 1:
        return Interval(mean, None, None, confidence, "t", count)
    half = float(t.ppf((1 + confidence) / 2, count - 1)) * std / np.sqrt(count)
    return Interval(mean, float(mean - half), float(mean + half), confidence, "t", count)


def quantile_interval(values: Sample, q: float, confidence: float = 0.95) -> Interval:
    """Return the interval of a quantile between two order statistics.

    How many of n independent values lie below the quantile is binomial, whatever their
    distribution; each tail gets at most (1 - confidence) / 2 (David and Nagaraja, Order
    Statistics, 2003, section 7.1). `coverage` is what it then really is; a missing bound counts as
    unbounded. Of ties it is more. The estimate is of type 7.
    """
    sample = np.sort(checked(values))
    checked_share(confidence, "confidence")
    low, high, coverage = bounding_ranks(len(sample), checked_share(q, "quantile"), confidence)
    return Interval(
        float(np.quantile(sample, q)),
        None if low is None else float(sample[low]),
        None if high is None else float(sample[high]),
        confidence,
        "order statistics",
        len(sample),
        coverage=coverage,
    )


def bootstrap_interval(
    values: Sample,
    statistic: str | Statistic,
    confidence: float = 0.95,
    *,
    seed: int,
    resamples: int = RESAMPLES,
    block: int | None = None,
) -> Interval:
    """Return the interval of a circular block bootstrap.

    Politis and Romano, "A circular block-resampling procedure for stationary data", 1992. Values
    are in the order in which they were measured. `statistic` is a name of StatisticName or a
    function of (array, axis=1); `block` null takes the length by Politis and White. The bounds are
    percentiles of the resamples, moved away from the estimate by what a few blocks tell too
    little: t(n / b - 1) over the normal quantile, times sqrt(n / (n - b)), with blocks of b. At
    95 %, of 300 values with autocorrelation 0.5, some 93 % then hold the true value.

    A bound of a quantile lies within the values, and is null where even independent values, as many
    as the effective count, would have none. Raises ValueError for fewer than two values, equal
    ones, and blocks of more than half of them.
    """
    sample = unlike(checked(values, at_least=2))
    checked_share(confidence, "confidence")
    asked = influence(sample, statistic)
    length = block_length(asked) if block is None else block
    if not 1 <= length <= len(sample) // 2:
        raise ValueError(
            f"Cannot resample {len(sample)} values in blocks of {length}."
            f" Give 1 to {len(sample) // 2}."
        )
    function = statistic_of(statistic)
    drawn = resampled(sample, function, length, resamples=resamples, seed=seed)
    tail = (1 - confidence) / 2
    estimate = float(function(sample[None, :], axis=1)[0])
    wider = widened(len(sample), length, confidence)
    low, high = (
        estimate + wider * (float(b) - estimate) for b in np.quantile(drawn, [tail, 1 - tail])
    )
    effective = effective_count(asked)
    has_low, has_high = True, True
    if (q := fraction_of(statistic)) is not None:
        ranks = bounding_ranks(max(1, int(min(effective, len(sample)))), q, confidence)
        has_low, has_high = ranks[0] is not None, ranks[1] is not None
        low, high = max(low, float(sample.min())), min(high, float(sample.max()))
    return Interval(
        estimate,
        low if has_low else None,
        high if has_high else None,
        confidence,
        f"circular block bootstrap, blocks of {length}, {len(drawn)} resamples",
        len(sample),
        effective_count=effective,
    )


def interval(
    values: Sample,
    statistic_name: StatisticName,
    confidence: float = 0.95,
    seed: int = 0,
    *,
    resamples: int = RESAMPLES,
) -> Interval:
    """Return the interval that fits: see the module. Values are in the order of measuring.

    The effective count is told in any case. Where it is larger than the count (values that swing),
    the interval of independent values stays, which then is too wide.
    """
    sample = checked(values)
    statistic_of(statistic_name)
    asked = influence(sample, statistic_name)
    if is_dependent(asked):
        return bootstrap_interval(
            sample, statistic_name, confidence, seed=seed, resamples=resamples
        )
    q = fraction_of(statistic_name)
    found = (
        mean_interval(sample, confidence) if q is None else quantile_interval(sample, q, confidence)
    )
    return replace(found, effective_count=effective_count(asked))


def influence(sample: Floats, statistic: str | Statistic) -> Floats:
    """Return what the statistic averages: 1 for values at or below a quantile and 0 above it.

    Of the mean, and of a function that nothing is known of, it is the values themselves.
    """
    if (q := fraction_of(statistic)) is not None:
        return (sample <= np.quantile(sample, q)).astype(np.float64)
    return sample


def fraction_of(statistic: str | Statistic) -> float | None:
    """Return the fraction of a quantile by its name: 0.999 of `p99.9`; null for what is none."""
    if not isinstance(statistic, str) or not _NAME.fullmatch(statistic):
        return None
    percent = Fraction(statistic[1:])
    return float(percent / 100) if percent <= 100 else None


def statistic_of(statistic: str | Statistic) -> Statistic:
    """Return the function of a name; ValueError for a name that is not known."""
    if not isinstance(statistic, str):
        return statistic
    if statistic == "mean":
        return np.mean
    if (q := fraction_of(statistic)) is not None:

        def quantile(rows: Floats, axis: int) -> Floats:
            # Of type 7, as np.quantile, which sorts along an axis many times slower.
            below, fraction = divmod(q * (rows.shape[axis] - 1), 1)
            at = (int(below), min(int(below) + 1, rows.shape[axis] - 1))
            ordered = np.partition(rows, at, axis=axis)
            low, high = (np.take(ordered, each, axis=axis) for each in at)
            return np.asarray(low + fraction * (high - low), np.float64)

        return quantile
    known = ", ".join(("mean", *QUANTILES)) + " or another percentile"
    raise ValueError(f"Cannot make an interval of {statistic!r}: unknown statistic. Give {known}.")


def resampled(
    sample: Floats, function: Statistic, block: int, *, resamples: int, seed: int
) -> Floats:
    """Return the statistic of each resample, which is made of blocks of the sample as a circle."""
    count = len(sample)
    resamples = max(min(resamples, _DRAWS // count), min(resamples, _FEWEST))
    random = np.random.default_rng(seed)
    blocks = -(-count // block)
    offsets = np.arange(block)
    parts = []
    for begin in range(0, resamples, max(1, _CHUNK // count)):
        rows = min(max(1, _CHUNK // count), resamples - begin)
        starts = random.integers(0, count, (rows, blocks))
        at = (starts[:, :, None] + offsets).reshape(rows, -1)[:, :count] % count
        parts.append(np.asarray(function(sample[at], axis=1), np.float64))
    return np.concatenate(parts)


def widened(count: int, block: int, confidence: float = 0.95) -> float:
    """Return how much wider than its draws an interval of `count` values in blocks has to be.

    t(n / b - 1) over the normal quantile, times sqrt(n / (n - b)): few blocks tell too little.
    """
    from scipy.stats import norm, t

    at = (1 + confidence) / 2
    blocks = count / block
    return float(t.ppf(at, max(1.0, blocks - 1)) / norm.ppf(at) * np.sqrt(count / (count - block)))


def bounding_ranks(count: int, q: float, confidence: float) -> tuple[int | None, int | None, float]:
    """Return the places (from 0) of the order statistics that hold a quantile, and the coverage.

    A place is null where there is no such bound.
    """
    from scipy.stats import binom

    tail = (1 - confidence) / 2
    # Strictly below the l-th smallest lies the quantile with P(B < l), B of (n, q).
    below = binom.cdf(np.arange(count + 1), count, q)
    low = int(np.searchsorted(below, tail, side="right"))
    high = int(np.searchsorted(below, 1 - tail, side="left")) + 1
    coverage = float(below[high - 1] if high <= count else 1.0)
    coverage -= float(below[low - 1]) if low >= 1 else 0.0
    return (low - 1 if low >= 1 else None), (high - 1 if high <= count else None), coverage
