# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""With several runs a side, what differs from run to run is in the interval; by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from made_analysis import Relay
from made_runs import durations, side
from scipy import stats

from strata.comparison.comparison import compare_sides
from strata.comparison.difference import (
    cliffs_delta,
    difference,
    hodges_lehmann,
    quantile_difference,
)
from strata.comparison.losses import Loss, loss_difference, loss_interval, loss_of_runs

TRIALS = 120


def runs(random: np.random.Generator, count: int, moved: int = 0) -> list[np.ndarray]:
    """Runs of 60 messages; their medians differ by some 10 us from run to run."""
    return [
        durations(random, 60) + int(random.normal(0, 10_000)) + 50_000 + moved for _ in range(count)
    ]


@pytest.mark.parametrize(("of_a", "of_b"), [(3, 3), (1, 4)])
def test_the_interval_holds_the_truth_as_often_as_it_says(of_a: int, of_b: int) -> None:
    random = np.random.default_rng(of_a * 10 + of_b)
    held = rejected = 0
    for _ in range(TRIALS):
        found = difference(runs(random, of_a), runs(random, of_b, moved=20_000), seed=1)
        assert found is not None
        assert found.shift.low is not None
        assert found.shift.high is not None
        held += found.shift.low <= 20_000 <= found.shift.high
        same = difference(runs(random, of_a), runs(random, of_b), seed=1)
        assert same is not None
        rejected += same.p < 0.05
    # Some three standard errors of 120 trials at 5 %.
    assert abs(held / TRIALS - 0.95) < 0.06
    assert abs(rejected / TRIALS - 0.05) < 0.06


def test_one_run_a_side_knows_nothing_of_other_runs() -> None:
    """Which is why it says so: as a statement on configurations it is wrong far too often."""
    random = np.random.default_rng(9)
    rejected = 0
    for _ in range(30):
        found = difference(runs(random, 1), runs(random, 1), seed=1)
        assert found is not None
        rejected += found.p < 0.05
    assert rejected / 30 > 0.2


def test_messages_that_depend_on_each_other_do_not_make_differences() -> None:
    random, phi = np.random.default_rng(5), 0.5
    rejected = 0
    for _ in range(50):
        pair = []
        for _ in "ab":
            noise, level = random.normal(size=400), 0.0
            series = np.empty(400)
            for at, one in enumerate(noise):
                level = phi * level + one
                series[at] = level
            pair.append(np.round(1e5 * np.exp(0.2 * series)).astype(np.int64))
        found = difference(pair[:1], pair[1:], seed=1)
        assert found is not None
        rejected += found.p < 0.05
    assert rejected / 50 < 0.15


def test_the_estimates_are_those_of_their_definitions() -> None:
    random = np.random.default_rng(2)
    a, b = durations(random, 40), durations(random, 50)
    pairs = np.subtract.outer(b, a)
    assert hodges_lehmann(a, b) == np.median(pairs)
    assert cliffs_delta(a, b) == np.mean(np.sign(pairs))
    large = [durations(random, 3_000) for _ in "ab"]
    whole = np.median(np.subtract.outer(large[1], large[0]))
    assert abs(hodges_lehmann(*large) - whole) < 50


def test_values_that_never_vary_are_no_surer_than_their_count() -> None:
    a = np.full(5, 100, np.int64)
    found = difference([a], [a + 7], seed=1)
    assert found is not None
    assert (found.shift.value, found.effect) == (7, 1)
    assert found.p == pytest.approx(stats.mannwhitneyu(a, a + 7).pvalue)
    assert 0.001 < found.p < 0.05
    same = difference([a], [a], seed=1)
    assert same is not None
    assert (same.shift.low, same.shift.high, same.p, same.effect) == (0, 0, 1, 0)


def test_runs_that_are_alike_are_no_more_exact_than_their_clock() -> None:
    a = np.arange(100, 120)
    same, moved = difference([a, a], [a, a], seed=1), difference([a, a], [a + 1, a + 1], seed=1)
    assert same is not None
    assert moved is not None
    assert same.p == 1
    # Student's t with two degrees of freedom, of runs that are rounded to 1 ns.
    half = stats.t.isf(0.025, 2) * np.sqrt(1 / 12)
    assert (moved.shift.low, moved.shift.high) == pytest.approx((1 - half, 1 + half))


def test_means_of_runs_are_compared_as_student_did() -> None:
    random = np.random.default_rng(3)
    a, b = runs(random, 3), runs(random, 4)
    found = quantile_difference(a, b, "mean", seed=1)
    own = stats.ttest_ind([run.mean() for run in b], [run.mean() for run in a])
    bounds = own.confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((bounds.low, bounds.high))


def test_means_of_one_run_a_side_are_compared_as_welch_did() -> None:
    random = np.random.default_rng(4)
    a, b = durations(random, 300), durations(random, 200) + 30_000
    found = quantile_difference([a], [b], "mean", seed=1)
    theirs = stats.ttest_ind(b, a, equal_var=False)
    bounds = theirs.confidence_interval(0.95)
    assert found.value == pytest.approx(b.mean() - a.mean())
    assert (found.low, found.high) == pytest.approx((bounds.low, bounds.high), rel=0.01)


def test_runs_of_a_side_are_put_together_and_said_to_be_the_unit() -> None:
    a = side("A", *(Relay(hops=2, messages=60, seed=at) for at in (1, 2, 3)))
    b = side("B", *(Relay(hops=2, messages=60, seed=at, work_ns={1: 50_000}) for at in (4, 5, 6)))
    comparison = compare_sides(a, b)
    assert comparison.runs_are_the_unit
    found = {
        (block.subject.kind, row.layer)
        for block in comparison.blocks
        for row in block.rows
        if row.verdict.found
    }
    assert ("hop", "callback") in found
    assert {layer for _, layer in found} <= {None, "callback", "hold"}
    assert comparison.blocks[0].whole.a is not None
    assert comparison.blocks[0].whole.a.runs == 3
    assert comparison.blocks[0].whole.a.count == 180


def test_losses_by_newcombe_and_by_runs() -> None:
    # Newcombe 1998, table II, example (a): 56/70 less 48/80 is 0.2000, 0.0524 to 0.3339.
    found = loss_difference([Loss(80, 48)], [Loss(70, 56)])
    assert found is not None
    bounds = (found.share.value, found.share.low, found.share.high)
    assert bounds == pytest.approx((0.2, 0.0524, 0.3339), abs=5e-5)
    assert found.p == pytest.approx(stats.fisher_exact([[48, 32], [56, 14]]).pvalue)
    # Clopper and Pearson: none of 100 is at most 3.62 %.
    assert loss_interval(Loss(100, 0)).high == pytest.approx(0.0362, abs=5e-5)
    bursts = loss_difference(
        [Loss(1000, n) for n in (0, 90, 3)], [Loss(1000, n) for n in (60, 2, 80)]
    )
    assert bursts is not None
    assert bursts.p > 0.05
    spread = loss_of_runs([Loss(1000, n) for n in (0, 90, 3)])
    assert spread.high is not None
    assert spread.high > 0.1
    assert loss_difference([Loss(0, 0)], [Loss(5, 1)]) is None
    # Runs that lose alike by chance are no surer than messages that are lost one by one.
    alike = loss_of_runs([Loss(1000, 10)] * 3)
    assert (alike.low, alike.high) == pytest.approx((0.01 - 0.0078, 0.01 + 0.0078), abs=1e-4)
    few = loss_difference([Loss(1000, 1)] * 2, [Loss(1000, 3)] * 2)
    assert few is not None
    assert few.p == pytest.approx(2 * stats.t.sf(0.002 / np.sqrt(0.002 * 0.998 / 1000), 2))
