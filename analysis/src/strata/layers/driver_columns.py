# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What drivers read as columns of what layers need of it, from the model or from the engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from strata.engine.groups import sums
from strata.model.build import Model
from strata.model.columns import NONE, Ints
from strata.model.driver.losses import DriverLosses
from strata.model.driver.sources import Objects, places
from strata.model.search import pick

Flags = npt.NDArray[np.bool_]
Columns = Mapping[str, npt.NDArray[np.generic]]


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


def sources_of_model(model: Model) -> DriverSources:
    """Return the sources of the model."""
    known = model.facts.driver()
    if known is not None:
        return known.sources
    sources, reads = model.driver.sources, model.driver.reads
    count = len(sources)
    return DriverSources(
        sources.process,
        sources.number,
        sources.kind,
        sources.name,
        sources.address,
        sources.place,
        np.bincount(reads.source, minlength=count).astype(np.int64),
        sums(reads.source, reads.bytes, count),
    )


def sources_of_rows(rows: Columns, texts: Sequence[str]) -> DriverSources:
    """Return the sources of the engine, of its rows `driver_sources` and texts."""
    words = np.asarray([*texts, None], dtype=object)
    kind, name, address = (words[_ints(rows[column])] for column in ("kind", "name", "address"))
    return DriverSources(
        _ints(rows["process"]),
        _ints(rows["number"]),
        kind,
        name,
        address,
        places(kind, name, address, rows["is_pulled"] != 0),
        _ints(rows["reads"]),
        _ints(rows["bytes"]),
    )


def reads_of_model(model: Model) -> DriverReads:
    """Return what the model has of reads."""
    known = model.facts.driver()
    if known is not None:
        return known.reads
    return DriverReads(model.driver.reads.source, model.driver.reads.queue_ns)


def reads_of_rows(rows: Columns) -> DriverReads:
    """Return what the engine has of reads, of its rows `driver_reads`."""
    ns, arrival_ns = _ints(rows["ns"]), _ints(rows["arrival_ns"])
    return DriverReads(_ints(rows["source"]), np.where(arrival_ns != NONE, ns - arrival_ns, NONE))


def losses_of_model(model: Model) -> DriverLosses:
    """Return what the model has of losses."""
    known = model.facts.driver()
    return model.driver.losses if known is None else known.losses


def losses_of_rows(rows: Columns) -> DriverLosses:
    """Return what was lost, of the engine's rows `driver_losses`."""
    return DriverLosses(*(_ints(rows[item.name]) for item in fields(DriverLosses)))


def frames_of_model(model: Model) -> DriverFrames:
    """Return the frames of the model."""
    known = model.facts.driver()
    if known is not None:
        return known.frames
    frames, reads = model.driver.frames, model.driver.reads
    return DriverFrames(
        frames.source,
        frames.number,
        pick(reads.arrival_ns, frames.first),
        pick(reads.arrival_ns, frames.last),
        pick(reads.ns, frames.last),
        pick(model.timeline.thread, pick(reads.position, frames.last)),
        frames.boundary_ns,
        frames.ready_ns,
        frames.packets,
        frames.missing,
        frames.dropped,
        model.driver.publications,
    )


def frames_of_rows(rows: Columns) -> DriverFrames:
    """Return the frames of the engine, of its rows `driver_frames`."""
    return DriverFrames(*(_ints(rows[item.name]) for item in fields(DriverFrames)))


def made_of_model(model: Model) -> MadeOf:
    """Return what the model's publications were made of."""
    known = model.facts.driver()
    if known is not None:
        return known.made_of
    return MadeOf(model.driver.frame, model.driver.inferred, _caused(model))


def made_of_rows(rows: Columns, publications: int) -> MadeOf:
    """Return what so many publications were made of, of the engine's rows `driver_links`."""
    frame = np.full(publications, NONE, np.int64)
    inferred, caused = np.zeros(publications, bool), np.zeros(publications, bool)
    published = _ints(rows["published"])
    frame[published] = rows["frame"]
    inferred[published] = rows["is_inferred"] != 0
    caused[published] = rows["is_caused"] != 0
    return MadeOf(frame, inferred, caused)


def _caused(model: Model) -> Flags:
    """Which publications were made in an execution that a message started."""
    if not len(model.driver.frames):
        return np.zeros(len(model.publications), bool)
    started = np.zeros(len(model.executions) + 1, bool)
    started[model.takes.execution] = True
    callback = model.executions.callback
    started[:-1] |= pick(model.entities.callbacks.subscription, callback) != NONE
    started[NONE] = False
    return np.asarray(started[model.publications.execution], bool)


def _between(begin_ns: Ints, end_ns: Ints) -> Ints:
    known = (begin_ns != NONE) & (end_ns != NONE) & (end_ns >= begin_ns)
    return np.where(known, end_ns - begin_ns, NONE)


def _ints(values: npt.NDArray[np.generic]) -> Ints:
    return values.astype(np.int64, copy=False)
