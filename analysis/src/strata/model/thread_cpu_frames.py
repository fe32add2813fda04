# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""How long threads ran and waited for a CPU, by samples or kernel events, as a declared table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from strata.engine._model import sum_states, sum_windows
from strata.model.build import Model
from strata.model.columns import NONE, Ints
from strata.model.entities import UNKNOWN
from strata.model.frames import Objects, nullable
from strata.model.search import pick
from strata.schema import tables
from strata.schema.events import INTERNAL_TOPICS

SAMPLES, EVENTS = "samples", "kernel events"
"""What told of a thread (column `source`)."""


def thread_cpu_frame(model: Model, procname: Objects | None = None) -> pd.DataFrame:
    """Return the table `thread_cpu`; `procname` has the name of each process of the trace.

    Of processes that were not sampled, what the events of the kernel's scheduler tell.
    """
    sampled = _sampled(model)
    told = _by_events(model, procname, sampled[["host", "vpid"]])
    parts = [part for part in (sampled, told) if len(part)]
    if not parts:
        return tables.THREAD_CPU.empty()
    found = pd.concat(parts, ignore_index=True)
    wanted = found["on_cpu_ns"] + found["cpu_wait_ns"]
    return tables.THREAD_CPU.frame(
        found.assign(
            thread_cpu_id=np.arange(len(found)),
            wait_share=found["cpu_wait_ns"] / wanted.where(wanted > 0),
        )
    )


def _sampled(model: Model) -> pd.DataFrame:
    """What the samples tell of each thread."""
    if not model.cpu.known:
        return pd.DataFrame(columns=["host", "vpid"])
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
    threads = model.cpu.threads.merge(sums, left_on="number", right_index=True)
    own = threads.drop(columns=["pid", "tid", "model_thread", "number"])
    return own.assign(source=SAMPLES, process_id=_processes(model, threads["vpid"]))


def _by_events(model: Model, procname: Objects | None, sampled: pd.DataFrame) -> pd.DataFrame:
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
    number = processes.thread_process[sums.index.to_numpy(np.int64)]
    names = np.full(len(processes.vpid), None, object) if procname is None else procname
    found = sums.assign(
        source=EVENTS,
        process_id=number,
        host=np.asarray(processes.host, object)[number],
        vpid=processes.vpid[number],
        vtid=processes.thread_vtid[sums.index.to_numpy(np.int64)],
        process=[UNKNOWN if name is None else name for name in names[number]],
        name=None,
    )
    key = ["host", "vpid"]
    return found[~pd.MultiIndex.from_frame(found[key]).isin(pd.MultiIndex.from_frame(sampled[key]))]


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


def _sums(columns: Sequence[Ints]) -> pd.DataFrame:
    """A row for each thread, by its number."""
    thread, *sums = columns
    return pd.DataFrame(dict(zip(_SUMS, sums, strict=True)), index=thread)


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


def _processes(model: Model, vpid: pd.Series[int]) -> pd.Series[int]:
    """Return the process of the trace with each id, null where there is none, or several."""
    known = pd.Series(model.events.processes.vpid)
    only = known[~known.duplicated(keep=False)]
    numbers = pd.Series(only.index, index=only.to_numpy())
    found = numbers.reindex(vpid.to_numpy(), fill_value=NONE).to_numpy(np.int64)
    return nullable(found).set_axis(vpid.index)
