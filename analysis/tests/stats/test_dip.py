# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The dip of samples that can be reckoned by hand, by other means, or bounded; and its p-values."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata.stats._grouped import convex_contacts
from strata.stats.dip import dip, p_value
from strata.stats.dip_table import COUNTS, QUANTILES

FEW = st.lists(st.integers(0, 12), min_size=2, max_size=9)
"""Few values, so that they lie on lines and are equal, where rules of thumb go wrong."""
MANY = st.lists(
    st.one_of(st.integers(0, 20).map(float), st.floats(-1e9, 1e9)), min_size=1, max_size=300
)


def sample(*values: float) -> np.ndarray:
    return np.sort(np.asarray(values, np.float64))


@pytest.mark.parametrize("count", [1, 2, 3, 4, 10, 77, 2_000])
def test_an_even_grid_has_the_least_dip(count: int) -> None:
    assert dip(np.arange(count) * 0.1) == 1 / (2 * count)


@pytest.mark.parametrize("count", [1, 2, 9, 500])
def test_equal_values_have_the_least_dip(count: int) -> None:
    assert dip(np.full(count, 3.7)) == 1 / (2 * count)


@pytest.mark.parametrize(("left", "right"), [(1, 1), (2, 2), (1, 9), (30, 70), (500, 500)])
def test_of_two_points_the_lighter_is_split_in_half(left: int, right: int) -> None:
    # The heavier one is the mode; a continuous function passes the other step half way up.
    values = sample(*[0.0] * left, *[5.0] * right)
    assert dip(values) == min(left, right) / (2 * (left + right))


def test_of_three_points_the_heaviest_is_the_mode_and_the_lighter_steps_are_halved() -> None:
    assert dip(sample(0, 1, 1, 1, 2, 2)) == 2 / 12
    # With the mode at 0, a concave line passes all steps after it.
    assert dip(sample(0, 0, 0, 1, 2)) == 1 / 10
    # The mode is either end; half a step at the other one and what is lacking in between: on the
    # line from (1, 3) to (4, 7), 13/3 at 2, where F is 3 before the step: 4/3, halved, of 7 values.
    assert dip(sample(1, 1, 1, 2, 4, 4, 4)) == pytest.approx(3 / 14)


def test_two_modes_far_apart_have_half_the_lighter_one_s_share() -> None:
    near = np.linspace(0, 1, 1_000)
    assert dip(np.concatenate([near[:400], 1e6 + near[:600]])) == pytest.approx(0.2, abs=1e-3)


@given(MANY)
def test_the_dip_has_bounds(numbers: list[float]) -> None:
    values = np.sort(numbers)
    least = 1 / (2 * len(values))
    assert least <= dip(values) <= max(least, 0.25 + 1e-12)


@given(MANY, st.sampled_from([0.25, 2.0, 1024.0]), st.integers(-1000, 1000))
def test_neither_scale_nor_place_nor_direction_matter(
    numbers: list[float], scale: float, place: int
) -> None:
    # Whole numbers, so that nothing is rounded and no order changes.
    values = np.sort(np.round(numbers))
    there = dip(values)
    assert dip(values * scale + place) == pytest.approx(there, abs=1e-12)
    assert dip(-values[::-1]) == pytest.approx(there, abs=1e-12)


@given(FEW)
def test_no_distribution_with_one_mode_is_nearer(numbers: list[int]) -> None:
    values = sample(*numbers)
    if values[0] == values[-1]:
        return
    assert dip(values) == pytest.approx(least_distance(values), abs=1e-12)


def test_the_dip_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="of zero values"):
        dip(np.empty(0))


@pytest.mark.parametrize("count", [50, 140, 700])
def test_a_uniform_sample_has_a_p_value_below_p_as_often_as_p(count: int) -> None:
    # Not the samples of the table, and two counts between its own.
    random = np.random.default_rng(11)
    drawn = 1_500
    found = [p_value(dip(np.sort(random.random(count))), count) for _ in range(drawn)]
    for chance in (0.01, 0.05, 0.2, 0.5, 0.8, 0.95):
        sigma = np.sqrt(chance * (1 - chance) / drawn)
        assert np.mean(np.asarray(found) <= chance) == pytest.approx(chance, abs=4 * sigma)


@pytest.mark.parametrize("count", [50, 333, 2_000, 10_000])
def test_a_larger_dip_has_no_larger_p_value(count: int) -> None:
    values = [p_value(each, count) for each in np.linspace(0.5 / count, 0.25, 400)]
    assert values[0] == 1
    assert np.all(np.diff(values) <= 0)
    assert values[-1] == min(QUANTILES)


def test_the_table_s_own_quantiles_have_its_chances() -> None:
    for at, count in enumerate(COUNTS):
        for chance, row in QUANTILES.items():
            assert p_value(row[at] / np.sqrt(count), count) == pytest.approx(chance)


def test_fewer_values_than_in_the_table_have_no_p_value() -> None:
    with pytest.raises(ValueError, match="49 values, but the table begins at 50"):
        p_value(0.05, 49)


def least_distance(values: np.ndarray) -> float:
    """Return the dip without minorants and majorants, from all chords; for few values.

    Whatever the mode, a distribution function with it at one of the values is as near. Up to there
    the function is convex, and d away from F at most: at each value x with `below` and `upto` its
    height is in [upto - d, below + d]. A convex function fits if no chord between upper ends passes
    under a lower end; at the mode it can then be as low as the steepest line allows that goes from
    an upper end through a lower one, and right of the mode the other must not begin below that.
    Each of these is a bound for d.
    """
    places, below = np.unique(values, return_index=True)
    count = len(values)
    upto = np.append(below[1:], count)
    found = []
    for mode in range(len(places)):
        left = _convex_side(places[: mode + 1], below[: mode + 1], upto[: mode + 1])
        # Seen from the other end, the concave side is a convex one.
        right = _convex_side(
            -places[mode:][::-1], count - upto[mode:][::-1], count - below[mode:][::-1]
        )
        met = [
            (low + high - count) / (fall + rise) for low, fall in left[1] for high, rise in right[1]
        ]
        found.append(max(left[0], right[0], *met))
    return min(found) / count


def _convex_side(
    x: np.ndarray, below: np.ndarray, upto: np.ndarray
) -> tuple[float, list[tuple[float, float]]]:
    """Return the least d, and lines (a, b): at the last x the height is at least a - b d."""
    last = len(x) - 1
    least = 0.0
    ends = [(float(below[last]), 1.0)]
    for at in range(last):
        least = max(least, (upto[at] - below[at]) / 2)
        for before in range(at):
            stretched = (x[last] - x[before]) / (x[at] - x[before])
            ends.append((below[before] + (upto[at] - below[before]) * stretched, 2 * stretched - 1))
            for after in range(at + 1, last + 1):
                slope = (below[after] - below[before]) / (x[after] - x[before])
                chord = below[before] + slope * (x[at] - x[before])
                least = max(least, (upto[at] - chord) / 2)
    return float(least), ends


def lower_hull(values: np.ndarray, heights: np.ndarray) -> list[int]:
    """The points that no line between two others lies below, in exact numbers."""
    places = [Fraction(float(value)) for value in values]
    tall = [int(height) for height in heights]
    count = len(places)

    def is_above(at: int, left: int, right: int) -> bool:
        slope = Fraction(tall[right] - tall[left]) / (places[right] - places[left])
        return tall[at] >= tall[left] + slope * (places[at] - places[left])

    return [
        at
        for at in range(count)
        if not any(
            is_above(at, left, right) for left in range(at) for right in range(at + 1, count)
        )
    ]


@given(st.lists(st.tuples(st.integers(1, 50), st.integers(-20, 20)), min_size=1, max_size=12))
def test_the_minorant_touches_what_no_line_lies_below(steps: list[tuple[int, int]]) -> None:
    places = np.cumsum([step for step, _ in steps]).astype(np.float64)
    heights = np.asarray([height for _, height in steps], np.int64)
    assert convex_contacts(places, heights).tolist() == lower_hull(places, heights)


def test_points_have_one_height_each() -> None:
    with pytest.raises(ValueError, match="another length"):
        convex_contacts(np.zeros(2), np.zeros(3, np.int64))
