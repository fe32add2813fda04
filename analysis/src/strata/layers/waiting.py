# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What the executor of every matched message did while the message waited to be picked.

At each instant, in this order:

1. A callback of the message's own callback group ran on another thread: the group excludes itself,
   so the message could not be picked although a thread may have been idle. It waited behind that
   callback. (Multi-threaded executors only; groups are inferred, strata.model.callback_groups.
   Such an executor spins while a ready entity is excluded: these waits are not idleness.)
2. A thread of the executor waited for work: *idle*. Had the message been there, it would have been
   picked. That ends when the thread that took it came back from its wait: it has found the message
   then, and another thread that waits from then on does not pick it. Until it picks it, it was kept
   from the CPU, maybe by that other thread, which prepares its wait.
3. Otherwise all threads were busy. What the thread that took it ran then is what it waited behind;
   the rest is the executor's own work, or waiting for its mutex, which no event shows.

Threads without recorded waits have no idle time that is known; then the callbacks of the thread are
what it may have waited behind.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from strata.engine.windows import begun_by, over_before
from strata.model.build import Model
from strata.model.columns import NONE, Ints
from strata.model.executor_clocks import ExecutorClocks, ThreadClocks
from strata.model.search import column_at, pick

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Waiting:
    """What is known of the executors of matched messages (or service calls), one row each.

    `thread`: that took each; `lane`: of its executor, which has `several` threads or one. `group`:
    callback group of the message in a multi-threaded executor, or `NONE`. `known`: waits of the
    lane were recorded.
    """

    thread: Ints
    lane: Ints
    several: Flags
    group: Ints
    known: Flags
    clocks: ExecutorClocks
    of_threads: Callable[[], ThreadClocks]

    def found(self, picked_ns: Ints) -> Ints:
        """Return when the thread that picked each message came back from its wait with it.

        That is the pick itself where no other thread of the executor waited in between, or where
        the thread ran a callback since: then it is not known when it found the message.
        """
        rows = np.flatnonzero(self.several)
        if not len(rows):
            return picked_ns
        until_ns = picked_ns[rows]
        returned_ns = self.of_threads().returned(self.thread[rows], until_ns)
        returned_ns = np.where(returned_ns == NONE, until_ns, returned_ns)
        waited = self.clocks.waits.within(self.lane[rows], returned_ns, until_ns) > 0
        found_ns = picked_ns.copy()
        found_ns[rows[waited]] = returned_ns[waited]
        return found_ns

    def idle(self, begin_ns: Ints, picked_ns: Ints) -> Ints:
        """Return ns in which the executor was idle and could have picked each message."""
        end_ns = np.maximum(begin_ns, self.found(picked_ns))
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
    several = pick(model.executors.threads, np.where(lane < len(model.executors), lane, NONE)) > 1
    return Waiting(thread, lane, several, group, known, model.clocks, lambda: model.thread_clocks)


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
