# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A statistic of one side with its interval, of one run or of several."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

import numpy as np
import numpy.typing as npt

from strata.comparison.difference import CONFIDENCE, Estimate
from strata.stats.intervals import StatisticName, interval, quantile_interval

Ints = npt.NDArray[np.int64]

_QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p99.9": 0.999}


def value_of_runs(runs: Sequence[Ints], statistic: str, *, seed: int = 0) -> Estimate:
    """Return a statistic in ns with its interval.

    With several runs it is the mean of the runs' own, and the runs are the unit of the interval
    (Student's t). The extremes are those of all runs and have no interval: both bounds are the
    value itself.
    """
    from scipy import stats

    if statistic in ("min", "max"):
        extreme = min if statistic == "min" else max
        value = float(extreme(getattr(run, statistic)() for run in runs))
        return Estimate(value, value, value)
    if len(runs) == 1:
        return _value(runs[0], statistic, seed)
    own = np.array([_statistic(statistic)(run) for run in runs])
    error = float(own.std(ddof=1) / np.sqrt(len(own)))
    half = float(stats.t.isf((1 - CONFIDENCE) / 2, len(own) - 1)) * error
    return Estimate(float(own.mean()), float(own.mean()) - half, float(own.mean()) + half)


def _value(run: Ints, statistic: str, seed: int) -> Estimate:
    if run.min() == run.max():
        # All are one value: there is nothing to make an interval of.
        return Estimate(float(run[0]), None, None) if len(run) == 1 else _exact(float(run[0]))
    found = (
        quantile_interval(run, _QUANTILES[statistic], CONFIDENCE)
        if statistic == "p99.9"
        else interval(run, cast(StatisticName, statistic), CONFIDENCE, seed)
    )
    return Estimate(found.estimate, found.low, found.high)


def _exact(value: float) -> Estimate:
    return Estimate(value, value, value)


def _statistic(name: str) -> Callable[[Ints], float]:
    if name == "mean":
        return lambda run: float(np.mean(run))
    return lambda run: float(np.quantile(run, _QUANTILES[name]))
