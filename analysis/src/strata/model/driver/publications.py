# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Which publications were made of which frame.

**By frame**, where the driver tells: `cloud_ready` or `copy_done` (*marks*) say on the publishing
thread, just before it publishes, which frame is in the message; so does the `frame_boundary` of a
frame of one packet, of a source that has no other marks (IMU). A publication is made of the frame
of the last mark before it on its thread, when both lie in one execution of a callback, or both
outside of all. In between the thread did no other work of the client library: it took and executed
nothing, neither read other data nor completed another frame.

**By last read**, where a driver tells of no frames and gives its source no name (hooks in an
unmodified one), on threads where none does: the publication is made of what its thread had read
last in the same execution; outside of callbacks, since its last publication on that topic.
Inferred.

No link reaches over a time in which events were lost. Topics that every node has (`/rosout`) are
not made of sensor data. What the rules cannot know: a message that the thread publishes after a
frame and does not make of it (diagnostics) is linked to it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from strata.lazy import pandas as pd
from strata.model.columns import NONE, EventColumns, Ints
from strata.model.driver.frames import Found
from strata.model.driver.reads import Reads
from strata.model.driver.sources import BOUNDARY, CLOUD, COPIED, Sources
from strata.model.entities import Entities, take
from strata.model.executions import NEXT_WORK, Executions
from strata.model.joins import flags_at
from strata.model.timeline import Kind, Timeline
from strata.model.traffic import Publications
from strata.model.windows import Windows, touched
from strata.schema.events import INTERNAL_TOPICS

Flags = npt.NDArray[np.bool_]

_READ = (Kind.PACKET_RECEIVED, Kind.BUFFER_PULLED)
_MARKS = {Kind.CLOUD_READY: CLOUD, Kind.COPY_DONE: COPIED}
_OTHER_WORK = (Kind.CALLBACK_START, *NEXT_WORK)


@dataclass(frozen=True)
class Surroundings:
    """What publications stand beside on their threads."""

    events: EventColumns
    timeline: Timeline
    entities: Entities
    executions: Executions
    publications: Publications
    losses: Windows


@dataclass(frozen=True)
class FrameLinks:
    """What each publication was made of: a row of the frames, or of the reads; or `NONE`.

    `doubtful` ones may have been made of one, but events were lost in between.
    """

    frame: Ints
    read: Ints
    doubtful: Flags


def link_publications(
    around: Surroundings, sources: Sources, reads: Reads, found: Found
) -> FrameLinks:
    """Link publications to frames, and of drivers that tell of none, to reads."""
    marks, frames = _marks(around, found)
    place, near = _last_before(around, marks, _boundaries_but(around, marks))
    candidate = _of_application(around) & near
    by_frame, lost = _without_losses(around, marks, place, candidate)
    frame = np.where(by_frame, frames[place] if len(frames) else NONE, NONE)
    read, lost_too = _last_read(around, sources, reads)
    read = np.where(candidate, NONE, read)
    return FrameLinks(frame, read, lost | (lost_too & ~candidate))


def _marks(around: Surroundings, found: Found) -> tuple[Ints, Ints]:
    """Positions of the marks, ascending, and their frames."""
    timeline, frames = around.timeline, found.frames
    at = [timeline.positions(kind) for kind in _MARKS]
    of = [found.of[name][timeline.row[one]] for one, name in zip(at, _MARKS.values(), strict=True)]
    boundary = timeline.positions(Kind.FRAME_BOUNDARY)
    own = found.of[BOUNDARY][timeline.row[boundary]]
    # Where a source has other marks, a frame without was given up, or not published yet.
    marking = frames.source[np.concatenate([found.of[name] for name in _MARKS.values()])]
    alone = (frames.packets[own] == 1) & ~np.isin(frames.source[own], marking)
    every, frame = np.concatenate([*at, boundary[alone]]), np.concatenate([*of, own[alone]])
    order = np.argsort(every, kind="stable")
    return every[order], frame[order]


def _boundaries_but(around: Surroundings, marks: Ints) -> Ints:
    """Positions of reads and of frame boundaries that are no marks: what comes before a mark."""
    every = around.timeline.positions(*_READ, Kind.FRAME_BOUNDARY)
    return every[~np.isin(every, marks)]


def _last_before(around: Surroundings, wanted: Ints, barriers: Ints) -> tuple[Ints, Flags]:
    """Index in `wanted` of the last before each publication, and whether it is near enough.

    On its thread, in its execution, with none of `barriers` in between. Both are positions.
    """
    timeline, publications, at = around.timeline, around.publications, around.publications.position
    place = np.searchsorted(wanted, at, side="left") - 1
    if not len(wanted):
        return place, np.zeros(len(at), bool)
    mark = wanted[np.maximum(place, 0)]
    near = (place >= 0) & (timeline.thread[mark] == publications.thread)
    near &= timeline.ns[mark] <= publications.begin_ns
    inside = around.executions.enclosing(wanted)[np.maximum(place, 0)]
    near &= inside == publications.execution
    near &= timeline.before(at, *_OTHER_WORK) < mark
    stop = np.searchsorted(barriers, at, side="left") - 1
    if len(barriers):
        near &= (stop < 0) | (barriers[np.maximum(stop, 0)] < mark)
    return place, near


def _without_losses(
    around: Surroundings, wanted: Ints, place: Ints, candidate: Flags
) -> tuple[Flags, Flags]:
    """Which candidates lost no event between the two, and which did."""
    if not len(wanted):
        return candidate, candidate
    mark_ns = around.timeline.ns[wanted[np.maximum(place, 0)]]
    lost = candidate & touched(around.losses, mark_ns, around.publications.begin_ns)
    return candidate & ~lost, lost


def _of_application(around: Surroundings) -> Flags:
    internal = pd.Series(around.entities.publishers.topic).isin(INTERNAL_TOPICS).to_numpy(bool)
    return ~flags_at(internal, around.publications.publisher)


def _last_read(around: Surroundings, sources: Sources, reads: Reads) -> tuple[Ints, Flags]:
    """The read that each publication is inferred to be made of, or `NONE`; which are doubtful."""
    timeline, publications = around.timeline, around.publications
    none = np.full(len(publications), NONE, np.int64)
    named = np.flatnonzero(sources.name.astype(bool))
    telling = np.concatenate([named, *(sources.of[name] for name in (BOUNDARY, CLOUD, COPIED))])
    told, thread = np.isin(reads.source, telling), timeline.thread[reads.position]
    marks = timeline.positions(Kind.FRAME_BOUNDARY, Kind.CLOUD_READY, Kind.COPY_DONE)
    own = np.flatnonzero(
        ~told & ~np.isin(thread, np.concatenate([thread[told], timeline.thread[marks]]))
    )
    if not len(own):
        return none, np.zeros(len(none), bool)
    own = own[np.argsort(reads.position[own], kind="stable")]
    wanted = reads.position[own]
    place, near = _last_before(around, wanted, np.empty(0, np.int64))
    near &= _of_application(around)
    outside = publications.execution == NONE
    near &= ~outside | (_previous_of_topic(around) < wanted[np.maximum(place, 0)])
    sure, lost = _without_losses(around, wanted, place, near)
    return np.where(sure, own[np.maximum(place, 0)], NONE), lost


def _previous_of_topic(around: Surroundings) -> Ints:
    """Position of each publication's thread's last one of the same topic, or `NONE`."""
    publications = around.publications
    topic = take(around.entities.publishers.topic, publications.publisher, None)
    # A publisher that is not known has no topic: its handle stands for it.
    handle = np.where(publications.publisher == NONE, publications.rmw_handle, 0)
    keys = {"thread": publications.thread, "topic": topic, "handle": handle}
    rows = pd.DataFrame({**keys, "position": publications.position}).sort_values("position")
    before = rows.groupby(list(keys), dropna=False)["position"].shift(fill_value=NONE)
    return before.sort_index().to_numpy(np.int64)
