# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What the engine finds that the kernel's scheduler did is what the NumPy model finds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any

import layers.test_layer_times
import model.test_scheduling
import numpy as np
import pyarrow as pa
import pytest
from against_model import CHUNKS, Run, run_engine
from hypothesis import given
from hypothesis import strategies as st
from kernel_scene import kernel_tables, table_of
from scene import BASE, Scene
from stats.test_thread_causes import kernel_beside

from strata.model.build import build_model
from strata.model.columns import EventColumns
from strata.model.scheduling import IDLE, Scheduling, find_scheduling
from strata.model.thread_states import State
from strata.read import open_trace
from strata.schema.quality import Ledger

FINDINGS = ("inferred_switches", "missing_switches", "threads_without_kernel_events")
CPUS = 1 << 20

Row = tuple[Any, ...]


def assert_same_scheduling(tables: Mapping[str, pa.Table], *chunk_rows: int) -> None:
    """Compare all rows and findings, for each size of chunks."""
    ledger = Ledger()
    events = EventColumns(dict(tables), ledger)
    known = find_scheduling(tables, events, ledger)
    hosts = list(dict.fromkeys(events.processes.host))
    for rows in chunk_rows or CHUNKS:
        run = run_engine(tables, chunk_rows=rows, processes=events.processes)
        assert states_of(run) == states_of_model(known, hosts)
        assert occupancy_of(run) == occupancy_of_model(known, hosts)
        for code in FINDINGS:
            assert run.findings[code] == ledger.counts.get(code, 0), code
        switches = run.rows["cpus"]["switches"]
        assert bool((switches > 1).any()) == known.known
        if known.known:
            assert bool(run.rows["schedulers"]["wakes"].sum()) == known.woken


def cpus_of(run: Run) -> list[tuple[str, int]]:
    """Host and number of each CPU of the engine."""
    cpus, schedulers = run.rows["cpus"], run.rows["schedulers"]
    hosts = run.words(schedulers["host"][cpus["scheduler"]])
    return list(zip(map(str, hosts), cpus["number"].tolist(), strict=True))


def states_of(run: Run) -> list[Row]:
    rows, cpus = run.rows["thread_states"], [*cpus_of(run), None]
    assert np.all(np.diff(rows["thread"]) >= 0)
    found = zip(
        run.thread_of_model[rows["thread"]].tolist(),
        rows["start_ns"].tolist(),
        rows["end_ns"].tolist(),
        rows["state"].tolist(),
        [cpus[cpu] for cpu in rows["cpu"].tolist()],
        strict=True,
    )
    return sorted(found, key=lambda row: row[:2])


def states_of_model(known: Scheduling, hosts: list[str]) -> list[Row]:
    rows = known.intervals
    columns = (rows.thread, rows.start_ns, rows.end_ns, rows.state)
    return list(
        zip(
            *(column.tolist() for column in columns),
            [cpu_of_model(cpu, hosts) for cpu in rows.cpu.tolist()],
            strict=True,
        )
    )


def cpu_of_model(cpu: int, hosts: list[str]) -> tuple[str, int] | None:
    return None if cpu < 0 else (hosts[cpu // CPUS], cpu % CPUS)


def occupancy_of(run: Run) -> list[Row]:
    rows, cpus = run.rows["cpu_occupancy"], cpus_of(run)
    return sorted(
        (cpus[cpu], start, end, tid, (name or "") if tid > IDLE else "")
        for cpu, start, end, tid, name in zip(
            rows["cpu"].tolist(),
            rows["start_ns"].tolist(),
            rows["end_ns"].tolist(),
            rows["tid"].tolist(),
            run.words(rows["name"]),
            strict=True,
        )
    )


def occupancy_of_model(known: Scheduling, hosts: list[str]) -> list[Row]:
    """Those rows in whose time a thread was preempted on the CPU."""
    rows, threads = known.occupancy, known.intervals
    queued = (threads.state == State.PREEMPTED) & (threads.cpu >= 0)
    found = []
    for row in np.flatnonzero(rows.end_ns > rows.start_ns).tolist():
        here = queued & (threads.cpu == rows.cpu[row])
        beside = (threads.start_ns < rows.end_ns[row]) & (threads.end_ns > rows.start_ns[row])
        if not (here & beside).any():
            continue
        tid = int(rows.tid[row])
        found.append(
            (
                cpu_of_model(int(rows.cpu[row]), hosts),
                int(rows.start_ns[row]),
                int(rows.end_ns[row]),
                tid,
                str(known.names[rows.name[row]]) if tid > IDLE else "",
            )
        )
    return sorted(found)


def scenes_of(module: Any, *skipped: str) -> list[Any]:
    """All scenes of another module of tests, to be compared as they are built."""
    return [
        pytest.param(module, getattr(module, name), id=f"{module.__name__}.{name}")
        for name in dir(module)
        if name.startswith("test_") and name not in skipped
    ]


PARAMETRIZED = {
    "test_whatever_a_kernel_writes_for_runnable_is_preempted": [("R",), ("R+",), ("R-old",)],
    "test_a_thread_that_got_no_cpu_when_it_was_woken_is_not_blocked": [
        ("110 cpu1 wake 2 cpu0", (10, 30, 10, 0)),
        ("", (10, 0, 0, 40)),
    ],
}


@pytest.mark.parametrize(
    ("module", "test"),
    [*scenes_of(model.test_scheduling), *scenes_of(layers.test_layer_times)],
)
def test_scenes_of_the_model(
    module: Any, test: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    def compared(tables: Mapping[str, pa.Table], ledger: Ledger) -> Any:
        assert_same_scheduling(tables)
        return build_model(tables, ledger)

    monkeypatch.setattr(module, "model_of_tables", compared)
    for arguments in PARAMETRIZED.get(test.__name__, [()]):
        test(*arguments)


@pytest.mark.parametrize("name", ["fast_relay1p_st", "fast_relaymp_st"])
def test_switches_beside_a_real_trace(name: str, own_sample: Callable[[str], Path]) -> None:
    trace = own_sample(name)
    kernel_beside(trace)
    tables = open_trace(trace).tables()
    assert len(tables["sched_switch"]) > 100
    assert_same_scheduling(tables, 1000, 1 << 20)


EVENTS = ("sched_switch", "sched_switch", "sched_waking", "sched_wakeup", "sched_wakeup_new")
TID = st.integers(0, 2)
PAUSE = st.one_of(st.just(0), st.just(1), st.integers(0, 3))
HOST = st.sampled_from(("h", "h", "h", "h", "i"))

KERNEL = st.fixed_dictionaries(
    {
        "event": st.sampled_from(EVENTS),
        "pause": PAUSE,
        "host": HOST,
        "cpu_id": st.integers(0, 2),
        # Most often who came to the CPU leaves it.
        "prev_tid": st.one_of(st.none(), st.none(), TID),
        "next_tid": TID,
        "tid": TID,
        "prev_state": st.sampled_from((0, 256, 1, 2, None)),
        "target_cpu": st.one_of(st.none(), st.integers(-1, 2)),
        "prev_comm": st.sampled_from(("a", "b", None)),
        "context": st.one_of(
            st.none(), st.just((1, None)), st.tuples(st.integers(0, 2), st.integers(0, 3))
        ),
    }
)
TRACED = st.fixed_dictionaries(
    {
        "event": st.just("ros2:rclcpp_executor_wait_for_work"),
        "pause": PAUSE,
        "host": HOST,
        "vpid": st.integers(1, 2),
        "vtid": st.integers(0, 3),
    }
)


def tables_of(steps: list[dict[str, Any]], *, contexts: bool) -> dict[str, pa.Table]:
    """Tables of steps; a context is the vpid and vtid of the thread that leaves a CPU."""
    at = 0
    rows: dict[str, list[dict[str, Any]]] = {}
    had: dict[tuple[str, int], int] = {}
    for step in steps:
        at += step["pause"]
        row = {"timestamp": BASE + at, **step}
        if step["event"] == "sched_switch":
            cpu = (step["host"], step["cpu_id"])
            if row["prev_tid"] is None:
                row["prev_tid"] = had.get(cpu)
            had[cpu] = step["next_tid"]
            vpid, vtid = row.get("context") or (None, None)
            vtid = row["prev_tid"] if vpid is not None and vtid is None else vtid
            row |= {"vpid": vpid if contexts else None, "vtid": vtid if contexts else None}
        rows.setdefault(step["event"], []).append(row)
    return {event: table_of(event, found) for event, found in rows.items()}


@given(st.lists(st.one_of(KERNEL, KERNEL, KERNEL, TRACED), min_size=15, max_size=60), st.booleans())
def test_whatever_the_events(steps: list[dict[str, Any]], contexts: bool) -> None:
    # Threads that have the ids of two of the kernel's.
    known = {"event": "ros2:rclcpp_executor_wait_for_work", "pause": 0, "host": "h", "vpid": 1}
    steps = [known | {"vtid": 1}, known | {"vtid": 2}, *steps]
    assert_same_scheduling(tables_of(steps, contexts=contexts))


def machine(chance: Random, events: int) -> list[dict[str, Any]]:
    """The events of threads that sleep, are woken and scheduled on CPUs; but for some lost."""
    cpus, losses, pauses = (
        chance.randint(1, 3),
        chance.choice((0, 0.02, 0.2)),
        chance.choice((1, 9)),
    )
    had = [0] * cpus
    asleep = set(range(1, 6))
    queue: list[int] = []
    steps: list[dict[str, Any]] = []
    while len(steps) < events:
        cpu, thread, stays = chance.randrange(cpus), chance.randint(1, 5), chance.random() < 0.3
        step: dict[str, Any]
        if thread in asleep and chance.random() < 0.5:
            asleep.remove(thread)
            queue.append(thread)
            step = {"event": chance.choice(EVENTS[2:]), "tid": thread, "target_cpu": cpu}
        elif had[cpu] or queue:
            left, came = had[cpu], queue.pop(0) if queue else 0
            if left:
                (queue.append if stays else asleep.add)(left)
            had[cpu] = came
            step = {
                "event": "sched_switch",
                "prev_tid": left,
                "next_tid": came,
                "prev_state": 0 if stays else 1,
                "prev_comm": f"t{left}",
                "cpu_id": cpu,
                "context": (1, None),
            }
        else:
            continue
        if chance.random() >= losses:
            steps.append(step | {"pause": chance.randint(0, pauses), "host": "h"})
        if chance.random() < 0.2:
            steps.append(TRACED_STEP | {"pause": 0, "vtid": had[cpu] or thread})
    return steps


TRACED_STEP = {"event": "ros2:rclcpp_executor_wait_for_work", "host": "h", "vpid": 1}


@given(st.randoms(use_true_random=False), st.integers(0, 200), st.booleans())
def test_a_machine_of_which_events_are_lost(chance: Random, events: int, contexts: bool) -> None:
    threads = [TRACED_STEP | {"pause": 1, "vtid": thread} for thread in (1, 2, 3)]
    steps = threads + machine(chance, events)
    assert_same_scheduling(tables_of(steps, contexts=contexts), 7, 1 << 20)


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
    assert_same_scheduling(tables)
    found = run_engine(tables).findings
    assert (found["inferred_switches"], found["missing_switches"]) == (int(idles), int(not idles))


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
    assert_same_scheduling(tables, 100, 1 << 20)
    assert (len(run_engine(tables).rows["thread_states"]["thread"]) > 0) == is_kept
