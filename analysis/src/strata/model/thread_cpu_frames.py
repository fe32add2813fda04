# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""How long threads ran and waited for a CPU, as a declared table."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from strata.model.build import Model
from strata.model.columns import NONE
from strata.model.frames import nullable
from strata.model.search import pick
from strata.schema import tables
from strata.schema.events import INTERNAL_TOPICS

Flags = npt.NDArray[np.bool_]


def thread_cpu_frame(model: Model) -> pd.DataFrame:
    """Return the table `thread_cpu`."""
    if not model.cpu.known:
        return tables.THREAD_CPU.empty()
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
    wanted = threads["on_cpu_ns"] + threads["cpu_wait_ns"]
    share = threads["cpu_wait_ns"] / wanted.where(wanted > 0)
    own = threads.drop(columns=["pid", "tid", "model_thread", "number"])
    return tables.THREAD_CPU.frame(
        own.assign(
            thread_cpu_id=np.arange(len(threads)),
            process_id=_processes(model, threads["vpid"]),
            wait_share=share,
        )
    )


def _in_traffic(model: Model, windows: pd.DataFrame) -> Flags:
    """Tell which windows lie whole between the first and the last message of their process.

    Messages of the application that were sent and taken: what a process needs before, to load its
    libraries and to find others, is no part of any.
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
    # The last entry, which `NONE` finds, is of threads that are none of the trace's.
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
