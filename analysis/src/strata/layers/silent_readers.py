# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Messages that lay in shared memory while no thread of the reader's process is seen to have run.

Over SHM nothing but the reader's receiving thread decides when a message is received. Where that
took `_LONG_NS` or more, and no thread of its process emitted an event meanwhile, nor had a CPU by a
sample that lies wholly within, the whole process did not run: it was stopped, or had no CPU. Over a
socket the same may be a slow way.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from strata.layers.transfers import Transfers
from strata.model.build import Model
from strata.model.columns import NONE, Ints
from strata.model.search import GroupedSearch

_LONG_NS = 1_000_000
Flags = npt.NDArray[np.bool_]


def silent_readers(model: Model, transfers: Transfers) -> Flags:
    """Tell of each matched message whether its reader's process did not run during transport."""
    passage = transfers.passage
    out = np.zeros(len(transfers), bool)
    sent_ns, received_ns = passage.sent_ns, passage.received_ns
    asked = (sent_ns != NONE) & (received_ns - sent_ns >= _LONG_NS) & (passage.transport == "SHM")
    rows = np.flatnonzero(asked)
    if not len(rows):
        return out
    of_thread = model.events.processes.thread_process
    process = of_thread[model.takes.thread[transfers.take[rows]]]
    begin_ns, end_ns = sent_ns[rows], received_ns[rows]
    events = GroupedSearch(of_thread[model.timeline.thread], model.timeline.ns)
    emitted = events.position(process, begin_ns, after_equal=True) < events.position(
        process, end_ns, after_equal=False
    )
    out[rows] = ~emitted & ~_ran(model, process, begin_ns, end_ns)
    return out


def _ran(model: Model, process: Ints, begin_ns: Ints, end_ns: Ints) -> Flags:
    """Tell whether any thread of a process had a CPU between two samples within an interval."""
    windows, threads = model.cpu.windows, model.cpu.threads
    own = windows.cpu_ns > 0
    number = threads["number"].to_numpy(np.int64)
    vpid = model.events.processes.vpid
    if not own.any():
        return np.zeros(len(process), bool)
    of_number = np.full(int(number.max()) + 1, NONE, np.int64)
    of_number[number] = threads["vpid"].to_numpy(np.int64)
    search = GroupedSearch(of_number[windows.thread[own]], windows.begin_ns[own])
    first = search.position(vpid[process], begin_ns, after_equal=False)
    there = first < search.end(vpid[process])
    at = search.order[np.minimum(first, len(search.order) - 1)]
    return np.asarray(there & (windows.end_ns[own][at] <= end_ns))
