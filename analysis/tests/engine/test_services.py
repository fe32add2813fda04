# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Services, clients and calls of the engine are those of the model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random

import layers.test_action_results
import layers.test_service_layers
import model.test_service_calls
import pyarrow as pa
import pytest
from against_model import CHUNKS, ros2_samples
from hypothesis import given
from hypothesis import strategies as st
from model.test_service_interleavings import Call, a_call
from model.test_service_interleavings import play as play_calls
from service_events import traffic
from services_of_model import assert_same_services
from work_events import play, scenes_of

from strata.engine.windows import NO_LOSSES, Windows
from strata.read import open_trace


@pytest.mark.parametrize("name", ros2_samples())
def test_samples(name: str, sample: Callable[[str], Path]) -> None:
    assert_same_services(open_trace(sample(name)).tables())


def compare(tables: Mapping[str, pa.Table], losses: Windows = NO_LOSSES) -> None:
    for chunk_rows in CHUNKS:
        assert_same_services(tables, losses, chunk_rows)


@pytest.mark.parametrize(
    "test",
    scenes_of(model.test_service_calls, layers.test_service_layers, layers.test_action_results),
)
def test_scenes(test: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    play(test, monkeypatch, compare)


@given(st.lists(a_call(lossy=True), max_size=15), st.frozensets(st.integers(0, 1)))
def test_interleaved_calls(calls: list[Call], unknown: frozenset[int]) -> None:
    assert_same_services(play_calls(calls, unknown)[0].tables(), chunk_rows=7)


@pytest.mark.parametrize("chunk_rows", CHUNKS)
@given(st.integers(0, (1 << 32) - 1))
def test_any_traffic(chunk_rows: int, seed: int) -> None:
    tables, losses = traffic(Random(seed))
    assert_same_services(tables, losses, chunk_rows)
