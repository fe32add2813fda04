# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Tables of services, calls, goals and feedback are the same from rows as from event tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import layers.test_action_results
import layers.test_service_layers
import model.test_service_calls
import pyarrow as pa
import pytest
from against_model import CHUNKS, ros2_samples, run_engine
from hypothesis import given
from hypothesis import strategies as st
from model.test_service_interleavings import Call, a_call
from model.test_service_interleavings import play as play_calls
from test_plain_model import assert_same_rows, made_of
from work_events import play, scenes_of

from strata.engine.tables import EngineTables
from strata.engine.windows import NO_LOSSES, Windows
from strata.model.build import build_model
from strata.onepass.model import model_of_rows
from strata.read import open_trace
from strata.schema.quality import Ledger

NAMES = (
    "service_objects",
    "client_objects",
    "service_calls",
    "services",
    "service_layers",
    "action_goals",
    "action_feedback",
    "actions",
    "action_phases",
)


def assert_same_services(tables: Mapping[str, pa.Table], chunk_rows: int) -> dict[str, int]:
    """Compare the tables; return how many rows each has."""
    tables = {name: table for name, table in tables.items() if len(table)}
    rows = EngineTables(run_engine(tables, chunk_rows=chunk_rows).engine)
    ledger, known = Ledger(), Ledger()
    found, _ = made_of(model_of_rows(rows, ledger, {}, None), ledger)
    wanted, _ = made_of(build_model(tables, known), known)
    for name in NAMES:
        assert_same_rows(found[name], wanted[name])
    return {name: len(wanted[name]) for name in NAMES}


def test_samples(sample: Callable[[str], Path]) -> None:
    total = dict.fromkeys(NAMES, 0)
    for name in ros2_samples():
        counts = assert_same_services(open_trace(sample(name)).tables(), 1 << 20)
        for table, count in counts.items():
            total[table] += count
    assert all(total.values()), total


@pytest.mark.parametrize("chunk_rows", CHUNKS)
@given(st.lists(a_call(lossy=True), max_size=15), st.frozensets(st.integers(0, 1)))
def test_interleaved_calls(chunk_rows: int, calls: list[Call], unknown: frozenset[int]) -> None:
    assert_same_services(play_calls(calls, unknown)[0].tables(), chunk_rows)


def compare(tables: Mapping[str, pa.Table], losses: Windows = NO_LOSSES) -> None:
    if len(losses[0]):
        # The model of rows takes traces without losses; test_services.py has these.
        return
    for chunk_rows in CHUNKS:
        assert_same_services(tables, chunk_rows)


@pytest.mark.parametrize(
    "test",
    scenes_of(model.test_service_calls, layers.test_service_layers, layers.test_action_results),
)
def test_scenes(test: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    play(test, monkeypatch, compare)
