# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Rules of the events of sensor drivers."""

from __future__ import annotations

import numpy as np

from strata.model.columns import NONE, Ints
from strata.model.driver.sources import BOUNDARY, CLOUD, COPIED, INIT, PACKET, PULLED
from strata.model.event_uses.cases import EARLIER, LOST, Case, Rule
from strata.model.event_uses.evidence import Evidence
from strata.model.joins import Flags
from strata.model.timeline import EVENT_OF, Kind


def _inits(evidence: Evidence) -> list[Case]:
    first = _first_of(evidence.model.driver.sources.of[INIT])
    return [Case(True, "a source of sensor data", first)]


def _packets(evidence: Evidence) -> list[Case]:
    driver = evidence.model.driver
    reads, frames = driver.reads, driver.frames
    row = np.flatnonzero(reads.packet)
    source, ns = reads.source[row], reads.ns[row]
    told = frames.number != NONE
    completed = np.isin(row, frames.last[told])
    telling = np.isin(source, driver.sources.of[BOUNDARY])
    latest = np.full(len(driver.sources), NONE, np.int64)
    np.maximum.at(latest, frames.source[told], frames.last[told])
    return [
        Case(True, "completed a frame", completed),
        Case(True, "a packet of a frame", _within_frames(evidence)[row]),
        Case(True, "what a message was inferred to be made from", np.isin(row, frames.last[~told])),
        Case(True, "counted; its driver tells of no frames", ~telling),
        Case(False, "of a frame that was not complete when the trace ended", row > latest[source]),
        Case(False, LOST, evidence.lost_after(ns)),
        Case(False, EARLIER, driver.sources.begin_ns[source] == NONE),
    ]


def _within_frames(evidence: Evidence) -> Flags:
    """Which reads lie between the first and the last packet of a frame.

    A frame whose first packet is not in the trace has all since the one before.
    """
    reads, frames = evidence.model.driver.reads, evidence.model.driver.frames
    known = np.flatnonzero((frames.last != NONE) & (frames.boundary_ns != NONE))
    order = known[np.argsort(frames.last[known], kind="stable")]
    last, source = frames.last[order], frames.source[order]
    begin = np.searchsorted(reads.source, source)
    if len(order):
        again = source[1:] == source[:-1]
        begin[1:][again] = last[:-1][again] + 1
    first = np.where(frames.first[order] != NONE, frames.first[order], begin)
    depth = np.zeros(len(reads) + 1, np.int64)
    ordered = first <= last
    np.add.at(depth, first[ordered], 1)
    np.add.at(depth, last[ordered] + 1, -1)
    return np.asarray(np.cumsum(depth)[:-1] > 0, bool)


def _boundaries(evidence: Evidence) -> list[Case]:
    frame, source = _frames(evidence, Kind.FRAME_BOUNDARY)
    driver = evidence.model.driver
    ns = evidence.timeline.ns[evidence.at(Kind.FRAME_BOUNDARY)]
    read = driver.frames.last[frame] != NONE
    return [
        Case(True, "completes a frame", _first_of(frame) & read),
        Case(False, LOST, ~read & evidence.lost_before(ns)),
        Case(False, EARLIER, ~read & (driver.sources.begin_ns[source] == NONE)),
    ]


def _pulls(evidence: Evidence) -> list[Case]:
    frame, _ = _frames(evidence, Kind.BUFFER_PULLED)
    return [Case(True, "a frame", _first_of(frame))]


def _ready(kind: Kind) -> Rule:
    """The rule of what says that a frame is in a message."""

    def rule(evidence: Evidence) -> list[Case]:
        frame, source = _frames(evidence, kind)
        driver = evidence.model.driver
        ns = evidence.timeline.ns[evidence.at(kind)]
        complete = driver.frames.completed[frame]
        telling = np.concatenate([driver.sources.of[BOUNDARY], driver.sources.of[PULLED]])
        return [
            Case(True, "a frame is in a message", _first_of(frame) & complete),
            Case(False, LOST, ~complete & evidence.lost_before(ns)),
            Case(False, EARLIER, ~complete & (driver.sources.begin_ns[source] == NONE)),
            Case(True, "a frame of which no more is told", ~np.isin(source, telling)),
        ]

    return rule


def _frames(evidence: Evidence, kind: Kind) -> tuple[Ints, Ints]:
    """Frame and source of each event of a kind, in the order of their positions."""
    row = evidence.timeline.row[evidence.at(kind)]
    driver = evidence.model.driver
    return driver.frame_of[EVENT_OF[kind]][row], driver.sources.of[EVENT_OF[kind]][row]


def _first_of(numbers: Ints) -> Flags:
    """Which are the first of their number: what is told once."""
    out = np.zeros(len(numbers), bool)
    out[np.unique(numbers, return_index=True)[1]] = True
    return out


DRIVER_RULES: dict[str, Rule] = {
    INIT: _inits,
    PACKET: _packets,
    BOUNDARY: _boundaries,
    PULLED: _pulls,
    CLOUD: _ready(Kind.CLOUD_READY),
    COPIED: _ready(Kind.COPY_DONE),
}
