# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Clocks of what executors did: waited for work, ran callbacks that exclude others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from strata.engine._model import Clock, Overlap
from strata.model.callback_groups import CallbackGroups
from strata.model.columns import NONE, Ints
from strata.model.executions import Executions, Waits
from strata.model.executors import Executors
from strata.model.search import is_null


@dataclass(frozen=True)
class ExecutorClocks:
    """`waits` by lane of an executor, `running` by callback group, and `both` of them at once."""

    waits: Clock
    running: Clock
    both: Overlap

    def idle(self, lane: Ints, group: Ints, begin_ns: Ints, end_ns: Ints) -> Ints:
        """Return ns in which executors waited for work that a group did not keep them from."""
        if is_null(group):
            return self.waits.within(lane, begin_ns, end_ns)
        excluded = self.both.within(group, lane, begin_ns, end_ns)
        return self.waits.within(lane, begin_ns, end_ns) - excluded


def read_clocks(
    executions: Executions, waits: Waits, executors: Executors, groups: CallbackGroups
) -> ExecutorClocks:
    """Return the clocks of all executors and callback groups."""
    waited = waits.of_threads.clock(executors.lanes)
    running = Clock(groups.group, groups.start_ns, groups.until_ns)
    if not len(groups.group):
        return ExecutorClocks(waited, running, Overlap(running, waited, np.empty(0, np.int64)))
    lane_of = np.full(int(groups.group.max(initial=0)) + 1, NONE, np.int64)
    lane_of[groups.group] = executors.lane(executions.thread[groups.row])
    return ExecutorClocks(waited, running, Overlap(running, waited, lane_of))
