# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""How long threads ran and waited for a CPU, by samples or kernel events, as a declared table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from strata.engine._model import sum_states, sum_windows
from strata.engine.groups import lower, raise_to
from strata.model.build import Model
from strata.model.columns import NONE, Ints, Processes
from strata.model.entities import UNKNOWN
from strata.model.frames import Objects
from strata.model.search import pick
from strata.model.thread_cpu import CpuSamples
from strata.schema import tables
from strata.schema.events import INTERNAL_TOPICS
from strata.schema.rows import Rows

Columns = Sequence[Ints]

SAMPLES, EVENTS = "samples", "kernel events"
"""What told of a thread (column `source`)."""


def thread_cpu_rows(model: Model, procname: Objects | None = None) -> Rows:
    """Return the table `thread_cpu`; `procname` has the name of each process of the trace.

    Of processes that were not sampled, what the events of the kernel's scheduler tell.
    """
    found = model.scheduling.intervals
    states = (found.thread, found.start_ns, found.end_ns, found.state, found.cpu)
    traffic = process_traffic(model)
    return thread_cpu_table(model.cpu, states, model.processes, traffic, procname)


def thread_cpu_table(
    samples: CpuSamples,
    states: Columns,
    processes: Processes,
    traffic: tuple[Ints, Ints],
    procname: Objects | None = None,
) -> Rows:
    """Return the table `thread_cpu` of samples and of what threads did (`states`).

    `states`: thread of `processes`, begin, end, state and CPU, by thread and time. `traffic`: see
    `bounds_of_traffic`.
    """
    sampled = _sampled(samples, processes, traffic)
    places = {(row["host"], row["vpid"]) for row in sampled}
    found = sampled + _by_events(states, processes, traffic, procname, places)
    for number, row in enumerate(found):
        wanted = row["on_cpu_ns"] + row["cpu_wait_ns"]
        row["thread_cpu_id"] = number
        row["wait_share"] = row["cpu_wait_ns"] / wanted if wanted > 0 else None
    return Rows.of_records(tables.THREAD_CPU, found)


def _sampled(
    samples: CpuSamples, processes: Processes, traffic: tuple[Ints, Ints]
) -> list[dict[str, Any]]:
    """What the samples show about each thread."""
    if not samples.known:
        return []
    windows, threads = samples.windows, samples.threads
    every = np.arange(max(windows.thread.max(initial=0), threads.number.max(initial=0)) + 1)
    process = pick(processes.thread_process, threads.at(threads.model_thread, every))
    columns = (
        windows.thread,
        windows.begin_ns,
        windows.end_ns,
        windows.cpu_ns,
        windows.wait_ns,
        windows.slices,
    )
    sums = _sums(sum_windows(columns, *(bound[process] for bound in traffic)))
    of_process = _processes(processes)
    rows = zip(
        threads.number.tolist(),
        threads.vpid.tolist(),
        threads.vtid.tolist(),
        threads.process.tolist(),
        threads.name.tolist(),
        strict=True,
    )
    return [
        {
            "host": threads.host,
            "vpid": vpid,
            "vtid": vtid,
            "process": called,
            "name": name,
            **sums[number],
            "source": SAMPLES,
            "process_id": of_process.get(vpid),
        }
        for number, vpid, vtid, called, name in rows
        if number in sums
    ]


def _by_events(
    states: Columns,
    processes: Processes,
    traffic: tuple[Ints, Ints],
    procname: Objects | None,
    sampled: set[tuple[str, int]],
) -> list[dict[str, Any]]:
    """what the scheduler's events show of each thread of processes that were not `sampled`."""
    process = processes.thread_process
    sums = _sums(sum_states(states, *(bound[process] for bound in traffic)))
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
    return sorted(out, key=lambda row: (row["host"], row["vpid"], row["process_id"], row["vtid"]))


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
    """Return when each process sent or took its first and its last message of the application."""
    matches, publications, takes = model.matches, model.publications, model.takes
    publisher = publications.publisher[matches.publication]
    internal = np.append(np.isin(model.entities.publishers.topic, [*INTERNAL_TOPICS]), False)
    own = ~internal[publisher]
    thread = [publications.thread[matches.publication], takes.thread[matches.take]]
    ns = [publications.handed_ns[matches.publication], takes.taken_ns[matches.take]]
    process = model.processes.thread_process
    sides = [(process[at[own]], when[own]) for at, when in zip(thread, ns, strict=True)]
    return bounds_of_traffic(sides, len(model.processes.vpid))


def bounds_of_traffic(sides: Sequence[tuple[Ints, Ints]], processes: int) -> tuple[Ints, Ints]:
    """Return the first and the last instant of each process, of columns of both.

    The instants are those of messages that were sent and taken: what a process needs before, to
    load its libraries and to find others, is no part of any. Of a process without any the first is
    in the far future and the last `NONE`; the last entry, which `NONE` finds, is of no process.
    """
    first = np.full(processes + 1, np.iinfo(np.int64).max, np.int64)
    last = np.full(processes + 1, NONE, np.int64)
    for at, when in sides:
        # The last entry is no group: what no process sent counts for none.
        lower(first[:-1], at, when)
        raise_to(last[:-1], at, when)
    return first, last


def _processes(processes: Processes) -> dict[int, int]:
    """Return the process of the trace with each id that only one process has."""
    ids, first, count = np.unique(processes.vpid, return_index=True, return_counts=True)
    alone = count == 1
    return dict(zip(ids[alone].tolist(), first[alone].tolist(), strict=True))
