# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Does a value rise or fall over time: the memory of a process, a latency in a long run?

The slope is that of least squares. Values that follow each other are alike, so the variance of the
noise about the line is estimated where it counts for a slope, in slow waves: the mean square of the
residuals' first 0.4 n^(2/3) cosine transforms, with as many degrees of freedom of Student's t, less
the one that the line itself takes (the equal-weighted cosine estimator; Lazarus, Lewis, Stock and
Watson, "HAR inference: recommendations for practice", Journal of Business and Economic Statistics
36, 2018). It holds its confidence in short runs, where that of Newey and West is far too sure.

Do not trust it where the residuals are no noise about a line. Memory that a process takes once, at
its begin, has a slope and no leak: leave the warm-up out and look at the plot. A dependence that
lasts for a good part of the run makes the interval too narrow.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from strata.stats.samples import Floats, Sample, checked, checked_share, unlike

MIN_COUNT = 10
_WAVES = 0.4
_HOUR_S = 3600.0
_METHOD = "least squares, equal-weighted cosines"


@dataclass(frozen=True)
class Drift:
    """A slope with its interval, in units of the value per hour; `p` is of no slope at all."""

    slope_per_hour: float
    low: float
    high: float
    confidence: float
    p: float
    count: int
    df: int
    method: str


def drift(times_s: Sample, values: Sample, confidence: float = 0.95) -> Drift:
    """Return the slope of values over times in seconds, ordered by time.

    Values on a line (all equal, say) have an interval of no width. Raises ValueError for fewer than
    MIN_COUNT values, equal times, or another number of times.
    """
    checked_share(confidence, "confidence")
    times = unlike(checked(times_s, at_least=MIN_COUNT, what="times"), "times")
    sample = checked(values, at_least=MIN_COUNT)
    if len(times) != len(sample) or (np.diff(times) < 0).any():
        raise ValueError(
            f"Cannot fit {len(sample)} values to {len(times)} times. Give the same number of "
            "both, in time order."
        )
    slope, error, df = fitted_slope(times / _HOUR_S, sample)
    # All of scipy.stats takes a second to import.
    from scipy.special import stdtrit

    half = float(stdtrit(df, (1 + confidence) / 2)) * error
    p = p_of_slope(slope, error, df)
    return Drift(slope, slope - half, slope + half, confidence, p, len(sample), df, _METHOD)


def fitted_slope(places: Floats, values: Floats) -> tuple[float, float, int]:
    """Return the slope of least squares, its standard error, and its degrees of freedom.

    `values` follow each other in time; `places` are what they are fitted to, not all equal: times,
    or 0 before and 1 after an instant.
    """
    along, about = places - places.mean(), values - values.mean()
    slope = float((along * about).sum() / (along**2).sum())
    waves = max(2, int(_WAVES * len(values) ** (2 / 3)))
    return slope, _standard_error(along, about - slope * along, waves), waves - 1


def p_of_slope(slope: float, error: float, df: int) -> float:
    """Return the p-value of a slope under none: twice the tail of Student's t."""
    from scipy.special import stdtr

    return 2 * float(stdtr(df, -abs(slope) / error)) if error else float(slope == 0)


def _standard_error(places: Floats, residuals: Floats, waves: int) -> float:
    """Return the standard error of the slope; `places` are about their mean."""
    count = len(places)
    at = np.pi * (np.arange(count) + 0.5) / count
    cosines = np.sqrt(2 / count) * np.cos(np.outer(np.arange(1, waves + 1), at))
    square = float((places**2).sum())
    # What of the waves runs along the line is no longer in the residuals.
    along = float(((cosines @ places) ** 2).sum()) / square
    variance = float(((cosines @ residuals) ** 2).sum()) / (waves - along)
    return float(np.sqrt(variance / square))
