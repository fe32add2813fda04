# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Which callbacks exclude each other, in multi-threaded executors: what never happened tells.

No event names callback groups. What is known: a callback belongs to one group of its node, and two
callbacks of one mutually exclusive group (the default of a node) never run at once. So callbacks of
one node in one executor are put together as long as no two of them were ever seen to run at once;
each is put to those that ran longest of the ones that it never met, as these had the most
opportunity to be met. Callbacks that ran seldom may only have happened not to meet.

A coroutine callback of rclpy keeps its group while it is suspended: from its start to the end of
its last piece it counts as one run, and what began meanwhile was seen to run at once with it. So
executors of one thread have sets, too, when a callback was suspended in them.

What excludes a callback is its *exclusion set*: the callbacks that it was put together with, itself
included; a callback that was seen to run beside itself is reentrant, and excludes nothing.
Other single-threaded executors need none: one callback runs at a time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from strata.engine.groups import sums
from strata.model.columns import NONE, Ints
from strata.model.entities import Callbacks
from strata.model.executions import Executions
from strata.model.executors import Executors
from strata.model.search import GroupedSearch, spread

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class CallbackGroups:
    """Exclusion sets, and the executions of their callbacks by set and time.

    `of_callback` has one row for each callback: its set, or `NONE`. The others have one row for
    each execution of a callback that has a set: its row of the executions, set, begin and end. The
    intervals of a set never overlap.
    """

    of_callback: Ints
    row: Ints
    group: Ints
    start_ns: Ints
    until_ns: Ints


def find_callback_groups(
    executions: Executions, executors: Executors, callbacks: Callbacks
) -> CallbackGroups:
    """Infer the exclusion sets of all callbacks that executors with events ran.

    Of executors of several threads, and of those in which a callback was suspended.
    """
    awaits = np.zeros(len(executors) + 1, bool)
    awaits[executors.of_thread[executions.thread[executions.resumed]]] = True
    several = np.append(((executors.threads > 1) | awaits[:-1]) & executors.told, False)
    owned = several[executors.of_callback] & (callbacks.node != NONE)
    if not owned.any():
        none = np.empty(0, np.int64)
        return CallbackGroups(np.full(len(owned), NONE, np.int64), none, none, none, none)
    callback = executions.callback
    outer = np.flatnonzero((callback != NONE) & (executions.depth == 1))
    outer = outer[owned[callback[outer]]]
    of_callback = _exclusion_sets(executions, executors, callbacks, outer)
    return _runs(executions, of_callback, outer)


def _exclusion_sets(
    executions: Executions, executors: Executors, callbacks: Callbacks, outer: Ints
) -> Ints:
    """The set of each callback, or `NONE`."""
    of_callback = np.full(len(callbacks.address), NONE, np.int64)
    ran, inverse = np.unique(executions.callback[outer], return_inverse=True)
    took = executions.until_ns[outer] - executions.start_ns[outer]
    busy = sums(inverse, np.maximum(took, 0), len(ran))
    met = _met(executions, executors, outer, len(of_callback))
    total = 0
    # Nodes and their callbacks are few; executions were looked at in columns.
    keys = callbacks.node[ran] * (len(executors) + 1) + executors.of_callback[ran]
    for key in np.unique(keys):
        own = np.flatnonzero(keys == key)
        own = own[np.argsort(-busy[own], kind="stable")]
        callback = ran[own]
        beside = np.isin(callback[:, None] * len(of_callback) + callback[None, :], met)
        number = _put_together(beside, busy[own])
        of_callback[callback] = np.where(number != NONE, total + number, NONE)
        total += int(number.max()) + 1
    return of_callback


def _put_together(beside: Flags, busy: Ints) -> Ints:
    """Number the sets of one node's callbacks, those that ran longest first; `NONE` for reentrant.

    `beside` says which were seen to run at once, `busy` how long each ran, in ns.
    """
    number = np.full(len(busy), NONE, np.int64)
    longest: list[int] = []
    for row in np.flatnonzero(~beside.diagonal()):
        met = np.unique(number[beside[row]])
        open_to = [one for one in range(len(longest)) if one not in met]
        if open_to:
            number[row] = max(open_to, key=longest.__getitem__)
            longest[number[row]] += int(busy[row])
        else:
            number[row] = len(longest)
            longest.append(int(busy[row]))
    return number


def _met(executions: Executions, executors: Executors, outer: Ints, count: int) -> Ints:
    """Pairs of callbacks (first * `count` + second) seen to run at once, both ways.

    For every execution, what ran on each other thread of its executor when it began. When one
    ended that never did is not known: it counts where it begins.
    """
    thread, start_ns, callback = executions.thread[outer], executions.start_ns, executions.callback
    search = GroupedSearch(thread, start_ns[outer])
    end_ns = np.maximum(executions.end_ns, start_ns)
    found = [np.empty(0, np.int64)]
    for other in _other_threads(executors, thread):
        began = start_ns[outer]
        place = search.position(other, began, after_equal=True) - 1
        beside = outer[search.order[np.maximum(place, 0)]]
        at_once = (end_ns[beside] > began) | (start_ns[beside] == began)
        both = (other != NONE) & (place >= search.begin(other)) & at_once
        first, second = callback[outer[both]], callback[beside[both]]
        found += [np.unique(first * count + second), np.unique(second * count + first)]
    first, second = _begun_while_suspended(executions, executors, outer)
    found += [np.unique(first * count + second), np.unique(second * count + first)]
    return np.unique(np.concatenate(found))


def _begun_while_suspended(
    executions: Executions, executors: Executors, outer: Ints
) -> tuple[Ints, Ints]:
    """Pairs of callbacks of one executor: one that was suspended, and one that began meanwhile."""
    resumed = np.flatnonzero(executions.previous != NONE)
    if not len(resumed):
        return resumed, resumed
    begun = outer[~executions.resumed[outer]]
    begun = begun[np.argsort(executions.start_ns[begun], kind="stable")]
    at_ns = executions.start_ns[begun]
    first = np.searchsorted(at_ns, executions.until_ns[executions.previous[resumed]], side="right")
    last = np.searchsorted(at_ns, executions.start_ns[resumed], side="left")
    place, row = spread(first.astype(np.int64), last - first)
    suspended, met = resumed[row], begun[place]
    lane = executors.of_thread[executions.thread]
    same = lane[suspended] == lane[met]
    return executions.callback[suspended[same]], executions.callback[met[same]]


def _other_threads(executors: Executors, thread: Ints) -> list[Ints]:
    """For each execution's thread the others of its executor, one after the other, or `NONE`."""
    order = np.flatnonzero(executors.of_thread != NONE)
    order = order[np.argsort(executors.of_thread[order], kind="stable")]
    owner = executors.of_thread[order]
    first = np.searchsorted(owner, np.arange(len(executors)), side="left")
    rank = np.empty(len(executors.of_thread), np.int64)
    rank[order] = np.arange(len(order)) - first[owner]
    own = executors.of_thread[thread]
    size = executors.threads[own]
    most = int(size.max(initial=1))
    out = []
    for step in range(1, most):
        place = first[own] + (rank[thread] + step) % size
        out.append(np.where(step < size, order[np.minimum(place, len(order) - 1)], NONE))
    return out


def _runs(executions: Executions, of_callback: Ints, outer: Ints) -> CallbackGroups:
    """Executions of each set in order of time; those without an end are bounded."""
    callback, start_ns, previous = executions.callback, executions.start_ns, executions.previous
    row = outer[of_callback[callback[outer]] != NONE]
    group = of_callback[callback[row]]
    order = np.lexsort((start_ns[row], group))
    row, group = row[order], group[order]
    until = executions.until_ns.copy()
    goes_on = np.flatnonzero(previous != NONE)
    until[previous[goes_on]] = start_ns[goes_on]
    start_ns, until_ns = start_ns[row], until[row]
    # One that never ended ended, at the latest, when the next began of those that exclude it.
    open_end = (group[1:] == group[:-1]) & (executions.end_ns[row[:-1]] == NONE)
    until_ns[:-1][open_end] = np.minimum(until_ns[:-1][open_end], start_ns[1:][open_end])
    kept = until_ns > start_ns
    return CallbackGroups(of_callback, row[kept], group[kept], start_ns[kept], until_ns[kept])
