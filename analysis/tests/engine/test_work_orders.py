# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Whatever threads did, the engine finds the executions, publications and takes of the model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random

import model.test_executions
import model.test_executors
import model.test_suspensions
import pyarrow as pa
import pytest
from against_model import CHUNKS
from hypothesis import given
from hypothesis import strategies as st
from test_execution_machine import assert_same
from work_events import play, scenes_of, work

from strata.engine.windows import NO_LOSSES, Windows


def compare(tables: Mapping[str, pa.Table], losses: Windows = NO_LOSSES) -> None:
    for chunk_rows in CHUNKS:
        assert_same(tables, chunk_rows, losses)


@pytest.mark.parametrize(
    "test", scenes_of(model.test_executions, model.test_executors, model.test_suspensions)
)
def test_scenes(test: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    play(test, monkeypatch, compare)


@given(st.integers(0, (1 << 32) - 1))
def test_any_order(seed: int) -> None:
    tables, losses = work(Random(seed))
    assert_same(tables, 7, losses)
