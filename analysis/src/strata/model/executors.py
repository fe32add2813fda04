# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Executors and callback groups: no event names them, what ran where tells.

An *executor* is a set of threads of one process: those with executor events that ran the same
callback belong to one, as a node is in one executor at a time. Threads that ran callbacks without
any executor event (EventsExecutor, pools of rclpy) are put together by the same rule, and said to
be without events.

In a multi-threaded executor, callbacks of one callback group that excludes itself never overlap.
The group of a callback is inferred: all callbacks of a node that were never seen to overlap with
another of that node are one group; one that overlapped with others but not with itself is a group
of its own; one that overlapped with itself (reentrant) has none. Single-threaded executors need no
groups: one callback runs at a time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from strata.model.columns import NONE, EventColumns, Ints
from strata.model.entities import Callbacks
from strata.model.executions import Executions, Waits
from strata.model.timeline import EVENT_OF, Kind

_EXECUTOR_EVENTS = (Kind.WAIT, Kind.READY, Kind.EXECUTE)


@dataclass(frozen=True)
class Executors:
    """One row an executor.

    `process`: dense process. `threads`: how many. `told`: it has executor events. `of_thread` has
    one row a thread, `of_callback` and `group_of` one a callback: rows of executors, numbers of
    groups; `NONE` for a thread or callback in none. `wait_lane` gives each wait its executor, or,
    of threads in none, a number beyond them; so does `lane` for threads.
    """

    process: Ints
    threads: Ints
    told: np.ndarray[tuple[int], np.dtype[np.bool_]]
    of_thread: Ints
    of_callback: Ints
    group_of: Ints

    def __len__(self) -> int:
        return len(self.process)

    def lane(self, thread: Ints) -> Ints:
        """Return what waits of threads are added up in: their executor, or else the thread."""
        if not len(self.of_thread):
            return thread
        own = self.of_thread[thread]
        return np.where(own != NONE, own, len(self) + thread)


@dataclass(frozen=True)
class GroupRuns:
    """Executions by callback group: rows of the executions, their group, begin and end.

    The intervals of one group never overlap.
    """

    row: Ints
    group: Ints
    start_ns: Ints
    until_ns: Ints


def find_executors(
    events: EventColumns, executions: Executions, waits: Waits, callbacks: Callbacks
) -> Executors:
    """Infer the executors of a trace and the callback groups of its multi-threaded ones."""
    count = len(events.processes.thread_process)
    told = np.zeros(count, bool)
    for kind in _EXECUTOR_EVENTS:
        told[np.unique(events.thread(EVENT_OF[kind]))] = True
    told[np.unique(waits.thread)] = True
    label = _labels(executions, told, count)
    distinct, number = np.unique(label[label != NONE], return_inverse=True)
    of_thread = np.full(count, NONE, np.int64)
    of_thread[label != NONE] = number
    of_callback = np.full(len(callbacks.address), NONE, np.int64)
    ran = executions.callback != NONE
    of_callback[executions.callback[ran]] = of_thread[executions.thread[ran]]
    threads = np.bincount(number, minlength=len(distinct)).astype(np.int64)
    return Executors(
        events.processes.thread_process[distinct],
        threads,
        told[distinct],
        of_thread,
        of_callback,
        _groups(executions, callbacks, np.append(threads, 0)[of_callback] > 1),
    )


def _labels(executions: Executions, told: np.ndarray, count: int) -> Ints:
    """The least thread of each thread's executor; `NONE` for threads that are in none."""
    ran = executions.callback != NONE
    # A thread with executor events and one without never share an executor's name.
    key = executions.callback[ran] * 2 + told[executions.thread[ran]]
    width = count + 1
    pairs = np.unique(executions.thread[ran] + key * width)
    thread, callback = pairs % width, np.unique(pairs // width, return_inverse=True)[1]
    label = np.where(told, np.arange(count), NONE).astype(np.int64)
    label[thread] = thread
    while len(pairs):
        least = np.full(callback.max() + 1, count, np.int64)
        np.minimum.at(least, callback, label[thread])
        after = label.copy()
        np.minimum.at(after, thread, least[callback])
        if (after == label).all():
            break
        label = after
    return label


def _groups(executions: Executions, callbacks: Callbacks, wanted: np.ndarray) -> Ints:
    """Number the inferred callback groups of callbacks that run on several threads' executors."""
    group = np.full(len(callbacks.address), NONE, np.int64)
    if not wanted.any():
        return group
    ran = np.flatnonzero((executions.callback != NONE) & (executions.depth == 1))
    ran = ran[wanted[executions.callback[ran]]]
    ran = ran[callbacks.node[executions.callback[ran]] != NONE]
    callback = executions.callback[ran]
    first, second = _overlaps(executions, ran, callbacks.node[callback])
    mixed, reentrant = np.zeros(len(group), bool), np.zeros(len(group), bool)
    mixed[executions.callback[first]] = mixed[executions.callback[second]] = True
    own_first, own_second = _overlaps(executions, ran, callback)
    reentrant[executions.callback[own_first]] = reentrant[executions.callback[own_second]] = True
    seen = np.unique(callback)
    nodes = int(callbacks.node.max()) + 1
    group[seen] = np.where(mixed[seen], nodes + seen, callbacks.node[seen])
    group[reentrant] = NONE
    return group


def group_runs(executions: Executions, group_of: Ints) -> GroupRuns:
    """Return the outermost executions of callbacks that have a group, by group and time.

    In a group one begins only when the one before has ended: that bounds those without an end.
    """
    callback = executions.callback
    group = np.where(callback != NONE, np.append(group_of, NONE)[callback], NONE)
    rows = np.flatnonzero((group != NONE) & (executions.depth == 1))
    rows = rows[np.lexsort((executions.start_ns[rows], group[rows]))]
    group, until_ns = group[rows], executions.until_ns[rows].copy()
    same = group[1:] == group[:-1]
    begin_ns = executions.start_ns[rows]
    until_ns[:-1][same] = np.minimum(until_ns[:-1][same], begin_ns[1:][same])
    return GroupRuns(rows, group, begin_ns, until_ns)


def _overlaps(executions: Executions, rows: Ints, key: Ints) -> tuple[Ints, Ints]:
    """Executions that began while another of the same key ran, each with one such other."""
    order = rows[np.lexsort((executions.start_ns[rows], key))]
    group = np.sort(key)
    # When one ended that never did is not known: it is seen to overlap where it begins.
    end_ns = np.maximum(executions.end_ns, executions.start_ns)
    # The rank of an end, under its key's number, makes a running maximum that restarts by key.
    rank = np.empty(len(order), np.int64)
    rank[np.argsort(end_ns[order], kind="stable")] = np.arange(len(order))
    code = np.unique(group, return_inverse=True)[1] * (len(order) + 1)
    highest = np.maximum.accumulate(code + rank) - code
    by_rank = np.empty(len(order), np.int64)
    by_rank[rank] = order
    latest = by_rank[highest[:-1]] if len(order) > 1 else order[:0]
    later = order[1:]
    over = (group[1:] == group[:-1]) & (end_ns[latest] > executions.start_ns[later])
    return latest[over], later[over]
