# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Whole columns by group: sums, order statistics, distinct pairs, and rows found by their key.

A group is a number from 0; every function takes all groups at once.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from strata.engine.groups import is_ascending
from strata.schema.rows import NONE, Coded, Flags, Floats, Ints

_DENSE = 1 << 22
"""Keys below this many are looked up in a table of all of them; more are sorted."""


def counts(group: Ints, count: int) -> Ints:
    """Return how many rows each of `count` groups has."""
    return np.bincount(group, minlength=count).astype(np.int64, copy=False)


def first_rows(group: Ints, count: int) -> Ints:
    """Return the first row of each of `count` groups; `NONE` for none."""
    out = np.full(count, NONE, np.int64)
    out[group[::-1]] = np.arange(len(group), dtype=np.int64)[::-1]
    return out


def distinct(keys: Ints, bound: int) -> tuple[Ints, Ints]:
    """Return the different keys, ascending, and the number of each row's key among them.

    Keys lie in 0 .. bound - 1.
    """
    if bound > max(_DENSE, 4 * len(keys)):
        found, number = np.unique(keys, return_inverse=True)
        return found, number.astype(np.int64, copy=False)
    there = np.zeros(bound, bool)
    there[keys] = True
    return np.flatnonzero(there), (np.cumsum(there) - 1)[keys]


def paired(first: Ints, second: Ints, make: Callable[[int, int], int]) -> Ints:
    """Return what is made of the two numbers of each row, once for each different pair.

    Numbers are `NONE` or more.
    """
    count = int(second.max(initial=NONE)) + 2
    bound = (int(first.max(initial=NONE)) + 2) * count
    keys, number = distinct((first + 1) * count + second + 1, bound)
    one, other = (part.tolist() for part in np.divmod(keys, count))
    made = [make(a - 1, b - 1) for a, b in zip(one, other, strict=True)]
    return np.asarray(made, np.int64)[number]


def runs(ordered: Ints, values: Ints) -> tuple[Ints, Ints]:
    """Return for each value its first row in an ascending column, and how many rows it has."""
    first = np.searchsorted(ordered, values, side="left").astype(np.int64, copy=False)
    if len(ordered) and (ordered[1:] > ordered[:-1]).all():
        there = ordered[np.minimum(first, len(ordered) - 1)] == values
        return first, there.astype(np.int64)
    return first, np.searchsorted(ordered, values, side="right").astype(np.int64) - first


def spread(first: Ints, count: Ints) -> tuple[Ints, Ints]:
    """Return the ranges `first .. first + count - 1` in a row, and whose each item is."""
    owner = np.repeat(np.arange(len(count), dtype=np.int64), count)
    return np.arange(len(owner)) + np.repeat(first - (np.cumsum(count) - count), count), owner


def joined(keys: Ints, values: Ints) -> tuple[Ints, Ints]:
    """Return every pair of a row of `keys` and a row of `values` that are equal.

    The first are the rows of `keys`, in any order, the second those of `values`, ascending.
    """
    if is_ascending(keys):
        return spread(*runs(keys, values))
    order = np.argsort(keys, kind="stable")
    rows, owner = spread(*runs(keys[order], values))
    return order[rows], owner


def found(keys: Ints, values: Ints, wanted: Ints, otherwise: int) -> Ints:
    """Return the value of each wanted key, of several equal keys the first; `otherwise` for none.

    `keys` and `values` have one length.
    """
    if not len(keys):
        return np.full(len(wanted), otherwise, np.int64)
    if not is_ascending(keys):
        order = np.argsort(keys, kind="stable")
        keys, values = keys[order], values[order]
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[at] == wanted, values[at], otherwise)


def recoded(column: Coded, words: tuple[str, ...]) -> Ints:
    """Return a column's codes by the numbers of other words; `NONE` where a word is not there."""
    if column.words == words:
        return column.codes
    number = {word: code for code, word in enumerate(words)}
    other = [number.get(word, NONE) for word in column.words]
    return np.asarray([*other, NONE], np.int64)[column.codes]


def ranks(words: tuple[str, ...]) -> Ints:
    """Return the place of each word in alphabetical order; the words are different."""
    order = sorted(range(len(words)), key=words.__getitem__)
    out = np.empty(len(words), np.int64)
    out[order] = np.arange(len(words))
    return out


class Ordered:
    """The values of each of `count` groups in ascending order: what quantiles are read from."""

    def __init__(self, group: Ints, values: Ints, count: int) -> None:
        """Take whole numbers; groups may have none."""
        self.sizes = counts(group, count)
        self.first = np.cumsum(self.sizes) - self.sizes
        self.values = _ordered(group, values, count)

    def at(self, offset: Ints) -> Ints:
        """Return the value of each group at a place of its order; 0 for groups without values."""
        if not len(self.values):
            return np.zeros(len(self.sizes), np.int64)
        inside = np.clip(offset, 0, np.maximum(self.sizes - 1, 0))
        return np.where(self.sizes > 0, self.values[np.minimum(self.first + inside, self._last)], 0)

    def quantile(self, fraction: float) -> Floats:
        """Return a quantile of each group, to the bit that of `numpy.quantile`; NaN for none."""
        place = (self.sizes - 1) * fraction
        below = np.floor(place)
        low, high = self.at(below.astype(np.int64)), self.at(below.astype(np.int64) + 1)
        part, step = place - below, high - low
        value = np.where(part >= 0.5, high - step * (1 - part), low + step * part)
        return np.where(self.sizes > 0, value, np.nan)

    def median(self) -> Floats:
        """Return the median of each group; NaN for groups without values."""
        middle = (self.at((self.sizes - 1) // 2) + self.at(self.sizes // 2)) / 2
        return np.where(self.sizes > 0, middle, np.nan)

    @property
    def _last(self) -> int:
        return len(self.values) - 1


def _ordered(group: Ints, values: Ints, count: int) -> Ints:
    """Return values by group, ascending within each."""
    if not len(values):
        return values
    low = int(values.min())
    span = int(values.max()) - low + 1
    if count * span < 1 << 62:
        # One number for both sorts several times as fast as two columns.
        return np.sort(group * span + (values - low)) % span + low
    return values[np.lexsort((values, group))]


def each(flags: Flags, group: Ints, count: int) -> Flags:
    """Tell of which groups all rows are flagged; of one without rows too."""
    out = np.ones(count, bool)
    out[group[~flags]] = False
    return out
