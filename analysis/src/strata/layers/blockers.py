# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Which callbacks and takes a message waited behind, and for how long each.

A *take* is work of the executor, too: from when it picked a message until the callback begins, with
what lies in between, as the deserialization of an image. Where the pick was not recorded, it is
from the take's begin within the middleware, else from rmw_take.

A message may have waited behind two rows of callbacks (strata.layers.waiting): those of its own
callback group on other threads, and those of the thread that took it. Each row is a *lane* of
executions that do not overlap, with what each counts; of the second only the time that is neither
idle nor behind the first. So the durations never exceed the executor wait of the message.

A message in a backlog waits behind many executions of few callbacks: of those that lie wholly
within its wait, the sums of each callback are differences of running totals.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from strata.layers.transfers import Transfers
from strata.layers.waiting import Flags, Waiting
from strata.model.build import Model
from strata.model.columns import NONE, Ints
from strata.model.search import GroupedSearch, runs, spread, sums

_FEW = 6
"""Executions within a wait up to which they are added one by one."""
_NAMED = 24
"""Callbacks (and takes) of a thread that are told apart for messages in a backlog: the longest."""


@dataclass(frozen=True)
class Blockers:
    """What ran while messages waited: rows are (message, callback, work), in that order.

    `callback` is `NONE` for work beside that of their thread that ran longest; `take`: not the
    callback ran, but a message was taken for it.
    """

    message: Ints
    callback: Ints
    take: Flags
    duration_ns: Ints


@dataclass(frozen=True)
class _Lanes:
    """Work by lane and time; of lanes of threads `group` is that of the messages there.

    `work` is twice the callback, and one more for a take; `NONE` for an unknown callback.
    `wait_lane` and `group` have one row a lane (`NONE`: the lane is a group's own).
    """

    lane: Ints
    start_ns: Ints
    until_ns: Ints
    work: Ints
    wait_lane: Ints
    group: Ints


def find_blockers(model: Model, transfers: Transfers) -> Blockers:
    """Return the callbacks that ran before messages that waited were picked.

    From the instant at which the reader was notified; where it was not recorded, from rmw_publish
    (of intra-process messages, from the enqueue). Only outermost executions: what runs inside one
    is part of it, but for the time in which the thread waited for work in there.
    """
    waiting = transfers.waiting
    begin, end = transfers.waiting_from_ns, transfers.waiting_until_ns
    thread = model.takes.thread[transfers.take]
    # The lanes of threads, one for each pair of a thread and a group of messages that it took.
    width = int(waiting.group.max(initial=NONE)) + 2
    pairs, lane = np.unique(thread * width + waiting.group + 1, return_inverse=True)
    threads, groups = pairs // width, pairs % width - 1
    parts = [_waits(waiting, _thread_lanes(model, threads, groups), lane, begin, end)]
    if (waiting.group != NONE).any():
        parts.append(_waits(waiting, _group_lanes(model), waiting.group, begin, end))
    message, work, duration = (np.concatenate(column) for column in zip(*parts, strict=True))
    return _added_up(message, work, duration)


def _thread_lanes(model: Model, thread: Ints, group: Ints) -> _Lanes:
    executions = model.executions
    outer = np.flatnonzero(executions.depth == 1)
    row, taken_ns = _takes(model, outer)
    callback = executions.callback
    worked = np.concatenate([executions.thread[outer], executions.thread[row]])
    start_ns = np.concatenate([executions.start_ns[outer], taken_ns])
    until_ns = np.concatenate([executions.until_ns[outer], executions.start_ns[row]])
    work = np.concatenate(
        [
            np.where(callback[outer] != NONE, 2 * callback[outer], NONE),
            np.where(callback[row] != NONE, 2 * callback[row] + 1, NONE),
        ]
    )
    order = np.lexsort((until_ns, start_ns, worked))
    place, lane = spread(*runs(worked[order], thread))
    rows = order[place]
    return _Lanes(
        lane, start_ns[rows], until_ns[rows], work[rows], model.executors.lane(thread), group
    )


def _takes(model: Model, outer: Ints) -> tuple[Ints, Ints]:
    """Return the outermost executions that takes began, and since when the thread took for each.

    A take begins when the execution before it on its thread is over, at the earliest.
    """
    takes, executions = model.takes, model.executions
    began_ns = np.where(takes.picked_ns != NONE, takes.picked_ns, model.middleware.reads.begin_ns)
    began_ns = np.where(began_ns != NONE, began_ns, takes.taken_ns)
    took = np.flatnonzero(takes.execution != NONE)
    since = np.full(len(executions), NONE, np.int64)
    since[takes.execution[took]] = began_ns[took]
    order = outer[np.lexsort((executions.start_ns[outer], executions.thread[outer]))]
    until = np.full(len(executions), NONE, np.int64)
    same = executions.thread[order[1:]] == executions.thread[order[:-1]]
    until[order[1:][same]] = executions.until_ns[order[:-1][same]]
    row = outer[since[outer] != NONE]
    start_ns = np.maximum(since[row], until[row])
    kept = start_ns < executions.start_ns[row]
    return row[kept], start_ns[kept]


def _group_lanes(model: Model) -> _Lanes:
    groups = model.groups
    none = np.full(int(groups.group.max(initial=0)) + 1, NONE, np.int64)
    callback = model.executions.callback[groups.row]
    work = np.where(callback != NONE, 2 * callback, NONE)
    return _Lanes(groups.group, groups.start_ns, groups.until_ns, work, none, none)


def _waits(
    waiting: Waiting, lanes: _Lanes, lane: Ints, begin: Ints, end: Ints
) -> tuple[Ints, Ints, Ints]:
    """Rows of message, work and ns, one or more a pair; `lane` is that of each message."""
    started = GroupedSearch(lanes.lane, lanes.start_ns)
    ended = GroupedSearch(lanes.lane, lanes.until_ns)
    # What a lane did does not overlap: both searches have the order of the rows.
    first = ended.position(lane, begin, after_equal=True)
    last = started.position(lane, end, after_equal=False)
    count = np.maximum(last - first, 0)
    few = count <= _FEW
    message = np.flatnonzero(few & (count > 0))
    edges = np.flatnonzero(~few)
    one_by_one, owner = spread(first[message], count[message])
    rows = np.concatenate([one_by_one, first[edges], last[edges] - 1])
    of = np.concatenate([message[owner], edges, edges])
    ns = _clipped(waiting, lanes, rows, begin[of], end[of])
    # A take that goes on beyond the end of the wait is the message's own.
    ns[_is_take(lanes.work[rows]) & (lanes.until_ns[rows] > end[of])] = 0
    inner = _inner(waiting, lanes, first[edges] + 1, last[edges] - 1, lane[edges])
    return (
        np.concatenate([of, edges[inner[0]]]),
        np.concatenate([lanes.work[rows], inner[1]]),
        np.concatenate([ns, inner[2]]),
    )


def _is_take(work: Ints) -> Flags:
    return np.asarray((work != NONE) & (work % 2 == 1))


def _clipped(waiting: Waiting, lanes: _Lanes, rows: Ints, begin: Ints, end: Ints) -> Ints:
    """What executions count within the waits of messages."""
    from_ns = np.maximum(lanes.start_ns[rows], begin)
    to_ns = np.minimum(lanes.until_ns[rows], end)
    lane = lanes.lane[rows]
    own = lanes.wait_lane[lane]
    accounted = waiting.accounted(own, lanes.group[lane], from_ns, to_ns)
    return to_ns - from_ns - np.where(own != NONE, accounted, 0)


def _inner(
    waiting: Waiting, lanes: _Lanes, first: Ints, last: Ints, lane: Ints
) -> tuple[Ints, Ints, Ints]:
    """Sums of each work over rows first..last of its lane: place in `first`, work, ns.

    Of a lane with many callbacks, those that ran longest; the rest is one, of work `NONE`.
    """
    if not len(first):
        return first, first, first
    every = np.arange(len(lanes.lane))
    whole = _clipped(waiting, lanes, every, lanes.start_ns, lanes.until_ns)
    width = int(lanes.work.max()) + 2
    keys, key = np.unique(lanes.lane * width + lanes.work + 1, return_inverse=True)
    named, several = _longest(keys // width, sums(key, whole, len(keys)))
    order = np.lexsort((every, key))
    total = np.concatenate([[0], np.cumsum(whole[order])])
    # Every named callback of the lane, for every message of it.
    of_lane = keys[named] // width
    number, place = spread(*runs(of_lane, lane))
    number = named[number]
    rank = GroupedSearch(key.astype(np.int64), every)
    low = rank.position(number, first[place], after_equal=False)
    high = rank.position(number, last[place], after_equal=False)
    ns = total[high] - total[low]
    rest = np.flatnonzero(np.isin(lane, several))
    of_all = np.concatenate([[0], np.cumsum(whole)])
    other = of_all[last[rest]] - of_all[first[rest]]
    other -= sums(place, ns, len(first))[rest]
    return (
        np.concatenate([place, rest]),
        np.concatenate([keys[number] % width - 1, np.full(len(rest), NONE, np.int64)]),
        np.concatenate([ns, other]),
    )


def _longest(lane: Ints, total: Ints) -> tuple[Ints, Ints]:
    """Rows of the `_NAMED` greatest totals of each lane, and the lanes that have more."""
    order = np.lexsort((-total, lane))
    rank = np.arange(len(lane)) - np.searchsorted(lane[order], lane[order], side="left")
    return np.sort(order[rank < _NAMED]), np.unique(lane[order[rank >= _NAMED]])


def _added_up(message: Ints, work: Ints, duration: Ints) -> Blockers:
    kept = duration > 0
    message, work, duration = message[kept], work[kept], duration[kept]
    width = int(work.max(initial=0)) + 2
    keys, inverse = np.unique(message * width + work + 1, return_inverse=True)
    total = sums(inverse, duration, len(keys))
    work = keys % width - 1
    callback = np.where(work != NONE, work // 2, NONE)
    return Blockers(keys // width, callback, _is_take(work), total)
