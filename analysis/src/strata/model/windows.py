# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Windows of time in which events were lost."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from strata.model.columns import Ints

Windows = tuple[Ints, Ints]
"""Begins and ends of windows of time, ns since the epoch, both included."""

NO_LOSSES: Windows = (np.empty(0, np.int64), np.empty(0, np.int64))


def first_touching(windows: Windows, at_ns: Ints) -> Ints:
    """Return the begin of the first window that is not over at each time, or the far future."""
    by_end = np.argsort(windows[1], kind="stable")
    far = np.iinfo(np.int64).max
    begin = np.append(windows[0][by_end], far)
    earliest = np.minimum.accumulate(begin[::-1])[::-1]
    return np.asarray(earliest[np.searchsorted(windows[1][by_end], at_ns, side="left")], np.int64)


def touched(windows: Windows, begin_ns: Ints, end_ns: Ints) -> npt.NDArray[np.bool_]:
    """Tell which intervals any window touches."""
    begun = np.searchsorted(np.sort(windows[0]), end_ns, side="right")
    over = np.searchsorted(np.sort(windows[1]), begin_ns, side="left")
    return np.asarray(begun > over)
