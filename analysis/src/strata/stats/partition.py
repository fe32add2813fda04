# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The rows of each key, found with one sort however many keys there are."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from strata.schema.rows import Ints
from strata.stats._grouped import Groups


def numbered(keys: Ints) -> tuple[Ints, Groups]:
    """Return the different keys, ascending, and the rows of each as a group of its number."""
    found, number = np.unique(keys, return_inverse=True)
    return found, Groups(number.astype(np.int64, copy=False), len(found))


def partition(keys: Ints) -> Iterator[tuple[int, Ints]]:
    """Yield each key, ascending, and its rows in their order."""
    order = np.argsort(keys, kind="stable")
    found, first = np.unique(keys[order], return_index=True)
    for key, rows in zip(found.tolist(), np.split(order, first[1:]), strict=False):
        yield int(key), rows
