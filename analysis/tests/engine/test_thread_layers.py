# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What threads did in layers, and in all, by rows of the engine is what the model tells."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import layers.test_cpu_waits
import layers.test_layer_times
import model.test_thread_cpu
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from against_model import Run, run_engine
from stats.test_thread_causes import kernel_beside
from test_scheduling_machine import PARAMETRIZED
from work_events import scenes_of

from strata.layers.cpu_waits import cpu_stretches, cpu_waits_of, find_cpu_waits
from strata.layers.links import link_messages
from strata.layers.scheduling import divide, layer_times, scheduled_of_rows
from strata.layers.scheduling_frames import (
    layer_cpu_waits_rows,
    layer_scheduling_rows,
    preemptions_rows,
)
from strata.layers.stretches import MessageThreads, find_stretches, occupations_of, threads_of
from strata.layers.transfers import cut_layers
from strata.model.build import Model
from strata.model.columns import NONE, Ints, Processes
from strata.model.of_tables import model_of_tables
from strata.model.search import pick
from strata.model.thread_cpu import find_cpu_samples, no_samples
from strata.model.thread_cpu_frames import (
    bounds_of_traffic,
    process_traffic,
    thread_cpu_rows,
    thread_cpu_table,
)
from strata.read import open_trace
from strata.read.thread_cpu import ThreadCpu
from strata.schema.quality import Ledger
from strata.schema.rows import Rows

Samples = tuple[ThreadCpu, int] | None


def assert_same(tables: Mapping[str, pa.Table], cpu: Samples = None) -> Model:
    """Compare all tables of threads; return the model."""
    model = model_of_tables(tables, Ledger(), cpu=cpu)
    run = run_engine(tables, processes=model.events.processes)
    processes = processes_of(run)
    samples = find_cpu_samples(*cpu, processes) if cpu else no_samples()
    transfers = cut_layers(model, Ledger())
    links = link_messages(model, transfers, ())
    own = inverse(run.thread_of_model, len(model.events.processes.thread_process))
    threads = MessageThreads(*(pick(own, thread) for thread in threads_of(model, transfers)))
    origin = transfers.origin
    moved = replaced(transfers, origin=replaced(origin, thread=pick(own, origin.thread)))
    did, waits = occupations_by(run, model)
    stretches = find_stretches(threads, moved, links)
    scheduled = scheduled_of_rows(run.rows, run.texts)
    assert (scheduled is not None) == model.scheduling.known
    known, known_taken = layer_times(model, transfers, links)
    vtid = model.events.processes.thread_vtid
    if scheduled is not None:
        times, taken = divide(stretches, did, scheduled)
        same(
            layer_scheduling_rows(processes.thread_vtid, times), layer_scheduling_rows(vtid, known)
        )
        same(preemptions_rows(taken), preemptions_rows(known_taken))
    found = cpu_waits_of(cpu_stretches(stretches, threads, moved), did, waits, samples)
    wanted = find_cpu_waits(model, transfers, links)
    same(layer_cpu_waits_rows(processes.thread_vtid, found), layer_cpu_waits_rows(vtid, wanted))
    same(cpu_table_of(run, model, samples, processes), thread_cpu_rows(model))
    return model


def processes_of(run: Run) -> Processes:
    """Processes and threads as the engine numbers them."""
    rows, threads = run.rows["processes"], run.rows["threads"]
    return Processes(
        [run.texts[host] for host in rows["host"].tolist()],
        rows["vpid"],
        threads["process"],
        threads["vtid"],
        np.full(len(rows["vpid"]), NONE, np.int64),
    )


def occupations_by(run: Run, model: Model) -> tuple[Any, tuple[Ints, Ints, Ints]]:
    """What the engine's threads did; their executors are the model's."""
    rows, waits = run.rows["executions"], run.engine.waits()
    spans = tuple(waits[name].astype(np.int64) for name in ("thread", "start_ns", "end_ns"))
    executions = tuple(rows[name].astype(np.int64) for name in ("thread", "start_ns", "end_ns"))
    return occupations_of(spans, executions, model.executors.lane(run.thread_of_model)), spans


def cpu_table_of(run: Run, model: Model, samples: Any, processes: Processes) -> Rows:
    """The table `thread_cpu` by rows of the engine, with the model's numbers of processes."""
    rows = run.rows
    states = [
        rows["thread_states"][name].astype(np.int64)
        for name in ("thread", "start_ns", "end_ns", "state", "cpu")
    ]
    first, last = process_traffic(model)
    of_model = np.append(run.process_of_model, NONE)
    traffic = (first[of_model], last[of_model])
    table = thread_cpu_table(samples, states, processes, traffic)
    return Rows(
        table.table,
        {
            name: pick(run.process_of_model, table[name])
            if name == "process_id"
            else table.words(name)
            if column.dtype == "string"
            else table[name]
            for name, column in ((column.name, column) for column in table.table.columns)
        },
    )


def inverse(of_model: Ints, size: int) -> Ints:
    out = np.full(size, NONE, np.int64)
    out[of_model] = np.arange(len(of_model))
    return out


def replaced(record: Any, **changes: Any) -> Any:
    return type(record)(**{**vars(record), **changes})


def same(found: Rows, wanted: Rows) -> None:
    pd.testing.assert_frame_equal(found.frame(), wanted.frame())


@pytest.mark.parametrize("test", scenes_of(layers.test_layer_times))
def test_scenes_with_kernel_events(
    test: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    def compared(tables: Mapping[str, pa.Table], _: Ledger) -> Model:
        return assert_same(tables)

    monkeypatch.setattr(layers.test_layer_times, "model_of_tables", compared)
    for arguments in PARAMETRIZED.get(test.__name__, [()]):
        test(*arguments)


@pytest.mark.parametrize("module", [layers.test_cpu_waits, model.test_thread_cpu])
def test_scenes_with_samples(module: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def compared(tables: Mapping[str, pa.Table], _: Ledger, *, cpu: Samples) -> Model:
        return assert_same(tables, cpu)

    monkeypatch.setattr(module, "model_of_tables", compared)
    for number, name in enumerate(sorted(vars(module))):
        test = getattr(module, name)
        if not name.startswith("test_"):
            continue
        place = tmp_path / str(number)
        place.mkdir()
        test(place) if "tmp_path" in test.__code__.co_varnames else test()


@pytest.mark.parametrize("name", ["fast_relay1p_st", "fast_relaymp_st", "fast_relay1p_mt"])
def test_switches_beside_a_real_trace(name: str, own_sample: Callable[[str], Path]) -> None:
    trace = own_sample(name)
    kernel_beside(trace)
    found = assert_same(open_trace(trace).tables())
    assert found.scheduling.known


def test_the_bounds_of_traffic_of_no_process_are_none() -> None:
    process, ns = np.asarray([1, 1, 0]), np.asarray([5, 3, 9])
    first, last = bounds_of_traffic([(process, ns), (process[:1], ns[:1] + 10)], 3)
    far = np.iinfo(np.int64).max
    assert first.tolist() == [9, 3, far, far]
    assert last.tolist() == [9, 15, NONE, NONE]
