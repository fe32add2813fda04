# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Clocks of the engine tell what NumPy's tell."""

from __future__ import annotations

from random import Random

import numpy as np
import numpy_clocks as oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata.engine._model import Clock, Overlap
from strata.model.columns import NONE, Ints

LANES = 4


class Made:
    """Intervals of lanes, and instants that are asked for."""

    def __init__(self, chance: Random) -> None:
        self.chance = chance
        self.span = chance.choice((20, 300, 5000))
        self.longest = chance.choice((1, 10, 60))

    def ints(self, count: int, low: int, high: int) -> Ints:
        return np.asarray([self.chance.randint(low, high) for _ in range(count)], np.int64)

    def spans(self) -> tuple[Ints, Ints, Ints]:
        count = self.chance.choice((0, 5, 40, 200))
        start_ns = self.ints(count, 0, self.span)
        return (
            self.ints(count, 0, LANES - 2),
            start_ns,
            start_ns + self.ints(count, 0, self.longest),
        )

    def asked(self) -> tuple[Ints, Ints, Ints]:
        """Lanes, some without intervals, and two instants in any order."""
        count = self.chance.choice((0, 30))
        first, second = self.ints(count, -2, self.span + 9), self.ints(count, -2, self.span + 9)
        if self.chance.random() < 0.5:
            first.sort()
        return self.ints(count, NONE, LANES), first, second


made = st.randoms(use_true_random=False).map(Made)


@given(made)
def test_one_clock(made: Made) -> None:
    spans, (lane, begin_ns, end_ns) = made.spans(), made.asked()
    found, wanted = Clock(*spans), oracle.Clock(*spans)
    for name in ("lane", "start_ns", "end_ns"):
        assert getattr(found, name).tolist() == getattr(wanted, name).tolist()
    assert found.known(lane).tolist() == wanted.known(lane).tolist()
    assert found.known(lane).dtype == np.bool_
    assert (
        found.within(lane, begin_ns, end_ns).tolist()
        == wanted.within(lane, begin_ns, end_ns).tolist()
    )
    assert found.last_end(lane, end_ns).tolist() == wanted.last_end(lane, end_ns).tolist()


@given(made)
def test_two_clocks_at_once(made: Made) -> None:
    outer, inner, (lane, begin_ns, end_ns) = made.spans(), made.spans(), made.asked()
    lane_of = made.ints(LANES, NONE, LANES)
    clocks = Clock(*outer), Clock(*inner)
    before = oracle.Clock(*outer), oracle.Clock(*inner)
    # Messages of a group are taken by its executor.
    asked = (lane, np.append(lane_of, NONE)[np.clip(lane, NONE, LANES)], begin_ns, end_ns)
    found = Overlap(*clocks, lane_of).within(*asked)
    wanted = oracle.Overlap(*before, lane_of[before[0].lane]).within(*asked)
    assert found.tolist() == wanted.tolist()


def test_an_overlap_keeps_its_clocks() -> None:
    one = np.asarray([0], np.int64)
    both = Overlap(Clock(one, one, one + 9), Clock(one, one + 4, one + 20), one)
    assert both.within(one, one, one, one + 30).tolist() == [5]


def test_columns_of_different_lengths_are_refused() -> None:
    one, two = np.zeros(1, np.int64), np.zeros(2, np.int64)
    with pytest.raises(ValueError, match="columns of one table have 1 and 2 rows"):
        Clock(one, one, two)
    with pytest.raises(ValueError, match="columns of one table have 2 and 1 rows"):
        Clock(one, one, one).within(two, one, one)
