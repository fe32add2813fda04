# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The quantile function of a sample: its values in order, against the fraction at or below them."""

from __future__ import annotations

import numpy as np

from strata.stats.samples import Floats, Sample, checked


def quantile_function(values: Sample, points: int = 200) -> tuple[Floats, Floats]:
    """Return `points` fractions from 0 to 1 and the value of each, in the unit of `values`.

    Quantiles are of type 7, as all of Strata's: fraction 0 is the smallest value and 1 the largest.
    Raises ValueError for no values, or fewer than two points.
    """
    if points < 2:
        raise ValueError(f"Cannot draw a quantile function of {points} points. Give at least 2.")
    fractions = np.linspace(0.0, 1.0, points)
    return fractions, np.quantile(checked(values), fractions)
