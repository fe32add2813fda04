# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""How long threads ran and waited for a CPU, from samples of what the kernel counts (schedstat).

A sample says how much a thread has run, and how long it has been runnable without a CPU, since it
began. Two samples in a row bound both in between, to a *window* of some 100 ms; where in it the
thread waited is not known. The kernel counts a wait when it ends, with the thread getting a CPU: a
wait that is longer than the window began before it.

A thread of the samples is one of the trace by its ids (vpid, vtid): the samples are of one machine.
Ids that several threads of the samples had one after the other are told apart by time; those that
processes of several hosts of the trace have are left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from strata.engine._model import sample_windows
from strata.model.columns import NONE, Ints, Processes
from strata.read.thread_cpu import SAMPLER, ThreadCpu

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Windows:
    """Stretches between two samples in which a thread ran or waited; by thread and time.

    A row stands for the time since the thread's row before, or since the last sample before it: a
    thread that has no row in a sample had not changed then.
    `thread` is the number of the samples'. In the window the thread got the CPU `slices` times,
    after waits of `wait_ns` together, which may have begun before; it ran for `cpu_ns`.
    """

    thread: Ints
    begin_ns: Ints
    end_ns: Ints
    cpu_ns: Ints
    wait_ns: Ints
    slices: Ints


@dataclass(frozen=True)
class CpuSamples:
    """What was sampled, by the clock of the trace.

    `threads` has a row a thread of the samples: number, host, vpid, vtid, process, name and
    `model_thread`, the thread of the trace, `NONE` where it is none. `windows` are of all of them.
    """

    threads: pd.DataFrame
    windows: Windows

    @property
    def known(self) -> bool:
        """Tell whether anything was sampled."""
        return len(self.windows.thread) > 0


def no_samples() -> CpuSamples:
    """Return what is known of a trace beside which nothing was sampled."""
    empty = np.empty(0, np.int64)
    columns = ["number", "host", "vpid", "vtid", "process", "name", "model_thread"]
    return CpuSamples(pd.DataFrame(columns=columns), Windows(*[empty] * 6))


def find_cpu_samples(read: ThreadCpu | None, offset_ns: int, processes: Processes) -> CpuSamples:
    """Return the samples of all threads but the sampler's; `offset_ns`: trace less monotonic."""
    if read is None or not len(read.samples):
        return no_samples()
    columns = [read.samples[name].to_numpy().astype(np.int64) for name in _FIGURES]
    thread, ns, *counts = columns
    ns += offset_ns
    # The sampler's own row is the first of each sample.
    own = thread == SAMPLER
    sampled = [values[~own] for values in (thread, ns, *counts)]
    windows = Windows(*sample_windows(sampled, ns[own]))
    threads = read.threads.to_pandas()
    threads = threads[threads["thread"] != SAMPLER].rename(columns={"thread": "number"})
    threads["host"] = read.host
    threads["model_thread"] = _model_threads(threads, processes)
    return CpuSamples(threads.reset_index(drop=True), windows)


_FIGURES = ("thread", "monotonic_ns", "read_ns", "cpu_ns", "wait_ns", "slices")


def _model_threads(threads: pd.DataFrame, processes: Processes) -> Ints:
    """Return the trace's thread of each row; of ids that are not one thread's there, `NONE`."""
    model = pd.DataFrame(
        {
            "vpid": processes.vpid[processes.thread_process],
            "vtid": processes.thread_vtid,
            "model_thread": np.arange(len(processes.thread_vtid)),
        }
    ).drop_duplicates(["vpid", "vtid"], keep=False)
    pairs = threads[["vpid", "vtid"]].merge(model, on=["vpid", "vtid"], how="left")
    return pairs["model_thread"].fillna(NONE).to_numpy(np.int64)
