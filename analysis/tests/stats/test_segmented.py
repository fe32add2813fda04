# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Segmented fits of points with a planted breakpoint, and of a straight line."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm

from strata.stats.segmented import FEWEST, Segmented, fit_segmented

SIZES = 2.0 ** np.arange(8, 23)
"""256 B to 4 MiB."""
RANDOM = np.random.default_rng(7)


def truth(
    at: float, *, intercept: float = 3e5, below: float = 0.2, above: float = 1.5
) -> np.ndarray:
    """Latencies in ns: ns per B, which are ms per MB."""
    return intercept + below * SIZES + (above - below) * np.maximum(0, SIZES - at)


def fit(exact: np.ndarray, scatter: float, error: float = 0.02, **kwargs: int) -> Segmented:
    errors = error * exact
    values = exact + RANDOM.normal(size=len(exact)) * np.hypot(errors, scatter * exact)
    return fit_segmented(SIZES, values, errors, seed=1, **({"resamples": 199} | kwargs))


def test_exact_points_give_back_what_was_planted() -> None:
    found = fit_segmented(SIZES, truth(65536.0), np.zeros(15), seed=1)
    assert found.breakpoint.estimate == pytest.approx(65536, rel=1e-6)
    assert found.below.estimate == pytest.approx(0.2, rel=1e-3)
    assert found.above.estimate == pytest.approx(1.5, rel=1e-4)
    assert found.intercept.estimate == pytest.approx(3e5, rel=1e-4)
    assert found.p == pytest.approx(1 / 1000)
    assert found.is_bounded
    assert found.scatter < 1e-3
    assert np.abs(found.residuals).max() < 1e-3
    assert found.at(SIZES) == pytest.approx(truth(65536.0), rel=1e-3)
    assert found.ends == (SIZES[1], SIZES[-2])


@pytest.mark.parametrize(("at", "scatter"), [(70_000.0, 0.0), (70_000.0, 0.05), (900_000.0, 0.05)])
def test_intervals_hold_what_was_planted(at: float, scatter: float) -> None:
    names = ("breakpoint", "below", "above", "intercept")
    planted = dict(zip(names, (at, 0.2, 1.5, 3e5), strict=True))
    held = dict.fromkeys(names, 0)
    found = 0
    for _ in range(50):
        one = fit(truth(at), scatter)
        found += one.p < 0.05 and one.is_bounded
        for name in names:
            held[name] += getattr(one, name).holds(planted[name])
    # Of 50 intervals of 90 % fewer than 38 hold the truth in 1 of 1000 cases.
    assert min(held.values()) >= 38, held
    assert found >= 45


def test_a_straight_line_has_no_breakpoint_and_is_held_by_its_intervals() -> None:
    called, slope, intercept = 0, 0, 0
    for _ in range(80):
        found = fit(truth(70_000.0, below=1.0, above=1.0), 0.05)
        called += found.p < 0.05
        slope += found.line.slope.holds(1.0)
        intercept += found.line.intercept.holds(3e5)
    # Of 80 tests at 5 % more than 12 are wrong in less than 1 of 1000 cases.
    assert called <= 12
    assert min(slope, intercept) >= 68


def test_in_proportion_is_an_intercept_of_nothing() -> None:
    held = [
        fit(truth(70_000.0, intercept=0.0, below=1.0, above=1.0), 0.05).line.intercept.holds(0.0)
        for _ in range(20)
    ]
    assert sum(held) >= 15
    assert not fit(truth(70_000.0, below=1.0, above=1.0), 0.05).line.intercept.holds(0.0)


def test_the_straight_line_is_that_of_weighted_least_squares() -> None:
    """With errors alone, as statsmodels fits it; they are small enough to need no scatter."""
    exact = truth(70_000.0, below=1.0, above=1.0)
    errors = 0.05 * exact
    values = exact * (1 + 0.02 * RANDOM.normal(size=15))
    found = fit_segmented(SIZES, values, errors, seed=1, resamples=99).line
    theirs = sm.WLS(values, sm.add_constant(SIZES), weights=1 / errors**2).fit(
        cov_type="fixed scale"
    )
    assert found.intercept.estimate == pytest.approx(theirs.params[0])
    assert found.slope.estimate == pytest.approx(theirs.params[1])
    # Points nearer to the line than their errors say do not make it surer than these.
    assert (found.slope.high - found.slope.low) / 2 == pytest.approx(
        2.160 * theirs.bse[1], rel=1e-3
    )


def test_scatter_between_runs_is_found_and_widens_intervals() -> None:
    exact = truth(70_000.0)
    quiet = np.mean([fit(exact, 0.0, 0.01).scatter for _ in range(20)])
    loud = [fit(exact, 0.1, 0.01) for _ in range(20)]
    assert quiet < 0.01
    assert np.mean([one.scatter for one in loud]) == pytest.approx(0.1, rel=0.3)
    widths = [one.above.high - one.above.low for one in loud]
    assert np.median(widths) > 4 * np.median(
        [one.above.high - one.above.low for one in (fit(exact, 0.0, 0.01) for _ in range(9))]
    )


def test_a_bend_at_the_end_is_not_bounded() -> None:
    values = truth(2.0**21)
    found = fit_segmented(SIZES, values, 0.01 * values, seed=1)
    assert found.p < 0.05
    assert not found.is_bounded


def test_the_same_points_have_the_same_fit() -> None:
    values = truth(70_000.0) * (1 + 0.05 * RANDOM.normal(size=15))
    one, other = (fit_segmented(SIZES, values, 0.02 * values, seed=1) for _ in range(2))
    assert one == other
    # In other units it is the same fit.
    scaled = fit_segmented(SIZES / 1e6, values / 1e6, 0.02 * values / 1e6, seed=1)
    assert scaled.p == one.p
    assert scaled.breakpoint.estimate * 1e6 == pytest.approx(one.breakpoint.estimate)
    assert scaled.above.low == pytest.approx(one.above.low, rel=1e-3)


def test_what_cannot_be_fitted_is_refused() -> None:
    few = np.arange(1.0, FEWEST)
    with pytest.raises(ValueError, match="at least 6 are needed"):
        fit_segmented(few, few, few, seed=1)
    seven = np.arange(1.0, 8)
    with pytest.raises(ValueError, match="ascending x"):
        fit_segmented(seven[::-1], seven, seven, seed=1)
    with pytest.raises(ValueError, match="errors of 0 or more"):
        fit_segmented(seven, seven, -seven, seed=1)
    with pytest.raises(ValueError, match="all of them are 0"):
        fit_segmented(seven, 0 * seven, 0 * seven, seed=1)
    assert (
        fit_segmented(seven - 1, seven**2, 0 * seven, seed=1, resamples=9).breakpoint.estimate > 1
    )
