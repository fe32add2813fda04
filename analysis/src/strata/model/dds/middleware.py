# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""All that the events of the middleware tell of publications and takes."""

from __future__ import annotations

from dataclasses import dataclass

from strata.model.columns import EventColumns, Ints
from strata.model.dds.reads import Reads, find_notified, find_reads
from strata.model.dds.samples import Samples
from strata.model.dds.wire import Wire, find_wire
from strata.model.dds.writes import Writes, find_writes
from strata.model.timeline import Timeline
from strata.model.traffic import Publications, Takes


@dataclass(frozen=True)
class Middleware:
    """What the middleware did; empty of knowledge (`NONE` everywhere) without `dds` events.

    `writes` has one row a publication, `reads` and `notified_ns` one a take.
    """

    samples: Samples
    writes: Writes
    reads: Reads
    notified_ns: Ints
    wire: Wire


def find_middleware(
    events: EventColumns, timeline: Timeline, publications: Publications, takes: Takes
) -> Middleware:
    """Return what the events of the provider `dds` tell."""
    samples = Samples(events)
    reads = find_reads(events, timeline, takes, samples)
    return Middleware(
        samples,
        find_writes(events, timeline, publications, samples),
        reads,
        find_notified(events, samples, takes, reads),
        find_wire(events, timeline, samples),
    )
