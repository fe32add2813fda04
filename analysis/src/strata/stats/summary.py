# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Summaries of columns of values.

Definitions: quantiles are interpolated linearly between order statistics (type 7 of Hyndman and
Fan, "Sample quantiles in statistical packages", The American Statistician 50, 1996; NumPy's
default). `mad` is median(|x - median(x)|), not scaled to sigma. `std` is the sample standard
deviation, with n - 1.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from strata.schema.columns import STATISTICS
from strata.stats.samples import Floats, Sample, checked

Statistics = dict[str, int | float | None]


def summarize(values: npt.NDArray[np.int64]) -> Statistics:
    """Return the declared statistics of values in ns; all but `count` are null without values."""
    if not len(values):
        return {**dict.fromkeys(STATISTICS), "count": 0}
    # A sum of int64 is exact where a sum of floats would not be.
    mean = int(values.sum()) / len(values)
    return {**_of_any(values), "min": int(values.min()), "max": int(values.max()), "mean": mean}


def summarize_part(durations: npt.NDArray[np.int64], total_ns: int) -> Statistics:
    """Return the statistics of a part's durations with its `share` of a summed latency."""
    share = int(durations.sum()) / total_ns if total_ns else 0.0
    return {"share": share, **summarize(durations)}


def describe(values: Sample) -> Statistics:
    """Return the declared statistics of values of any unit, in that unit.

    All but `count` are null without values, and `std` is null for one value. A quantile of fewer
    values than it needs (100 for p99, 1000 for p99.9) lies between the two largest. Raises
    ValueError for values that are not finite.
    """
    array = np.asarray(values)
    if np.issubdtype(array.dtype, np.integer):
        return summarize(array.astype(np.int64, copy=False))
    floats = checked(values, at_least=0)
    if not len(floats):
        return {**dict.fromkeys(STATISTICS), "count": 0}
    ends = {"min": float(floats.min()), "max": float(floats.max())}
    return {**_of_any(floats), **ends, "mean": float(floats.mean())}


def _of_any(values: npt.NDArray[np.int64] | Floats) -> Statistics:
    """Return the statistics that need no care for integers; the others are null."""
    p50, p90, p99, p999 = np.quantile(values, [0.5, 0.9, 0.99, 0.999])
    return {
        **dict.fromkeys(STATISTICS),
        "count": len(values),
        "p50": float(p50),
        "mad": float(np.median(np.abs(values - p50))),
        "p90": float(p90),
        "p99": float(p99),
        "p999": float(p999),
        "std": float(values.std(ddof=1)) if len(values) > 1 else None,
    }


def prefixed(prefix: str, statistics: Statistics) -> dict[str, int | float | None]:
    """Return statistics under column names that begin with `prefix`."""
    return {f"{prefix}{name}": value for name, value in statistics.items()}
