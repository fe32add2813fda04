# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""For how long messages lay in shared memory while no thread of the reader is seen to have run.

Over SHM nothing but the reader's receiving thread decides when a message is received. A stretch of
its transport of `_LONG_NS` or more in which no thread of its process emitted an event, ran one of
its callbacks, or had a CPU by a sample that lies wholly within: then the whole process did not run.
It was stopped, or had no CPU. Over a socket the same may be a slow way.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from strata.engine.groups import sums
from strata.layers.transfers import Transfers
from strata.model.build import Model
from strata.model.columns import NONE, Ints
from strata.model.facts import PAUSE_NS
from strata.model.search import GroupedSearch, overlapping

_LONG_NS = PAUSE_NS
Flags = npt.NDArray[np.bool_]


def reader_silence(model: Model, transfers: Transfers) -> Ints:
    """Return for how long the reader's process did not run during each message's transport, ns."""
    passage = transfers.passage
    sent_ns, received_ns = passage.sent_ns, passage.received_ns
    asked = (sent_ns != NONE) & (received_ns - sent_ns >= _LONG_NS) & passage.transport.are("SHM")
    rows = np.flatnonzero(asked)
    if not len(rows):
        return np.broadcast_to(np.int64(0), len(transfers))
    out = np.zeros(len(transfers), np.int64)
    of_thread = model.processes.thread_process
    process = of_thread[model.takes.thread[transfers.take[rows]]]
    pauses = _pauses(model)
    row, pause = overlapping((process, sent_ns[rows], received_ns[rows]), pauses)
    begin_ns = np.maximum(sent_ns[rows][row], pauses[1][pause])
    end_ns = np.minimum(received_ns[rows][row], pauses[2][pause])
    silent = (end_ns - begin_ns >= _LONG_NS) & ~_ran(model, process[row], begin_ns, end_ns)
    out[rows] = sums(row[silent], (end_ns - begin_ns)[silent], len(rows))
    return out


def _pauses(model: Model) -> tuple[Ints, Ints, Ints]:
    """Process, begin and end of the stretches without an event in which no callback ran."""
    process, begin_ns, end_ns = model.facts.pauses()
    idle = ~_in_callback(model, process, begin_ns)
    return process[idle], begin_ns[idle], end_ns[idle]


def _in_callback(model: Model, process: Ints, ns: Ints) -> Flags:
    """Return whether a callback of a process ran just after an instant."""
    ran = model.executions
    ended = ran.end_ns != NONE
    own = model.processes.thread_process[ran.thread[ended]]
    began = GroupedSearch(own, ran.start_ns[ended])
    over = GroupedSearch(own, ran.end_ns[ended])
    # Groups of both begin at the same place.
    running = began.position(process, ns, after_equal=True)
    running -= over.position(process, ns, after_equal=True)
    return running > 0


def _ran(model: Model, process: Ints, begin_ns: Ints, end_ns: Ints) -> Flags:
    """Return whether any thread of a process had a CPU between two samples within an interval."""
    windows, threads = model.cpu.windows, model.cpu.threads
    own = windows.cpu_ns > 0
    vpid = model.processes.vpid
    if not own.any():
        return np.zeros(len(process), bool)
    ran = threads.at(threads.vpid, windows.thread[own])
    search = GroupedSearch(ran, windows.begin_ns[own])
    first = search.position(vpid[process], begin_ns, after_equal=False)
    there = first < search.end(vpid[process])
    at = search.order[np.minimum(first, len(search.order) - 1)]
    return np.asarray(there & (windows.end_ns[own][at] <= end_ns))
