# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Intervals: against scipy, and by how often they hold the true value."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from strata.stats.dependence import (
    autocorrelation,
    block_length,
    effective_count,
    is_dependent,
    ljung_box,
)
from strata.stats.intervals import (
    bootstrap_interval,
    interval,
    mean_interval,
    quantile_interval,
    resampled,
)


def autoregressive(random: np.random.Generator, count: int, phi: float) -> np.ndarray:
    """x(t) = phi * x(t - 1) + noise, from its stationary distribution on; the mean is 0."""
    noise = random.normal(0, 1, count)
    noise[0] /= np.sqrt(1 - phi**2)
    values = np.empty(count)
    last = 0.0
    for at, each in enumerate(noise):
        last = values[at] = phi * last + each
    return values


def test_the_mean_is_of_students_t() -> None:
    values = np.random.default_rng(1).exponential(3.0, 40)
    scipys = stats.ttest_1samp(values, 0).confidence_interval(0.9)
    ours = mean_interval(values, 0.9)
    assert (ours.low, ours.high) == pytest.approx((scipys.low, scipys.high))


@pytest.mark.parametrize("q", [0.5, 0.9, 0.99])
@pytest.mark.parametrize("count", [5, 30, 121, 1000])
def test_a_quantile_lies_between_order_statistics(q: float, count: int) -> None:
    values = np.random.default_rng(2).lognormal(0, 1, count)
    ours = quantile_interval(values, q, 0.95)
    # scipy's test inverts the same binomial.
    scipys = stats.quantile_test(values, p=q).confidence_interval(0.95)
    assert (ours.low is None) == bool(np.isnan(scipys.low))
    assert (ours.high is None) == bool(np.isnan(scipys.high))
    if ours.low is not None:
        assert ours.low == pytest.approx(scipys.low)
    if ours.high is not None:
        assert ours.high == pytest.approx(scipys.high)
    assert ours.coverage >= 0.95


def test_the_coverage_of_a_median_is_that_of_the_tables() -> None:
    """n = 10: the 2nd and 9th hold the median with 97.85 % (Conover, 1999, table A3)."""
    found = quantile_interval(np.arange(1.0, 11.0), 0.5, 0.95)
    assert (found.low, found.high) == (2.0, 9.0)
    assert found.coverage == pytest.approx(0.9785, abs=5e-5)


def test_a_quantile_of_few_values_has_no_upper_bound() -> None:
    values = np.arange(100.0)
    assert quantile_interval(values, 0.99).high is None
    assert quantile_interval(values, 0.99).low is not None
    assert quantile_interval(values[:5], 0.5).low is None
    # 368 is the least count with an upper bound: 0.99^n <= 0.025.
    assert quantile_interval(np.arange(367.0), 0.99).high is None
    assert quantile_interval(np.arange(368.0), 0.99).high == 367


def test_order_statistics_hold_the_true_quantile_as_often_as_they_say() -> None:
    random = np.random.default_rng(3)
    true = stats.lognorm(1).ppf(0.9)
    found = [quantile_interval(random.lognormal(0, 1, 200), 0.9) for _ in range(1000)]
    held = np.mean([each.low <= true <= each.high for each in found])
    assert held == pytest.approx(found[0].coverage, abs=0.02)


def test_an_autoregressive_process_is_worth_a_third_of_its_values() -> None:
    """(1 - phi) / (1 + phi) of them, for phi = 0.5; independent values are worth all."""
    random = np.random.default_rng(4)
    shares = [effective_count(autoregressive(random, 1000, 0.5)) / 1000 for _ in range(30)]
    assert np.median(shares) == pytest.approx(1 / 3, rel=0.15)
    swinging = [effective_count(autoregressive(random, 1000, -0.5)) / 1000 for _ in range(30)]
    assert np.median(swinging) == pytest.approx(3, rel=0.25)
    independent = [effective_count(random.normal(size=1000)) / 1000 for _ in range(30)]
    assert np.median(independent) == pytest.approx(1, abs=0.06)


def test_the_autocorrelation_is_that_of_the_process() -> None:
    values = autoregressive(np.random.default_rng(5), 20_000, 0.5)
    assert autocorrelation(values, 3) == pytest.approx([1, 0.5, 0.25, 0.125], abs=0.03)


def test_ljung_box_is_that_of_statsmodels() -> None:
    from statsmodels.stats.diagnostic import acorr_ljungbox

    for phi in (0.0, 0.1, 0.5):
        values = autoregressive(np.random.default_rng(6), 300, phi)
        theirs = acorr_ljungbox(values, lags=[10])["lb_pvalue"].iloc[0]
        assert ljung_box(values) == pytest.approx(theirs, rel=1e-6)


def test_who_is_taken_as_dependent() -> None:
    random = np.random.default_rng(7)
    assert all(is_dependent(autoregressive(random, 300, 0.5)) for _ in range(20))
    assert sum(is_dependent(random.normal(size=300)) for _ in range(100)) <= 3
    assert not any(is_dependent(autoregressive(random, 300, -0.5)) for _ in range(20))


@pytest.mark.parametrize("name", ["mean", "p50"])
def test_only_blocks_hold_the_true_value_of_an_autocorrelated_sample(name: str) -> None:
    """At 95 %, of 300 values with phi = 0.5: some 75 % and 83 % of the naive intervals do."""
    random = np.random.default_rng(8)
    naive = ours = 0
    runs = 150
    for run in range(runs):
        values = autoregressive(random, 300, 0.5)
        plain = mean_interval(values) if name == "mean" else quantile_interval(values, 0.5)
        naive += plain.low <= 0 <= plain.high
        fitting = interval(values, name, 0.95, seed=run, resamples=400)
        ours += fitting.low <= 0 <= fitting.high
    assert naive / runs < 0.86
    assert 0.90 <= ours / runs <= 0.98


def test_blocks_agree_with_those_of_arch() -> None:
    from arch.bootstrap import CircularBlockBootstrap

    values = autoregressive(np.random.default_rng(9), 400, 0.6)
    theirs = CircularBlockBootstrap(12, values, seed=1).apply(np.mean, 2000).ravel()
    ours = resampled(values, np.mean, 12, resamples=2000, seed=2)
    assert ours.std() == pytest.approx(theirs.std(), rel=0.06)
    assert stats.ks_2samp(ours, theirs).pvalue > 0.01
    # Few blocks widen the interval: Student's t of 33 of them.
    found = bootstrap_interval(values, "mean", seed=2, block=12)
    plain = np.quantile(ours, 0.975) - values.mean()
    factor = stats.t.ppf(0.975, 400 / 12 - 1) / stats.norm.ppf(0.975) * np.sqrt(400 / 388)
    assert found.high - found.estimate == pytest.approx(plain * factor)


def test_resampled_quantiles_are_of_type_7() -> None:
    values = np.random.default_rng(13).exponential(1, 101)
    for name, q in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99)):
        found = bootstrap_interval(values, name, seed=1, resamples=2, block=1)
        assert found.estimate == pytest.approx(np.quantile(values, q))


def test_a_seed_makes_the_same_interval() -> None:
    values = autoregressive(np.random.default_rng(10), 300, 0.5)
    first = interval(values, "p50", 0.95, seed=5)
    assert first == interval(values, "p50", 0.95, seed=5)
    assert first != interval(values, "p50", 0.95, seed=6)
    assert first.effective_count < 300


def test_a_function_of_ones_own_can_be_resampled() -> None:
    values = np.random.default_rng(11).normal(10, 2, 500)
    found = bootstrap_interval(values, np.std, seed=1, resamples=500)
    assert found.low < 2 < found.high
    assert found.estimate == pytest.approx(values.std())


def test_bounds_that_independent_values_would_not_have_are_null() -> None:
    values = autoregressive(np.random.default_rng(12), 150, 0.5)
    found = bootstrap_interval(values, "p99", seed=1)
    assert found.high is None
    assert found.low is not None


def test_one_value_and_equal_values() -> None:
    assert mean_interval([4.0]).low is None
    assert interval([4.0], "p50").high is None
    equal = interval([4.0] * 50, "mean")
    assert (equal.low, equal.high) == (4.0, 4.0)
    assert block_length([4.0] * 50) == 1
    assert effective_count([4.0] * 50) == 50


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ([], "there are 0"),
        ([1.0, np.nan], "1 of 2 are not finite"),
        ([[1.0], [2.0]], "2 dimensions"),
    ],
)
def test_what_is_no_sample_is_refused(values: list[float], says: str) -> None:
    for function in (mean_interval, lambda v: quantile_interval(v, 0.5), effective_count):
        with pytest.raises(ValueError, match=says):
            function(values)


def test_wrong_questions_are_refused() -> None:
    with pytest.raises(ValueError, match="confidence of 95"):
        mean_interval([1.0, 2.0], 95)
    with pytest.raises(ValueError, match="'p175': unknown statistic"):
        interval([1.0, 2.0], "p175")
    with pytest.raises(ValueError, match="all 3 are 1"):
        bootstrap_interval([1.0] * 3, "mean", seed=1)
    with pytest.raises(ValueError, match="all 3 are 1"):
        autocorrelation([1.0] * 3, 1)
    with pytest.raises(ValueError, match="blocks of 4"):
        bootstrap_interval([1.0, 2.0, 3.0, 5.0, 7.0], "mean", seed=1, block=4)
