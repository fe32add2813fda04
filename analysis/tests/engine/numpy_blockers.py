# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What messages waited behind, in NumPy: what the engine's function is compared with.

Every argument is columns in the order in which the function of the engine takes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numpy_clocks import Clock, Overlap

from strata.engine.groups import sums
from strata.model.columns import NONE, Ints
from strata.model.search import GroupedSearch, runs, spread

Columns = Sequence[Ints]
Flags = npt.NDArray[np.bool_]

_FEW = 6
"""Executions within a wait up to which they are added one by one."""
_NAMED = 24
"""Callbacks (and takes) of a thread that are told apart for messages in a backlog: the longest."""


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


def find_blockers(messages: Columns, work: Columns, ran: Columns, waits: Columns) -> Columns:
    thread, wait_lane, group, begin, end = messages
    clocks = _clocks(ran, waits)
    # The lanes of threads, one for each pair of a thread and a group of messages that it took.
    width = int(group.max(initial=NONE)) + 2
    pairs, first, lane = np.unique(
        thread * width + group + 1, return_index=True, return_inverse=True
    )
    lanes = _thread_lanes(work, pairs // width, pairs % width - 1, wait_lane[first])
    parts = [_waits(clocks, lanes, lane, begin, end)]
    if (group != NONE).any():
        parts.append(_waits(clocks, _group_lanes(ran), group, begin, end))
    message, did, duration = (np.concatenate(column) for column in zip(*parts, strict=True))
    return _added_up(message, did, duration)


def _clocks(ran: Columns, waits: Columns) -> Clocks:
    waited, running = Clock(*waits), Clock(*ran[:3])
    lane_of = np.full(int(ran[0].max(initial=0)) + 1, NONE, np.int64)
    lane_of[ran[0]] = ran[4]
    return Clocks(waited, running, Overlap(running, waited, lane_of[running.lane]))


@dataclass(frozen=True)
class Clocks:
    waits: Clock
    running: Clock
    both: Overlap

    def idle(self, lane: Ints, group: Ints, begin_ns: Ints, end_ns: Ints) -> Ints:
        excluded = self.both.within(group, lane, begin_ns, end_ns)
        return self.waits.within(lane, begin_ns, end_ns) - excluded


def _accounted(clocks: Clocks, lane: Ints, group: Ints, begin_ns: Ints, end_ns: Ints) -> Ints:
    running = clocks.running.within(group, begin_ns, end_ns)
    return running + clocks.idle(lane, group, begin_ns, end_ns)


def _thread_lanes(work: Columns, thread: Ints, group: Ints, wait_lane: Ints) -> _Lanes:
    of_thread, start_ns, until_ns, callback, _ = work
    row, taken_ns = _takes(work)
    worked = np.concatenate([of_thread, of_thread[row]])
    number = np.concatenate(
        [
            np.where(callback != NONE, 2 * callback, NONE),
            np.where(callback[row] != NONE, 2 * callback[row] + 1, NONE),
        ]
    )
    until = np.concatenate([until_ns, start_ns[row]])
    start = np.concatenate([start_ns, taken_ns])
    order = np.lexsort((until, start, worked))
    place, lane = spread(*runs(worked[order], thread))
    rows = order[place]
    return _Lanes(lane, start[rows], until[rows], number[rows], wait_lane, group)


def _takes(work: Columns) -> tuple[Ints, Ints]:
    """Return the executions that takes began, and since when the thread took for each."""
    of_thread, start_ns, until_ns, _, since = work
    order = np.lexsort((start_ns, of_thread))
    before = np.full(len(start_ns), NONE, np.int64)
    same = of_thread[order[1:]] == of_thread[order[:-1]]
    before[order[1:][same]] = until_ns[order[:-1][same]]
    row = np.flatnonzero(since != NONE)
    taken_ns = np.maximum(since[row], before[row])
    kept = taken_ns < start_ns[row]
    return row[kept], taken_ns[kept]


def _group_lanes(ran: Columns) -> _Lanes:
    group, start_ns, until_ns, callback, _ = ran
    none = np.full(int(group.max(initial=0)) + 1, NONE, np.int64)
    work = np.where(callback != NONE, 2 * callback, NONE)
    return _Lanes(group, start_ns, until_ns, work, none, none)


def _waits(
    clocks: Clocks, lanes: _Lanes, lane: Ints, begin: Ints, end: Ints
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
    ns = _clipped(clocks, lanes, rows, begin[of], end[of])
    # A take that goes on beyond the end of the wait is the message's own.
    ns[_is_take(lanes.work[rows]) & (lanes.until_ns[rows] > end[of])] = 0
    inner = _inner(clocks, lanes, first[edges] + 1, last[edges] - 1, lane[edges])
    return (
        np.concatenate([of, edges[inner[0]]]),
        np.concatenate([lanes.work[rows], inner[1]]),
        np.concatenate([ns, inner[2]]),
    )


def _is_take(work: Ints) -> Flags:
    return np.asarray((work != NONE) & (work % 2 == 1))


def _clipped(clocks: Clocks, lanes: _Lanes, rows: Ints, begin: Ints, end: Ints) -> Ints:
    """What executions count within the waits of messages."""
    from_ns = np.maximum(lanes.start_ns[rows], begin)
    to_ns = np.minimum(lanes.until_ns[rows], end)
    lane = lanes.lane[rows]
    own = lanes.wait_lane[lane]
    accounted = _accounted(clocks, own, lanes.group[lane], from_ns, to_ns)
    return to_ns - from_ns - np.where(own != NONE, accounted, 0)


def _inner(
    clocks: Clocks, lanes: _Lanes, first: Ints, last: Ints, lane: Ints
) -> tuple[Ints, Ints, Ints]:
    """Sums of each work over rows first..last of its lane: place in `first`, work, ns.

    Of a lane with many callbacks, those that ran longest; the rest is one, of work `NONE`.
    """
    if not len(first):
        return first, first, first
    every = np.arange(len(lanes.lane))
    whole = _clipped(clocks, lanes, every, lanes.start_ns, lanes.until_ns)
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


def _added_up(message: Ints, work: Ints, duration: Ints) -> Columns:
    kept = duration > 0
    message, work, duration = message[kept], work[kept], duration[kept]
    width = int(work.max(initial=0)) + 2
    keys, inverse = np.unique(message * width + work + 1, return_inverse=True)
    total = sums(inverse, duration, len(keys))
    work = keys % width - 1
    callback = np.where(work != NONE, work // 2, NONE)
    return keys // width, callback, _is_take(work).astype(np.int64), total
