# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What sensor drivers read, the frames that they made of it, and what was lost on the way.

Each loss counts once, under the cause that is known:

* the **socket's buffer**, or the **appsink, was full**: the counter of its queue rose;
* a packet of a frame **never came** (`missing`), beyond what the socket dropped;
* a complete frame was **not published**, though others of its source were.

A source's number is never used again in its process.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from strata.engine.groups import sums
from strata.engine.tables import EngineTables
from strata.model.columns import NONE, Ints
from strata.model.numbers import Numbers
from strata.schema.rows import Flags, nulls

Objects = npt.NDArray[np.object_]

_UDP, _APPSINK = "udp", "appsink"


CAUSES = ("socket buffer full", "appsink full", "never came", "not published")


@dataclass(frozen=True)
class DriverLosses:
    """One row a stretch of losses of one source and cause (of CAUSES); `NONE` is null."""

    source: Ints
    cause: Ints
    count: Ints
    begin_ns: Ints
    end_ns: Ints

    def __len__(self) -> int:
        return len(self.source)

    def of(self, cause: int, sources: int) -> Ints:
        """Return what each of so many sources lost by a cause."""
        own = self.cause == cause
        return sums(self.source[own], self.count[own], sources)


@dataclass(frozen=True)
class DriverFrames:
    """One row a frame; `NONE` is null. `thread` is the one that read what completed it."""

    source: Ints
    number: Ints
    first_arrival_ns: Ints
    arrival_ns: Ints
    read_ns: Ints
    thread: Ints
    boundary_ns: Ints
    ready_ns: Ints
    packets: Ints
    missing: Ints
    dropped: Ints
    publications: Ints

    def __len__(self) -> int:
        return len(self.source)

    @property
    def sweep_ns(self) -> Ints:
        """From the arrival of the first packet to that of the last, or `NONE`."""
        return _between(self.first_arrival_ns, self.arrival_ns)

    @property
    def conversion_ns(self) -> Ints:
        """From when its driver had it whole until it was in a message, or `NONE`."""
        whole_ns = np.where(self.boundary_ns != NONE, self.boundary_ns, self.read_ns)
        return _between(whole_ns, self.ready_ns)


@dataclass(frozen=True)
class MadeOf:
    """What each publication was made of: a row of the frames, or `NONE`.

    `inferred`: by what its thread read last. `caused`: another message started the execution that
    it was made in; known of those that have a frame.
    """

    frame: Ints
    inferred: Flags
    caused: Flags


@dataclass(frozen=True)
class DriverSources:
    """One row a source; None and `NONE` are null.

    `place` says where its data come from, `reads` how often it was read, `bytes` how much.
    """

    process: Ints
    number: Ints
    kind: Objects
    name: Objects
    address: Objects
    place: Objects
    reads: Ints
    bytes: Ints

    def __len__(self) -> int:
        return len(self.number)


@dataclass(frozen=True)
class DriverReads:
    """Packets and buffers: the source, and how long each lay in its queue, or `NONE`."""

    source: Ints
    queue_ns: Ints


@dataclass(frozen=True)
class DriverColumns:
    """All that drivers did, and of which frame each publication was made."""

    sources: DriverSources
    reads: DriverReads
    frames: DriverFrames
    made_of: MadeOf
    losses: DriverLosses


def find_drivers(tables: EngineTables, numbers: Numbers) -> DriverColumns:
    """Return what drivers read, and what publications were made of."""
    return DriverColumns(
        _sources(tables),
        _reads(tables),
        DriverFrames(*(tables.ints("driver_frames", item.name) for item in fields(DriverFrames))),
        _made_of(tables, numbers),
        DriverLosses(*(tables.ints("driver_losses", item.name) for item in fields(DriverLosses))),
    )


def _sources(tables: EngineTables) -> DriverSources:
    def ints(column: str) -> Ints:
        return tables.ints("driver_sources", column)

    kind, name, address = (
        tables.text("driver_sources", column) for column in ("kind", "name", "address")
    )
    return DriverSources(
        ints("process"),
        ints("number"),
        kind,
        name,
        address,
        _places(kind, name, address, ints("is_pulled") != 0),
        ints("reads"),
        ints("bytes"),
    )


def _reads(tables: EngineTables) -> DriverReads:
    source, ns, arrival_ns = (
        tables.ints("driver_reads", column) for column in ("source", "ns", "arrival_ns")
    )
    return DriverReads(source, np.where(arrival_ns != NONE, ns - arrival_ns, NONE))


def _made_of(tables: EngineTables, numbers: Numbers) -> MadeOf:
    publications = len(numbers.publications.rows)
    inferred, caused = np.zeros(publications, bool), np.zeros(publications, bool)
    published = tables.ints("driver_links", "published")
    if not len(published):
        return MadeOf(nulls(publications), inferred, caused)
    if numbers.calls is None:
        # All of these are publications of the middleware.
        published = numbers.publications.number[published]
    else:
        published = numbers.calls.number[published]
    links = tables.rows["driver_links"]
    frame = np.full(publications, NONE, np.int64)
    frame[published] = links["frame"]
    inferred[published] = links["is_inferred"] != 0
    caused[published] = links["is_caused"] != 0
    return MadeOf(frame, inferred, caused)


def _places(kind: Objects, name: Objects, address: Objects, pulled: Flags) -> Objects:
    """Say in words where data of each source come from; `pulled`: buffers were pulled from it."""
    words = [
        _place(one or (_APPSINK if is_pulled else _UDP), at, called)
        for one, at, called, is_pulled in zip(kind, address, name, pulled, strict=True)
    ]
    return np.asarray(words, dtype=object)


def _place(kind: str, address: str | None, name: str | None) -> str:
    """Say where data come from: "UDP port 7502", "appsink NAME"."""
    if kind != _UDP:
        return f"{kind} {address or name or '(unnamed)'}"
    _, colon, port = (address or "").rpartition(":")
    if colon and port.isdigit():
        return f"UDP port {port}"
    return f"UDP {address or name or '(unknown socket)'}"


def _between(begin_ns: Ints, end_ns: Ints) -> Ints:
    known = (begin_ns != NONE) & (end_ns != NONE) & (end_ns >= begin_ns)
    return np.where(known, end_ns - begin_ns, NONE)
