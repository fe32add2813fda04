# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Summaries of columns of durations.

Definitions: quantiles are interpolated linearly between order statistics (type 7 of Hyndman and
Fan, "Sample quantiles in statistical packages", The American Statistician 50, 1996; NumPy's
default). `mad` is median(|x - median(x)|), not scaled to sigma. `std` is the sample standard
deviation, with n - 1.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from strata.schema.columns import STATISTICS

Statistics = dict[str, int | float | None]


def summarize(values: npt.NDArray[np.int64]) -> Statistics:
    """Return the declared statistics of values in ns; all but `count` are null without values."""
    out: Statistics = dict.fromkeys(STATISTICS)
    count = len(values)
    out["count"] = count
    if not count:
        return out
    p50, p90, p99 = np.quantile(values, [0.5, 0.9, 0.99])
    out |= {
        "min": int(values.min()),
        "p50": float(p50),
        "mad": float(np.median(np.abs(values - p50))),
        "p90": float(p90),
        "p99": float(p99),
        "max": int(values.max()),
        # A sum of int64 is exact where a sum of floats would not be.
        "mean": int(values.sum()) / count,
        "std": float(values.std(ddof=1)) if count > 1 else None,
    }
    return out


def prefixed(prefix: str, statistics: Statistics) -> dict[str, int | float | None]:
    """Return statistics under column names that begin with `prefix`."""
    return {f"{prefix}{name}": value for name, value in statistics.items()}
