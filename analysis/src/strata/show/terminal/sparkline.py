# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A distribution of durations as one line of text, on a logarithmic axis."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

_BARS = " ▁▂▃▄▅▆▇█"


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
