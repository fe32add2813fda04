# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Which callbacks a message waited behind, and for how long each.

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
from strata.layers.waiting import Waiting
from strata.model.build import Model
from strata.model.columns import NONE, Ints
from strata.model.search import GroupedSearch, runs, spread, sums

_FEW = 6
"""Executions within a wait up to which they are added one by one."""
_NAMED = 24
"""Callbacks of a thread that are told apart for messages in a backlog: those that ran longest."""


@dataclass(frozen=True)
class Blockers:
    """What ran while messages waited: rows are (message, callback), in that order.

    `callback` is `NONE` for callbacks beside those of their thread that ran longest.
    """

    message: Ints
    callback: Ints
    duration_ns: Ints


@dataclass(frozen=True)
class _Lanes:
    """Executions by lane and time; of lanes of threads `group` is that of the messages there.

    `wait_lane` and `group` have one row a lane (`NONE`: the lane is a group's own).
    """

    lane: Ints
    start_ns: Ints
    until_ns: Ints
    callback: Ints
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
    message, callback, duration = (np.concatenate(column) for column in zip(*parts, strict=True))
    return _added_up(message, callback, duration)


def _thread_lanes(model: Model, thread: Ints, group: Ints) -> _Lanes:
    executions = model.executions
    outer = np.flatnonzero(executions.depth == 1)
    order = outer[np.lexsort((executions.start_ns[outer], executions.thread[outer]))]
    threads = executions.thread[order]
    place, lane = spread(*runs(threads, thread))
    rows = order[place]
    return _Lanes(
        lane,
        executions.start_ns[rows],
        executions.until_ns[rows],
        executions.callback[rows],
        model.executors.lane(thread),
        group,
    )


def _group_lanes(model: Model) -> _Lanes:
    groups = model.groups
    none = np.full(int(groups.group.max(initial=0)) + 1, NONE, np.int64)
    callback = model.executions.callback[groups.row]
    return _Lanes(groups.group, groups.start_ns, groups.until_ns, callback, none, none)


def _waits(
    waiting: Waiting, lanes: _Lanes, lane: Ints, begin: Ints, end: Ints
) -> tuple[Ints, Ints, Ints]:
    """Rows of message, callback and ns, one or more a pair; `lane` is that of each message."""
    started = GroupedSearch(lanes.lane, lanes.start_ns)
    ended = GroupedSearch(lanes.lane, lanes.until_ns)
    # Executions of a lane do not overlap: both searches have the order of the rows.
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
    inner = _inner(waiting, lanes, first[edges] + 1, last[edges] - 1, lane[edges])
    return (
        np.concatenate([of, edges[inner[0]]]),
        np.concatenate([lanes.callback[rows], inner[1]]),
        np.concatenate([ns, inner[2]]),
    )


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
    """Sums of each callback over rows first..last of its lane: place in `first`, callback, ns.

    Of a lane with many callbacks, those that ran longest; the rest is one, of callback `NONE`.
    """
    if not len(first):
        return first, first, first
    every = np.arange(len(lanes.lane))
    whole = _clipped(waiting, lanes, every, lanes.start_ns, lanes.until_ns)
    width = int(lanes.callback.max()) + 1
    keys, key = np.unique(lanes.lane * width + lanes.callback, return_inverse=True)
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
        np.concatenate([keys[number] % width, np.full(len(rest), NONE, np.int64)]),
        np.concatenate([ns, other]),
    )


def _longest(lane: Ints, total: Ints) -> tuple[Ints, Ints]:
    """Rows of the `_NAMED` greatest totals of each lane, and the lanes that have more."""
    order = np.lexsort((-total, lane))
    rank = np.arange(len(lane)) - np.searchsorted(lane[order], lane[order], side="left")
    return np.sort(order[rank < _NAMED]), np.unique(lane[order[rank >= _NAMED]])


def _added_up(message: Ints, callback: Ints, duration: Ints) -> Blockers:
    kept = duration > 0
    message, callback, duration = message[kept], callback[kept], duration[kept]
    width = int(callback.max(initial=0)) + 2
    keys, inverse = np.unique(message * width + callback + 1, return_inverse=True)
    total = sums(inverse, duration, len(keys))
    return Blockers(keys // width, keys % width - 1, total)
