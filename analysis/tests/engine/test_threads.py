# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Processes, threads and counts of events, as the engine numbers them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from against_model import CHUNKS, run_engine
from scene import Scene

from strata.engine._model import Engine
from strata.model.columns import EventColumns
from strata.read import open_trace
from strata.schema.events import CATALOGUE
from strata.schema.quality import Ledger


@pytest.mark.parametrize("name", ["fast_relaymp_st", "driver_polled", "services_kilted"])
def test_processes_and_threads_are_those_of_the_model(
    name: str, sample: Callable[[str], Path]
) -> None:
    tables = open_trace(sample(name)).tables()
    known = EventColumns(tables, Ledger()).processes
    run = run_engine(tables, processes=known)
    assert sorted(run.thread_of_model.tolist()) == list(range(len(known.thread_process)))
    assert int(run.rows["processes"]["events"].sum()) == sum(
        len(table) for event, table in tables.items() if event in CATALOGUE
    )


@pytest.mark.parametrize("chunk_rows", CHUNKS)
def test_chunks_change_nothing(chunk_rows: int) -> None:
    made = Scene()
    made.publisher("/t", node="/source", pid=1)
    made.subscription("/t", node="/sink", pid=2, symbol="on_message")
    made.play(
        """
        100 1.1 rmw_publish /t 100
        100 2.2 ready
        100 2.2 execute on_message
        170 2.2 rmw_take on_message 100
        """
    )
    whole, cut = (run_engine(made.tables(), chunk_rows=rows) for rows in (1 << 20, chunk_rows))
    for table, columns in whole.rows.items():
        for column, values in columns.items():
            assert np.array_equal(values, cut.rows[table][column]), (table, column)


def test_events_without_contexts_are_counted() -> None:
    made = Scene()
    made.publisher("/t", node="/source", pid=1)
    tables = made.tables()
    table = tables["ros2:rcl_publisher_init"]
    nulls = pa.nulls(len(table), pa.int64())
    tables["ros2:rcl_publisher_init"] = table.set_column(
        table.column_names.index("vtid"), "vtid", nulls
    )
    assert run_engine(tables).findings["missing_contexts"] == 1


def test_what_is_no_event_table_is_refused() -> None:
    engine = Engine()
    with pytest.raises(ValueError, match="no column timestamp"):
        engine.feed([("ros2:rmw_take", pa.record_batch({"vpid": [1]}))])
    with pytest.raises(ValueError, match="which no event table has"):
        engine.feed([("ros2:rmw_take", pa.record_batch({"timestamp": [1], "taken": [1.5]}))])
