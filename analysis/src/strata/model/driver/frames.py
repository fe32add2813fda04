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
from strata.model.search import GroupedSearch, pick

Flags = npt.NDArray[np.bool_]
_NAMED = (BOUNDARY, PULLED, CLOUD, COPIED)


@dataclass(frozen=True)
class Frames:
    """One row a frame, by source and number; inferred ones, whose number is `NONE`, come last.

    `first` and `last` are rows of the reads: its first packet, and what completed it. `completed`
    tells that the driver had it whole. `dropped` is what the source's queue dropped since the
    `last` of the frame before.
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
    completed: Flags

    def __len__(self) -> int:
        return len(self.source)


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
    boundary = _first_row(of[BOUNDARY], len(source))
    told = {
        column: pick(events.ints(BOUNDARY, column), boundary)
        for column in ("packets", "missing", "first_sequence", "last_sequence")
    }
    closing = reads.packets(source, told["last_sequence"])
    first = reads.packets(source, told["first_sequence"])
    pulled = _pulled(reads, source, number)
    last = np.where(closing != NONE, closing, pulled)
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
        (boundary != NONE) | (pulled != NONE),
    )
    return Found(frames, of)


def with_inferred(frames: Frames, reads: Reads, rows: Ints) -> Frames:
    """Add a frame without a number for each of some reads."""
    none = np.full(len(rows), NONE, np.int64)
    whole = np.zeros(len(rows), bool)
    of = reads.source[rows]
    return joined(frames, Frames(of, none, none, rows, none, none, none, none, none, whole))


def _first_row(code: Ints, count: int) -> Ints:
    """The first row of each code, or `NONE`."""
    out = np.full(count, NONE, np.int64)
    out[code[::-1]] = np.arange(len(code), dtype=np.int64)[::-1]
    return out


def _pulled(reads: Reads, source: Ints, number: Ints) -> Ints:
    """The read of each frame's buffer, or `NONE`."""
    own = np.flatnonzero(~reads.packet)
    if not len(own):
        return np.full(len(source), NONE, np.int64)
    search = GroupedSearch(reads.source[own], reads.number[own])
    place = search.position(source, number, after_equal=False).clip(max=len(own) - 1)
    row = own[search.order[place]]
    same = (reads.source[row] == source) & (reads.number[row] == number)
    return np.where(same, row, NONE)


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
