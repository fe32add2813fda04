# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The engine's functions over columns of layers do what NumPy does with the same columns."""

from __future__ import annotations

from random import Random

import numpy as np
import numpy_layers as oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy_layers import Columns

from strata.engine import _model as engine
from strata.model.columns import NONE, Ints

THREADS, LANES, CPUS, SPAN = 4, 3, 3, 60


class Made:
    """Columns of everything, as a trace might have them, and some that none has."""

    def __init__(self, chance: Random) -> None:
        self.chance = chance
        self.longest = chance.choice((3, 20, 60))

    def ints(self, count: int, low: int, high: int) -> Ints:
        return np.asarray([self.chance.randint(low, high) for _ in range(count)], np.int64)

    def size(self, most: int = 12) -> int:
        return self.chance.randint(0, most)

    def spans(self, groups: int) -> Columns:
        """Intervals that may overlap, in any order."""
        count = self.size()
        begin_ns = self.ints(count, 0, SPAN)
        return (
            self.ints(count, 0, groups - 1),
            begin_ns,
            begin_ns + self.ints(count, 0, self.longest),
        )

    def apart(self, groups: int) -> Columns:
        """Intervals that do not overlap in a group, by group and time."""
        rows = []
        for group in range(groups):
            at = self.chance.randint(0, 9)
            for _ in range(self.size()):
                until = at + self.chance.randint(0, self.longest)
                rows.append((group, at, until))
                at = until + self.chance.choice((0, 0, 3))
        return list(np.asarray(rows, np.int64).reshape(-1, 3).T.copy())

    def stretches(self) -> Columns:
        thread, begin_ns, end_ns = self.spans(THREADS + 1)
        count = len(thread)
        idle = self.ints(count, NONE, 1)
        lane = self.ints(count, NONE, LANES)
        # A thread's executor is one.
        lane = np.where(idle == NONE, lane, self.lane_of[np.minimum(thread, THREADS - 1)])
        return self.ints(count, 0, 5), self.ints(count, 0, 7), thread, begin_ns, end_ns, lane, idle

    @property
    def lane_of(self) -> Ints:
        return np.arange(THREADS + 1) % LANES

    def states(self) -> Columns:
        rows = self.apart(THREADS)
        return [*rows, self.ints(len(rows[0]), 0, 3), self.ints(len(rows[0]), NONE, CPUS)]

    def occupancy(self) -> Columns:
        rows = self.apart(CPUS)
        return [*rows, self.ints(len(rows[0]), NONE, 3), self.ints(len(rows[0]), 0, 2)]

    def windows(self) -> Columns:
        thread, begin_ns, end_ns = self.apart(THREADS)
        thread = np.where(thread == THREADS - 1, NONE, thread)
        count = len(thread)
        return thread, begin_ns, end_ns, self.ints(count, 0, 20), self.ints(count, 0, 30)


def assert_same(found: Columns, wanted: Columns) -> None:
    assert [column.tolist() for column in found] == [column.tolist() for column in wanted]


made = st.randoms(use_true_random=False).map(Made)


@given(made)
def test_stretches_of_layers(made: Made) -> None:
    count = made.size()
    layers = []
    for number in range(3):
        begin_ns, ns = made.ints(count, NONE, 9), made.ints(count, NONE, 5)
        # Some are more than one stretch.
        end_ns = begin_ns + ns + made.ints(count, 0, 1)
        layers.append(
            (number, made.chance.randint(NONE, 1), made.ints(count, NONE, 2), begin_ns, end_ns, ns)
        )
    arguments = (layers, made.ints(count, NONE, 2), made.ints(count, NONE, 0))
    assert_same(engine.cut_stretches(*arguments), oracle.cut_stretches(*arguments))


@given(made)
def test_what_threads_did_in_layers(made: Made) -> None:
    stretches, states, waits = made.stretches(), made.states(), made.spans(LANES)
    arguments = (stretches, states, waits, made.lane_of)
    assert_same(engine.layer_times(*arguments), oracle.layer_times(*arguments))


@given(made)
def test_who_preempted_them(made: Made) -> None:
    arguments = (
        made.stretches(),
        made.states(),
        made.occupancy(),
        made.spans(LANES),
        made.spans(THREADS),
        made.lane_of,
    )
    assert_same(engine.preemptions(*arguments), oracle.preemptions(*arguments))


@given(made)
def test_how_long_they_waited_by_samples(made: Made) -> None:
    arguments = (
        made.stretches(),
        made.windows(),
        made.spans(LANES),
        made.spans(THREADS),
        made.spans(THREADS),
        made.lane_of,
    )
    assert_same(engine.cpu_waits(*arguments), oracle.cpu_waits(*arguments))


@given(made)
def test_windows_of_samples(made: Made) -> None:
    sampled_ns = np.unique(made.ints(made.size(), 0, SPAN))
    thread, ns, _ = made.apart(THREADS)
    count = len(thread)
    arguments = ([thread, ns, *(made.ints(count, 0, 30) for _ in range(4))], sampled_ns)
    assert_same(engine.sample_windows(*arguments), oracle.sample_windows(*arguments))


@given(made)
def test_sums_of_threads(made: Made) -> None:
    first_ns, last_ns = made.ints(THREADS, 0, SPAN), made.ints(THREADS, 0, SPAN)
    if made.chance.random() < 0.3:
        # Without any traffic.
        first_ns[0], last_ns[0] = np.iinfo(np.int64).max, NONE
    states = made.states()
    arguments = (states, first_ns, last_ns)
    assert_same(engine.sum_states(*arguments), oracle.sum_states(*arguments))
    rows = made.apart(THREADS)
    windows = [*rows, *(made.ints(len(rows[0]), 0, 20) for _ in range(3))]
    arguments = (windows, first_ns, last_ns)
    assert_same(engine.sum_windows(*arguments), oracle.sum_windows(*arguments))


def test_columns_of_different_lengths_are_refused() -> None:
    one, two = np.zeros(1, np.int64), np.zeros(2, np.int64)
    with pytest.raises(ValueError, match="columns of one table have 1 and 2 rows"):
        engine.layer_times([one] * 6 + [two], [one] * 5, [one] * 3, one)
