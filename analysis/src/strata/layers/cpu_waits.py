# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""How long the thread of a layer waited for a CPU in it, by samples of the kernel's counts.

The samples bound amounts to windows of some 100 ms (strata.model.thread_cpu): in a window of length
L a thread ran for c and waited for w, and it was needed for n, the length of all that is known to
be its work there: the layers of messages that are its (below), callbacks, and for a thread of an
executor all that is no wait for work. Of a layer of which o lies in the window it waited

    at most   min(o, w)
    at least  o - (L - w)
    about     o * w / max(n, w + c)    within these two

*About* spreads the waits evenly over the time in which the thread was needed. Where it did more
than is known (n < w + c), that had its part of them. Only bounds are certain; what is about is said
to be estimated. A wait is counted when it ends: one longer than its window takes up those before.

Layers are those of strata.layers.stretches, of executor wait what lies outside of callbacks; and
of the publishing thread serialize and dds write, of the thread that received it transport and dds
receive.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from strata.layers.links import Links
from strata.layers.stretches import LAYERS, Occupations, Stretches, find_stretches
from strata.layers.transfers import Transfers
from strata.model.build import Model
from strata.model.clocks import Clock
from strata.model.columns import NONE, Ints
from strata.model.search import overlapping, sums
from strata.model.thread_cpu import CpuSamples
from strata.schema import layers as names
from strata.schema.layers import Layer

CPU_LAYERS: tuple[Layer, ...] = (
    *LAYERS,
    names.SERIALIZE,
    names.DDS_WRITE,
    names.TRANSPORT,
    names.DDS_RECEIVE,
)
"""`CpuWaits.layer` is an index of it."""


@dataclass(frozen=True)
class CpuWaits:
    """Rows of (message, layer) whose thread may have waited for a CPU; ns.

    `about_ns` lies between the bounds. `thread` is of the model.
    """

    message: Ints
    layer: Ints
    thread: Ints
    about_ns: Ints
    least_ns: Ints
    most_ns: Ints


@dataclass(frozen=True)
class _Windows:
    """Windows by model thread and time, that do not overlap."""

    thread: Ints
    begin_ns: Ints
    end_ns: Ints
    cpu_ns: Ints
    wait_ns: Ints


def find_cpu_waits(model: Model, transfers: Transfers, links: Links) -> CpuWaits:
    """Return the waits of all messages' layers; without samples there is no row."""
    windows = _windows(model.cpu)
    if not len(windows.thread):
        return CpuWaits(*[np.empty(0, np.int64)] * 6)
    own = _with_middleware(find_stretches(model, transfers, links), model, transfers)
    did = Occupations(model)
    needed_ns = _needed(own, model, windows)
    row, window = overlapping(
        (own.thread, own.begin_ns, own.end_ns),
        (windows.thread, windows.begin_ns, windows.end_ns),
    )
    waited = windows.wait_ns[window] > 0
    row, window = row[waited], window[waited]
    begin_ns = np.maximum(own.begin_ns[row], windows.begin_ns[window])
    end_ns = np.minimum(own.end_ns[row], windows.end_ns[window])
    inside_ns = np.maximum(own.apart(row, did, begin_ns, end_ns), 0)
    about, least, most = _spread(inside_ns, windows, window, needed_ns[window])
    return _added_up(own, row, about, least, most)


def _windows(samples: CpuSamples) -> _Windows:
    """Windows of the trace's threads; a wait beyond the begin of one goes to the one before."""
    raw = samples.windows
    number = samples.threads["number"].to_numpy(np.int64)
    of_number = np.full(int(number.max(initial=0)) + 1, NONE, np.int64)
    of_number[number] = samples.threads["model_thread"].to_numpy(np.int64)
    thread = of_number[raw.thread] if len(raw.thread) else raw.thread
    order = np.lexsort((raw.end_ns, thread))
    order = order[thread[order] != NONE]
    thread, end_ns = thread[order], raw.end_ns[order]
    begin_ns, wait_ns = raw.begin_ns[order], raw.wait_ns[order].copy()
    follows = np.append(False, thread[1:] == thread[:-1])[: len(thread)]
    before_ns = np.where(follows, np.append(0, end_ns[:-1])[: len(end_ns)], begin_ns - wait_ns)
    begin_ns = np.maximum(np.minimum(begin_ns, end_ns - wait_ns), before_ns)
    beyond = np.where(follows, np.maximum(wait_ns - (end_ns - begin_ns), 0), 0)
    wait_ns[:-1] += beyond[1:]
    return _Windows(
        thread,
        begin_ns,
        end_ns,
        raw.cpu_ns[order],
        np.minimum(wait_ns, np.maximum(end_ns - begin_ns, 0)),
    )


def _with_middleware(own: Stretches, model: Model, transfers: Transfers) -> Stretches:
    """Add the layers within the middleware that belong to one thread."""
    passage = transfers.passage
    publisher = model.publications.thread[transfers.publication]
    receiver = model.middleware.notified.thread[transfers.take]
    s0, s1, x = passage.serialize_begin_ns, passage.serialize_end_ns, passage.sent_ns
    cut = {
        layer: transfers.durations[layer.column] != NONE
        for layer in (names.SERIALIZE, names.DDS_WRITE, names.TRANSPORT, names.DDS_RECEIVE)
    }
    spans = [
        (names.SERIALIZE, publisher, s0, s1),
        (names.DDS_WRITE, publisher, transfers.handed_ns, s0),
        (names.DDS_WRITE, publisher, s1, x),
        (names.TRANSPORT, receiver, x, passage.received_ns),
        (names.DDS_RECEIVE, receiver, passage.received_ns, passage.notified_ns),
    ]
    parts = []
    for layer, thread, begin_ns, end_ns in spans:
        there = cut[layer] & (thread != NONE) & (begin_ns != NONE) & (end_ns > begin_ns)
        rows = np.flatnonzero(there)
        number = np.full(len(rows), CPU_LAYERS.index(layer), np.int64)
        lane = transfers.waiting.lane[rows]
        none = np.full(len(rows), NONE, np.int64)
        parts.append((rows, number, thread[rows], begin_ns[rows], end_ns[rows], lane, none))
    first = (own.message, own.layer, own.thread, own.begin_ns, own.end_ns, own.lane, own.idle)
    return Stretches(
        *(np.concatenate(column).astype(np.int64) for column in zip(first, *parts, strict=True))
    )


def _needed(own: Stretches, model: Model, windows: _Windows) -> Ints:
    """How long the thread of each window was needed in it, as far as is known."""
    ran, waits = model.executions, model.waits
    ended = ran.end_ns != NONE
    # Executor wait begins with the message, not with the thread's work for it.
    kept = own.idle != 0
    clock = Clock(
        np.concatenate([own.thread[kept], ran.thread[ended]]),
        np.concatenate([own.begin_ns[kept], ran.start_ns[ended]]),
        np.concatenate([own.end_ns[kept], ran.end_ns[ended]]),
    )
    known = clock.within(windows.thread, windows.begin_ns, windows.end_ns)
    waiting = Clock(waits.thread, waits.start_ns, waits.end_ns)
    awake = windows.end_ns - windows.begin_ns
    awake = awake - waiting.within(windows.thread, windows.begin_ns, windows.end_ns)
    return np.where(waiting.known(windows.thread), np.maximum(awake, known), known)


def _spread(
    inside_ns: Ints, windows: _Windows, window: Ints, needed_ns: Ints
) -> tuple[Ints, Ints, Ints]:
    """Return what was waited in parts of windows: about, at least and at most."""
    wait_ns, cpu_ns = windows.wait_ns[window], windows.cpu_ns[window]
    length_ns = windows.end_ns[window] - windows.begin_ns[window]
    most = np.minimum(inside_ns, wait_ns)
    least = np.minimum(np.maximum(inside_ns - (length_ns - wait_ns), 0), most)
    busy_ns = np.maximum(np.maximum(needed_ns, wait_ns + cpu_ns), 1)
    about = np.rint(inside_ns * (wait_ns / busy_ns)).astype(np.int64)
    return np.clip(about, least, most), least, most


def _added_up(own: Stretches, row: Ints, about: Ints, least: Ints, most: Ints) -> CpuWaits:
    keys = np.stack([own.message[row], own.layer[row], own.thread[row]])
    groups, inverse = np.unique(keys, axis=1, return_inverse=True)
    inverse, count = inverse.reshape(-1), groups.shape[1]
    totals = [sums(inverse, values, count) for values in (about, least, most)]
    kept = totals[2] > 0
    return CpuWaits(*(column[kept] for column in (*groups, *totals)))
