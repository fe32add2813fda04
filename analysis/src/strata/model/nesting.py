# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Threads whose callbacks nest as those of one thread cannot: they are two threads.

A callback that begins within another ends before it. Two processes in different pid namespaces of
one host (containers) may have one id, and their threads, too: then callbacks of both look like one
thread's, and begin and end without regard to each other.
"""

from __future__ import annotations

import numpy as np

from strata.model.columns import NONE, EventColumns, Ints
from strata.model.executions import Executions
from strata.schema.quality import Ledger

_FEWEST = 2
"""Contradictions of a process from which it is told: a single one may be of lost events."""


def count_contradictory_nesting(
    events: EventColumns, executions: Executions, ledger: Ledger
) -> None:
    """Count the processes whose callbacks do not nest."""
    process = contradictory_processes(events, executions)
    processes = events.processes
    told = [f"{processes.vpid[row]} on {processes.host[row]}" for row in process.tolist()]
    ledger.add("contradictory_nesting", len(process), *told)


def contradictory_processes(events: EventColumns, executions: Executions) -> Ints:
    """Return the numbers of the processes whose callbacks do not nest."""
    ended = np.flatnonzero(executions.end_ns != NONE)
    order = ended[np.lexsort((executions.start_ns[ended], executions.thread[ended]))]
    thread, end_ns = executions.thread[order], executions.end_ns[order]
    begun_ns = executions.start_ns[order]
    crossed = thread[1:] == thread[:-1]
    crossed &= (begun_ns[1:] < end_ns[:-1]) & (end_ns[1:] > end_ns[:-1])
    of_thread = events.processes.thread_process
    count = np.bincount(of_thread[thread[1:][crossed]], minlength=len(events.processes.vpid))
    return np.flatnonzero(count >= _FEWEST).astype(np.int64)
