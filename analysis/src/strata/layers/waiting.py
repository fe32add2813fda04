# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What the executor of every matched message did while the message waited to be picked.

At each instant, in this order:

1. A callback of the message's own callback group ran on another thread: the group excludes itself,
   so the message could not be picked although a thread may have been idle. It waited behind that
   callback. (Multi-threaded executors only; groups are inferred, strata.model.callback_groups.
   Such an executor spins while a ready entity is excluded: these waits are not idleness.)
2. A thread of the executor waited for work: *idle*. Had the message been there, it would have been
   picked.
3. Otherwise all threads were busy. What the thread that took it ran then is what it waited behind;
   the rest is the executor's own work, or waiting for its mutex, which no event shows.

Threads without recorded waits have no idle time that is known; then the callbacks of the thread are
what it may have waited behind.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from strata.engine.windows import begun_by, over_before
from strata.model.build import Model
from strata.model.columns import Ints
from strata.model.executor_clocks import ExecutorClocks
from strata.model.search import column_at, pick

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Waiting:
    """What is known of the executors of matched messages (or service calls), one row each.

    `lane`: of the taking thread's executor. `group`: callback group of the message in a
    multi-threaded executor, or `NONE`. `known`: waits of the lane were recorded.
    """

    lane: Ints
    group: Ints
    known: Flags
    clocks: ExecutorClocks

    def idle(self, begin_ns: Ints, end_ns: Ints) -> Ints:
        """Return ns in which the executor was idle and could have picked each message."""
        return self.clocks.idle(self.lane, self.group, begin_ns, end_ns)

    def last_return(self, at_ns: Ints) -> Ints:
        """Return when the executor came back from its last wait up to an instant; or `NONE`."""
        return self.clocks.waits.last_end(self.lane, at_ns)


def observe_waiting(model: Model) -> Waiting:
    """Return what is known of the executors of all matched messages."""
    matches = model.matches
    return observe_takers(
        model,
        column_at(model.takes.thread, matches.take),
        column_at(model.takes.execution, matches.take),
        (
            column_at(model.publications.begin_ns, matches.publication),
            column_at(model.takes.taken_ns, matches.take),
        ),
    )


def observe_takers(
    model: Model, thread: Ints, execution: Ints, interval: tuple[Ints, Ints]
) -> Waiting:
    """Return what is known of the executors of the threads that took things.

    `execution` is what each take started, or `NONE`; the columns have one row a take. `interval`
    is when each was under way: where waits may have been lost, nothing is known.
    """
    lane = model.executors.lane(thread)
    group = pick(model.groups.of_callback, pick(model.executions.callback, execution))
    known = model.clocks.waits.known(lane) & ~maybe_lost(model, thread, *interval)
    return Waiting(lane, group, known, model.clocks)


def maybe_lost(model: Model, thread: Ints, begin_ns: Ints, end_ns: Ints) -> Flags:
    """Return whether waits of threads within intervals may have been lost.

    Events were lost meanwhile; or before, after the last event of the thread: it may have begun to
    wait then.
    """
    if not len(model.losses[0]):
        return np.zeros(len(thread), bool)
    lane = model.executors.lane(thread)
    waited = model.clocks.waits.within(lane, begin_ns, begin_ns + 1) > 0
    over = over_before(model.losses, begin_ns)
    before = np.minimum(over, model.thread_steps.losses_over(thread, begin_ns))
    return np.asarray(begun_by(model.losses, end_ns) > np.where(waited, over, before))
