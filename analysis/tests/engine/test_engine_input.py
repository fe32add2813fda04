# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Processes and threads of events, threads that the kernel tells of, and what is no event table."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from engine_runs import CHUNKS, engine_of, run_engine, told
from kernel_scene import kernel_tables
from scene import Scene
from written_trace import write_tables

from strata.engine._model import Engine
from strata.engine.identities import Given, read_settled
from strata.engine.required import has_ros2
from strata.errors import TraceError
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


_CONTEXTS = ["timestamp", "host", "vpid", "vtid", "procname"]


def _with_undeclared(vpid: int) -> dict[str, pa.Table]:
    """Tables of processes 1 and 2; 1, and `vpid`, also emit what is not declared."""
    made = Scene()
    made.play("10 1.1 ready\n20 2.2 ready\n30 2.2 ready")
    tables = made.tables()
    (declared,) = tables.values()
    own = declared.select(_CONTEXTS)
    names = ("ros2:unknown", "app:step", "syscall_exit_poll")
    of_one = own.filter(pc.equal(own["vpid"], 1))
    of_other = own.filter(pc.equal(own["vpid"], vpid))
    return tables | {name: pa.concat_tables([of_one, of_other]) for name in names}


@pytest.mark.parametrize("is_trace", [True, False])
def test_what_is_not_declared_counts_when_its_process_is_not_left_out(
    is_trace: bool, tmp_path: Path
) -> None:
    tables = _with_undeclared(2)
    engine = Engine(left_out=[1])
    if is_trace:
        engine.read(open_trace(write_tables(tmp_path / "trace", tables)).decoder.traces)
    else:
        engine.feed([(name, one) for name, table in tables.items() for one in table.to_batches()])
    engine.finish()
    (declared,) = (name for name in tables if name in CATALOGUE)
    # The kernel's events are of every process.
    counts = {declared: 2, "ros2:unknown": 2, "app:step": 2, "syscall_exit_poll": 3}
    assert engine.counts == counts
    assert engine.events == sum(counts.values())
    left = engine.rows()["left_out"]
    assert (int(left["events"].sum()), int(left["ros2_events"].sum())) == (3, 2)


def test_only_undeclared_events_of_ros2_are_none_once_they_are_left_out() -> None:
    tables = {name: table for name, table in _with_undeclared(1).items() if name not in CATALOGUE}
    for left_out, is_there in (((), True), ((1,), False)):
        engine = engine_of(tables, left_out=left_out)
        assert has_ros2(engine.counts) == is_there


@pytest.mark.parametrize("chunk_rows", CHUNKS)
def test_what_the_kernel_tells_is_of_no_namespace(chunk_rows: int) -> None:
    made = Scene()
    made.play("5 1.1 ready\n15 1.2 ready\n25 1.1 ready\n35 1.2 ready")
    programs = {name: _in_namespaces(table) for name, table in made.tables().items()}
    lines = "0 cpu0 2 S 1\n10 cpu0 1 S 2\n20 cpu0 2 S 1\n30 cpu0 1 S 2\n40 cpu0 2 S 0"
    contexts = {1: (1, 1), 2: (1, 2)}
    kernel = kernel_tables(lines, contexts)
    (switches,) = kernel.values()
    kernel["sched_process_exit"] = switches.select(_CONTEXTS)
    wanted = told(engine_of(programs | kernel, chunk_rows=chunk_rows))
    of_namespaces = {name: _in_namespaces(table) for name, table in kernel.items()}
    engine = engine_of(programs | of_namespaces, chunk_rows=chunk_rows)
    assert engine.identities()[0] == [("h", 8)]
    found = told(engine)
    rows: dict[str, dict[str, np.ndarray]] = found["rows"]  # type: ignore[assignment]
    assert len(rows["processes"]["host"]) == 2
    assert len(rows["thread_states"]["thread"]) > 0
    # It is counted with the number that it was emitted with.
    bystanders = rows["bystanders"]
    assert {engine.texts[number] for number in bystanders["host"].tolist()} == {"h"}
    assert int(bystanders["count"].sum()) == len(switches)
    for one in (found, wanted):
        one["rows"] = {name: of for name, of in one["rows"].items() if name != "bystanders"}  # type: ignore[attr-defined]
    np.testing.assert_equal(found, wanted)


def test_the_number_of_a_cpu_is_not_cut() -> None:
    lines = "0 cpu0 2 S 1\n10 cpu1 1 S 2\n20 cpu0 1 S 2"
    tables = kernel_tables(lines, {1: (1, 1), 2: (1, 2)})
    ((name, table),) = tables.items()
    column = table.column_names.index("cpu_id")
    beyond = pc.add(table["cpu_id"], pc.multiply(table["cpu_id"], pa.scalar(1 << 32)))
    numbers = {}
    for key, own in (("as told", table["cpu_id"]), ("beyond", beyond)):
        cpus = engine_of({name: table.set_column(column, "cpu_id", own)}).rows()["cpus"]
        numbers[key] = cpus["number"].tolist()
    assert numbers == {"as told": [0, 1], "beyond": [0, -1]}


def _in_namespaces(table: pa.Table) -> pa.Table:
    """Threads 1 and 2 are of namespaces 7 and 8."""
    numbers = [None if vtid is None else 6 + vtid for vtid in table["vtid"].to_pylist()]
    return table.append_column("pid_ns", pa.array(numbers, pa.uint64()))


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


def test_more_rows_than_numbers_tell_apart_are_refused() -> None:
    def fill(_: Engine) -> None:
        # What refuse_row throws (native/model/column.hpp): so many rows are too many to make here.
        raise OverflowError("more than 2147483647 rows of takes")

    none = np.empty(0, np.int64)
    with pytest.raises(TraceError, match="more than 2147483647 rows of takes"):
        read_settled(fill, Given((none, none), {}))
