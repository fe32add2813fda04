# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What each thread ran and when: executions of callbacks, and the takes before them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from strata.schema.rows import NONE, Ints, Rows
from strata.timeline.columns import RowById
from strata.verdict.threads import ThreadNumbers

ThreadKey = tuple[str, int, int]
"""Host, process id and thread id."""


class Work(NamedTuple):
    """Stretches of work of one thread, in order and without overlap.

    `row` is the row of `callback_instances`; `take` flags the take before its callback's start.
    """

    row: Ints
    take: Ints
    begin_ns: Ints
    end_ns: Ints

    def of(self, chosen: Ints) -> Work:
        """Return some of the stretches."""
        return Work(*(column[chosen] for column in self))

    def within(self, begin_ns: int, end_ns: int) -> Work:
        """Return the stretches that lie in a window, wholly or in part."""
        first = int(np.searchsorted(self.end_ns, begin_ns, side="right"))
        last = int(np.searchsorted(self.begin_ns, end_ns, side="left"))
        return Work(*(column[first : max(first, last)] for column in self))


_NOTHING = Work(*[np.empty(0, np.int64)] * 4)


class ThreadWork:
    """The work of all threads, from `callback_instances` and `takes`.

    Only outermost executions: what a callback runs while it spins is part of it.
    """

    def __init__(self, instances: Rows, takes: Rows) -> None:
        numbers = ThreadNumbers(instances)
        thread, start_ns, until_ns = numbers.of_rows, instances["start_ns"], instances["until_ns"]
        self._key = thread_keys(instances)
        self._number = {self._key(row): at for at, row in enumerate(numbers.first.tolist())}
        order = np.lexsort((start_ns, thread))
        edges = np.searchsorted(thread[order], np.arange(len(numbers) + 1))
        took_ns = _took_ns(instances, takes, numbers)
        self._of: list[Work] = []
        for begin, end in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
            rows = order[begin:end]
            self._of.append(_work(rows, start_ns[rows], until_ns[rows], took_ns[rows]))
        callback = instances["callback_id"]
        self._by_callback = np.lexsort((start_ns, callback))
        self._callbacks = callback[self._by_callback]
        self._start_ns = start_ns[self._by_callback]
        self._until_ns = until_ns[self._by_callback]

    def of(self, thread: ThreadKey) -> Work:
        """Return what a thread ran; nothing of one that ran no callback."""
        number = self._number.get(thread)
        return _NOTHING if number is None else self._of[number]

    def threads_that_ran(self, callback_id: int, begin_ns: int, end_ns: int) -> list[ThreadKey]:
        """Return the threads that ran a callback in a window, those that began first first."""
        first, last = np.searchsorted(self._callbacks, [callback_id, callback_id + 1]).tolist()
        at = first + int(np.searchsorted(self._start_ns[first:last], end_ns, side="left"))
        # Executions of one callback may overlap: of those that began before, the last few hold.
        recent = slice(max(first, at - _RECENT), at)
        rows = self._by_callback[recent][self._until_ns[recent] > begin_ns]
        return list(dict.fromkeys(self._key(row) for row in rows.tolist()))


_RECENT = 256
"""So many executions of a callback are looked at for what ran in a window."""


def thread_keys(rows: Rows) -> Callable[[int], ThreadKey]:
    """Return what gives the thread of each row of a table."""
    hosts, vpid, vtid = rows.words("host"), rows["vpid"], rows["vtid"]
    return lambda row: (str(hosts.at(row)), int(vpid[row]), int(vtid[row]))


def _took_ns(instances: Rows, takes: Rows, numbers: ThreadNumbers) -> Ints:
    """Return since when the thread of each execution took what it ran for; `NONE` for no take."""
    began_ns = np.where(takes.there("picked_ns"), takes["picked_ns"], takes["rmw_take_ns"])
    out = np.full(len(instances), NONE, np.int64)
    row = RowById(instances["instance_id"]).of(takes["instance_id"])
    own = np.flatnonzero((row != NONE) & (began_ns != NONE) & ~takes["duplicate"])
    # A pool's thread runs what another one took.
    own = own[numbers.of(takes)[own] == numbers.of_rows[row[own]]]
    out[row[own]] = began_ns[own]
    return out


def _work(rows: Ints, start_ns: Ints, until_ns: Ints, took_ns: Ints) -> Work:
    """Return the work of one thread, whose executions are given in the order of their start."""
    reached_ns = np.maximum.accumulate(until_ns)
    outer = np.ones(len(rows), bool)
    outer[1:] = start_ns[1:] >= reached_ns[:-1]
    rows, start_ns, until_ns, took_ns = (
        column[outer] for column in (rows, start_ns, until_ns, took_ns)
    )
    before_ns = np.concatenate([[NONE], until_ns[:-1]])
    took = (took_ns != NONE) & (took_ns < start_ns)
    from_ns = np.where(took, np.minimum(np.maximum(took_ns, before_ns), start_ns), start_ns)
    row, take = np.repeat(rows, 2), np.tile([1, 0], len(rows))
    begin_ns = np.stack([from_ns, start_ns], axis=1).ravel()
    end_ns = np.stack([start_ns, until_ns], axis=1).ravel()
    kept = (end_ns > begin_ns) | (take == 0)
    return Work(row[kept], take[kept], begin_ns[kept], end_ns[kept])
