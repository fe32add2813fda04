# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Clocks in NumPy: what the engine's are compared with.

A clock has lanes (executors, threads, callback groups), each with intervals that do not overlap.
It tells the summed length of a lane's intervals up to an instant; differences of two readings are
the time within.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from strata.model.columns import NONE, Ints
from strata.model.search import GroupedSearch

Flags = npt.NDArray[np.bool_]


class Clock:
    """Intervals by lane and time; those of a lane that overlap are one."""

    def __init__(self, lane: Ints, start_ns: Ints, end_ns: Ints) -> None:
        lane, start_ns, end_ns = _union(lane, start_ns, end_ns)
        self.lane, self.start_ns, self.end_ns = lane, start_ns, end_ns
        self._search = GroupedSearch(lane, start_ns)
        self._before = np.concatenate([[0], np.cumsum(end_ns - start_ns)]).astype(np.int64)

    def known(self, lane: Ints) -> Flags:
        """Tell for each lane whether it has any interval."""
        return np.asarray(self._search.begin(lane) < self._search.end(lane))

    def elapsed(self, lane: Ints, at_ns: Ints) -> Ints:
        """Return ns of a lane's intervals up to an instant, since a fixed one: use differences."""
        begun = self._search.position(lane, at_ns, after_equal=True)
        if not len(self.end_ns):
            return np.zeros(len(at_ns), np.int64)
        # The last interval that began may go on beyond the instant: take off what lies after it.
        own = begun > self._search.begin(lane)
        beyond = self.end_ns[np.maximum(begun - 1, 0)] - at_ns
        return self._before[begun] - np.where(own, np.maximum(beyond, 0), 0)

    def within(self, lane: Ints, begin_ns: Ints, end_ns: Ints) -> Ints:
        """Return ns of a lane's intervals between two instants."""
        return self.elapsed(lane, end_ns) - self.elapsed(lane, begin_ns)

    def last_end(self, lane: Ints, at_ns: Ints) -> Ints:
        """Return when the last interval up to an instant ended; `NONE` where none did."""
        begun = self._search.position(lane, at_ns, after_equal=True)
        first = self._search.begin(lane)
        if not len(self.end_ns):
            return np.full(len(at_ns), NONE, np.int64)
        ended = self.end_ns[np.maximum(begun - 1, 0)] <= at_ns
        last = np.where(ended, begun - 1, begun - 2)
        return np.where(last >= first, self.end_ns[np.maximum(last, 0)], NONE)


class Overlap:
    """How long two clocks went at once: intervals of `outer` lanes within lanes of `inner`.

    `lane` gives the lane of `inner` for each interval of `outer`; it is one for each outer lane.
    """

    def __init__(self, outer: Clock, inner: Clock, lane: Ints) -> None:
        self._outer, self._inner = outer, inner
        self._search = GroupedSearch(outer.lane, outer.start_ns)
        both = inner.within(lane, outer.start_ns, outer.end_ns)
        self._before = np.concatenate([[0], np.cumsum(both)]).astype(np.int64)

    def elapsed(self, outer: Ints, inner: Ints, at_ns: Ints) -> Ints:
        """Return ns in which both went, up to an instant, since a fixed one: use differences."""
        begun = self._search.position(outer, at_ns, after_equal=True)
        ends = self._outer.end_ns
        if not len(ends):
            return np.zeros(len(at_ns), np.int64)
        own = begun > self._search.begin(outer)
        end_ns = ends[np.maximum(begun - 1, 0)]
        inside = own & (end_ns > at_ns)
        beyond = self._inner.within(inner, np.where(inside, at_ns, end_ns), end_ns)
        return self._before[begun] - np.where(inside, beyond, 0)

    def within(self, outer: Ints, inner: Ints, begin_ns: Ints, end_ns: Ints) -> Ints:
        """Return ns in which both went, between two instants."""
        return self.elapsed(outer, inner, end_ns) - self.elapsed(outer, inner, begin_ns)


def _union(lane: Ints, start_ns: Ints, end_ns: Ints) -> tuple[Ints, Ints, Ints]:
    """Intervals by lane and start, those of a lane that overlap made one."""
    order = np.lexsort((start_ns, lane))
    lane, start_ns, end_ns = lane[order], start_ns[order], end_ns[order]
    over = (lane[1:] == lane[:-1]) & (start_ns[1:] < end_ns[:-1])
    if not over.any():
        return lane, start_ns, end_ns
    highest = greatest_so_far(np.unique(lane, return_inverse=True)[1], end_ns)
    new = np.ones(len(lane), bool)
    new[1:] = (lane[1:] != lane[:-1]) | (start_ns[1:] >= highest[:-1])
    first = np.flatnonzero(new)
    last = np.append(first[1:], len(lane)) - 1
    return lane[first], start_ns[first], highest[last]


def greatest_so_far(group: Ints, values: Ints) -> Ints:
    """Return the greatest value up to each row within its group; `group` is dense and ascending."""
    by_value = np.argsort(values, kind="stable")
    rank = np.empty(len(values), np.int64)
    rank[by_value] = np.arange(len(values))
    # The rank under the group's number makes a running maximum that restarts by group.
    code = group * (len(group) + 1)
    return values[by_value[np.maximum.accumulate(code + rank) - code]]
