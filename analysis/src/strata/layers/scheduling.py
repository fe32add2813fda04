# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What the thread of a layer was doing in it: running, preempted, blocked, or unknown.

Only layers that belong to one thread (strata.layers.stretches). The four parts add up to the layer
exactly. All that the kernel's events do not cover is unknown; so is, without events of waking, when
a thread was woken: in wake-up, blocked and preempted cannot be told apart then, as something was
there to wake it from the begin on.

While a thread is preempted it waits in the queue of a CPU: by whom it is preempted is who had that
CPU meanwhile, `IDLE` where nobody had (the CPU was leaving idle, or the thread was moved). Of
executor wait that is told of the time outside of callbacks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from strata.engine import _model as engine
from strata.layers.links import Links
from strata.layers.stretches import LAYERS, find_stretches, occupations
from strata.layers.transfers import Transfers
from strata.model.build import Model
from strata.model.columns import Ints
from strata.schema import layers as names


@dataclass(frozen=True)
class LayerTimes:
    """Rows of (message, layer); the times add up to the layer's. `thread` is of the model."""

    message: Ints
    layer: Ints
    thread: Ints
    running_ns: Ints
    preempted_ns: Ints
    blocked_ns: Ints
    unknown_ns: Ints


@dataclass(frozen=True)
class Preemptions:
    """Rows of (message, layer, by whom); the times of a message's layer add up to `preempted_ns`.

    Of executor wait, to what of that lies outside of callbacks.

    `tid` is the kernel's id of who had the CPU, `IDLE` for nobody, `NONE` when unknown.
    """

    message: Ints
    layer: Ints
    tid: Ints
    name: npt.NDArray[np.object_]
    duration_ns: Ints


def layer_times(model: Model, transfers: Transfers, links: Links) -> tuple[LayerTimes, Preemptions]:
    """Divide the layers of all messages; without events of the kernel there is no row."""
    if not model.scheduling.known:
        empty = np.empty(0, np.int64)
        return LayerTimes(*[empty] * 7), Preemptions(
            empty, empty, empty, np.empty(0, object), empty
        )
    own, did = find_stretches(model, transfers, links), occupations(model)
    found = model.scheduling.intervals
    states = (found.thread, found.start_ns, found.end_ns, found.state, found.cpu)
    running, preempted, blocked, unknown = engine.layer_times(own, states, did.waits, did.lane_of)
    if not model.scheduling.woken:
        # They may have been in the queue of a CPU.
        unsure = own.layer == LAYERS.index(names.WAKE_UP)
        blocked, unknown = np.where(unsure, 0, blocked), unknown + np.where(unsure, blocked, 0)
    times = LayerTimes(own.message, own.layer, own.thread, running, preempted, blocked, unknown)
    had = model.scheduling.occupancy
    occupancy = (had.cpu, had.start_ns, had.end_ns, had.tid, had.name)
    message, layer, tid, name, duration_ns = engine.preemptions(own, states, occupancy, *did)
    words = np.append(model.scheduling.names, "")
    return times, Preemptions(message, layer, tid, words[name], duration_ns)
