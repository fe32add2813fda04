# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What messages waited behind: as NumPy finds it in the same columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import numpy_blockers as oracle
import pytest
from engine_runs import ros2_samples
from hypothesis import given
from hypothesis import strategies as st

from strata.engine._model import Clock, Overlap, find_blockers
from strata.layers import blockers
from strata.layers.transfers import cut_layers
from strata.model.columns import NONE
from strata.model.of_tables import model_of_tables
from strata.read import open_trace

Columns = Sequence[Any]
THREADS, GROUPS = 3, 3


class Made:
    """Columns of executors, as a trace might have them, and some that none has."""

    def __init__(self, chance: Random) -> None:
        self.chance = chance
        self.longest = chance.choice((3, 20))
        self.pieces = chance.choice((4, 40, 300))
        self.callbacks = chance.choice((2, 6, 40))
        self.lane_of = [chance.randrange(2) for _ in range(THREADS)]
        self.overlaps = chance.random() < 0.2

    def columns(self, rows: list[tuple[int, ...]], width: int) -> Columns:
        return list(np.asarray(rows, np.int64).reshape(-1, width).T.copy())

    def intervals(self, groups: int) -> list[tuple[int, int, int]]:
        """Intervals by group and time; those of a group overlap where pieces may."""
        rows = []
        for group in range(groups):
            at = self.chance.randint(0, 9)
            for _ in range(self.chance.randint(0, self.pieces)):
                until = at + self.chance.randint(1, self.longest)
                rows.append((group, at, until))
                at = until + self.chance.choice((0, 0, 1, 5))
                if self.overlaps:
                    at = max(at - self.chance.choice((0, 0, 4)), rows[-1][1])
        return rows

    def callback(self) -> int:
        return self.chance.randint(NONE, self.callbacks - 1)

    def work(self) -> Columns:
        takes = self.chance.choice((0, 0.5))
        rows = [
            (
                *row,
                self.callback(),
                row[1] - self.chance.randint(-1, 5) if self.chance.random() < takes else NONE,
            )
            for row in self.intervals(THREADS)
        ]
        # By time, as engines of threads would have them.
        return self.columns(sorted(rows, key=lambda row: row[1]), 5)

    def runs(self) -> Columns:
        own = {group: self.chance.choice(self.lane_of) for group in range(GROUPS)}
        rows = [(*row, self.callback(), own[row[0]]) for row in self.intervals(GROUPS)]
        return self.columns(rows, 5)

    def waits(self) -> Columns:
        return self.columns([*self.intervals(2)], 3)

    def messages(self) -> Columns:
        span = self.pieces * self.longest
        rows = []
        for _ in range(self.chance.randint(0, 60)):
            thread, begin = self.chance.randrange(THREADS), self.chance.randint(NONE, span)
            until = begin + self.chance.choice((-1, 0, 5, 50, span))
            group = self.chance.randint(NONE, GROUPS - 1)
            rows.append((thread, self.lane_of[thread], group, begin, until))
        return self.columns(rows, 5)


def assert_same(messages: Columns, work: Columns, runs: Columns, waits: Columns) -> Columns:
    """Compare; `runs` have the lane of each, too."""
    own, running = Clock(*waits), Clock(*runs[:3])
    lane_of = np.full(int(runs[0].max(initial=0)) + 1, NONE, np.int64)
    lane_of[runs[0]] = runs[4]
    both = Overlap(running, own, lane_of)
    found = find_blockers(messages, work, runs[:4], own, running, both)
    wanted = oracle.find_blockers(messages, work, runs, waits)
    assert [column.tolist() for column in found] == [column.tolist() for column in wanted]
    return found


@given(st.randoms(use_true_random=False).map(Made))
def test_any_columns(made: Made) -> None:
    assert_same(made.messages(), made.work(), made.runs(), made.waits())


def test_backlogs_of_many_callbacks_are_among_these() -> None:
    several = 0
    for seed in range(40):
        made = Made(Random(seed))
        found = assert_same(made.messages(), made.work(), made.runs(), made.waits())
        works = np.unique(np.stack([found[0], 2 * found[1] + found[2]]), axis=1)[0]
        several += int(np.bincount(works, minlength=1).max(initial=0) > 24)
    assert several > 2


@pytest.mark.parametrize("name", ros2_samples())
def test_samples(name: str, sample: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    model = model_of_tables(open_trace(sample(name)).tables())
    groups, waits = model.groups, model.clocks.waits
    lane = model.executors.lane(model.executions.thread[groups.row])
    compared = []

    def both(messages: Columns, work: Columns, runs: Columns, *_: Any) -> Columns:
        compared.append(len(messages[0]))
        return assert_same(
            messages, work, (*runs, lane), (waits.lane, waits.start_ns, waits.end_ns)
        )

    transfers, _ = cut_layers(model)
    monkeypatch.setattr("strata.engine._model.find_blockers", both)
    found = blockers.find_blockers(model, transfers)
    assert compared == [len(transfers)]
    assert len(found.message) == len(found.duration_ns)


def test_numbers_that_are_too_large_are_refused() -> None:
    none = [np.empty(0, np.int64)] * 5
    clock = Clock(*none[:3])
    clocks = (clock, clock, Overlap(clock, clock, none[0]))
    work = [np.zeros(1, np.int64)] * 3 + [np.full(1, 1 << 40)] + [np.zeros(1, np.int64)]
    with pytest.raises(ValueError, match="has the number 1099511627776"):
        find_blockers(none, work, none[:4], *clocks)
    with pytest.raises(ValueError, match="columns of one table have 1 and 0 rows"):
        find_blockers(none, [*work[:4], none[0]], none[:4], *clocks)
