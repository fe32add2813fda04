# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""How long threads ran and waited for a CPU, from samples of what the kernel counts (schedstat).

A sample says how much a thread has run, and how long it has been runnable without a CPU, since it
began. Two samples in a row bound both in between, to a *window* of some 100 ms; where in it the
thread waited is not known. The kernel counts a wait when it ends, with the thread getting a CPU: a
wait that is longer than the window began before it.

A thread of the samples is one of the trace by its ids (vpid, vtid): the samples are of one machine.
Ids that several threads of the samples had one after the other are distinguished by time; those
that processes of several hosts of the trace have are left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from strata.engine._model import sample_windows
from strata.model.columns import NONE, Ints, Processes
from strata.read.thread_cpu import SAMPLER, ThreadCpu

Objects = npt.NDArray[np.object_]


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
class SampledThreads:
    """Threads of the samples, one row each, of the machine `host`.

    `model_thread` is the thread of the trace, `NONE` where it is none; `process` and `name` are the
    names of both.
    """

    host: str
    number: Ints
    vpid: Ints
    vtid: Ints
    process: Objects
    name: Objects
    model_thread: Ints

    def at(self, values: Ints, number: Ints) -> Ints:
        """Return what a column has of the threads of some numbers; `NONE` of others."""
        of_number = np.full(int(max(self.number.max(initial=0), number.max(initial=0))) + 1, NONE)
        of_number[self.number] = values
        return of_number[number]


@dataclass(frozen=True)
class CpuSamples:
    """What was sampled, by the clock of the trace; `windows` are of all `threads`."""

    threads: SampledThreads
    windows: Windows

    @property
    def known(self) -> bool:
        """Return whether anything was sampled."""
        return len(self.windows.thread) > 0


def no_samples() -> CpuSamples:
    """Return what is known of a trace beside which nothing was sampled."""
    empty, none = np.empty(0, np.int64), np.empty(0, object)
    threads = SampledThreads("", empty, empty, empty, none, none, empty)
    return CpuSamples(threads, Windows(*[empty] * 6))


def find_cpu_samples(read: ThreadCpu | None, offset_ns: int, processes: Processes) -> CpuSamples:
    """Return the samples of all threads but the sampler's; `offset_ns`: trace less monotonic."""
    if read is None or not len(read.samples["thread"]):
        return no_samples()
    thread, ns, *counts = (read.samples[name] for name in _FIGURES)
    ns = ns + offset_ns
    # The sampler's own row is the first of each sample.
    own = thread == SAMPLER
    sampled = [values[~own] for values in (thread, ns, *counts)]
    windows = Windows(*sample_windows(sampled, ns[own]))
    others = read.threads["thread"] != SAMPLER
    number, vpid, vtid = (read.threads[name][others] for name in ("thread", "vpid", "vtid"))
    process, name = (read.names[column][others] for column in ("process", "name"))
    traced = _model_threads(vpid, vtid, processes)
    return CpuSamples(SampledThreads(read.host, number, vpid, vtid, process, name, traced), windows)


_FIGURES = ("thread", "monotonic_ns", "read_ns", "cpu_ns", "wait_ns", "slices")


def _model_threads(vpid: Ints, vtid: Ints, processes: Processes) -> Ints:
    """Return the trace's thread of each; of ids that are not one thread's there, `NONE`."""
    known: dict[tuple[int, int], int] = {}
    traced = zip(
        processes.vpid[processes.thread_process].tolist(),
        processes.thread_vtid.tolist(),
        strict=True,
    )
    for thread, ids in enumerate(traced):
        known[ids] = NONE if ids in known else thread
    pairs = zip(vpid.tolist(), vtid.tolist(), strict=True)
    return np.asarray([known.get(ids, NONE) for ids in pairs], np.int64)
