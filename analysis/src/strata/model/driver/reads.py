# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What was read from sources: packets and buffers, when they arrived, and what queues dropped.

Data arrived at this host at the event's time less `queue_ns`. The counter of what a queue has
dropped never falls. That of a socket is stamped on a datagram when it is queued (Linux,
SO_RXQ_OVFL), so what it rose by was dropped between the arrivals of two datagrams; that of an
appsink is of the pull.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from strata.model.columns import NONE, EventColumns, Ints
from strata.model.driver.sources import PACKET, PULLED, Sources
from strata.model.search import GroupedSearch, greatest_so_far
from strata.model.timeline import Kind, Timeline

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Reads:
    """One row a packet or buffer, by source and then time; `NONE` is null.

    Those of one instant are packets and then buffers, in the order of the trace, as what two
    threads read of one source is.

    `number` is the sequence number of a packet, the frame of a buffer. `dropped` was dropped since
    the row before; `dropped_so_far` since the source's begin (or the begin of the trace).
    `position` is that of the event in the timeline.
    """

    position: Ints
    source: Ints
    packet: Flags
    number: Ints
    ns: Ints
    arrival_ns: Ints
    bytes: Ints
    dropped: Ints
    dropped_so_far: Ints

    def __len__(self) -> int:
        return len(self.position)

    @property
    def queue_ns(self) -> Ints:
        """How long each lay in its queue, or `NONE`."""
        return np.where(self.arrival_ns != NONE, self.ns - self.arrival_ns, NONE)

    @property
    def first(self) -> Flags:
        """Which rows are the first of their source."""
        out = np.ones(len(self), bool)
        out[1:] = self.source[1:] != self.source[:-1]
        return out

    def find(self, source: Ints, number: Ints, *, packet: bool) -> Ints:
        """Return the row of each packet, or each buffer, by source and number; or `NONE`.

        What has no number is not found.
        """
        own = np.flatnonzero(self.packet == packet)
        if not len(own):
            return np.full(len(source), NONE, np.int64)
        search = GroupedSearch(self.source[own], self.number[own])
        place = search.position(source, number, after_equal=False).clip(max=len(own) - 1)
        row = own[search.order[place]]
        same = (self.source[row] == source) & (self.number[row] == number) & (number != NONE)
        return np.where(same, row, NONE)


def find_reads(events: EventColumns, timeline: Timeline, sources: Sources) -> Reads:
    """Return all that was read."""
    parts = [
        _of_kind(events, timeline, sources, Kind.PACKET_RECEIVED, PACKET, "sequence"),
        _of_kind(events, timeline, sources, Kind.BUFFER_PULLED, PULLED, "frame"),
    ]
    position, source, number, size, queue_ns, counter = (
        np.concatenate(column) for column in zip(*parts, strict=True)
    )
    ns, row = timeline.ns[position], timeline.row[position]
    buffer = np.arange(len(position)) >= len(parts[0][0])
    order = np.lexsort((row, buffer, ns, source))
    source, number, ns, counter = source[order], number[order], ns[order], counter[order]
    queue_ns = queue_ns[order]
    since = _since_begin(sources, source, number, counter)
    dropped = since.copy()
    if len(since):
        again = source[1:] == source[:-1]
        dropped[1:][again] -= since[:-1][again]
    return Reads(
        position[order],
        source,
        ~buffer[order],
        number,
        ns,
        np.where(queue_ns >= 0, ns - queue_ns, NONE),
        size[order],
        dropped,
        since,
    )


def _of_kind(
    events: EventColumns,
    timeline: Timeline,
    sources: Sources,
    kind: Kind,
    name: str,
    number: str,
) -> tuple[Ints, ...]:
    at = timeline.positions(kind)
    row = timeline.row[at]
    columns = [events.ints(name, column)[row] for column in (number, "bytes", "queue_ns")]
    counter = np.maximum(events.ints(name, "dropped")[row], 0)
    return (at, sources.of[name][row], *columns, counter)


def _since_begin(sources: Sources, source: Ints, number: Ints, counter: Ints) -> Ints:
    """What each source's queue dropped up to each row; not what it dropped before the trace."""
    if not len(source):
        return counter
    dense = np.unique(source, return_inverse=True)[1].astype(np.int64)
    highest = greatest_so_far(dense, counter)
    first = np.flatnonzero(np.append(True, source[1:] != source[:-1]))
    whole = (number[first] == 0) | (sources.begin_ns[source[first]] != NONE)
    base = np.where(whole, 0, counter[first])
    return highest - base[dense]
