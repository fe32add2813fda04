# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Look up values within groups, for whole columns at once."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from strata.engine.groups import is_ascending, ordered_by, places, values_at
from strata.model.columns import NONE, Ints
from strata.schema.rows import are_all, nulls


def pick(values: Ints, rows: Ints) -> Ints:
    """Return `values[rows]`; `NONE` for `NONE`; a column of `nulls` for one."""
    if not len(values):
        return np.full(len(rows), NONE, np.int64)
    if is_null(rows) or is_null(values) or _are_few_nulls(values, len(rows)):
        return nulls(len(rows))
    return values_at(values, rows)


def column_at(values: Ints, rows: Ints) -> Ints:
    """Return `values[rows]`, not to write to: the values themselves where the rows are all.

    `NONE` for `NONE`, as `pick`.
    """
    return values if are_all(rows, len(values)) else pick(values, rows)


def known_or(values: Ints, others: Ints) -> Ints:
    """Return values, and others where they are null; not to write to."""
    known = values != NONE
    return values if known.all() else np.where(known, values, others)


def is_null(column: Ints) -> bool:
    """Return whether a column is that of `nulls`."""
    return column.strides == (0,) and len(column) > 0 and column[0] == NONE


def _are_few_nulls(values: Ints, rows: int) -> bool:
    """Return whether all values are null, of columns that are short beside the rows."""
    return len(values) * 8 < rows and bool((values == NONE).all())


def runs(ordered: Ints, values: Ints) -> tuple[Ints, Ints]:
    """Return for each value where it first stands in an ascending column, and how often."""
    first = np.searchsorted(ordered, values, side="left").astype(np.int64)
    return first, np.searchsorted(ordered, values, side="right").astype(np.int64) - first


def spread(first: Ints, count: Ints) -> tuple[Ints, Ints]:
    """Return the ranges `first .. first + count - 1` one after the other, and whose each item is.

    A negative count is none.
    """
    count = np.maximum(count, 0)
    owner = np.repeat(np.arange(len(count), dtype=np.int64), count)
    offset = np.arange(len(owner)) - np.repeat(np.cumsum(count) - count, count)
    return first[owner] + offset, owner


def position_in_group(group: Ints) -> Ints:
    """Return how many rows of its group come before each row."""
    order = np.argsort(group, kind="stable")
    ordered = group[order]
    out = np.empty(len(group), np.int64)
    out[order] = np.arange(len(group)) - np.searchsorted(ordered, ordered, side="left")
    return out


class GroupedSearch:
    """Sorted values within groups: where in its group would a value stand?

    `groups` and `values` are one row an entry. Entries of one group and value keep their order.
    """

    def __init__(self, groups: Ints, values: Ints) -> None:
        if is_ascending(values):
            self.order: Ints = ordered_by(groups, int(groups.max(initial=0)) + 1)
        else:
            self.order = np.lexsort((values, groups))
        self._groups = groups[self.order]
        self._values = values[self.order]

    def position(self, groups: Ints, values: Ints, *, after_equal: bool) -> Ints:
        """Return positions in `order`: entries before it are smaller (or equal) in their group.

        A group that has no entries gets the position where it would begin.
        """
        return places((self._groups, self._values), groups, values, after_equal=after_equal)

    def last_row(self, groups: Ints, values: Ints, *, after_equal: bool) -> Ints:
        """Return the row of the last entry of each group before a value (or at it); or `NONE`."""
        at = self.position(groups, values, after_equal=after_equal) - 1
        return pick(self.order, np.where(at >= self.begin(groups), at, NONE))

    def first_row(self, groups: Ints, values: Ints, *, after_equal: bool) -> Ints:
        """Return the row of the first entry of each group after a value (or at it); or `NONE`."""
        at = self.position(groups, values, after_equal=after_equal)
        return pick(self.order, np.where(at < self.end(groups), at, NONE))

    def begin(self, groups: Ints) -> Ints:
        """Return the position in `order` at which each group begins."""
        return self._bound(groups, "left")

    def end(self, groups: Ints) -> Ints:
        """Return the position in `order` after the last entry of each group."""
        return self._bound(groups, "right")

    def _bound(self, groups: Ints, side: Literal["left", "right"]) -> Ints:
        count = int(groups.max(initial=0)) + 1
        if count > len(groups) or groups.min(initial=0) < 0:
            return np.searchsorted(self._groups, groups, side=side).astype(np.int64)
        # Groups are few beside what is asked for: each is searched for once.
        every = np.searchsorted(self._groups, np.arange(count), side=side)
        return values_at(every.astype(np.int64, copy=False), groups)

    def same_group_as_next(self) -> npt.NDArray[np.bool_]:
        """Tell for each position in `order` but the last whether the next is of its group."""
        return np.asarray(self._groups[:-1] == self._groups[1:], dtype=bool)


class Lifetimes:
    """Entities by (process, handle): each lives from its init event until its handle is new again.

    Handles are addresses; one address may be several entities one after the other, and the same
    address may be another entity in another process.
    """

    def __init__(self, process: Ints, handle: Ints, begin_ns: Ints) -> None:
        self._handles, inverse = np.unique(handle, return_inverse=True)
        self._width = len(self._handles) + 1
        self._search = GroupedSearch(process * self._width + inverse, begin_ns)

    def ends(self, begin_ns: Ints) -> Ints:
        """Return when each entity's handle was reused; `NONE` for never.

        `begin_ns` is what the lifetimes were made from.
        """
        out = np.full(len(begin_ns), NONE, np.int64)
        order = self._search.order
        again = self._search.same_group_as_next()
        out[order[:-1][again]] = begin_ns[order[1:][again]]
        return out

    def find(self, process: Ints, handle: Ints, at_ns: Ints) -> Ints:
        """Return the row of the entity that lived at a time; `NONE` where there was none."""
        if not len(self._handles):
            return np.full(len(handle), NONE, np.int64)
        place = np.searchsorted(self._handles, handle).clip(max=len(self._handles) - 1)
        group = process * self._width + place
        last = self._search.last_row(group, at_ns, after_equal=True)
        return np.where(self._handles[place] == handle, last, NONE)

    def first_after(self, process: Ints, handle: Ints, at_ns: Ints) -> Ints:
        """Return the row of the first entity with that handle after a time; `NONE` if none."""
        if not len(self._handles):
            return np.full(len(handle), NONE, np.int64)
        place = np.searchsorted(self._handles, handle).clip(max=len(self._handles) - 1)
        group = process * self._width + place
        first = self._search.first_row(group, at_ns, after_equal=True)
        return np.where(self._handles[place] == handle, first, NONE)

    def nearest(self, process: Ints, handle: Ints, at_ns: Ints, begin_ns: Ints) -> Ints:
        """Return the row whose init event is nearest in time, before or after; `NONE` if none.

        `begin_ns` is what the lifetimes were made from. For links between init events, whose order
        differs (an intra-process subscription gets its callback before it is announced).
        """
        before = self.find(process, handle, at_ns)
        if not len(self._handles):
            return before
        after = self.first_after(process, handle, at_ns)
        far = np.iinfo(np.int64).max
        gap_before = np.where(before != NONE, at_ns - begin_ns[before], far)
        gap_after = np.where(after != NONE, begin_ns[after] - at_ns, far)
        return np.where(gap_after < gap_before, after, before)


Spans = tuple[Ints, Ints, Ints]
"""Group, begin and end of intervals."""


def overlapping(asked: Spans, spans: Spans) -> tuple[Ints, Ints]:
    """Return the pairs of rows of one group that overlap; `spans` of a group never do."""
    started = GroupedSearch(spans[0], spans[1])
    ended = GroupedSearch(spans[0], spans[2])
    first = ended.position(asked[0], asked[1], after_equal=True)
    last = started.position(asked[0], asked[2], after_equal=False)
    place, row = spread(first, last - first)
    return row, started.order[place]
