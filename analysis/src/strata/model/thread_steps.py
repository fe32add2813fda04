# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""When threads did anything first after losses of events: what may have been lost of them.

A thread may have begun to wait after its last step before events were lost. How many losses were
over before that step needs no more of all steps than the first one after each loss.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from strata.engine.tables import EngineTables
from strata.model.columns import NONE, Ints
from strata.model.search import GroupedSearch


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


def find_thread_steps(tables: EngineTables) -> ThreadSteps:
    """Return the first steps of all threads after losses of events, in order of time."""
    of = "steps_after_losses"
    return ThreadSteps(tables.ints(of, "thread"), tables.ints(of, "ns"), tables.ints(of, "over"))
