# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""By how much does one sample lie above another, and is that more than chance?

The *shift* is the median of all differences b - a between a value of one sample and a value of the
other (Hodges and Lehmann, "Estimates of location based on rank tests", The Annals of Mathematical
Statistics 34, 1963). It is robust: half of the values of a tail change nothing. The *p-value* is of
the Mann-Whitney test, the *effect* is Cliff's delta, P(b > a) - P(b < a), from -1 to 1.

For independent samples the interval lies between two ordered differences (Moses; Hollander, Wolfe
and Chicken, Nonparametric Statistical Methods, 2014, section 4.3), and with p assumes that the
two distributions differ by a shift alone. Where a sample is autocorrelated
(strata.stats.dependence), both come from the placements: the fraction of the other sample below
each value. The variance of the mean placement is that of Fligner and Policello ("Robust rank
procedures for the Behrens-Fisher problem", JASA 76, 1981), with the effective count of the
placements in place of the count: what a block bootstrap gives to the linear part of the statistic.

Where the effective count is small, its estimate is too large and p too small all the same
(`Shift.is_doubtful`): say so beside every such p.

Two runs of one configuration differ, too. A shift between two cells says that the cells differ, not
why: without repetitions the cause may be the run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from strata.stats.dependence import block_length, effective_count, is_dependent, is_too_dependent
from strata.stats.intervals import (
    QUANTILES,
    RESAMPLES,
    Interval,
    bounding_ranks,
    fraction_of,
    influence,
    resampled,
    statistic_of,
)
from strata.stats.resampled_quantile import quantiles_of_resamples
from strata.stats.samples import Floats, Sample, checked, checked_share, unlike

_EXACT = 50
"""Samples that are both smaller have the exact distribution of the Mann-Whitney statistic."""


@dataclass(frozen=True)
class Shift:
    """How b lies beside a, in the unit of the values; positive where b is larger.

    `relative` is the shift over the median of a, null where that is 0. `low` and `high` are null
    where the samples are too small to have that bound. `quantiles` are the differences of those
    that were asked for. The effective counts are null where both samples are taken as independent.
    """

    estimate: float
    low: float | None
    high: float | None
    confidence: float
    relative: float | None
    p: float
    effect: float
    quantiles: dict[str, Interval]
    method: str
    counts: tuple[int, int]
    effective_counts: tuple[float, float] | None

    @property
    def is_doubtful(self) -> bool:
        """Return whether p and interval are too sure: the samples depend on themselves too much."""
        return is_too_dependent(self.effective_counts)


def shift(
    a: Sample,
    b: Sample,
    confidence: float = 0.95,
    *,
    seed: int,
    resamples: int = RESAMPLES,
    quantiles: Sequence[str] = tuple(QUANTILES),
) -> Shift:
    """Compare b with a, both in the order of measuring.

    `seed` and `resamples` are of the bootstraps of the `quantiles` that are told. Memory and time
    are of the order of n log n: the differences are never made. Raises ValueError for no values,
    and where all values of both samples are equal.
    """
    checked_share(confidence, "confidence")
    first, second = checked(a, what="the first sample"), checked(b, what="the second sample")
    unlike(np.concatenate([first, second]), "two samples")
    left, right = np.sort(first), np.sort(second)
    pairs = len(left) * len(right)
    estimate = _median_difference(left, right)
    above = _pairs_above(left, right)
    placed = _placements(first, right - estimate), _placements(second - estimate, left)
    effective: tuple[float, float] | None = None
    if any(is_dependent(each) for each in placed):
        p, margin, effective = _of_placements(first, second, above, placed, confidence)
        method = "Hodges-Lehmann, Mann-Whitney by placements with effective counts"
    else:
        p, margin = _of_ranks(first, second, confidence)
        method = "Hodges-Lehmann, Mann-Whitney"
    middle = float(np.median(first))
    return Shift(
        estimate,
        # The k-th smallest and the k-th largest difference.
        _difference(left, right, margin) if margin >= 1 else None,
        _difference(left, right, pairs + 1 - margin) if margin >= 1 else None,
        confidence,
        estimate / abs(middle) if middle else None,
        p,
        2 * above / pairs - 1,
        {
            name: quantile_shift(first, second, name, confidence, seed=seed, resamples=resamples)
            for name in quantiles
        },
        method,
        (len(first), len(second)),
        effective,
    )


def quantile_shift(
    a: Sample,
    b: Sample,
    name: str,
    confidence: float = 0.95,
    *,
    seed: int,
    resamples: int = RESAMPLES,
) -> Interval:
    """Return the difference of a quantile (`p50`, `p99.9`) of b and a.

    The interval is the percentile interval of a bootstrap of both samples; of an autocorrelated one
    whole blocks are drawn. Its bounds are null where either quantile has none. Count and effective
    count are of both samples together.
    """
    samples = [checked(a, what="the first sample"), checked(b, what="the second sample")]
    checked_share(confidence, "confidence")
    quantile, q = statistic_of(name), fraction_of(name)
    if q is None:
        raise ValueError(f"Cannot compare {name!r}: it is not a quantile. Give one, such as p99.9.")
    drawn, bounded, effective = [], True, 0.0
    for at, sample in enumerate(samples):
        asked = influence(sample, name)
        block = block_length(asked) if is_dependent(asked) else 1
        count = _cautious_count(asked)
        low_rank, high_rank, _ = bounding_ranks(max(1, int(min(count, len(sample)))), q, confidence)
        bounded &= low_rank is not None and high_rank is not None
        effective += count
        own = (
            quantiles_of_resamples(sample, q, resamples=resamples, seed=seed + at)
            if block == 1
            else resampled(sample, quantile, block, resamples=resamples, seed=seed + at)
        )
        drawn.append(own)
    shortest = min(len(each) for each in drawn)
    difference = drawn[1][:shortest] - drawn[0][:shortest]
    tail = (1 - confidence) / 2
    low, high = (float(bound) for bound in np.quantile(difference, [tail, 1 - tail]))
    estimate = float(
        quantile(samples[1][None, :], axis=1)[0] - quantile(samples[0][None, :], axis=1)[0]
    )
    return Interval(
        estimate,
        low if bounded else None,
        high if bounded else None,
        confidence,
        "bootstrap of both samples",
        len(samples[0]) + len(samples[1]),
        effective_count=effective,
    )


def holm(p_values: Sequence[float] | Floats) -> Floats:
    """Return p-values adjusted for their number, in the same order.

    Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
    Statistics 6, 1979: the chance of any false finding among them all stays below the level.
    """
    values = checked(p_values, at_least=0, what="p-values")
    if ((values < 0) | (values > 1)).any():
        raise ValueError("Cannot adjust p-values: some are outside of 0..1. Give probabilities.")
    order = np.argsort(values, kind="stable")
    steps = values[order] * np.arange(len(values), 0, -1)
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted


def _of_ranks(a: Floats, b: Floats, confidence: float) -> tuple[float, int]:
    """Return p and the rank of the lower bound among the differences; 0 where there is none."""
    from scipy.stats import mannwhitneyu, norm

    small = max(len(a), len(b)) < _EXACT
    ties = len(np.unique(np.concatenate([a, b]))) < len(a) + len(b)
    method = "exact" if small and not ties else "asymptotic"
    p = float(mannwhitneyu(b, a, method=method).pvalue)
    tail = (1 - confidence) / 2
    if small:
        # C is the largest with P(U < C) <= tail.
        return p, int(np.searchsorted(np.cumsum(_distribution(len(a), len(b))), tail, side="right"))
    pairs = len(a) * len(b)
    deviation = float(np.sqrt(pairs * (len(a) + len(b) + 1) / 12))
    return p, max(0, int(np.floor(pairs / 2 - float(norm.ppf(1 - tail)) * deviation)))


def _of_placements(
    a: Floats, b: Floats, above: float, placed: tuple[Floats, Floats], confidence: float
) -> tuple[float, int, tuple[float, float]]:
    """Return p, the rank of the lower bound, and the effective counts of a and b.

    `placed` are the placements where b is moved back by the shift: then the variance is that of two
    samples that lie on each other, which is what the test assumes, and it is not 0 where they are
    far apart.
    """
    from scipy.stats import norm

    pairs = len(a) * len(b)
    first, second = (_cautious_count(each) for each in placed)
    variance = _variance(placed[0]) / first + _variance(placed[1]) / second
    spread = float(np.sqrt(variance)) * pairs
    tail = (1 - confidence) / 2
    margin = max(0, int(np.floor(pairs / 2 - float(norm.ppf(1 - tail)) * spread)))
    distance = max(abs(above - pairs / 2) - 0.5, 0.0)
    return min(1.0, 2 * float(norm.sf(distance / spread))), margin, (first, second)


def _variance(placed: Floats) -> float:
    """Return the variance of placements; of a single one, that of a uniform value."""
    return float(placed.var(ddof=1)) if len(placed) > 1 else 1 / 12


def _cautious_count(values: Floats) -> float:
    """Return the effective count of values that are autocorrelated, and the count of others."""
    return effective_count(values) if is_dependent(values) else float(len(values))


def _placements(values: Floats, ordered: Floats) -> Floats:
    """Return the fraction of `ordered` below each value; equal ones count half."""
    below = np.searchsorted(ordered, values, side="left")
    upto = np.searchsorted(ordered, values, side="right")
    placed: Floats = (below + upto) / (2 * len(ordered))
    return placed


def _pairs_above(a: Floats, b: Floats) -> float:
    """Return the Mann-Whitney statistic of b: in how many pairs it is larger; ties count half."""
    return float(_placements(b, a).sum() * len(a))


def _median_difference(a: Floats, b: Floats) -> float:
    """Return the median of all differences b - a of ordered samples."""
    pairs = len(a) * len(b)
    low = _difference(a, b, (pairs + 1) // 2)
    return low if pairs % 2 else (low + _difference(a, b, pairs // 2 + 1)) / 2


def _difference(a: Floats, b: Floats, rank: int) -> float:
    """Return the `rank`-th smallest (from 1) of all differences b - a of ordered samples.

    By bisection: how many differences are at or below d is counted by where a + d lies in b.
    """
    low, high = float(b[0] - a[-1]), float(b[-1] - a[0])
    whole = bool((a == np.round(a)).all() and (b == np.round(b)).all())

    def count(difference: float) -> int:
        return int(np.searchsorted(b, a + difference, side="right").sum())

    if count(low) >= rank:
        return low
    # Invariant: fewer than `rank` differences are at or below `low`, as many or more below `high`.
    for _ in range(200):
        middle = float(np.floor((low + high) / 2)) if whole else (low + high) / 2
        if not low < middle < high:
            break
        if count(middle) >= rank:
            high = middle
        else:
            low = middle
    return high


def _distribution(first: int, second: int) -> Floats:
    """Return the probabilities of the Mann-Whitney statistic, 0 to first * second, without ties.

    Its generating function is the Gaussian binomial coefficient: the product over i of
    (1 - x^(second + i)) / (1 - x^i), for i from 1 to `first`.
    """
    size = first * second + 1
    counts = np.zeros(size)
    counts[0] = 1.0
    for i in range(1, first + 1):
        if second + i < size:
            counts[second + i :] -= counts[: size - second - i].copy()
        for begin in range(i):
            counts[begin::i] = np.cumsum(counts[begin::i])
    probabilities: Floats = counts / counts.sum()
    return probabilities
