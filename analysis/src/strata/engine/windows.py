# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Windows of time in which events were lost."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from strata.schema.rows import Ints

Windows = tuple[Ints, Ints]
"""Begins and ends of windows of time, ns since the epoch, both included."""

NO_LOSSES: Windows = (np.empty(0, np.int64), np.empty(0, np.int64))


def first_touching(windows: Windows, at_ns: Ints) -> Ints:
    """Return the begin of the first window that is not over at each time, or the far future."""
    if not len(windows[0]):
        return np.broadcast_to(np.int64(np.iinfo(np.int64).max), len(at_ns))
    by_end = np.argsort(windows[1], kind="stable")
    far = np.iinfo(np.int64).max
    begin = np.append(windows[0][by_end], far)
    earliest = np.minimum.accumulate(begin[::-1])[::-1]
    return np.asarray(earliest[np.searchsorted(windows[1][by_end], at_ns, side="left")], np.int64)


def touched(windows: Windows, begin_ns: Ints, end_ns: Ints) -> npt.NDArray[np.bool_]:
    """Return which intervals any window touches."""
    if not len(windows[0]):
        return np.zeros(len(begin_ns), bool)
    return np.asarray(begun_by(windows, end_ns) > over_before(windows, begin_ns))


def begun_by(windows: Windows, at_ns: Ints) -> Ints:
    """Return how many windows began at each time or before it."""
    return np.searchsorted(np.sort(windows[0]), at_ns, side="right").astype(np.int64)


def over_before(windows: Windows, at_ns: Ints) -> Ints:
    """Return how many windows ended before each time."""
    return np.searchsorted(np.sort(windows[1]), at_ns, side="left").astype(np.int64)
