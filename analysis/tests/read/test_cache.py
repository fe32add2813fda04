# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Decoded tables are kept beside the trace, and used only when nothing changed."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from strata.read import open_trace
from strata.read.babeltrace import BabeltraceReader

NAME = "fast_throws"
TAKE = "ros2:rmw_take"


@pytest.fixture
def no_decoding(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("decoded")

    monkeypatch.setattr(BabeltraceReader, "read", refuse)


def test_the_second_reading_decodes_nothing(
    own_sample: Callable[[str], Path], request: pytest.FixtureRequest
) -> None:
    directory = own_sample(NAME)
    first = open_trace(directory)
    tables = first.tables()
    assert first.cache_written == directory / ".strata-tables"
    request.getfixturevalue("no_decoding")
    again = open_trace(directory).tables()
    assert list(again) == list(tables)
    assert all(again[name].equals(tables[name]) for name in tables)


def test_a_session_keeps_its_tables_in_its_own_directory(
    own_sample: Callable[[str], Path],
) -> None:
    directory = own_sample(NAME)
    (directory / "manifest.json").write_text("{}")
    trace = open_trace(directory)
    trace.tables()
    assert trace.cache_written == directory / "tables"
    assert (directory / "tables/ros2.rmw_take.parquet").is_file()


@pytest.mark.parametrize("change", ["touch", "schema"])
def test_a_change_makes_the_tables_again(
    own_sample: Callable[[str], Path], change: str, request: pytest.FixtureRequest
) -> None:
    directory = own_sample(NAME)
    open_trace(directory).tables()
    if change == "touch":
        os.utime(next((directory / "ust").rglob("ros2_0")), ns=(1, 1))
    else:
        stored = directory / ".strata-tables/provenance.json"
        content = json.loads(stored.read_text())
        content["made_from"]["schema"] += 1
        stored.write_text(json.dumps(content))
    request.getfixturevalue("no_decoding")
    with pytest.raises(AssertionError, match="decoded"):
        open_trace(directory).tables()


def test_a_damaged_cache_is_made_again(own_sample: Callable[[str], Path]) -> None:
    directory = own_sample(NAME)
    tables = open_trace(directory).tables()
    (directory / ".strata-tables/ros2.rmw_take.parquet").write_bytes(b"rubbish")
    assert open_trace(directory).tables()[TAKE].equals(tables[TAKE])


def test_a_directory_of_the_user_is_never_touched(own_sample: Callable[[str], Path]) -> None:
    directory = own_sample(NAME)
    (directory / "manifest.json").write_text("{}")
    (directory / "tables").mkdir()
    (directory / "tables/mine.txt").write_text("mine")
    trace = open_trace(directory)
    assert len(trace.tables()[TAKE]) > 0
    assert trace.cache_written is None
    assert [path.name for path in (directory / "tables").iterdir()] == ["mine.txt"]


def test_without_the_cache_nothing_is_written(own_sample: Callable[[str], Path]) -> None:
    directory = own_sample(NAME)
    open_trace(directory, use_cache=False).tables()
    assert not (directory / ".strata-tables").exists()
