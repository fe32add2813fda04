# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Traces of generated layouts are read as libbabeltrace2 and as their generator say."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import oracle
from generated import recordings
from generated_bytes import Recording, expected_tables, write_trace
from generated_layout import ctf2, tsdl
from hypothesis import HealthCheck, given, settings

from strata.read import open_trace

thorough = settings(
    derandomize=True,
    max_examples=120,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def assert_rows(path: Path, expected: dict[str, list[dict[str, Any]]]) -> None:
    trace = open_trace(path)
    tables = {name: table for name, table in trace.tables().items() if len(table)}
    assert {loss.code for loss in trace.losses} <= {"discarded_events"}
    assert set(tables) == set(expected)
    for event, rows in expected.items():
        found = [
            {name: value for name, value in row.items() if value is not None}
            for row in tables[event].to_pylist()
        ]
        # As text: NaN is equal to NaN there, and 0 is not -0.
        assert [repr(sorted(row.items())) for row in found] == [
            repr(sorted(row.items())) for row in rows
        ], event


def check(recording: Recording, metadata: bytes, babeltrace: bool = False) -> None:
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "trace"
        write_trace(recording, path, metadata)
        assert_rows(path, expected_tables(recording))
        if babeltrace:
            oracle.assert_equal(path)


@given(recording=recordings())
@thorough
def test_generated_tsdl(recording: Recording) -> None:
    check(recording, tsdl(recording.layout))


@given(recording=recordings(tame=True))
@thorough
def test_generated_tsdl_as_babeltrace(recording: Recording) -> None:
    check(recording, tsdl(recording.layout), babeltrace=True)


@given(recording=recordings())
@thorough
def test_generated_ctf2(recording: Recording) -> None:
    check(recording, ctf2(recording.layout))
