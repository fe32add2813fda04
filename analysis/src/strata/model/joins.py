# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Join tables by equal rows, where only one row of the other table will do."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from strata.model.columns import NONE, Ints

Flags = npt.NDArray[np.bool_]


def codes_of(*columns: list[Ints]) -> tuple[Ints, ...]:
    """Return for several tables the numbers of their rows, equal where all columns are equal.

    A table is a list of its columns.
    """
    sizes = np.cumsum([len(part[0]) for part in columns])[:-1]
    joined = [np.concatenate(parts) for parts in zip(*columns, strict=True)]
    codes = np.unique(joined[0], return_inverse=True)[1]
    for column in joined[1:]:
        # Combined numbers stay below the square of the rows.
        one = np.unique(column, return_inverse=True)[1]
        width = int(one.max(initial=0)) + 1
        codes = np.unique(codes * width + one, return_inverse=True)[1]
    return tuple(np.split(codes.astype(np.int64), sizes))


def repeated(codes: Ints) -> Flags:
    """Return which values are there more than once."""
    _, number, times = np.unique(codes, return_inverse=True, return_counts=True)
    return np.asarray(times[number] > 1, bool)


def single(key: Ints, other: Ints, wanted: Flags | None, usable: Flags) -> Ints:
    """Return for each key the one usable row of `other` that has it; `NONE` for none or several.

    Keys that are not `wanted` get `NONE`; None wants them all.
    """
    size = int(max(key.max(initial=-1), other.max(initial=-1))) + 1
    row = np.flatnonzero(usable)
    count = np.bincount(other[row], minlength=size)
    place = np.full(size, NONE, np.int64)
    place[other[row]] = row
    found = np.where(count[key] == 1, place[key], NONE)
    return found if wanted is None else np.where(wanted, found, NONE)


def flags_at(flags: Flags, wanted: Ints) -> Flags:
    """Return `flags[wanted]`, False where the row is `NONE`."""
    if not len(flags):
        return np.zeros(len(wanted), bool)
    return np.asarray((wanted != NONE) & flags[np.maximum(wanted, 0)], bool)
