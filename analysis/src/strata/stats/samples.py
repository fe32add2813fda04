# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a statistic is given: one column of numbers, all of them finite."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from strata.schema.rows import Flags, Floats, Ints

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Flags", "Floats", "Ints", "Sample", "checked", "checked_share", "unlike"]

Sample: TypeAlias = "Ints | Floats | Sequence[float] | pd.Series"
"""Values of one unit, in the order in which they were measured where that matters."""


def checked(values: Sample, *, at_least: int = 1, what: str = "values") -> Floats:
    """Return values as a column of floats.

    int64 nanoseconds of durations are exact in it up to 2^53 (104 days). Raises ValueError for
    fewer than `at_least` values, for another shape than one column, and for values that are not
    finite: a missing value has to be left out and counted by who knows why it is missing.
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise ValueError(f"Cannot use {what}: they have {array.ndim} dimensions. Give one column.")
    if len(array) < at_least:
        raise ValueError(
            f"Cannot use {what}: there are {len(array)}, and at least {at_least} are needed."
            " Measure more."
        )
    bad = int((~np.isfinite(array)).sum())
    if bad:
        raise ValueError(
            f"Cannot use {what}: {bad} of {len(array)} are not finite numbers. Leave out missing "
            "values and count them."
        )
    return array


def checked_share(share: float, what: str) -> float:
    """Return a confidence or the fraction of a quantile; ValueError unless within (0, 1)."""
    if not 0 < share < 1:
        raise ValueError(f"Cannot use a {what} of {share}: it is a fraction. Give one within 0..1.")
    return float(share)


def unlike(values: Floats, what: str = "values") -> Floats:
    """Return values as they are; ValueError where all are equal, as their spread is divided by."""
    if len(values) and values.min() == values.max():
        raise ValueError(
            f"Cannot use {what}: all {len(values)} are {values[0]:g}, so their spread, which is "
            "a divisor, is zero. There is nothing to test."
        )
    return values
