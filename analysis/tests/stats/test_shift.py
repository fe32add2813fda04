# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Shifts between samples: textbook values, scipy's, and how often the interval holds the truth."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests

from strata.stats.shift import holm, quantile_shift, shift

# Hollander, Wolfe and Chicken, Nonparametric Statistical Methods, 2014, table 4.1: permeability of
# human chorioamnion, at term and at 12 to 26 weeks.
AT_TERM = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46]
EARLIER = [1.15, 0.88, 0.90, 0.74, 1.21]


def autoregressive(random: np.random.Generator, count: int, phi: float) -> np.ndarray:
    values = np.zeros(count + 50)
    for at, noise in enumerate(random.normal(0, 1, count + 50)):
        values[at] = phi * values[at - 1] + noise
    return values[50:]


def test_the_textbooks_example() -> None:
    """Examples 4.1, 4.3 and 4.4: 0.305, and -0.15 to 0.76 at 96 %; two-sided p = 0.254."""
    found = shift(EARLIER, AT_TERM, 0.95, seed=1)
    assert found.estimate == pytest.approx(0.305)
    assert (found.low, found.high) == pytest.approx((-0.15, 0.76))
    assert found.p == pytest.approx(0.2544, abs=5e-5)
    # W = 35 of 50 pairs.
    assert found.effect == pytest.approx(2 * 35 / 50 - 1)
    assert found.relative == pytest.approx(0.305 / 0.90)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(-(10**12), 10**12), min_size=1, max_size=12),
    st.lists(st.integers(-(10**12), 10**12), min_size=1, max_size=12),
)
def test_the_shift_is_the_median_of_all_differences(a: list[int], b: list[int]) -> None:
    if len({*a, *b}) < 2:
        return
    found = shift(np.array(a), np.array(b), seed=1)
    differences = np.sort(np.subtract.outer(b, a).ravel())
    assert found.estimate == np.median(differences)
    assert found.effect == pytest.approx(np.sign(differences).mean())
    for bound in (found.low, found.high):
        assert bound is None or bound in differences


@pytest.mark.parametrize(("first", "second"), [(4, 4), (8, 30), (49, 49)])
def test_the_interval_is_the_exact_tests(first: int, second: int) -> None:
    """Moved to just within its bounds, the samples do not differ at 5 %; just outside they do."""
    random = np.random.default_rng(1)
    a, b = random.normal(0, 1, first), random.normal(0.4, 1, second)
    found = shift(a, b, 0.95, seed=1)
    for bound, inwards in ((found.low, 1e-9), (found.high, -1e-9)):
        within = stats.mannwhitneyu(b - bound - inwards, a, method="exact").pvalue
        outside = stats.mannwhitneyu(b - bound + inwards, a, method="exact").pvalue
        assert outside <= 0.05 < within


def test_too_few_values_have_no_bounds() -> None:
    found = shift([1.0, 2.0, 3.0], [4.0, 5.0, 6.0], seed=1)
    assert found.low is None
    assert found.high is None
    assert found.p == pytest.approx(0.1)
    assert found.effect == 1
    assert found.quantiles["p50"].low is None


def test_large_samples_agree_with_scipy() -> None:
    random = np.random.default_rng(2)
    a, b = random.exponential(1, 300), random.exponential(1.3, 500)
    found = shift(a, b, seed=1)
    assert found.p == pytest.approx(stats.mannwhitneyu(a, b).pvalue)
    assert found.effective_counts is None
    ordered = np.sort(np.subtract.outer(b, a).ravel())
    z = stats.norm.ppf(0.975) * np.sqrt(300 * 500 * 801 / 12)
    assert found.low == pytest.approx(ordered[int(300 * 500 / 2 - z) - 1])
    assert found.estimate == pytest.approx(np.median(ordered))


def test_the_interval_of_autocorrelated_samples_holds_the_truth() -> None:
    """At 95 %, phi = 0.6: the ranks alone find a shift that is not there in 30 % of pairs."""
    random = np.random.default_rng(3)
    inside = false = naive = 0
    runs = 60
    for _ in range(runs):
        a, b = (autoregressive(random, 200, 0.6) for _ in range(2))
        found = shift(a, b, seed=1, resamples=2)
        inside += found.low <= 0 <= found.high
        false += found.p < 0.05
        naive += stats.mannwhitneyu(a, b).pvalue < 0.05
    assert naive / runs > 0.2
    assert inside / runs >= 0.87
    assert false / runs <= 0.13


def test_autocorrelation_is_allowed_for() -> None:
    random = np.random.default_rng(4)
    a, b = (autoregressive(random, 300, 0.6) for _ in range(2))
    naive = stats.mannwhitneyu(a, b).pvalue
    found = shift(a, b, seed=1)
    assert found.method.endswith("effective counts")
    assert max(found.effective_counts) < 150
    assert found.p > naive


def test_a_hundred_million_pairs_are_never_made() -> None:
    random = np.random.default_rng(5)
    a = random.integers(10**6, 2 * 10**6, 10_000)
    b = a[::-1] + 1234
    tracemalloc.start()
    found = shift(a, b, seed=1, resamples=200)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.estimate == 1234
    assert peak < 200e6


def test_quantiles_shift_on_their_own() -> None:
    """The tail moves, the median does not."""
    random = np.random.default_rng(6)
    a = random.normal(100, 1, 2000)
    b = random.normal(100, 1, 2000)
    b[::20] += 50
    found = shift(a, b, seed=1).quantiles
    assert found["p50"].low < 0 < found["p50"].high
    assert found["p99"].low > 40
    alone = quantile_shift(a, b, "p99", seed=1)
    assert alone == found["p99"]
    assert (alone.count, alone.effective_count) == (4000, 4000)
    assert shift(a, b, seed=1, quantiles=()).quantiles == {}


def test_quantiles_of_autocorrelated_samples_are_less_sure() -> None:
    """With phi = 0.8 some nine values tell as much as one: blocks of them are drawn."""
    random = np.random.default_rng(8)
    pair = [autoregressive(random, 400, 0.8) for _ in "ab"]
    mixed = [random.permutation(values) for values in pair]
    following, independent = (quantile_shift(*each, "p50", seed=1) for each in (pair, mixed))
    assert following.estimate == independent.estimate
    widths = [each.high - each.low for each in (following, independent)]
    assert widths[0] > 1.5 * widths[1]
    assert following.effective_count < 400 < independent.effective_count


def test_one_value_beside_autocorrelated_ones_is_still_a_comparison() -> None:
    values = autoregressive(np.random.default_rng(7), 200, 0.8)
    found = shift(values, [float(values.max()) + 1], seed=1)
    assert found.method.endswith("effective counts")
    assert 0.01 < found.p < 1
    assert found.effect == 1


def test_holms_correction() -> None:
    values = np.array([0.01, 0.04, 0.03, 0.005, 1.0])
    assert holm(values) == pytest.approx(multipletests(values, method="holm")[1])
    # Holm's own order: 0.005 * 4, 0.01 * 3, then 0.03 * 2 and no less after it.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert len(holm([])) == 0
    with pytest.raises(ValueError, match="outside of"):
        holm([1.5])


def test_what_cannot_be_compared_is_refused() -> None:
    with pytest.raises(ValueError, match="first sample: there are 0"):
        shift([], [1.0], seed=1)
    with pytest.raises(ValueError, match="all 4 are 2"):
        shift([2.0, 2.0], [2.0, 2.0], seed=1)
    with pytest.raises(ValueError, match="second sample: 1 of 2 are not finite"):
        shift([1.0], [1.0, np.inf], seed=1)
    assert shift([0.0], [1.0], seed=1).relative is None
    assert shift([-2.0], [-1.0], seed=1).relative == 0.5
