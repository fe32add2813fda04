# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Statistics by group are NumPy's of each group alone, to the last bit."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from strata.schema.columns import STATISTICS
from strata.schema.rows import NONE
from strata.stats._grouped import Groups
from strata.stats.summary import describe, summarize, summarize_groups

Values = npt.NDArray[np.int64] | npt.NDArray[np.float64]

FAR = 2**63 - 1
FRACTIONS = np.array([0.0, 0.01, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 1.0])


def plain(values: Values) -> dict[str, float]:
    """The statistics of one group by NumPy."""
    p50 = np.quantile(values, 0.5)
    return {
        "min": values.min(),
        "max": values.max(),
        "mad": np.median(np.abs(values - p50)),
        "std": values.std(ddof=1) if len(values) > 1 else np.nan,
    }


def same(one: object, other: object) -> bool:
    return bool(np.array_equal(np.asarray(one), np.asarray(other), equal_nan=True))


@st.composite
def grouped(draw: st.DrawFn, values: st.SearchStrategy[Values]) -> tuple[Values, Values, int]:
    column = draw(values)
    count = draw(st.integers(1, 6))
    code = st.integers(-2, count + 1)
    codes = draw(arrays(np.int64, len(column), elements=code))
    return column, np.sort(codes) if draw(st.booleans()) else codes, count


def sizes(largest: int) -> st.SearchStrategy[int]:
    return st.one_of(st.integers(0, 40), st.integers(0, largest))


# Sums of a thousand are exact as floats: NumPy's mean, which std is about, is that of the integers.
INTS = sizes(1000).flatmap(
    lambda size: st.sampled_from([3, 1000, 10**9, 2**43]).flatmap(
        lambda most: arrays(np.int64, size, elements=st.integers(-most, most))
    )
)
FLOATS = sizes(600).flatmap(
    lambda size: arrays(np.float64, size, elements=st.floats(-1e150, 1e150, width=64))
)


@given(grouped(st.one_of(INTS, FLOATS)))
def test_statistics_are_those_of_numpy(made: tuple[Values, Values, int]) -> None:
    values, codes, count = made
    found = Groups(codes, count).summarize(values, FRACTIONS)
    for group in range(count):
        own = values[codes == group]
        assert found["count"][group] == len(own)
        quantiles = [column[group] for column in found["quantiles"]]
        if not len(own):
            assert np.isnan([found["mean"][group], found["mad"][group], *quantiles]).all()
            continue
        assert same(quantiles, np.quantile(own, FRACTIONS))
        assert found["sum"][group] == own.sum()
        assert found["mean"][group] == own.mean()
        for name, value in plain(own).items():
            assert same(found[name][group], value), name  # type: ignore[literal-required]


@given(st.lists(st.integers(-FAR - 1, FAR), min_size=1, max_size=40))
def test_the_mean_of_integers_of_any_size_is_rounded_once(values: list[int]) -> None:
    found = Groups.one(len(values)).summarize(np.array(values, np.int64), FRACTIONS)
    # The division of Python's integers is.
    assert found["mean"][0] == sum(values) / len(values)


@pytest.mark.parametrize("spread", [1, 300, 10**6, 10**10, 2**52])
@pytest.mark.parametrize("size", [511, 512, 513, 5000, 70_001])
def test_large_groups_too(size: int, spread: int) -> None:
    random = np.random.default_rng(size)
    values = random.integers(0, spread, size) + random.integers(0, 3, size) * spread
    floats = random.lognormal(2, 4, size) * random.choice([-1, 1], size)
    for column in (values, floats):
        found = Groups.one(size).summarize(column, FRACTIONS)
        assert same([of[0] for of in found["quantiles"]], np.quantile(column, FRACTIONS))
        for name, value in plain(column).items():
            if name != "std" or spread < 10**10 or column is floats:
                assert same(found[name][0], value), name  # type: ignore[literal-required]


@given(grouped(INTS), st.data())
def test_absent_values_are_left_out(made: tuple[Values, Values, int], data: st.DataObject) -> None:
    values, codes, count = made
    there = data.draw(arrays(np.bool_, len(values)))
    groups = Groups(codes, count)
    kept = there & (values != NONE)
    found = groups.summarize(values, FRACTIONS, there, NONE)
    alone = Groups(codes[kept], count).summarize(values[kept], FRACTIONS)
    for name, column in alone.items():
        assert same(found[name], column), name  # type: ignore[literal-required]
    floats = np.where(kept, values.astype(np.float64), np.nan)
    assert same(groups.summarize(floats, FRACTIONS)["quantiles"], alone["quantiles"])


@given(grouped(st.one_of(INTS, FLOATS)))
def test_ascending_values_of_each_group(made: tuple[Values, Values, int]) -> None:
    values, codes, count = made
    ordered, sizes = Groups(codes, count).ascending(values)
    parts = np.split(ordered, np.cumsum(sizes)[:-1])
    for group in range(count):
        assert parts[group].tolist() == sorted(values[codes == group].tolist())


@given(grouped(INTS))
def test_rows_of_a_group_keep_their_order(made: tuple[Values, Values, int]) -> None:
    _, codes, count = made
    groups = Groups(codes, count)
    parts = np.split(groups.rows, np.cumsum(groups.sizes)[:-1])
    for group in range(count):
        assert parts[group].tolist() == np.flatnonzero(codes == group).tolist()


@given(INTS)
def test_declared_statistics_of_one_column(values: npt.NDArray[np.int64]) -> None:
    found = summarize(values)
    assert list(found) == list(STATISTICS)
    (columns,) = [summarize_groups(Groups.one(len(values)), values).columns]
    for name, column in columns.items():
        assert (None if np.isnan(column[0]) else column[0]) == found[name]
    if len(values):
        assert describe(values.astype(np.float64))["p999"] == found["p999"]
        assert (type(found["min"]), type(found["mean"])) == (int, float)


@pytest.mark.parametrize(
    ("values", "fractions", "there", "error"),
    [
        (np.arange(2), FRACTIONS, None, ValueError),
        (np.arange(3), np.array([1.5]), None, ValueError),
        (np.arange(3), np.array([np.nan]), None, ValueError),
        (np.arange(3), FRACTIONS, np.ones(2, bool), ValueError),
        (np.arange(3, dtype=np.int32), FRACTIONS, None, TypeError),
        (np.arange(6)[::2], FRACTIONS, None, TypeError),
    ],
)
def test_what_does_not_fit_is_refused(
    values: Values, fractions: Values, there: Values | None, error: type[Exception]
) -> None:
    with pytest.raises(error):
        Groups(np.zeros(3, np.int64), 1).summarize(values, fractions, there)  # type: ignore[call-overload]
