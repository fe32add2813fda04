# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""When threads did anything first after losses of events: what may have been lost of them.

A thread may have begun to wait after its last step before events were lost. How many losses were
over before that step needs no more of all steps than the first one after each loss.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from strata.model.columns import NONE, Ints
from strata.model.search import GroupedSearch
from strata.model.timeline import Timeline
from strata.model.windows import Windows, over_before


@dataclass(frozen=True)
class ThreadSteps:
    """Steps of threads before which more losses were over than before the one before.

    `over`: how many. In order of time; up to a thread's next row it is the same.
    """

    thread: Ints
    ns: Ints
    over: Ints

    def losses_over(self, thread: Ints, at_ns: Ints) -> Ints:
        """Return how many losses were over before each thread's last step up to an instant."""
        last = GroupedSearch(self.thread, self.ns).last_row(thread, at_ns, after_equal=True)
        return np.where(last != NONE, np.append(self.over, 0)[last], 0)


def find_thread_steps(timeline: Timeline, losses: Windows) -> ThreadSteps:
    """Return the first steps of all threads after losses of events."""
    over = over_before(losses, timeline.ns)
    before = np.zeros(len(over), np.int64)
    same = timeline.thread[1:] == timeline.thread[:-1]
    before[1:][same] = over[:-1][same]
    at = np.flatnonzero(over != before)
    at = at[np.argsort(timeline.ns[at], kind="stable")]
    return ThreadSteps(timeline.thread[at], timeline.ns[at], over[at])
