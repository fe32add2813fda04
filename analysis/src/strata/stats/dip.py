# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The dip: how far a sample is from having one mode, and how often chance alone does as much.

J. A. Hartigan and P. M. Hartigan, "The dip test of unimodality", The Annals of Statistics 13, 1985.
The dip of a distribution function F is the least distance (the largest difference anywhere) to a
distribution function with one mode: one that is convex up to some point and concave after it. For n
values it lies between 1 / (2 n), as F rises by steps of 1 / n and the other does not, and 1 / 4.

It is found by narrowing the interval in which the mode lies. In an interval, the nearest convex
function below F is its greatest convex minorant, the nearest concave one above F its least concave
majorant. Where they are furthest apart, which is where one of them touches F, a distribution
function with one mode can be nearer to F than half of that only if its mode is there, between the
points where the two touch F: that is the next interval. Left of it the function is convex and right
of it concave, so it is at least half as far from F there as minorant and majorant are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from strata.schema.rows import Floats, Ints
from strata.stats._grouped import convex_contacts
from strata.stats.dip_table import COUNTS, QUANTILES


@dataclass(frozen=True)
class _Narrower:
    """Where the mode is if the dip is to be less than `apart` tells; differences are in counts."""

    apart: float
    """How far minorant and majorant are apart, at most."""
    low: int
    high: int
    """The interval that is left, both ends included."""
    outside: float
    """How far F is from the minorant to the left of it, or the majorant to the right, at most."""


def dip(ordered: Floats) -> float:
    """Return the dip of values that are sorted ascending; equal ones are allowed.

    Equal values are a step of F, and one such step may be the mode. Where all are equal, 1 / (2 n)
    is returned, the least that other samples have. Raises ValueError when there is no value.
    """
    if len(ordered) == 0:
        raise ValueError("Cannot measure the dip of zero values. Give at least one.")
    values, below = np.unique(np.asarray(ordered, np.float64), return_index=True)
    upto = np.append(below[1:], len(ordered))
    low, high = 0, len(values) - 1
    # In counts; twice the dip, as minorant and majorant are moved half way towards F.
    twice = 1.0
    while low < high:
        inside = slice(low, high + 1)
        found = _narrow(values[inside], below[inside], upto[inside])
        if found.apart <= twice:
            break
        twice = max(twice, found.outside)
        low, high = low + found.low, low + found.high
    return float(twice / (2 * len(ordered)))


def p_value(dip: float, count: int) -> float:
    """Return the chance of so large a dip, or a larger one, in `count` uniform values.

    Uniform is the worst case of one mode. The chance is interpolated over sqrt(count) * dip in the
    quantiles of strata.stats.dip_table, these over the logarithm of `count`. Above the largest
    count of the table its quantiles are taken: they change little. The least chance of the table
    stands for any that is less. Raises ValueError for fewer values than the least count of the
    table.
    """
    if count < COUNTS[0]:
        raise ValueError(
            f"Cannot compute the p-value of a dip: {count} values, but the table begins at "
            f"{COUNTS[0]}. Give more values."
        )
    return float(np.interp(np.sqrt(count) * dip, _scaled(count), [1.0, *QUANTILES]))


@lru_cache(maxsize=1024)
def _scaled(count: int) -> tuple[float, ...]:
    """Return what sqrt(count) * dip exceeds with the chances 1 and those of the table."""
    counts = np.log(COUNTS)
    quantiles = (float(np.interp(np.log(count), counts, each)) for each in QUANTILES.values())
    # No dip is smaller than 1 / (2 n).
    return float(0.5 / np.sqrt(count)), *quantiles


def _narrow(values: Floats, below: Ints, upto: Ints) -> _Narrower:
    """Cut an interval with its values, different ones, and how many lie below and up to each."""
    convex = convex_contacts(values, below)
    concave = convex_contacts(values, -upto)
    minorant = np.interp(values, values[convex], below[convex])
    majorant = np.interp(values, values[concave], upto[concave])
    gaps = majorant - minorant
    low, high = convex[gaps[convex].argmax()], concave[gaps[concave].argmax()]
    apart = max(gaps[low], gaps[high])
    if gaps[low] > gaps[high]:
        high = concave[np.searchsorted(concave, low)]
    else:
        low = convex[np.searchsorted(convex, high, side="right") - 1]
    # Not at the ends of what is left: the step there may be the mode.
    outside = max(
        (upto - minorant)[:low].max(initial=0.0), (majorant - below)[high + 1 :].max(initial=0.0)
    )
    return _Narrower(float(apart), int(low), int(high), float(outside))
