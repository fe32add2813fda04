# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A distribution of durations, or durations over time, as one line of text."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

_BARS = " ▁▂▃▄▅▆▇█"
_NOISE = 0.75


def sparkline(values: npt.NDArray[np.int64], low_ns: float, high_ns: float, width: int) -> str:
    """Return `width` bars, as high as the number of values in a slice of [low_ns, high_ns].

    Slices are equally wide on a logarithmic axis; values beyond it are not shown. Only a slice
    without values is blank: a few beside many are the lowest bar.
    """
    low, high = np.log(max(low_ns, 1.0)), np.log(max(high_ns, 1.0))
    if not len(values):
        return " " * width
    span = (low, high) if high > low else (low - 0.5, high + 0.5)
    counts = np.histogram(np.log(np.maximum(values, 1)), bins=width, range=span)[0]
    heights = np.ceil(counts / max(counts.max(), 1) * (len(_BARS) - 1)).astype(int)
    return "".join(_BARS[height] for height in heights)


def series(values: npt.NDArray[np.float64], width: int) -> str:
    """Return `width` bars, as high as the medians of as many slices of values that follow in time.

    NaN is no value; a slice without any is blank. The highest bar is the largest median, the lowest
    the smallest, or three quarters of the largest if that is less: noise does not look like much.
    """
    edges = np.arange(width + 1) * len(values) // width
    parts = [values[low : max(high, low + 1)] for low, high in pairwise(edges.tolist())]
    known = [part[~np.isnan(part)] for part in parts]
    medians = [float(np.median(part)) if len(part) else None for part in known]
    there = [value for value in medians if value is not None]
    if not there:
        return " " * width
    high = max(there)
    low = min(min(there), _NOISE * high)
    span = (high - low) or 1.0
    steps = len(_BARS) - 2
    return "".join(
        " " if value is None else _BARS[1 + round((value - low) / span * steps)]
        for value in medians
    )
