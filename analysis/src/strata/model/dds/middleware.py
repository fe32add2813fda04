# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""All that the events of the middleware tell of publications and takes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from strata.lazy import pandas as pd
from strata.model.columns import NONE, EventColumns, filled
from strata.model.dds.buffers import find_buffers
from strata.model.dds.reads import Notified, Reads, find_notified, find_reads
from strata.model.dds.samples import Samples
from strata.model.dds.wire import Wire, find_wire
from strata.model.dds.writes import Writes, find_writes
from strata.model.timeline import Timeline
from strata.model.traffic import Publications, Takes
from strata.model.windows import NO_LOSSES, Windows
from strata.schema.events import DDS_PROVIDER


@dataclass(frozen=True)
class Middleware:
    """What the middleware did; empty of knowledge (`NONE` everywhere) without `dds` events.

    `writes` has one row a publication, `reads` and `notified` one a take. `incomplete` counts
    samples of which a process got only some fragments.
    """

    samples: Samples
    writes: Writes
    reads: Reads
    notified: Notified
    wire: Wire
    incomplete: int


def find_middleware(
    events: EventColumns,
    timeline: Timeline,
    publications: Publications,
    takes: Takes,
    losses: Windows = NO_LOSSES,
) -> Middleware:
    """Return what the events of the provider `dds` tell."""
    samples = Samples(events)
    if not events.recorded(DDS_PROVIDER):
        return _unseen(events, timeline, samples, len(publications), len(takes))
    reads = find_reads(events, timeline, takes, samples)
    wire = find_wire(events, find_buffers(events, timeline, samples))
    return Middleware(
        samples,
        find_writes(events, timeline, publications, samples, losses),
        reads,
        find_notified(events, samples, takes, reads),
        wire,
        _incomplete(events, samples, wire),
    )


def _unseen(
    events: EventColumns, timeline: Timeline, samples: Samples, published: int, taken: int
) -> Middleware:
    """What is known without any event: nothing."""
    none, nothing = np.full(taken, NONE, np.int64), np.full(published, NONE, np.int64)
    return Middleware(
        samples,
        Writes(nothing, nothing, nothing, nothing, nothing, np.zeros(published, bool)),
        Reads(none, none, none, none, np.zeros((taken, 2), np.uint64), none),
        Notified(none, none, none, np.zeros(taken, bool), 0),
        find_wire(events, find_buffers(events, timeline, samples)),
        0,
    )


def _incomplete(events: EventColumns, samples: Samples, wire: Wire) -> int:
    name = "dds:reader_notify"
    told = pd.MultiIndex.from_arrays([events.process(name), samples.of(name)])
    arrived = wire.by_process["arrived"]
    sample = arrived.index.get_level_values("sample")
    short = filled(arrived) < filled(wire.sends["fragments"].reindex(sample))
    return int((short & ~arrived.index.isin(told)).sum())
