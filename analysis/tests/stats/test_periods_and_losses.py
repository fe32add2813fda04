# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Periods, grids, sequence numbers, slopes and quantile functions whose truth is known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata.stats.drift import drift
from strata.stats.periods import grid_losses, jitter, periods
from strata.stats.quantile_function import quantile_function
from strata.stats.sequence import losses
from strata.stats.summary import describe

EPOCH = 1_587_228_153_095_267_942
MS = 1_000_000


def test_periods_of_times_of_day_keep_their_nanoseconds() -> None:
    stamps = EPOCH + np.array([0, 100 * MS + 1, 199 * MS])
    assert periods(stamps).tolist() == [100 * MS + 1, 99 * MS - 1]
    assert jitter(periods(stamps), 100 * MS).tolist() == [1, MS + 1]
    assert periods(stamps[:1]).tolist() == []
    with pytest.raises(ValueError, match="float64"):
        periods(stamps.astype(float))
    with pytest.raises(ValueError, match="nominal period of 0"):
        jitter([1], 0)


@given(st.sets(st.integers(1, 98), max_size=60), st.integers(0, 2**32 - 1))
def test_a_grid_tells_how_many_stamps_are_lost(missing: set[int], seed: int) -> None:
    noise = np.random.default_rng(seed).integers(-20 * MS, 20 * MS, 100)
    noise[0] = 0
    at = np.array([each for each in range(100) if each not in missing])
    found = grid_losses(EPOCH + at * 100 * MS + noise[at], 100 * MS)
    assert (found.expected, found.lost) == (100, len(missing))
    assert found.gaps == len([each for each in missing if each + 1 not in missing])
    assert found.crowded == 0
    assert found.share == len(missing) / 100


def test_what_does_not_lie_on_the_grid_is_refused() -> None:
    with pytest.raises(ValueError, match="1 go back"):
        grid_losses(EPOCH + np.array([0, 200 * MS, 100 * MS]), 100 * MS)
    with pytest.raises(ValueError, match="11 stamps fall on 2 points"):
        grid_losses(EPOCH + np.arange(11) * 10 * MS, 100 * MS)
    with pytest.raises(ValueError, match="at least two"):
        grid_losses(np.array([EPOCH]), 100 * MS)


def test_a_late_stamp_is_off_the_grid_and_no_loss() -> None:
    stamps = EPOCH + np.arange(10) * 100 * MS
    stamps[4] += 70 * MS
    found = grid_losses(stamps, 100 * MS)
    assert (found.lost, found.gaps, found.crowded) == (0, 1, 1)
    assert found.on_grid == pytest.approx(7 / 9)


@given(
    st.lists(st.integers(0, 30), max_size=80),
)
def test_numbers_add_up(came: list[int]) -> None:
    found = losses(np.array(came, np.int64), 0, 30)
    assert found.expected == 31
    assert found.received == len(set(came))
    assert found.received + found.lost == found.expected
    assert found.received + found.duplicates == len(came)


def test_numbers_that_were_lost_and_reordered() -> None:
    found = losses(np.array([0, 1, 2, 5, 4, 4, 9]), 0, 11)
    assert (found.expected, found.received, found.lost) == (12, 7 - 1, 6)
    assert (found.duplicates, found.reordered, found.gaps) == (1, 1, 3)
    assert found.share == 0.5
    # Without what was sent, the ends are not known.
    assert losses(np.array([3, 5])).lost == 1
    nothing = losses(np.array([], np.int64), 0, 4)
    assert (nothing.lost, nothing.gaps, nothing.share) == (5, 1, 1.0)
    assert losses(np.array([], np.int64), 0, -1).share == 0.0


def test_numbers_that_were_not_sent_are_refused() -> None:
    with pytest.raises(ValueError, match=r"1 numbers are outside of 0\.\.4"):
        losses(np.array([1, 7]), 0, 4)
    with pytest.raises(ValueError, match="no number was received"):
        losses(np.array([], np.int64))
    with pytest.raises(ValueError, match="float64"):
        losses(np.array([1.0]))


def test_a_slope_is_found_per_hour() -> None:
    times = np.arange(600.0)
    noise = np.random.default_rng(1).normal(0, 1e5, 600)
    found = drift(times, 1e8 + 1e6 * times / 3600 + noise)
    assert found.low < 1e6 < found.high
    assert found.p < 1e-6
    line = drift(times, 5.0 * times)
    assert line.slope_per_hour == pytest.approx(18_000)
    assert drift(times, np.full(600, 3.0)).p == 1


@pytest.mark.parametrize(("count", "least"), [(60, 0.91), (300, 0.92)])
def test_a_slope_of_autocorrelated_values_is_no_surer_than_it_says(
    count: int, least: float
) -> None:
    """At 95 %, phi = 0.5; of those of ordinary least squares 73 % hold the true slope."""
    random = np.random.default_rng(2)
    times, hits, runs = np.arange(float(count)), 0, 500
    for _ in range(runs):
        values = np.zeros(count + 20)
        for at, noise in enumerate(random.normal(size=count + 20)):
            values[at] = 0.5 * values[at - 1] + noise
        found = drift(times, values[20:])
        hits += found.low <= 0 <= found.high
    assert least <= hits / runs <= 0.975


def test_slopes_that_cannot_be_are_refused() -> None:
    times = np.arange(20.0)
    with pytest.raises(ValueError, match="at least 10"):
        drift(times[:5], times[:5])
    with pytest.raises(ValueError, match="in time order"):
        drift(times[::-1], times)
    with pytest.raises(ValueError, match="times: all 20 are 0"):
        drift(times * 0, times)


def test_the_quantile_function_ends_at_the_smallest_and_the_largest() -> None:
    fractions, values = quantile_function([3, 1, 2, 5, 4], 5)
    assert fractions.tolist() == [0, 0.25, 0.5, 0.75, 1]
    assert values.tolist() == [1, 2, 3, 4, 5]
    with pytest.raises(ValueError, match="there are 0"):
        quantile_function([])
    with pytest.raises(ValueError, match="1 points"):
        quantile_function([1], 1)


def test_a_description_of_numbers_of_any_unit() -> None:
    whole, floats = np.arange(1, 2002), np.arange(1, 2002) / 1000
    for name, value in describe(whole).items():
        assert value is not None
        expected = value if name == "count" else value / 1000
        assert describe(floats)[name] == pytest.approx(expected)
    assert describe(whole)["p999"] == 1999
    empty = describe([])
    assert empty.pop("count") == 0
    assert set(empty.values()) == {None}
    assert describe([2.5])["std"] is None
    with pytest.raises(ValueError, match="1 of 2 are not finite"):
        describe([1.0, np.nan])
