# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Statistics of what a subscriber saw: of the latency, and of the periods of receptions and stamps.

n samples have n - 1 periods. MAD is the median of |x - median|, unscaled; std divides by count - 1.
Neighbouring samples depend on each other (`lag1` is their autocorrelation), so the interval of the
median is from a bootstrap of blocks (Kuensch 1989), not of single samples.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

_RESAMPLES = 1000
_SEED = 1


def describe(values: npt.NDArray[np.int64]) -> dict[str, Any]:
    """Describe times in ns, whole but for mean, std and lag1; no values have only a count."""
    count = len(values)
    if not count:
        return {"count": 0}
    median, p90, p99 = (int(np.percentile(values, q, method="inverted_cdf")) for q in (50, 90, 99))
    deviations = np.abs(values - median)
    low, high = _median_interval(values)
    return {
        "count": count,
        "median": median,
        "median_ci95": [low, high],
        "mad": int(np.percentile(deviations, 50, method="inverted_cdf")),
        "mean": float(values.mean()),
        "std": float(values.std(ddof=1)) if count > 1 else None,
        "min": int(values.min()),
        "p90": p90,
        "p99": p99,
        "max": int(values.max()),
        "lag1": _lag1(values),
    }


def _lag1(values: npt.NDArray[np.int64]) -> float | None:
    around = values - values.mean()
    power = float(around @ around)
    return float(around[:-1] @ around[1:]) / power if power > 0 else None


def _median_interval(values: npt.NDArray[np.int64]) -> tuple[int, int]:
    """Give the 95 % interval of the median, from blocks of about the cube root of the count."""
    count = len(values)
    length = max(1, round(count ** (1 / 3)))
    blocks = -(-count // length)
    random = np.random.default_rng(_SEED)
    begins = random.integers(0, count - length + 1, (_RESAMPLES, blocks))
    at = (begins[:, :, None] + np.arange(length)).reshape(_RESAMPLES, -1)[:, :count]
    medians = np.median(values[at], axis=1)
    low, high = np.percentile(medians, [2.5, 97.5])
    return round(low), round(high)


def lost_by_sequence(sequences: npt.NDArray[np.int64]) -> int | None:
    """Count the gaps in the publisher's numbers; null when the middleware tells none."""
    known = sequences[sequences > 0]
    if len(known) != len(sequences) or not len(known):
        return None
    return int(known.max() - known.min() + 1 - len(np.unique(known)))


def lost_by_stamp(stamps: npt.NDArray[np.int64]) -> int | None:
    """Estimate how many messages are missing from the gaps between stamps.

    The period is their 10th percentile: with heavy loss the median is a multiple of it.
    """
    if len(stamps) < 3:
        return None
    gaps = np.diff(stamps)
    period = float(np.percentile(gaps, 10))
    if period <= 0:
        return None
    return int(np.maximum(np.round(gaps / period) - 1, 0).sum())


def summarize(
    received: npt.NDArray[np.int64],
    stamps: npt.NDArray[np.int64],
    sequences: npt.NDArray[np.int64],
    *,
    warm_up: int,
) -> dict[str, Any]:
    """Summarize samples, in their order of reception, but for the first `warm_up`."""
    received, stamps, sequences = received[warm_up:], stamps[warm_up:], sequences[warm_up:]
    return {
        "samples": len(received),
        "warm_up": warm_up,
        "lost_by_sequence": lost_by_sequence(sequences),
        "lost_by_stamp": lost_by_stamp(stamps),
        "latency_ns": describe(received - stamps),
        "reception_period_ns": describe(np.diff(received)),
        "stamp_period_ns": describe(np.diff(stamps)),
    }
