# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Until when what has no end in the trace is taken to have gone on.

No event marks the end of a callback in which its thread hangs, or is killed, and none the end of a
process. A callback without an end that is the last thing its thread did goes on

* where the threads of its process were sampled (strata.model.thread_cpu), until any of them was
  last seen: in an event, or in a sample in which it had run;
* else, as a last wait does, until the last event of its host, or until its process id was another
  process's;
* in no case beyond the first events that were lost after it began.

So without samples a process that was killed inside a callback seems to be in it to the end.
"""

from __future__ import annotations

import numpy as np

from strata.engine.windows import first_touching
from strata.model.build import Model
from strata.model.columns import NONE, Ints


def host_ends(model: Model) -> Ints:
    """Return the last event of each thread's host, or when its process was another one already."""
    processes = model.processes
    ended = processes.end_ns[processes.thread_process]
    out = model.facts.host_last_ns
    return np.asarray(np.where(ended != NONE, np.minimum(ended, out), out), np.int64)


def ran_until(model: Model) -> Ints:
    """Return until when each execution ran: its end; without one, as far as is known (above).

    One without an end that its thread did other work after ends with that, as `until_ns` says.
    """
    executions, hangs = model.executions, model.facts.are_last()
    until_ns, rows = executions.until_ns.copy(), np.flatnonzero(hangs)
    start_ns = executions.start_ns[rows]
    lost_ns = np.maximum(first_touching(model.losses, start_ns), start_ns)
    seen_ns = np.minimum(_last_seen(model)[executions.thread[rows]], lost_ns)
    until_ns[rows] = np.maximum(seen_ns, until_ns[rows])
    return until_ns


def _last_seen(model: Model) -> Ints:
    """When each thread, or another one of its process, was last seen; else its host."""
    out = host_ends(model)
    if not model.cpu.known:
        return out
    process = model.processes.thread_process
    windows, threads = model.cpu.windows, model.cpu.threads
    of_window = threads.at(_process_of(threads.vpid, model.processes.vpid), windows.thread)
    own = of_window != NONE
    sampled_ns = np.full(len(model.processes.vpid), NONE, np.int64)
    np.maximum.at(sampled_ns, of_window[own], windows.end_ns[own])
    event_ns = model.facts.process_ran_ns
    seen_ns = np.where(sampled_ns != NONE, np.maximum(sampled_ns, event_ns), NONE)[process]
    return np.where(seen_ns != NONE, seen_ns, out)


def _process_of(vpid: Ints, processes: Ints) -> Ints:
    """Return the process of each id, by the ids of all; `NONE` without one.

    Of an id that processes of several hosts have, it is not known whose threads these are: `NONE`.
    """
    known, row, count = np.unique(processes, return_index=True, return_counts=True)
    known, row = known[count == 1], row[count == 1]
    at = np.minimum(np.searchsorted(known, vpid), len(known) - 1)
    return np.where(known[at] == vpid, row[at], NONE) if len(known) else np.full_like(vpid, NONE)
