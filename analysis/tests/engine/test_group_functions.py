# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Columns by group, in native code, as plain loops have them."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from strata.engine.groups import lower, places, raise_to, sums

ROWS = st.lists(st.tuples(st.integers(-1, 4), st.integers(-3, 9)), max_size=40)
FAR = np.iinfo(np.int64).max


def columns(rows: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    values = np.asarray(rows, np.int64).reshape(-1, 2)
    return np.ascontiguousarray(values[:, 0]), np.ascontiguousarray(values[:, 1])


@given(ROWS, ROWS, st.booleans())
def test_places_of_values_among_those_of_their_group(
    entries: list[tuple[int, int]], asked: list[tuple[int, int]], after_equal: bool
) -> None:
    entries = sorted(entries)
    found = places(columns(entries), *columns(asked), after_equal=after_equal)
    wanted = [
        sum(entry < one or (after_equal and entry == one) for entry in entries) for one in asked
    ]
    assert found.tolist() == wanted


@given(ROWS, st.integers(0, 6))
def test_sums_and_bounds(rows: list[tuple[int, int]], count: int) -> None:
    group, values = columns(rows)
    least, most = np.full(count, FAR), np.full(count, -FAR)
    lower(least, group, values)
    raise_to(most, group, values)
    own = [[value for of, value in rows if of == number] for number in range(count)]
    assert sums(group, values, count).tolist() == [sum(part) for part in own]
    assert least.tolist() == [min(part, default=FAR) for part in own]
    assert most.tolist() == [max(part, default=-FAR) for part in own]


def test_sums_wrap_as_those_of_numpy_do() -> None:
    big = np.asarray([FAR, 1])
    assert sums(np.zeros(2, np.int64), big, 1).tolist() == [int(np.iinfo(np.int64).min)]
