# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Clocks of what executors and their threads did: waited for work, ran callbacks."""

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


@dataclass(frozen=True)
class ThreadClocks:
    """`waits` for work and `running` of callbacks, by thread."""

    waits: Clock
    running: Clock

    def returned(self, thread: Ints, at_ns: Ints) -> Ints:
        """Return when each thread came back from its last wait up to an instant.

        `NONE` where it never waited before, or ran a callback since.
        """
        end_ns = self.waits.last_end(thread, at_ns)
        since_ns = np.where(end_ns == NONE, at_ns, end_ns)
        return np.where(self.running.within(thread, since_ns, at_ns) == 0, end_ns, NONE)


def read_thread_clocks(executions: Executions, waits: Waits, threads: int) -> ThreadClocks:
    """Return the clocks of so many threads."""
    return ThreadClocks(
        waits.of_threads.clock(np.arange(threads, dtype=np.int64)),
        Clock(executions.thread, executions.start_ns, executions.until_ns),
    )


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
