# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What the kernel's scheduler did with each thread: intervals of running, preempted and blocked.

The engine has the state machine (native/model/thread_states.hpp).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from strata.engine.tables import EngineTables
from strata.model.columns import NONE, EventColumns, Ints
from strata.model.thread_states import Intervals

IDLE = 0


@dataclass(frozen=True)
class Occupancy:
    """Which thread had each CPU when; `cpu` is a dense number over all hosts, `NONE` is unknown.

    `tid` is the kernel's, `IDLE` for none; by CPU and time.
    """

    cpu: Ints
    start_ns: Ints
    end_ns: Ints
    tid: Ints
    name: Ints


@dataclass(frozen=True)
class Scheduling:
    """The scheduler's doings with the threads of the model; `names` are of `Occupancy.name`.

    Threads of `intervals` are dense numbers of the model's processes. `woken`: there are events of
    waking, so that a thread that is blocked can be told from one that waits for a CPU. `known`: a
    CPU was switched twice, so that the trace says something of the scheduler.
    """

    intervals: Intervals
    occupancy: Occupancy
    names: npt.NDArray[np.object_]
    woken: bool = True
    known: bool = False


def find_scheduling(tables: EngineTables, kept: EventColumns) -> Scheduling:
    """Return states of threads and who had each CPU; empty where no kernel was traced."""
    hosts = {host: number for number, host in enumerate(dict.fromkeys(kept.processes.host))}
    scheduler = tables.ints("cpus", "scheduler")
    of_host = tables.text("schedulers", "host")[scheduler]
    number = [hosts.setdefault(str(host), len(hosts)) for host in of_host]
    cpu_of = np.append(
        np.asarray(number, np.int64) * (1 << 20) + tables.ints("cpus", "number"), NONE
    )
    states = {
        name: tables.ints("thread_states", name)
        for name in ("thread", "start_ns", "end_ns", "state", "cpu")
    }
    order = np.lexsort((states["start_ns"], states["thread"]))
    cpu = cpu_of[tables.ints("cpu_occupancy", "cpu")]
    start_ns = tables.ints("cpu_occupancy", "start_ns")
    by_cpu = np.lexsort((start_ns, cpu))
    tid = tables.ints("cpu_occupancy", "tid")
    name = tables.ints("cpu_occupancy", "name")
    names = tables.coded(np.where(tid > 0, name, NONE))
    codes = np.where(names.codes == NONE, len(names.words), names.codes)
    return Scheduling(
        Intervals(
            states["thread"][order],
            states["start_ns"][order],
            states["end_ns"][order],
            states["state"][order],
            cpu_of[states["cpu"]][order],
        ),
        Occupancy(
            cpu[by_cpu],
            start_ns[by_cpu],
            tables.ints("cpu_occupancy", "end_ns")[by_cpu],
            tid[by_cpu],
            codes[by_cpu],
        ),
        np.asarray([*names.words, ""], dtype=object),
        bool(tables.rows["schedulers"]["wakes"].sum()),
        bool((tables.rows["cpus"]["switches"] > 1).any()),
    )
