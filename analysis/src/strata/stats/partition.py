# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The rows of each key, found with one sort however many keys there are."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from strata.engine.groups import ordered_by
from strata.schema.rows import Ints
from strata.stats._grouped import Groups
from strata.stats.grouped import counts, distinct


def numbered(keys: Ints) -> tuple[Ints, Groups]:
    """Return the different keys, ascending, and the rows of each as a group of its number."""
    found, number = np.unique(keys, return_inverse=True)
    return found, Groups(number.astype(np.int64, copy=False), len(found))


def partition(keys: Ints) -> Iterator[tuple[int, Ints]]:
    """Yield each key, ascending, and its rows in their order."""
    if not len(keys):
        return
    low = int(keys.min())
    found, number = distinct(keys - low, int(keys.max()) - low + 1)
    ends = np.cumsum(counts(number, len(found)))
    rows = np.split(ordered_by(number, len(found)), ends[:-1])
    for key, own in zip(found.tolist(), rows, strict=True):
        yield key + low, own
