# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""How much longer B takes than A: estimates with intervals, of one run a side or of several.

With one run a side the messages are the unit (strata.stats.shift): what differs from run to run is
not in the interval. With several runs on a side the runs are the unit. Let d(i, j) be the
difference between run i of A and run j of B, by Hodges and Lehmann or of a quantile. Its mean over
all pairs is the estimate; the means over i and over j give one number a run, whose variance is the
variance between runs, that within them included. Pooled over both sides it has (runs of A + runs of
B - 2) degrees of freedom, and Student's t gives interval and p: the two-sample t test with runs as
observations (Student, "The probable error of a mean", Biometrika 6, 1908; of d as a generalized
U-statistic, Hoeffding, Ann. Math. Statist. 19, 1948). It supposes that runs differ as much on both
sides. A bootstrap over so few runs would be too narrow: of three runs it covers 95 % in four of
five cases.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from strata.stats.dependence import is_too_dependent
from strata.stats.intervals import fraction_of
from strata.stats.intervals import interval as interval_of
from strata.stats.shift import quantile_shift, shift

Ints = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.int64] | npt.NDArray[np.float64]

CONFIDENCE = 0.95
FEWEST = 5
"""Values of a side below which nothing is tested."""
TAILS = ("p99",)
"""Quantiles whose differences stand beside the shift, whatever else the user chose."""
_RESAMPLES = (200, 1_000)
_DRAWN = 8_000_000
"""Each of many intervals is of fewer resamples than one that stands alone, and fewest of large
samples, whose intervals are narrow."""
_GRID = 512
"""Quantiles of a run that stand for its values where each pair of two runs is subtracted."""
_CLOCK_NS2 = 1 / 12
"""Variance of a duration by the resolution of its clock, 1 ns: no run is more exact than that."""


@dataclass(frozen=True)
class Estimate:
    """A difference or a value in ns with its interval; a bound that does not exist is null."""

    value: float
    low: float | None
    high: float | None

    @property
    def furthest(self) -> float | None:
        """The bound that is further from 0; null where one does not exist."""
        if self.low is None or self.high is None:
            return None
        return max(abs(self.low), abs(self.high))

    @property
    def without_zero(self) -> bool:
        """Tell whether the interval does not hold 0."""
        return (self.low is not None and self.low > 0) or (self.high is not None and self.high < 0)


@dataclass(frozen=True)
class Difference:
    """B - A in ns: `shift` by Hodges and Lehmann, those of quantiles, and how sure they are.

    `p` is of no shift at all. `effect` is Cliff's delta: how much more often a value of B is
    greater than one of A than the reverse, from -1 to 1. `method` says in words what gave them.
    `effective_counts` are how many independent values the messages of each side count as; null
    where they are independent, and where runs are the unit.
    """

    shift: Estimate
    quantiles: dict[str, Estimate]
    p: float
    effect: float
    method: str
    effective_counts: tuple[float, float] | None = None

    @property
    def is_doubtful(self) -> bool:
        """Tell whether p and interval are too sure: messages depend on each other too much."""
        return is_too_dependent(self.effective_counts)


def difference(
    a: Sequence[Ints], b: Sequence[Ints], *, seed: int, quantiles: Sequence[str] = TAILS
) -> Difference | None:
    """Compare the values of all runs of two sides; null where a run has fewer than FEWEST.

    `quantiles` are the names (`p99.9`) of those whose differences are told, beside `TAILS`.
    """
    names = tuple(dict.fromkeys((*TAILS, *quantiles)))
    if min(len(run) for run in (*a, *b)) < FEWEST:
        return None
    if len(a) == len(b) == 1:
        return _of_messages(a[0], b[0], seed, names)
    return _of_runs(a, b, names)


def _of_messages(a: Ints, b: Ints, seed: int, names: Sequence[str]) -> Difference:
    if min(a.min(), b.min()) == max(a.max(), b.max()):
        return _of_equals(names)
    resamples = int(np.clip(_DRAWN // max(len(a), len(b)), *_RESAMPLES))
    found = shift(a, b, CONFIDENCE, seed=seed, quantiles=names, resamples=resamples)
    quantiles = {
        name: Estimate(one.estimate, one.low, one.high) for name, one in found.quantiles.items()
    }
    whole = Estimate(found.estimate, found.low, found.high)
    return Difference(whole, quantiles, found.p, found.effect, found.method, found.effective_counts)


def _of_equals(names: Sequence[str]) -> Difference:
    """All values of both sides are one: there is nothing to test."""
    none = Estimate(0.0, 0.0, 0.0)
    return Difference(none, dict.fromkeys(names, none), 1.0, 0.0, "all values are equal")


def _of_runs(a: Sequence[Ints], b: Sequence[Ints], names: Sequence[str]) -> Difference:
    shift_ns, p = _student(_pairs(a, b, hodges_lehmann))
    quantiles = {name: quantile_difference(a, b, name, seed=0) for name in names}
    effect = cliffs_delta(np.concatenate(a), np.concatenate(b))
    return Difference(shift_ns, quantiles, p, effect, "runs, Student's t")


def _quantile(values: Numbers, q: float) -> float:
    return float(np.quantile(values, q))


def _pairs(
    a: Sequence[Ints], b: Sequence[Ints], of: Callable[[Ints, Ints], float]
) -> npt.NDArray[np.float64]:
    return np.array([[of(one, other) for other in b] for one in a], np.float64)


def _student(pairs: npt.NDArray[np.float64]) -> tuple[Estimate, float]:
    """Return the mean over all pairs of runs with its interval, and p of none."""
    from scipy import stats

    runs_a, runs_b = pairs.shape
    freedom = runs_a + runs_b - 2
    about = [pairs.mean(axis=1) - pairs.mean(), pairs.mean(axis=0) - pairs.mean()]
    variance = max(sum(float(one @ one) for one in about) / freedom, _CLOCK_NS2)
    error = float(np.sqrt(variance * (1 / runs_a + 1 / runs_b)))
    value = float(pairs.mean())
    half = float(stats.t.isf((1 - CONFIDENCE) / 2, freedom)) * error
    return Estimate(value, value - half, value + half), float(
        2 * stats.t.sf(abs(value) / error, freedom)
    )


def hodges_lehmann(a: Ints, b: Ints) -> float:
    """Return the median of all differences between a value of B and one of A.

    Of more values than _GRID, so many of their quantiles stand for them.
    """
    first, second = (
        values if len(values) <= _GRID else np.quantile(values, (np.arange(_GRID) + 0.5) / _GRID)
        for values in (a, b)
    )
    return float(np.median(np.subtract.outer(second, first)))


def cliffs_delta(a: Ints, b: Ints) -> float:
    """Return P(b > a) - P(b < a) over all pairs of values (Cliff, Psychol. Bull. 114, 1993)."""
    ordered = np.sort(a)
    below = np.searchsorted(ordered, b, side="left").astype(np.int64)
    above = len(a) - np.searchsorted(ordered, b, side="right").astype(np.int64)
    return float(int((below - above).sum()) / (len(a) * len(b)))


def quantile_difference(
    a: Sequence[Numbers], b: Sequence[Numbers], statistic: str, *, seed: int
) -> Estimate:
    """Return the difference of a quantile or of the mean, with its interval."""
    if len(a) == len(b) == 1 and fraction_of(statistic) is not None:
        found = quantile_shift(a[0], b[0], statistic, CONFIDENCE, seed=seed)
        return Estimate(found.estimate, found.low, found.high)
    of = _statistic(statistic)
    if len(a) == len(b) == 1:
        return _difference_of_means(a[0], b[0], seed)
    return _student(np.array([[of(other) - of(one) for other in b] for one in a], np.float64))[0]


def _difference_of_means(a: Numbers, b: Numbers, seed: int) -> Estimate:
    """Two independent intervals, whose half widths add up in squares (each side of the mean)."""
    of_a, of_b = (interval_of(values, "mean", CONFIDENCE, seed) for values in (a, b))
    value = of_b.estimate - of_a.estimate
    down = np.hypot(of_b.estimate - (of_b.low or 0), (of_a.high or 0) - of_a.estimate)
    up = np.hypot((of_b.high or 0) - of_b.estimate, of_a.estimate - (of_a.low or 0))
    return Estimate(value, float(value - down), float(value + up))


def _statistic(name: str) -> Callable[[Numbers], float]:
    if name == "mean":
        return lambda values: float(np.mean(values))
    fraction = fraction_of(name)
    if fraction is None:
        raise ValueError(f"Cannot compare {name!r}: it is neither the mean nor a quantile.")
    return lambda values: _quantile(values, fraction)
