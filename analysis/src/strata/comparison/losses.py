# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Shares of lost messages of two sides, and how sure their difference is.

Losses come in bursts more often than one by one; the intervals and tests of one run a side suppose
that they do not, and are too narrow then. With several runs on a side, runs are the unit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from strata.comparison.difference import CONFIDENCE, Estimate


@dataclass(frozen=True)
class Loss:
    """What was published and lost, in one run or in all of a side.

    `unknown` are further messages, which may be lost or not.
    """

    published: int
    lost: int
    unknown: int = 0

    @property
    def share(self) -> float:
        """Of what was published; 0 where nothing was."""
        return self.lost / self.published if self.published else 0.0

    def decided(self, *, lost: bool) -> Loss:
        """Return what it is when all that is unknown was lost, or was received."""
        return Loss(self.published + self.unknown, self.lost + (self.unknown if lost else 0))


@dataclass(frozen=True)
class LossDifference:
    """Share lost of B less that of A; `p` is of none."""

    share: Estimate
    p: float
    method: str


def whole(runs: Sequence[Loss]) -> Loss:
    """Add up the losses of runs."""
    return Loss(
        sum(run.published for run in runs),
        sum(run.lost for run in runs),
        sum(run.unknown for run in runs),
    )


def loss_interval(loss: Loss) -> Estimate:
    """Return the share lost with its interval (Clopper and Pearson, Biometrika 26, 1934)."""
    from scipy import stats

    if not loss.published:
        return Estimate(0.0, None, None)
    found = stats.binomtest(loss.lost, loss.published).proportion_ci(CONFIDENCE, "exact")
    return Estimate(loss.share, float(found.low), float(found.high))


def loss_of_runs(runs: Sequence[Loss]) -> Estimate:
    """Return the share lost over all runs; with several, the runs are the unit of the interval."""
    from scipy import stats

    total = whole(runs)
    shares = np.array([run.share for run in runs])
    if len(runs) == 1 or not total.lost:
        return loss_interval(total)
    variance = max(float(shares.var(ddof=1)), _binomial(runs))
    error = float(np.sqrt(variance / len(runs)))
    half = float(stats.t.isf((1 - CONFIDENCE) / 2, len(runs) - 1)) * error
    return Estimate(
        float(shares.mean()), max(0.0, float(shares.mean()) - half), float(shares.mean()) + half
    )


def loss_difference(a: Sequence[Loss], b: Sequence[Loss]) -> LossDifference | None:
    """Compare the shares lost of two sides; null where a side published nothing."""
    from scipy import stats

    first, second = whole(a), whole(b)
    if not first.published or not second.published:
        return None
    if len(a) == len(b) == 1 or not first.lost + second.lost:
        table = [[side.lost, side.published - side.lost] for side in (first, second)]
        p = float(stats.fisher_exact(table).pvalue)
        return LossDifference(_newcombe(first, second), p, "Newcombe; Fisher's exact test")
    shares = [np.array([run.share for run in side]) for side in (a, b)]
    freedom = len(a) + len(b) - 2
    squares = sum(float(((one - one.mean()) ** 2).sum()) for one in shares)
    variance = max(squares / freedom, _binomial([*a, *b]))
    error = float(np.sqrt(variance * (1 / len(a) + 1 / len(b))))
    value = float(shares[1].mean() - shares[0].mean())
    half = float(stats.t.isf((1 - CONFIDENCE) / 2, freedom)) * error
    p = float(2 * stats.t.sf(abs(value) / error, freedom))
    return LossDifference(Estimate(value, value - half, value + half), p, "runs, Student's t")


def _binomial(runs: Sequence[Loss]) -> float:
    """The variance of a run's share if messages were lost one by one: the least that there is."""
    total = whole(runs)
    return total.share * (1 - total.share) / (total.published / len(runs))


def _newcombe(first: Loss, second: Loss) -> Estimate:
    """Newcombe's hybrid score interval (Statistics in Medicine 17, 1998, method 10)."""
    from scipy import stats

    bounds = [
        stats.binomtest(side.lost, side.published).proportion_ci(CONFIDENCE, "wilson")
        for side in (first, second)
    ]
    value = second.share - first.share
    down = np.hypot(second.share - bounds[1].low, bounds[0].high - first.share)
    up = np.hypot(bounds[1].high - second.share, first.share - bounds[0].low)
    return Estimate(value, float(value - down), float(value + up))
