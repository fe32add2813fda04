# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Intervals of threads tell what their columns tell."""

from __future__ import annotations

from random import Random

import numpy as np
import numpy_clocks as oracle
import pytest
from engine_runs import run_engine
from hypothesis import given
from hypothesis import strategies as st
from work_events import work

from strata.engine._model import ThreadIntervals
from strata.model.columns import NONE, Ints


class Made:
    """Intervals of the threads of a made world: their waits, or another kind, in any order."""

    def __init__(self, chance: Random) -> None:
        self.chance = chance
        self.run = run_engine(*work(chance))
        order = list(range(len(self.run.rows["threads"]["vtid"])))
        chance.shuffle(order)
        threads, kind = np.asarray(order, np.int64), chance.randrange(4)
        engine = self.run.engine
        self.intervals: ThreadIntervals = (
            engine.waits(threads) if kind == 3 else engine.executor_intervals(kind, threads)
        )
        self.count = len(order)
        self.thread, self.start_ns, self.end_ns = self.intervals.columns()

    def instants(self, count: int) -> Ints:
        low, high = int(self.start_ns.min(initial=1000)), int(self.end_ns.max(initial=1000))
        found = [self.chance.randint(low - 9, high + 9) for _ in range(count)]
        return np.asarray(found, np.int64)

    def of(self, thread: int) -> list[tuple[int, int]]:
        own = self.thread == thread
        return list(zip(self.start_ns[own].tolist(), self.end_ns[own].tolist(), strict=True))


made = st.randoms(use_true_random=False).map(Made)


@given(made)
def test_numbers_of_threads(made: Made) -> None:
    intervals = made.intervals
    begin_ns = made.instants(made.count)
    end_ns = begin_ns + made.instants(made.count) - made.instants(1)[0]
    end_ns = np.maximum(begin_ns, end_ns)
    within = intervals.total_within(begin_ns, end_ns)
    for thread in range(made.count):
        own = made.of(thread)
        assert intervals.count()[thread] == len(own)
        assert intervals.total()[thread] == sum(end - begin for begin, end in own)
        assert intervals.first()[thread] == min((begin for begin, _ in own), default=NONE)
        assert intervals.last()[thread] == max((end for _, end in own), default=NONE)
        first, last = int(begin_ns[thread]), int(end_ns[thread])
        parts = (max(min(end, last) - max(begin, first), 0) for begin, end in own)
        assert within[thread] == sum(parts)


@given(made)
def test_the_clock_of_lanes(made: Made) -> None:
    lanes = np.asarray([made.chance.randrange(3) for _ in range(made.count)], np.int64)
    found = made.intervals.clock(lanes)
    wanted = oracle.Clock(lanes[made.thread], made.start_ns, made.end_ns)
    for name in ("lane", "start_ns", "end_ns"):
        assert getattr(found, name).tolist() == getattr(wanted, name).tolist()


@given(made)
def test_what_begins_outside_of_others(made: Made) -> None:
    count = made.chance.choice((0, 3, 40))
    thread = np.asarray([made.chance.randrange(made.count) for _ in range(count)], np.int64)
    start_ns = made.instants(count)
    end_ns = start_ns + np.asarray([made.chance.randint(0, 50) for _ in range(count)], np.int64)
    if made.chance.random() < 0.5:
        order = np.lexsort((start_ns, thread))
        thread, start_ns, end_ns = thread[order], start_ns[order], end_ns[order]
    outside = made.intervals.outside(thread, start_ns, end_ns)
    spans = list(zip(thread.tolist(), start_ns.tolist(), end_ns.tolist(), strict=True))
    wanted = []
    for of, begin_ns, last_ns in zip(*(c.tolist() for c in made.intervals.columns()), strict=True):
        begun = [(start, row) for row, (own, start, _) in enumerate(spans) if own == of]
        begun = [entry for entry in begun if entry[0] <= begin_ns]
        if not begun or spans[max(begun)[1]][2] <= begin_ns:
            wanted.append((of, begin_ns, last_ns))
    assert list(zip(*(c.tolist() for c in outside.columns()), strict=True)) == wanted


def test_threads_that_are_not_there() -> None:
    engine = run_engine(*work(Random(1))).engine
    with pytest.raises(ValueError, match="no such thread"):
        engine.waits(np.asarray([0, 99], np.int64))
    with pytest.raises(ValueError, match="no such kind"):
        engine.executor_intervals(3, np.asarray([0], np.int64))
    with pytest.raises(ValueError, match="one lane a thread"):
        engine.waits(np.asarray([0], np.int64)).clock(np.empty(0, np.int64))
    with pytest.raises(ValueError, match="one begin and one end"):
        none = np.empty(0, np.int64)
        engine.waits(np.asarray([0], np.int64)).total_within(none, none)
