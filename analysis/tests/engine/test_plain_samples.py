# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Every declared table of a sample is the same from its streams as from its event tables.

The engine decodes streams itself, event by event; event tables are decoded to Arrow, sorted as a
whole, and fed in chunks.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from by_tables import read_by_tables
from engine_runs import ros2_samples

import strata
from strata.analysis import Analysis
from strata.schema.rows import Rows
from strata.schema.tables import TABLES


def assert_same_rows(found: Rows, wanted: Rows) -> None:
    name = wanted.table.name
    assert len(found) == len(wanted), name
    for column in wanted.table.columns:
        if column.dtype == "string":
            same = found.texts(column.name) == wanted.texts(column.name)
        else:
            one, other = found[column.name], wanted[column.name]
            same = (one == other) | ((one != one) & (other != other))
        assert np.all(same), f"{name}.{column.name}"


@pytest.mark.parametrize("name", ros2_samples())
def test_samples(
    name: str,
    sample: Callable[[str], Path],
    analysis_of: Callable[[str], Analysis],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("strata.pipeline.run.model_of_trace", read_by_tables)
    found = strata.analyze(sample(name))
    monkeypatch.undo()
    wanted = analysis_of(name)
    for table in TABLES:
        assert_same_rows(found.rows(table.name), wanted.rows(table.name))
    for of in ("trace", "counts", "bottlenecks", "system"):
        assert getattr(found, of) == getattr(wanted, of), of
