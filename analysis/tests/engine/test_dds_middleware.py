# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The middleware of the engine is that of the model, on all samples."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from against_model import CHUNKS, ros2_samples
from middleware_of_model import assert_as_model

from strata.read import open_trace


@pytest.mark.parametrize("name", ros2_samples())
def test_middleware_of_samples(name: str, sample: Callable[[str], Path]) -> None:
    assert_as_model(open_trace(sample(name)).tables())


@pytest.mark.parametrize("chunk_rows", CHUNKS[:2])
def test_how_events_are_cut_changes_nothing(chunk_rows: int, sample: Callable[[str], Path]) -> None:
    assert_as_model(open_trace(sample("ends_jazzy")).tables(), chunk_rows=chunk_rows)
