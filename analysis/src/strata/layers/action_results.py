# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Which goal of an action each request of a result is for.

No event carries the id of a goal. A request can only be for a goal of its own client

* whose answer the client had taken before it asked, and
* whose execution, where it is known, ended before the result was sent.

A goal that is the only one possible is the request's, exactly, and possible for no other. Of
several, it is taken to be the one that ended last while the result was waited for (a server sends a
result as soon as there is one: `last end`); where no end is known in that time, the one that was
answered first (`order`). Both are inferred, and so is all that follows from such a choice: until
every goal of a group that was chosen from has a result, each stays possible for other requests.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from strata.model.columns import NONE, Ints

ONLY_GOAL, ORDER, LAST_END = 0, 1, 2
RESULT_METHODS = ("only goal", "order", "last end")
RESULT_CONFIDENCES = ("exact", "inferred", "inferred")

_LATEST = np.iinfo(np.int64).max


def results_of_clients(
    goals: tuple[Ints, Ints, Ints], requests: tuple[Ints, Ints, Ints]
) -> tuple[Ints, Ints]:
    """Return the request of each goal's result, and by which method; `NONE` for none.

    `goals` are client, when it took the answer (`NONE`: it did not, or the goal was refused), and
    when the execution ended (`NONE`: not known); `requests` are client, when it asked, and when the
    result was sent (`NONE`: not known).
    """
    client, told_ns, ended_ns = goals
    asker, asked_ns, sent_ns = requests
    result, method = np.full(len(client), NONE, np.int64), np.full(len(client), NONE, np.int64)
    for one in np.unique(asker):
        own = np.flatnonzero((client == one) & (told_ns != NONE))
        own = own[np.argsort(told_ns[own], kind="stable")]
        mine = np.flatnonzero(asker == one)
        found, by = _results(told_ns[own], ended_ns[own], asked_ns[mine], sent_ns[mine])
        result[own] = np.where(found != NONE, mine[found], NONE)
        method[own] = by
    return result, method


def _results(told_ns: Ints, ended_ns: Ints, asked_ns: Ints, sent_ns: Ints) -> tuple[Ints, Ints]:
    """Return the same for the goals of one client, which are in the order of their answers."""
    search = _Search(told_ns, ended_ns, asked_ns, np.where(sent_ns != NONE, sent_ns, _LATEST))
    by_asking = np.lexsort((search.sent_ns, asked_ns))
    by_sending = np.lexsort((asked_ns, search.sent_ns))
    # What one request is found to be for may leave only one goal for another, before or after it.
    while search.go(by_asking, ONLY_GOAL) + search.go(by_sending, ONLY_GOAL):
        pass
    search.go(by_sending, LAST_END)
    search.go(by_asking, ORDER)
    return search.result, search.method


class _Search:
    """Requests and goals of one client, and what was found of them until now."""

    def __init__(self, told_ns: Ints, ended_ns: Ints, asked_ns: Ints, sent_ns: Ints) -> None:
        self.told_ns, self.ended_ns, self.asked_ns, self.sent_ns = (
            told_ns,
            ended_ns,
            asked_ns,
            sent_ns,
        )
        self.result = np.full(len(told_ns), NONE, np.int64)
        self.method = np.full(len(told_ns), NONE, np.int64)
        self._open = np.ones(len(asked_ns), bool)
        self._settled = np.zeros(len(told_ns), bool)
        self._group = np.arange(len(told_ns))

    def go(self, requests: Ints, method: int) -> int:
        """Look at open requests, in an order; choose by `method` only. Return how many it found."""
        count = 0
        for request in requests[self._open[requests]]:
            sent_ns = self.sent_ns[request]
            ended = (self.ended_ns == NONE) | (self.ended_ns < sent_ns)
            possible = ~self._settled & (self.told_ns < self.asked_ns[request]) & ended
            free = np.flatnonzero(possible & (self.result == NONE))
            goal, by = NONE, method
            if len(free) and possible.sum() == 1:
                goal, by = int(free[0]), ONLY_GOAL
            elif len(free) and method == ORDER:
                goal = int(free[0])
            elif len(free) and method == LAST_END:
                goal = self._last_end(free, request)
            if goal != NONE:
                self._give(request, goal, by, possible)
                count += 1
        return count

    def _last_end(self, free: Ints, request: int) -> int:
        """Return the goal that ended last between request and result, `NONE` for none."""
        sent_ns = self.sent_ns[request]
        end_ns = self.ended_ns[free]
        meanwhile = free[(end_ns > self.asked_ns[request]) & (end_ns < sent_ns)]
        if not len(meanwhile) or sent_ns == _LATEST:
            return NONE
        return int(meanwhile[np.argmax(self.ended_ns[meanwhile])])

    def _give(self, request: int, goal: int, by: int, possible: npt.NDArray[np.bool_]) -> None:
        self.result[goal], self.method[goal] = request, by
        self._open[request] = False
        together = np.isin(self._group, self._group[possible])
        self._group[together] = goal
        self._settled[together] = bool((self.result[together] != NONE).all())
