# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Ratios of spreads with a known true value, and the tests of scipy."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from scipy import stats

from strata.stats.spread import (
    FEWEST,
    SPREADS,
    LogSpread,
    SpreadName,
    equal_spreads,
    interaction_of_spreads,
    log_spread,
    ratio_of_runs,
    ratio_of_spreads,
    spread,
)

RANDOM = np.random.default_rng(20)


def series(count: int, scale: float, follows: float = 0.0) -> np.ndarray:
    """Normal values of that standard deviation, with that autocorrelation."""
    steps = RANDOM.normal(0, np.sqrt(1 - follows**2), count + 100)
    out = np.zeros(count + 100)
    for at in range(1, len(out)):
        out[at] = follows * out[at - 1] + steps[at]
    return 50 + scale * out[100:]


def test_spreads_are_those_of_a_summary() -> None:
    values = [1.0, 2.0, 4.0, 8.0, 100.0]
    assert spread(values, "mad") == 3.0
    assert spread(values, "std") == pytest.approx(np.std(values, ddof=1))


@pytest.mark.parametrize("statistic", SPREADS)
@pytest.mark.parametrize(("count", "follows"), [(40, 0.0), (300, 0.0), (300, 0.5)])
def test_intervals_hold_a_planted_ratio_and_interaction(
    statistic: SpreadName, count: int, follows: float
) -> None:
    """Spreads of 1, 3, 1 and 1.5: the ratio is 3, and twice the other one. 60 samples of each."""
    held, both = 0, 0
    for _ in range(60):
        a, b, c, d = (
            log_spread([series(count, scale, follows)], statistic, seed=1, resamples=400)
            for scale in (1, 3, 1, 1.5)
        )
        ratio = ratio_of_spreads(a, b)
        double = interaction_of_spreads((a, b), (c, d))
        assert ratio.low is not None and ratio.high is not None
        assert double.low is not None and double.high is not None
        held += ratio.low <= 3 <= ratio.high
        both += double.low <= 2 <= double.high
        assert ratio.low < ratio.estimate < ratio.high
    # Of 60 intervals of 95 % fewer than 50 hold the truth in 1 of 1000 cases.
    assert min(held, both) >= 50, (held, both)


def test_an_interval_that_ignored_dependence_would_be_narrower() -> None:
    values = series(1_000, 1, 0.9)
    mixed = RANDOM.permutation(values)
    of_series, of_mixed = (log_spread([one], "std", seed=1).draws.std() for one in (values, mixed))
    assert of_series > 1.8 * of_mixed


def test_the_same_sample_has_a_ratio_of_one() -> None:
    a, b = series(200, 2), series(200, 2)
    found = ratio_of_spreads(*(log_spread([one], "mad", seed=3) for one in (a, b)))
    assert not found.is_apart
    wide = ratio_of_spreads(*(log_spread([one], "mad", seed=3) for one in (a, 5 * b)))
    assert wide.is_apart
    # Draws of two samples with one seed do not cancel each other.
    same = log_spread([a], "mad", seed=3)
    found = ratio_of_spreads(same, same)
    assert found.low is not None and found.low < 0.95


def test_runs_are_resampled_by_themselves() -> None:
    """Between two runs far apart the spread does not depend on the draws of a run's order."""
    near, far = series(100, 0.01), 1_000 + series(100, 0.01)
    found = log_spread([near, far], "std", seed=1)
    assert found.draws.std() < 1e-4
    assert log_spread([np.concatenate([near, far])], "std", seed=1).draws.std() > 1e-3


def test_draws_of_large_samples_do_not_need_the_memory_of_all_of_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runs = [series(12_000, 1), series(8_000, 1)]
    whole = log_spread(runs, "mad", seed=1)
    monkeypatch.setattr("strata.stats.spread._DRAWN_VALUES", 100_000)
    monkeypatch.setattr("strata.stats.spread._HELD_VALUES", 100_000)
    tracemalloc.start()
    few = log_spread(runs, "mad", seed=1)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (len(whole.draws), len(few.draws)) == (400, 200)
    # All 200 together have 4 million values.
    assert most < 4_000_000 * 8 / 3
    assert len(np.unique(few.draws)) > 190, "chunks do not repeat each other's draws"
    assert few.draws.std() == pytest.approx(whole.draws.std(), rel=0.25)


def test_an_interval_is_widened_for_the_confidence_that_is_asked_for() -> None:
    """Few blocks tell less of the tails: at 99 % more is added than at 80 %."""
    a, b = (log_spread([series(60, scale, 0.8)], "std", seed=1) for scale in (1, 2))
    assert min(a.block, b.block) > 3
    fixed = LogSpread(0.0, np.zeros(len(a.draws)), a.count, a.block)
    for confidence in (0.8, 0.99):
        found = ratio_of_spreads(fixed, b, confidence)
        tail = (1 - confidence) / 2
        bare = np.quantile(b.draws, [tail, 1 - tail]) - b.estimate
        blocks = b.count / b.block
        at = 1 - tail
        wider = stats.t.ppf(at, blocks - 1) / stats.norm.ppf(at) * np.sqrt(blocks / (blocks - 1))
        assert found.low is not None and found.high is not None
        ends = np.log([found.low, found.high]) - b.estimate
        assert ends == pytest.approx(wider * bare)


def test_of_runs_each_run_is_one_value() -> None:
    """Welch's t of the logarithms, with scipy's interval."""
    a = [series(80, scale) for scale in (1.0, 1.3, 0.8)]
    b = [series(80, scale) for scale in (3.0, 2.0, 2.5, 4.0)]
    found = ratio_of_runs([(1, b), (-1, a)], "std")
    logs = [[np.log(np.std(run, ddof=1)) for run in runs] for runs in (b, a)]
    theirs = stats.ttest_ind(*logs, equal_var=False).confidence_interval(0.95)
    assert found is not None
    assert (found.low, found.high) == pytest.approx((np.exp(theirs.low), np.exp(theirs.high)))
    assert ratio_of_runs([(1, b[:1]), (-1, a)], "std") is None
    assert ratio_of_runs([(1, [np.ones(9)] * 2), (-1, a)], "std") is None
    four = ratio_of_runs([(1, b), (-1, a), (-1, b), (1, a)], "mad")
    assert four is not None and four.estimate == pytest.approx(1)


def test_equal_spreads_are_tested_about_the_median() -> None:
    a, b = series(60, 1), series(60, 2.5)
    away = [np.abs(one - np.median(one)) for one in (a, b)]
    theirs = stats.ttest_ind(*away, equal_var=False)
    assert equal_spreads(a, b) == pytest.approx(theirs.pvalue, rel=0.5)
    assert theirs.statistic**2 == pytest.approx(stats.levene(a, b, center="median").statistic)


def test_the_test_of_equal_spreads_keeps_its_level() -> None:
    """Of equal spreads 5 % are called different; with dependence it would be more than 12 %."""
    found = [equal_spreads(series(200, 1, 0.5), series(200, 1, 0.5)) < 0.05 for _ in range(300)]
    assert sum(found) <= 30


def test_what_has_no_spread_is_refused() -> None:
    with pytest.raises(ValueError, match="more than half of them are equal"):
        log_spread([[1.0, 1.0, 1.0, 2.0]], "mad", seed=1)
    with pytest.raises(ValueError, match="not finite"):
        log_spread([[1.0, np.nan]], "std", seed=1)
    with pytest.raises(ValueError, match="at least 2"):
        spread([1.0], "std")
    few = log_spread([np.arange(FEWEST - 1.0)], "std", seed=1)
    found = ratio_of_spreads(few, few)
    assert (found.estimate, found.low, found.high) == (1.0, None, None)
    assert not found.is_apart
    with pytest.raises(ValueError, match="spread, which is"):
        equal_spreads([2.0, 2.0], [3.0, 3.0])
