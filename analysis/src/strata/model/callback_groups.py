# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Which callbacks exclude each other, in multi-threaded executors: what never happened tells.

No event names callback groups. Two callbacks of one node in one executor (or a callback and
itself) that were never seen to run at once are taken to exclude each other, as callbacks of one
mutually exclusive group do, which is the default of a node. Where they ran seldom, they may only
have happened not to meet.

What excludes a callback is its *exclusion set*: the callbacks of its node that exclude it, itself
included; a callback that was seen to run beside itself is reentrant, and excludes nothing.
Callbacks of one group have the same set where all of it ran. Single-threaded executors need none:
one callback runs at a time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from strata.model.columns import NONE, Ints
from strata.model.entities import Callbacks
from strata.model.executions import Executions
from strata.model.executors import Executors
from strata.model.search import GroupedSearch, greatest_so_far, runs, spread

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class CallbackGroups:
    """Exclusion sets, and the executions of their callbacks by set and time.

    `of_callback` has one row a callback: its set, or `NONE`. The others have one row an execution
    in a set: its row of the executions, set, begin and end. Of a set the intervals never overlap:
    where two callbacks that exclude a third ran at once, the time is that of the first.
    """

    of_callback: Ints
    row: Ints
    group: Ints
    start_ns: Ints
    until_ns: Ints


def find_callback_groups(
    executions: Executions, executors: Executors, callbacks: Callbacks
) -> CallbackGroups:
    """Infer the exclusion sets of all callbacks that multi-threaded executors with events ran."""
    several = np.append((executors.threads > 1) & executors.told, False)
    owned = several[executors.of_callback] & (callbacks.node != NONE)
    outer = np.flatnonzero((executions.callback != NONE) & (executions.depth == 1))
    outer = outer[owned[executions.callback[outer]]]
    of_callback, members = _exclusion_sets(executions, executors, callbacks, outer)
    if not len(members):
        none = np.empty(0, np.int64)
        return CallbackGroups(of_callback, none, none, none, none)
    return _runs(executions, of_callback, members, outer)


def _exclusion_sets(
    executions: Executions, executors: Executors, callbacks: Callbacks, outer: Ints
) -> tuple[Ints, Ints]:
    """The set of each callback, and the members: rows of (set, callback)."""
    of_callback = np.full(len(callbacks.address), NONE, np.int64)
    ran = np.unique(executions.callback[outer])
    met = _met(executions, executors, outer, len(of_callback))
    known: dict[tuple[int, ...], int] = {}
    # Nodes and their callbacks are few; executions were looked at in columns.
    width = len(executors) + 1
    for key in np.unique(callbacks.node[ran] * width + executors.of_callback[ran]):
        own = ran[callbacks.node[ran] * width + executors.of_callback[ran] == key]
        apart = ~np.isin(own[:, None] * len(of_callback) + own[None, :], met)
        # A callback that runs beside itself is of a reentrant group, which excludes nothing.
        reentrant = ~apart.diagonal()
        apart[reentrant, :] = apart[:, reentrant] = False
        for row, callback in enumerate(own):
            excluding = tuple(own[apart[row]].tolist())
            if excluding:
                of_callback[callback] = known.setdefault(excluding, len(known))
    pairs = [(number, callback) for group, number in known.items() for callback in group]
    return of_callback, np.asarray(pairs, np.int64).reshape(-1, 2)


def _met(executions: Executions, executors: Executors, outer: Ints, count: int) -> Ints:
    """Pairs of callbacks (first * `count` + second) seen to run at once, both ways.

    For every execution, what ran on each other thread of its executor when it began. When one
    ended that never did is not known: it counts where it begins.
    """
    thread = executions.thread[outer]
    search = GroupedSearch(thread, executions.start_ns[outer])
    end_ns = np.maximum(executions.end_ns, executions.start_ns)
    found = [np.empty(0, np.int64)]
    for other in _other_threads(executors, thread):
        place = search.position(other, executions.start_ns[outer], after_equal=True) - 1
        beside = outer[search.order[np.maximum(place, 0)]]
        began = executions.start_ns[outer]
        at_once = (end_ns[beside] > began) | (executions.start_ns[beside] == began)
        both = (other != NONE) & (place >= search.begin(other)) & at_once
        first, second = executions.callback[outer[both]], executions.callback[beside[both]]
        found += [np.unique(first * count + second), np.unique(second * count + first)]
    return np.unique(np.concatenate(found))


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


def _runs(executions: Executions, of_callback: Ints, members: Ints, outer: Ints) -> CallbackGroups:
    """Executions of each set, those without an end bounded, and none of them at once."""
    by_callback = outer[np.argsort(executions.callback[outer], kind="stable")]
    callback = executions.callback[by_callback]
    place, member = spread(*runs(callback, members[:, 1]))
    row, group = by_callback[place], members[member, 0]
    order = np.lexsort((executions.start_ns[row], group))
    row, group = row[order], group[order]
    start_ns = executions.start_ns[row]
    # One that never ended ended, at the latest, when the next began of those that exclude it.
    until_of = executions.until_ns.copy()
    own = of_callback[executions.callback[row[:-1]]] == group[:-1]
    bounded = own & (group[1:] == group[:-1]) & (executions.end_ns[row[:-1]] == NONE)
    np.minimum.at(until_of, row[:-1][bounded], start_ns[1:][bounded])
    until_ns = until_of[row]
    before = _latest_before(group, until_ns)
    start_ns = np.maximum(start_ns, before)
    kept = until_ns > start_ns
    return CallbackGroups(of_callback, row[kept], group[kept], start_ns[kept], until_ns[kept])


def _latest_before(group: Ints, until_ns: Ints) -> Ints:
    """The latest end among the rows before each in its group; `NONE` for the first."""
    highest = greatest_so_far(group, until_ns)
    out = np.full(len(group), NONE, np.int64)
    same = group[1:] == group[:-1]
    out[1:][same] = highest[:-1][same]
    return out
