# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""How long threads ran and waited for a CPU, by samples or kernel events, as a declared table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from strata.engine._model import sum_states, sum_windows
from strata.model.build import Model
from strata.model.columns import NONE, Ints
from strata.model.entities import UNKNOWN
from strata.model.frames import Objects
from strata.model.search import pick
from strata.schema import tables
from strata.schema.events import INTERNAL_TOPICS
from strata.schema.rows import Rows

SAMPLES, EVENTS = "samples", "kernel events"
"""What told of a thread (column `source`)."""


def thread_cpu_rows(model: Model, procname: Objects | None = None) -> Rows:
    """Return the table `thread_cpu`; `procname` has the name of each process of the trace.

    Of processes that were not sampled, what the events of the kernel's scheduler tell.
    """
    sampled = _sampled(model)
    places = {(row["host"], row["vpid"]) for row in sampled}
    found = sampled + _by_events(model, procname, places)
    for number, row in enumerate(found):
        wanted = row["on_cpu_ns"] + row["cpu_wait_ns"]
        row["thread_cpu_id"] = number
        row["wait_share"] = row["cpu_wait_ns"] / wanted if wanted > 0 else None
    return Rows.of_records(tables.THREAD_CPU, found)


def _sampled(model: Model) -> list[dict[str, Any]]:
    """What the samples tell of each thread."""
    if not model.cpu.known:
        return []
    windows, number = model.cpu.windows, model.cpu.threads["number"].to_numpy(np.int64)
    traced = np.full(int(number.max(initial=0)) + 1, NONE, np.int64)
    traced[number] = model.cpu.threads["model_thread"].to_numpy(np.int64)
    process = pick(model.events.processes.thread_process, traced)
    first, last = process_traffic(model)
    columns = (
        windows.thread,
        windows.begin_ns,
        windows.end_ns,
        windows.cpu_ns,
        windows.wait_ns,
        windows.slices,
    )
    sums = _sums(sum_windows(columns, first[process], last[process]))
    of_process = _processes(model)
    return [
        {
            **{name: row[name] for name in ("host", "vpid", "vtid", "process", "name")},
            **sums[row["number"]],
            "source": SAMPLES,
            "process_id": of_process.get(row["vpid"]),
        }
        for row in model.cpu.threads.to_dict("records")
        if row["number"] in sums
    ]


def _by_events(
    model: Model, procname: Objects | None, sampled: set[tuple[str, int]]
) -> list[dict[str, Any]]:
    """What the scheduler's events tell of each thread of processes that were not `sampled`."""
    intervals, processes = model.scheduling.intervals, model.events.processes
    first, last = process_traffic(model)
    process = processes.thread_process
    columns = (
        intervals.thread,
        intervals.start_ns,
        intervals.end_ns,
        intervals.state,
        intervals.cpu,
    )
    sums = _sums(sum_states(columns, first[process], last[process]))
    names = np.full(len(processes.vpid), None, object) if procname is None else procname
    out = []
    for thread, row in sums.items():
        number = int(process[thread])
        place = {"host": processes.host[number], "vpid": int(processes.vpid[number])}
        if tuple(place.values()) not in sampled:
            name = UNKNOWN if names[number] is None else names[number]
            vtid = int(processes.thread_vtid[thread])
            own = {**place, "vtid": vtid, "process": name, "process_id": number}
            out.append({**row, **own, "source": EVENTS})
    return out


_SUMS = (
    "begin_ns",
    "end_ns",
    "on_cpu_ns",
    "cpu_wait_ns",
    "slices",
    "longest_wait_ns",
    "traffic_on_cpu_ns",
    "traffic_cpu_wait_ns",
)


def _sums(columns: Sequence[Ints]) -> dict[int, dict[str, int]]:
    """Return the sums of each thread, by its number."""
    thread, *sums = (column.tolist() for column in columns)
    rows = zip(*sums, strict=True)
    return {
        number: dict(zip(_SUMS, row, strict=True)) for number, row in zip(thread, rows, strict=True)
    }


def process_traffic(model: Model) -> tuple[Ints, Ints]:
    """Return when each process sent or took its first and its last message of the application.

    Messages that were sent and taken: what a process needs before, to load its libraries and to
    find others, is no part of any. Of a process without any the first is in the far future and the
    last `NONE`; the last entry, which `NONE` finds, is of no process.
    """
    matches, publications, takes = model.matches, model.publications, model.takes
    publisher = publications.publisher[matches.publication]
    internal = np.append(np.isin(model.entities.publishers.topic, [*INTERNAL_TOPICS]), False)
    own = ~internal[publisher]
    thread = [publications.thread[matches.publication], takes.thread[matches.take]]
    ns = [publications.handed_ns[matches.publication], takes.taken_ns[matches.take]]
    process = model.events.processes.thread_process
    sides = [(process[at[own]], when[own]) for at, when in zip(thread, ns, strict=True)]
    count = len(model.events.processes.vpid)
    first = np.full(count + 1, np.iinfo(np.int64).max, np.int64)
    last = np.full(count + 1, NONE, np.int64)
    for at, when in sides:
        np.minimum.at(first, at, when)
        np.maximum.at(last, at, when)
    return first, last


def _processes(model: Model) -> dict[int, int]:
    """Return the process of the trace with each id that only one process has."""
    ids, first, count = np.unique(
        model.events.processes.vpid, return_index=True, return_counts=True
    )
    alone = count == 1
    return dict(zip(ids[alone].tolist(), first[alone].tolist(), strict=True))
