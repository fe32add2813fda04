# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A statistic of the values behind one point of a figure, with its interval."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from strata.stats.intervals import Interval

_SEED = 1
_FEWEST = 5
_QUANTILES = {"min": 0.0, "p50": 0.5, "p90": 0.9, "p99": 0.99, "p999": 0.999, "max": 1.0}
_WITH_INTERVALS: dict[str, Literal["mean", "p50", "p90", "p99"]] = {
    "mean": "mean",
    "p50": "p50",
    "p90": "p90",
    "p99": "p99",
}
_OF_CELLS = ("cell", "process")


@dataclass(frozen=True)
class Estimate:
    """A statistic and its interval in the measure's unit; bounds are null where there is none.

    `method` is empty without an interval; `effective` is null where values count in full.
    """

    value: float
    low: float | None
    high: float | None
    count: int
    effective: float | None
    method: str


def estimate(rows: pd.DataFrame, each: str, statistic: str, confidence: float | None) -> Estimate:
    """Return the statistic of the `value` of rows in order of cell and number.

    The values of messages get the interval that the dependence of its series asks for
    (`strata.stats.intervals.interval`); values of cells get that of Student's t over the
    repetitions, from two on. Without `confidence`, no interval is made.
    """
    order = [name for name in ("cell", "number") if name in rows]
    values = rows.sort_values(order, kind="stable")["value"].dropna().to_numpy(dtype=np.float64)
    value = plain(values, statistic)
    nothing = Estimate(value, None, None, len(values), None, "")
    if confidence is None:
        return nothing
    if each in _OF_CELLS:
        return _over_cells(values, nothing, statistic, confidence)
    if len(values) < _FEWEST or statistic not in _WITH_INTERVALS:
        return nothing
    found = _interval(values.tobytes(), statistic, confidence)
    return Estimate(
        value,
        _finite(found.low),
        _finite(found.high),
        len(values),
        _finite(found.effective_count),
        found.method if _finite(found.low) is not None else "",
    )


@lru_cache(maxsize=512)
def _interval(values: bytes, statistic: str, confidence: float) -> Interval:
    """Return the interval of float64 values; figures and answers ask for the same ones again."""
    from strata.stats.intervals import interval

    sample = np.frombuffer(values, dtype=np.float64)
    return interval(sample, _WITH_INTERVALS[statistic], confidence, seed=_SEED)


def _over_cells(
    values: np.ndarray[tuple[int], np.dtype[np.float64]],
    nothing: Estimate,
    statistic: str,
    confidence: float,
) -> Estimate:
    if len(values) < 2 or statistic != "mean":
        return nothing
    from strata.stats.intervals import mean_interval

    found = mean_interval(values, confidence)
    return Estimate(
        nothing.value, found.low, found.high, len(values), None, "Student's t over repetitions"
    )


def plain(values: np.ndarray[tuple[int], np.dtype[np.float64]], statistic: str) -> float:
    """Return a statistic by its name in a campaign's file; NaN without values."""
    if not len(values):
        return math.nan
    if statistic == "mean":
        return float(values.mean())
    if statistic == "std":
        return float(values.std(ddof=1)) if len(values) > 1 else math.nan
    if statistic == "mad":
        return float(np.median(np.abs(values - np.median(values))))
    return float(np.quantile(values, _QUANTILES[statistic]))


def _finite(value: float | None) -> float | None:
    return float(value) if value is not None and math.isfinite(value) else None
