# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Tables of services, calls, goals and feedback are the same from rows as from event tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pyarrow as pa
import pytest
from against_model import CHUNKS, ros2_samples, run_engine
from hypothesis import given
from hypothesis import strategies as st
from model.test_service_interleavings import Call, a_call
from model.test_service_interleavings import play as play_calls
from test_plain_model import assert_same_rows, made_of

from strata.model.build import build_model
from strata.onepass.model import model_of_rows
from strata.onepass.tables import EngineTables
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
CALLS_ALONE = NAMES[:5]
RING_BUFFERS = "ros2:rclcpp_ring_buffer_enqueue"


def assert_same_services(
    tables: Mapping[str, pa.Table], chunk_rows: int, names: tuple[str, ...] = NAMES
) -> int:
    """Compare the tables; return how many calls there are."""
    tables = {name: table for name, table in tables.items() if len(table)}
    rows = EngineTables(run_engine(tables, chunk_rows=chunk_rows).engine)
    ledger, known = Ledger(), Ledger()
    found, _ = made_of(model_of_rows(rows, ledger, {}, None), ledger)
    wanted, _ = made_of(build_model(tables, known), known)
    for name in names:
        assert_same_rows(found[name], wanted[name])
    return len(wanted["service_calls"])


@pytest.mark.parametrize("name", ros2_samples())
def test_samples(name: str, sample: Callable[[str], Path]) -> None:
    tables = open_trace(sample(name)).tables()
    assert_same_services(tables, 1 << 20)


def test_samples_have_calls_and_feedback(sample: Callable[[str], Path]) -> None:
    found = [open_trace(sample(name)).tables() for name in ros2_samples()]
    assert any(len(tables.get("ros2:rmw_take_request", ())) for tables in found)


@pytest.mark.parametrize("chunk_rows", CHUNKS)
@given(st.lists(a_call(lossy=True), max_size=15), st.frozensets(st.integers(0, 1)))
def test_interleaved_calls(chunk_rows: int, calls: list[Call], unknown: frozenset[int]) -> None:
    assert_same_services(play_calls(calls, unknown)[0].tables(), chunk_rows)
