# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Searches within groups, against looking at every entry."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata.engine.groups import values_at
from strata.model.columns import NONE
from strata.model.search import GroupedSearch, Lifetimes, column_at, known_or
from strata.schema.rows import row_numbers

PAIRS = st.lists(st.tuples(st.integers(0, 3), st.integers(-4, 4)), max_size=30)


def columns(pairs: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    table = np.asarray(pairs, np.int64).reshape(-1, 2)
    # Times of the size of instants: ranks keep their last digits.
    return table[:, 0], table[:, 1] + 1_700_000_000_000_000_000


@given(PAIRS, PAIRS, st.booleans())
def test_a_position_counts_the_entries_before_it(
    entries: list[tuple[int, int]], wanted: list[tuple[int, int]], after_equal: bool
) -> None:
    groups, values = columns(entries)
    search = GroupedSearch(groups, values)
    found = search.position(*columns(wanted), after_equal=after_equal)
    expected = [
        sum(
            (g, v) < (group, value) or (after_equal and (g, v) == (group, value))
            for g, v in entries
        )
        for group, value in wanted
    ]
    assert found.tolist() == expected
    # Asked again, and of another column, it says the same.
    assert search.position(*columns(wanted), after_equal=after_equal).tolist() == expected


@given(PAIRS)
def test_a_life_ends_when_its_handle_is_made_again(inits: list[tuple[int, int]]) -> None:
    handle, begin_ns = columns(sorted(set(inits)))
    process = np.zeros(len(handle), np.int64)
    lives = Lifetimes(process, handle, begin_ns)
    expected = [
        min((b for h, b in zip(handle, begin_ns, strict=True) if h == own and b > ns), default=NONE)
        for own, ns in zip(handle, begin_ns, strict=True)
    ]
    assert lives.ends(begin_ns).tolist() == expected
    assert lives.find(process, handle, begin_ns).tolist() == list(range(len(handle)))
    assert [
        begin_ns[row] if row != NONE else NONE
        for row in lives.first_after(process, handle, begin_ns)
    ] == expected


@pytest.mark.parametrize("kind", [np.int64, np.int32, np.uint8])
@pytest.mark.parametrize("of_rows", [np.int64, np.int32])
def test_that_values_of_every_width_are_taken(kind: type, of_rows: type) -> None:
    found = values_at(np.asarray([7, 8, 9], kind), np.asarray([2, -1, 0], of_rows))
    assert found.dtype == np.int64
    assert found.tolist() == [9, NONE, 7]


@pytest.mark.parametrize("row", [3, -2])
def test_that_rows_that_are_not_there_are_refused(row: int) -> None:
    with pytest.raises(IndexError, match="not there"):
        values_at(np.arange(3), np.asarray([0, row]))


def test_that_a_column_at_all_rows_is_itself() -> None:
    values = np.asarray([5, 6, 7])
    rows = row_numbers(3)
    assert column_at(values, rows) is values
    assert column_at(values, rows[:2]).tolist() == [5, 6]
    assert column_at(values, np.asarray([2, NONE])).tolist() == [7, NONE]


def test_that_what_is_known_goes_before_others() -> None:
    values, others = np.asarray([5, NONE]), np.asarray([1, 2])
    assert known_or(values, others).tolist() == [5, 2]
    assert known_or(others, values) is others


def test_that_groups_begin_and_end_where_they_are_searched_one_by_one() -> None:
    groups = np.asarray([0, 0, 2, 2, 2, 5])
    search = GroupedSearch(groups, np.arange(6))
    for asked in (np.asarray([5, 0, 1, 2]), np.asarray([7, NONE, 2])):
        assert search.begin(asked).tolist() == np.searchsorted(groups, asked).tolist()
        assert search.end(asked).tolist() == np.searchsorted(groups, asked, "right").tolist()
