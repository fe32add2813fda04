# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Join tables by equal rows, where only one row of the other table will do."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from strata.model.columns import NONE, Ints

Flags = npt.NDArray[np.bool_]


def codes_of(*columns: list[Ints]) -> tuple[Ints, ...]:
    """Return for several tables the numbers of their rows, equal where all columns are equal.

    A table is a list of its columns.
    """
    sizes = np.cumsum([len(part[0]) for part in columns])[:-1]
    joined = [np.concatenate(parts) for parts in zip(*columns, strict=True)]
    codes = pd.DataFrame(dict(enumerate(joined))).groupby(list(range(len(joined)))).ngroup()
    return tuple(np.split(codes.to_numpy(np.int64), sizes))


def repeated(codes: Ints) -> Flags:
    """Return which values are there more than once."""
    return np.asarray(pd.Series(codes).duplicated(keep=False), bool)


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
