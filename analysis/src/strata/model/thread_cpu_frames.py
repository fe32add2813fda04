# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""How long threads ran and waited for a CPU, by samples or kernel events, as a declared table."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from strata.model.build import Model
from strata.model.columns import NONE, Ints
from strata.model.entities import UNKNOWN
from strata.model.frames import Objects, nullable
from strata.model.search import pick
from strata.model.thread_states import State
from strata.schema import tables
from strata.schema.events import INTERNAL_TOPICS

Flags = npt.NDArray[np.bool_]

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
    windows = pd.DataFrame(vars(model.cpu.windows))
    grouped = windows.groupby("thread")
    in_traffic = windows[_in_traffic(model, windows)].groupby("thread")
    sums = pd.DataFrame(
        {
            "begin_ns": grouped["end_ns"].first(),
            "end_ns": grouped["end_ns"].last(),
            "on_cpu_ns": grouped["cpu_ns"].sum(),
            "cpu_wait_ns": grouped["wait_ns"].sum(),
            "slices": grouped["slices"].sum(),
            "longest_wait_ns": grouped["wait_ns"].max(),
            "traffic_on_cpu_ns": in_traffic["cpu_ns"].sum(),
            "traffic_cpu_wait_ns": in_traffic["wait_ns"].sum(),
        }
    )
    traffic = ["traffic_on_cpu_ns", "traffic_cpu_wait_ns"]
    sums[traffic] = sums[traffic].fillna(0).astype(np.int64)
    threads = model.cpu.threads.merge(sums, left_on="number", right_index=True)
    own = threads.drop(columns=["pid", "tid", "model_thread", "number"])
    return own.assign(source=SAMPLES, process_id=_processes(model, threads["vpid"]))


def _by_events(model: Model, procname: Objects | None, sampled: pd.DataFrame) -> pd.DataFrame:
    """What the scheduler's events tell of each thread of processes that were not `sampled`."""
    intervals, processes = model.scheduling.intervals, model.events.processes
    columns = pd.DataFrame(vars(intervals))
    ran, waited = columns["state"] == State.RUNNING, columns["state"] == State.PREEMPTED
    columns = columns[ran | waited].assign(ran=ran, ns=columns["end_ns"] - columns["start_ns"])
    first, last = process_traffic(model)
    process = processes.thread_process[columns["thread"].to_numpy(np.int64)]
    inside = np.minimum(columns["end_ns"], last[process]) - np.maximum(
        columns["start_ns"], first[process]
    )
    columns["traffic_ns"] = inside.clip(lower=0)
    on_cpu, waits = columns[columns["ran"]], columns[~columns["ran"].astype(bool)]
    grouped, on, off = (part.groupby("thread") for part in (columns, on_cpu, waits))
    sums = pd.DataFrame(
        {
            "on_cpu_ns": on["ns"].sum(),
            "cpu_wait_ns": off["ns"].sum(),
            "slices": on.size(),
            "longest_wait_ns": off["ns"].max(),
            "traffic_on_cpu_ns": on["traffic_ns"].sum(),
            "traffic_cpu_wait_ns": off["traffic_ns"].sum(),
        },
        index=grouped.size().index,
    )
    sums = sums.fillna(0).astype(np.int64)
    number = processes.thread_process[sums.index.to_numpy(np.int64)]
    names = np.full(len(processes.vpid), None, object) if procname is None else procname
    found = sums.assign(
        begin_ns=grouped["start_ns"].min(),
        end_ns=grouped["end_ns"].max(),
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


def _in_traffic(model: Model, windows: pd.DataFrame) -> Flags:
    """Tell which windows lie whole between the first and the last message of their process."""
    first, last = process_traffic(model)
    process = model.events.processes.thread_process
    number = model.cpu.threads.set_index("number")["model_thread"]
    traced = number.reindex(windows["thread"], fill_value=NONE).to_numpy(np.int64)
    of_window = pick(process, traced)
    begins, ends = windows["begin_ns"].to_numpy(), windows["end_ns"].to_numpy()
    return np.asarray((begins >= first[of_window]) & (ends <= last[of_window]))


def _processes(model: Model, vpid: pd.Series[int]) -> pd.Series[int]:
    """Return the process of the trace with each id, null where there is none, or several."""
    known = pd.Series(model.events.processes.vpid)
    only = known[~known.duplicated(keep=False)]
    numbers = pd.Series(only.index, index=only.to_numpy())
    found = numbers.reindex(vpid.to_numpy(), fill_value=NONE).to_numpy(np.int64)
    return nullable(found).set_axis(vpid.index)
