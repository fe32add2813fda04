# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Processes and threads of events, threads that the kernel tells of, and what is no event table."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from engine_runs import CHUNKS, run_engine
from kernel_scene import kernel_tables
from scene import Scene

from strata.engine._model import Engine
from strata.read import open_trace
from strata.schema.event_uses import USES
from strata.schema.events import CATALOGUE


@pytest.mark.parametrize("name", ["fast_relaymp_st", "driver_polled", "services_kilted"])
def test_processes_and_threads_are_those_of_the_events(
    name: str, sample: Callable[[str], Path]
) -> None:
    tables = {
        event: table
        for event, table in open_trace(sample(name)).tables().items()
        if event in CATALOGUE
    }
    known = {
        place
        for table in tables.values()
        for place in zip(*(table[of].to_pylist() for of in ("host", "vpid", "vtid")), strict=True)
    }
    run = run_engine(tables)
    processes, threads = run.rows["processes"], run.rows["threads"]
    hosts, vpids = run.words(processes["host"]), processes["vpid"].tolist()
    found = [
        (hosts[process], vpids[process], vtid)
        for process, vtid in zip(threads["process"].tolist(), threads["vtid"].tolist(), strict=True)
    ]
    assert set(found) == known
    assert len(found) == len(known)
    assert int(processes["events"].sum()) == sum(map(len, tables.values()))


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


def test_uses_are_declared() -> None:
    assert len({use.code for use in USES}) == len(USES)
    assert len({use.text for use in USES}) == len(USES)


@pytest.mark.parametrize("idles", [True, False])
def test_a_thread_that_is_never_woken_again(idles: bool) -> None:
    # While a CPU idles since before the wake, a switch from there may yet be found to be missing.
    lines = ["0 cpu0 5 S 0", f"0 cpu1 5 S {0 if idles else 6}", "10 cpu1 wake 1 cpu0"]
    for at in range(20, 2000, 20):
        lines += [f"{at} cpu0 {0 if at == 20 else 2} R 1", f"{at + 10} cpu0 1 R 2"]
    lines += ["2010 cpu1 1 S 0", "2020 cpu1 wake 1 cpu0", "2030 cpu0 2 S 1", "2040 cpu0 1 S 0"]
    made = Scene()
    made.play("25 1.1 ready\n1005 1.1 ready")
    tables = made.tables() | kernel_tables("\n".join(lines))
    for chunk_rows in CHUNKS:
        found = run_engine(tables, chunk_rows=chunk_rows).findings
        counts = (found["inferred_switches"], found["missing_switches"])
        assert counts == (int(idles), int(not idles))


@pytest.mark.parametrize(
    ("before", "at_work", "at_rest", "is_kept"),
    [(1100, 2, 3, False), (1100, 3, 2, True), (0, 1024, 1100, True), (0, 400, 1100, False)],
)
def test_the_first_events_since_the_first_switch_tell_whether_a_thread_is_meant(
    before: int, at_work: int, at_rest: int, is_kept: bool
) -> None:
    times = [*range(before), *range(5000, 5000 + at_work), *range(7000, 7000 + at_rest)]
    made = Scene()
    made.play("\n".join(f"{at} 1.1 ready" for at in times))
    lines = "4000 cpu0 5 S 1\n6500 cpu0 1 S 0\n9000 cpu0 0 R 8"
    tables = made.tables() | kernel_tables(lines)
    for chunk_rows in (100, 1 << 20):
        states = run_engine(tables, chunk_rows=chunk_rows).rows["thread_states"]
        assert (len(states["thread"]) > 0) == is_kept
