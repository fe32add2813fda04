# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of declared tables: nulls of each type, both ways from and to frames."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from strata.schema.rows import NONE, Coded, Rows, are_all, row_numbers
from strata.schema.table import Column, Table

EVERY = Table(
    "every",
    ("key",),
    (
        Column("key", "int64", "a key"),
        Column("handle", "uint64", "an address"),
        Column("at_ns", "int64", "a time", null="never"),
        Column("share", "float64", "a share", null="of nothing"),
        Column("sure", "bool", "a flag"),
        Column("known", "bool", "a flag that may be null", null="nobody knows"),
        Column("name", "string", "a name", null="nameless"),
    ),
    "a column of each type",
)
FAR = 2**63 + 5
RECORDS = [
    {"key": 1, "handle": FAR, "at_ns": 1_764_000_000_123_456_789, "share": 0.5, "sure": True},
    {"key": 2, "handle": 0, "share": 0.25, "sure": False, "known": False, "name": "b"},
    {"key": 3, "handle": 7, "at_ns": 0, "sure": True, "known": True, "name": "a"},
]
WHOLE = [{column.name: record.get(column.name) for column in EVERY.columns} for record in RECORDS]


def test_records_come_back_as_they_were_given() -> None:
    rows = Rows.of_records(EVERY, RECORDS)
    assert list(rows.records()) == WHOLE


def test_a_frame_has_the_declared_types_and_comes_back() -> None:
    rows = Rows.of_records(EVERY, RECORDS)
    frame = rows.frame()
    assert frame["handle"].tolist() == [FAR, 0, 7]
    assert frame["at_ns"].isna().tolist() == [False, True, False]
    assert frame["at_ns"].dtype == "Int64"
    assert frame["known"].dtype == "boolean"
    assert isinstance(frame["name"].dtype, pd.CategoricalDtype)
    assert list(Rows.of_frame(EVERY, frame).records()) == WHOLE


def test_some_rows_by_number_and_by_mask() -> None:
    rows = Rows.of_records(EVERY, RECORDS)
    assert list(rows.take(np.array([2, 0])).records()) == [WHOLE[2], WHOLE[0]]
    assert list(rows.take(rows["sure"]).records()) == [WHOLE[0], WHOLE[2]]
    assert rows.take(np.array([0])).frame()["name"].cat.categories.tolist() == []


def test_words_are_told_by_their_text() -> None:
    names = Coded.of(["x", None, "y", "x"])
    assert names.are("x", "nowhere").tolist() == [True, False, False, True]
    assert names.texts().tolist() == ["x", None, "y", "x"]
    assert names.codes.tolist() == [0, NONE, 1, 0]


def test_an_absent_column_is_null_where_it_may_be() -> None:
    rows = Rows(EVERY, {"key": np.arange(2), "handle": np.arange(2), "sure": np.ones(2)})
    assert list(rows.records())[1]["at_ns"] is None
    assert not rows.there("name").any()


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"nothing": np.arange(1)}, "declares no column nothing"),
        ({"key": np.arange(1)}, "absent but is never null"),
        ({"key": np.arange(2), "sure": np.ones(1)}, "lengths"),
        (
            {"key": np.arange(1.0), "handle": np.arange(1), "sure": np.ones(1)},
            "integers went through floats",
        ),
    ],
)
def test_what_is_not_declared_is_refused(columns: dict[str, np.ndarray], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        Rows(EVERY, columns)


def test_rows_without_any_have_every_column() -> None:
    rows = Rows.none(EVERY)
    assert len(rows) == 0
    assert rows.frame().columns.tolist() == EVERY.names


def test_that_row_numbers_are_one_array_and_known_to_be_all() -> None:
    longer, shorter = row_numbers(1000), row_numbers(10)
    assert shorter.tolist() == list(range(10))
    assert np.shares_memory(longer, shorter)
    assert are_all(shorter, 10)
    with pytest.raises(ValueError, match="read-only"):
        shorter[0] = 5


@pytest.mark.parametrize(
    ("some", "count"),
    [
        pytest.param(lambda every: every[:10].copy(), 10, id="equal, but made elsewhere"),
        pytest.param(lambda every: every[:10], 11, id="fewer than all"),
        pytest.param(lambda every: every[1:11], 10, id="not from the first on"),
        pytest.param(lambda every: every[:20:2], 10, id="every other"),
    ],
)
def test_that_other_rows_are_not_known_to_be_all(
    some: Callable[[np.ndarray], np.ndarray], count: int
) -> None:
    every = row_numbers(100)
    assert are_all(every[:count], count)
    assert not are_all(some(every), count)
