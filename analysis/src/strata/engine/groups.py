# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Columns by group: sums, bounds and order; and by row. A group is a number from 0."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from strata.engine._model import lower_by, places_of, raise_by, sums_by, take_into
from strata.schema.rows import Ints

_Integers = npt.NDArray[np.integer]


def sums(group: Ints, values: Ints, count: int) -> Ints:
    """Return the sum of each of `count` groups, in integers."""
    return sums_by(_ints(group), _ints(values), count)


def lower(bounds: Ints, group: Ints, values: Ints) -> None:
    """Lower each of `bounds` to the least value of its group, a number below their count."""
    lower_by(_ints(group), _ints(values), bounds)


def raise_to(bounds: Ints, group: Ints, values: Ints) -> None:
    """Raise each of `bounds` to the greatest value of its group, a number below their count."""
    raise_by(_ints(group), _ints(values), bounds)


def _ints(values: Ints) -> Ints:
    return np.ascontiguousarray(values, np.int64)


def is_ascending(values: Ints) -> bool:
    """Return whether no value is less than the one before."""
    return bool((values[1:] >= values[:-1]).all())


def ordered_by(group: Ints, count: int) -> Ints:
    """Return the rows by group (of `count` groups), in their order within each."""
    if is_ascending(group):
        return np.arange(len(group), dtype=np.int64)
    # NumPy sorts 16 bits by digits, which is several times as fast.
    return np.argsort(group.astype(np.int16) if count < 1 << 15 else group, kind="stable")


def places(entries: tuple[Ints, Ints], groups: Ints, values: Ints, *, after_equal: bool) -> Ints:
    """Return for each value how many entries come before it: of lesser groups, and of its own group
    those that are less, or equal if `after_equal`.

    `entries` are groups and values in order of both.
    """
    found = places_of(
        _ints(entries[0]), _ints(entries[1]), _ints(groups), _ints(values), after_equal
    )
    return np.asarray(found, np.int64)


def values_at(values: _Integers, rows: _Integers) -> Ints:
    """Return `values[rows]`, and null for null; raises IndexError for a row that is not there.

    Both are integers of 64, 32 or 8 bits.
    """
    found = np.empty(len(rows), np.int64)
    take_into(found, np.ascontiguousarray(values), np.ascontiguousarray(rows))
    return found
