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

from strata.engine import _model as engine
from strata.layers.links import Links
from strata.layers.stretches import (
    LAYERS,
    Columns,
    MessageThreads,
    Occupations,
    Stretches,
    find_stretches,
    occupations,
    threads_of,
)
from strata.layers.transfers import Transfers
from strata.model.build import Model
from strata.model.columns import NONE, Ints
from strata.model.thread_cpu import CpuSamples
from strata.schema import layers as names
from strata.schema.layer import Layer

CPU_LAYERS: tuple[Layer, ...] = (*LAYERS, *(one for one in names.DDS_LAYERS if one.thread))
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


def find_cpu_waits(model: Model, transfers: Transfers, links: Links) -> CpuWaits:
    """Return the waits of all messages' layers; without samples there is no row."""
    if not model.cpu.known:
        return _none()
    threads, waits = threads_of(model, transfers), model.waits
    own = cpu_stretches(find_stretches(threads, transfers, links), threads, transfers)
    thread_waits = (waits.thread, waits.start_ns, waits.end_ns)
    return cpu_waits_of(own, occupations(model), thread_waits, model.cpu)


def cpu_waits_of(
    own: Stretches, did: Occupations, thread_waits: Columns, samples: CpuSamples
) -> CpuWaits:
    """Return how long threads waited in stretches of CPU_LAYERS.

    `thread_waits` for work: thread, begin, end.
    """
    if not samples.known:
        return _none()
    windows = _windows(samples)
    return CpuWaits(
        *engine.cpu_waits(own, windows, did.waits, did.callbacks, thread_waits, did.lane_of)
    )


def _none() -> CpuWaits:
    return CpuWaits(*[np.empty(0, np.int64)] * 6)


def _windows(samples: CpuSamples) -> Columns:
    """Thread of the trace, begin, end, and ns on a CPU and of waits of each window."""
    raw, threads = samples.windows, samples.threads
    thread = threads.at(threads.model_thread, raw.thread)
    return thread, raw.begin_ns, raw.end_ns, raw.cpu_ns, raw.wait_ns


def cpu_stretches(own: Stretches, threads: MessageThreads, transfers: Transfers) -> Stretches:
    """Return stretches with those of the layers within the middleware that belong to one thread."""
    passage = transfers.passage
    publisher, receiver = threads.publisher, threads.receiver
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
    return Stretches(
        *(np.concatenate(column).astype(np.int64) for column in zip(own, *parts, strict=True))
    )
