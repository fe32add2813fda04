# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Events from a trace's streams give the rows that its event tables give."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from engine_runs import ros2_samples, run_engine

from strata.engine._model import Engine
from strata.engine.read import clock_origins
from strata.read import open_trace


@pytest.mark.parametrize("name", ros2_samples())
def test_rows_are_those_of_the_tables(name: str, sample: Callable[[str], Path]) -> None:
    trace = open_trace(sample(name))
    engine = Engine()
    told: list[int] = []
    events, damage, misplaced, out_of_order, late = engine.read(
        trace.decoder.traces, progress=told.append
    )
    engine.finish()
    by_tables = run_engine(trace.tables(), origins=clock_origins(trace))
    assert events == sum(told) == sum(map(len, trace.tables().values()))
    assert (damage, misplaced, out_of_order, late) == ([], [], 0, 0)
    assert not trace.has_misfits
    assert engine.counts == {name: len(table) for name, table in trace.tables().items()}
    rows, texts, runs = engine.rows(), engine.texts, engine.bytes
    assert _texts(rows["nodes"]["name"], texts) == by_tables.words(by_tables.rows["nodes"]["name"])
    for table, columns in by_tables.rows.items():
        for column, values in columns.items():
            found = rows[table][column]
            if (table, column) in _TEXTS:
                assert _texts(found, texts) == _texts(values, by_tables.texts), (table, column)
            elif (table, column) in _BYTES:
                assert _texts(found, runs) == _texts(values, by_tables.bytes_), (table, column)
            else:
                assert np.array_equal(found, values), (table, column)


_TEXTS = {
    ("processes", "host"),
    ("nodes", "name"),
    ("publishers", "topic"),
    ("subscriptions", "topic"),
    ("callbacks", "symbol"),
    ("callbacks", "trigger"),
    ("services", "name"),
    ("clients", "name"),
}
_BYTES: set[tuple[str, str]] = set()


def _texts(numbers: np.ndarray, words: object) -> list[object]:
    return [None if number < 0 else words[number] for number in numbers.tolist()]  # type: ignore[index]
