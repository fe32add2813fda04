# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Searches within groups, against looking at every entry."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from strata.model.columns import NONE
from strata.model.search import GroupedSearch, Lifetimes

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
