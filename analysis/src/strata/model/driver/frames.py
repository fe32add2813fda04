# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Frames: what a driver made its messages of.

A frame of packets is complete when the driver says so (`frame_boundary`, which names its first
packet and the one that closed it); a frame of an appsink is one buffer. When its data were read is
when its closing packet, or its buffer, was. What a driver that tells of no frames published is
made of frames without a number, each of one read (strata.model.driver.publications).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from strata.model.columns import NONE, EventColumns, Ints
from strata.model.driver.reads import Reads
from strata.model.driver.sources import BOUNDARY, CLOUD, COPIED, PULLED, Sources, number_pairs
from strata.model.rows import joined
from strata.model.search import first_rows, pick

Flags = npt.NDArray[np.bool_]
_NAMED = (BOUNDARY, PULLED, CLOUD, COPIED)


@dataclass(frozen=True)
class Frames:
    """One row a frame, by source and number; inferred ones, whose number is `NONE`, come last.

    `first` and `last` are rows of the reads: its first packet, and what completed it.
    `dropped` is what the source's queue dropped since the `last` of the frame before.
    """

    source: Ints
    number: Ints
    first: Ints
    last: Ints
    boundary_ns: Ints
    ready_ns: Ints
    packets: Ints
    missing: Ints
    dropped: Ints

    def __len__(self) -> int:
        return len(self.source)

    @property
    def completed(self) -> Flags:
        """Which the driver had whole."""
        had = (self.boundary_ns != NONE) | (self.last != NONE)
        return np.asarray(had & (self.number != NONE), bool)


@dataclass(frozen=True)
class Found:
    """Frames, and the frame of each event of a name that has one."""

    frames: Frames
    of: dict[str, Ints]


def find_frames(events: EventColumns, sources: Sources, reads: Reads) -> Found:
    """Return the frames that any event names."""
    numbers = [events.ints(name, "frame") for name in _NAMED]
    every = np.concatenate([sources.of[name] for name in _NAMED])
    code, source, number = number_pairs(every, np.concatenate(numbers))
    of = dict(
        zip(_NAMED, np.split(code, np.cumsum([len(one) for one in numbers])[:-1]), strict=True)
    )
    boundary = first_rows(of[BOUNDARY], len(source))
    told = {
        column: pick(events.ints(BOUNDARY, column), boundary)
        for column in ("packets", "missing", "first_sequence", "last_sequence")
    }
    closing = reads.find(source, told["last_sequence"], packet=True)
    first = reads.find(source, told["first_sequence"], packet=True)
    last = np.where(closing != NONE, closing, reads.find(source, number, packet=False))
    frames = Frames(
        source,
        number,
        first,
        last,
        pick(events.timestamps(BOUNDARY), boundary),
        _ready(events, of, len(source)),
        told["packets"],
        told["missing"],
        _dropped(reads, source, last),
    )
    return Found(frames, of)


def with_inferred(frames: Frames, reads: Reads, rows: Ints) -> Frames:
    """Add a frame without a number for each of some reads."""
    none = np.full(len(rows), NONE, np.int64)
    of = reads.source[rows]
    return joined(frames, Frames(of, none, none, rows, none, none, none, none, none))


def _ready(events: EventColumns, of: dict[str, Ints], count: int) -> Ints:
    far = np.iinfo(np.int64).max
    ready_ns = np.full(count, far)
    for name in (CLOUD, COPIED):
        np.minimum.at(ready_ns, of[name], events.timestamps(name))
    return np.where(ready_ns < far, ready_ns, NONE)


def _dropped(reads: Reads, source: Ints, last: Ints) -> Ints:
    """What the queue dropped from the last read of the frame before to that of each frame."""
    out = np.full(len(source), NONE, np.int64)
    known = np.flatnonzero(last != NONE)
    # Reads are in order of source and time; frames are numbered as they are completed.
    order = known[np.argsort(last[known], kind="stable")]
    since = reads.dropped_so_far[last[order]]
    again = source[order[1:]] == source[order[:-1]]
    out[order] = since
    out[order[1:][again]] -= since[:-1][again]
    return out
