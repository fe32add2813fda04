# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""How many times as wide is one distribution as another, and does a second factor change that?

The *ratio of spreads* is spread(b) / spread(a), of the MAD, which ignores tails, or of the standard
deviation, which a tail rules. Its interval is of the logarithm, by a block bootstrap of each sample
(strata.stats.intervals), so that values may depend on those before them: blocks are as long as what
the spread averages asks for (Politis and White), (x - mean)^2 of the standard deviation and of the
MAD whether a value is within it. Resamples stay within a run. As there, draws are moved away from
the estimate by what few blocks tell too little at the confidence that is asked for.

The *interaction of spread* is a ratio of ratios: how many times as much does b widen the
distribution at one level of another factor as it does at a second one.

The test is that of Brown and Forsythe (JASA 69, 1974), which compares the means of |x - median|, in
Welch's form: these means have unequal variances where spreads differ. Where |x - median| is
autocorrelated its effective count stands in for the count.

With several runs of each sample, `ratio_of_runs` takes the logarithm of each run's spread as one
value (Bartlett and Kendall, Journal of the Royal Statistical Society, Supplement 8, 1946): an
interval that knows how much runs differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from strata.stats.dependence import block_length, effective_count
from strata.stats.intervals import RESAMPLES, resampled, widened
from strata.stats.samples import Floats, Sample, checked, checked_share, unlike

SpreadName = Literal["mad", "std"]
SPREADS: tuple[SpreadName, ...] = ("mad", "std")
FEWEST = 10
"""Of fewer values in a sample, a spread has no interval."""
_DRAWN_VALUES, _LEAST_DRAWS = 8_000_000, 200
"""Values of all draws: of large samples fewer are drawn, as their spreads differ little."""
_HELD_VALUES = 2_000_000
"""Values of the resamples that are in memory at once; of a larger sample one resample is."""


@dataclass(frozen=True)
class Ratio:
    """A ratio with its interval; bounds are null where there is none."""

    estimate: float
    low: float | None
    high: float | None
    confidence: float

    @property
    def is_apart(self) -> bool:
        """Return whether the interval excludes 1."""
        return self.low is not None and self.high is not None and not self.low <= 1 <= self.high


@dataclass(frozen=True)
class LogSpread:
    """The logarithm of a sample's spread, with its draws of a bootstrap; see `log_spread`.

    The draws are of `count` values in blocks of `block`.
    """

    estimate: float
    draws: Floats
    count: int = 0
    block: int = 0

    def widened_draws(self, confidence: float) -> Floats:
        """Return the draws, moved away from the estimate by what few blocks tell too little."""
        wider = widened(self.count, self.block, confidence)
        return np.asarray(self.estimate + wider * (self.draws - self.estimate), np.float64)


def spread(values: Sample, statistic: SpreadName) -> float:
    """Return the MAD (unscaled) or the standard deviation (n - 1), in the unit of the values."""
    sample = checked(values, at_least=2)
    return float(_spreads(sample[None, :], statistic)[0])


def log_spread(
    runs: Sequence[Sample], statistic: SpreadName, *, seed: int, resamples: int = RESAMPLES
) -> LogSpread:
    """Return the logarithm of the spread of all values of `runs`, each in order of measuring.

    Without draws where there are fewer than FEWEST values. Raises ValueError where the spread is 0:
    all values are equal, or of the MAD more than half of them.
    """
    samples = [checked(run) for run in runs]
    whole = np.concatenate(samples)
    found = spread(whole, statistic)
    if found <= 0:
        raise ValueError(
            f"Cannot compare the spreads of {len(whole)} values: more than half of them are equal, "
            "so that the spread, which is a divisor, is zero."
        )
    if len(whole) < FEWEST:
        return LogSpread(float(np.log(found)), np.empty(0))
    middle = float(np.median(whole))
    asked = [_averaged(sample, middle, found, statistic) for sample in samples]
    length = max(block_length(each) for each in asked)
    spreads = _drawn_spreads(samples, statistic, length, resamples=resamples, seed=seed)
    # A resample of equal values has no logarithm; so few values are behind it that none is lost.
    draws = np.log(np.maximum(spreads, found * np.finfo(np.float64).eps))
    return LogSpread(float(np.log(found)), draws, len(whole), length)


def _drawn_spreads(
    samples: Sequence[Floats], statistic: SpreadName, length: int, *, resamples: int, seed: int
) -> Floats:
    """Return the spread of resamples of all samples together, in blocks within each.

    They are made some at a time: a spread needs the values of a resample all at once.
    """
    count = sum(map(len, samples))
    kept = max(min(resamples, _LEAST_DRAWS), min(resamples, _DRAWN_VALUES // count))
    rows = max(1, _HELD_VALUES // count)
    parts = []
    for chunk, begin in enumerate(range(0, kept, rows)):
        drawn = [
            resampled(
                sample,
                _as_they_are,
                min(length, max(1, len(sample) // 2)),
                resamples=min(rows, kept - begin),
                # Each sample of each chunk has a seed of its own.
                seed=seed + at + chunk * len(samples),
            )
            for at, sample in enumerate(samples)
        ]
        parts.append(_spreads(np.concatenate(drawn, axis=1), statistic))
    return np.concatenate(parts)


def ratio_of_spreads(a: LogSpread, b: LogSpread, confidence: float = 0.95) -> Ratio:
    """Return spread(b) / spread(a)."""
    return _ratio([(-1, a), (1, b)], confidence)


def interaction_of_spreads(
    first: tuple[LogSpread, LogSpread],
    second: tuple[LogSpread, LogSpread],
    confidence: float = 0.95,
) -> Ratio:
    """Return the ratio of `first` over that of `second`; each is a pair (a, b) of independent ones.

    (spread(b) / spread(a)) of the first pair, divided by the same of the second.
    """
    (a, b), (c, d) = first, second
    return _ratio([(-1, a), (1, b), (1, c), (-1, d)], confidence)


def _ratio(terms: Sequence[tuple[int, LogSpread]], confidence: float) -> Ratio:
    """Return the exponential of a signed sum of logarithms of independent samples."""
    checked_share(confidence, "confidence")
    estimate = float(np.exp(sum(sign * one.estimate for sign, one in terms)))
    counts = [len(one.draws) for _, one in terms]
    if not min(counts):
        return Ratio(estimate, None, None, confidence)
    # Samples that were drawn with one seed must not go up and down together.
    random = np.random.default_rng(len(terms))
    total = sum(
        sign * random.permutation(one.widened_draws(confidence))[: min(counts)]
        for sign, one in terms
    )
    tail = (1 - confidence) / 2
    low, high = np.exp(np.quantile(total, [tail, 1 - tail]))
    return Ratio(estimate, float(low), float(high), confidence)


def ratio_of_runs(
    terms: Sequence[tuple[int, Sequence[Sample]]],
    statistic: SpreadName,
    confidence: float = 0.95,
) -> Ratio | None:
    """Return a ratio of spreads of runs: terms are (1, runs above the line), (-1, runs below).

    Each run counts as one value, the logarithm of its spread; their means are compared by Welch's t
    with the degrees of freedom of Welch and Satterthwaite. Null where a term has fewer than two
    runs, or a run whose spread is 0.
    """
    from scipy.stats import t

    checked_share(confidence, "confidence")
    logs = []
    for sign, runs in terms:
        spreads = np.array([spread(run, statistic) for run in runs if len(run) > 1])
        if len(spreads) < 2 or (spreads <= 0).any():
            return None
        logs.append((sign, np.log(spreads)))
    parts = np.array([values.var(ddof=1) / len(values) for _, values in logs])
    estimate = sum(sign * float(values.mean()) for sign, values in logs)
    if not parts.sum():
        return None
    counts = np.array([len(values) for _, values in logs])
    df = float(parts.sum() ** 2 / (parts**2 / (counts - 1)).sum())
    half = float(t.ppf((1 + confidence) / 2, df) * np.sqrt(parts.sum()))
    low, middle, high = np.exp([estimate - half, estimate, estimate + half])
    return Ratio(float(middle), float(low), float(high), confidence)


def equal_spreads(a: Sample, b: Sample) -> float:
    """Return the p-value of equal spreads of two samples in order of measuring.

    Brown and Forsythe's test in Welch's form (module). Raises ValueError for fewer than two values
    in a sample, and where no value of both is away from its median.
    """
    from scipy.stats import t

    distances, parts, counts = [], [], []
    for sample in (checked(a, at_least=2), checked(b, at_least=2)):
        away = np.abs(sample - np.median(sample))
        count = min(effective_count(away), float(len(away)))
        distances.append(float(away.mean()))
        parts.append(float(away.var(ddof=1)) / count)
        counts.append(count)
    if not sum(parts):
        unlike(np.array(distances), "the distances from the median")
        return 0.0
    error = np.array(parts)
    df = float(error.sum() ** 2 / (error**2 / np.maximum(np.array(counts) - 1, 1)).sum())
    return float(2 * t.sf(abs(distances[1] - distances[0]) / np.sqrt(error.sum()), df))


def _averaged(sample: Floats, middle: float, found: float, statistic: SpreadName) -> Floats:
    """Return the series that a spread averages, whose dependence is that of the spread."""
    if statistic == "std":
        return np.asarray((sample - sample.mean()) ** 2, np.float64)
    return np.asarray(np.abs(sample - middle) <= found, np.float64)


def _spreads(rows: Floats, statistic: SpreadName) -> Floats:
    """Return the spread of each row."""
    if statistic == "std":
        return np.asarray(rows.std(axis=1, ddof=1), np.float64)
    middle = np.median(rows, axis=1, keepdims=True)
    return np.asarray(np.median(np.abs(rows - middle), axis=1), np.float64)


def _as_they_are(rows: Floats, **_: int) -> Floats:
    """Return resamples themselves in place of a statistic of them."""
    return rows
