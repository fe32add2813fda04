# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What was lost between a sensor and its messages, with its cause and when.

Each loss counts once, under the cause that is known:

* the **socket's buffer**, or the **appsink, was full**: the counter of its queue rose;
* a packet of a frame **never came** (`missing`), beyond what the socket dropped since the frame
  before was complete, and what was left of that frame's drops: a packet that closes a frame may be
  the next one's first, and what was dropped before it may be of either;
* a complete frame was **not published**, though others of its source were. A source's last frame
  does not count: the trace ended.

A source from which nothing was published lost nothing: nobody wanted it, or its messages are not
known to be its own. It is counted as such.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from strata.engine.groups import sums
from strata.model.columns import NONE, Ints
from strata.model.driver.frames import Frames
from strata.model.driver.reads import Reads
from strata.model.driver.sources import Sources
from strata.model.rows import joined, picked
from strata.model.search import pick
from strata.schema.quality import Ledger

Flags = npt.NDArray[np.bool_]

CAUSES = ("socket buffer full", "appsink full", "never came", "not published")
_CODES = (
    "driver_packets_dropped",
    "driver_buffers_dropped",
    "driver_packets_missing",
    "driver_frames_unpublished",
)


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


def find_losses(
    sources: Sources, reads: Reads, frames: Frames, published: Flags, ledger: Ledger
) -> DriverLosses:
    """Return and count all losses; `published` tells which frames a message was made of."""
    found = joined(
        _dropped(sources, reads), _missing(reads, frames), _unpublished(reads, frames, published)
    )
    for cause, code in enumerate(_CODES):
        ledger.add(code, int(found.count[found.cause == cause].sum()))
    silent = np.setdiff1d(reads.source, frames.source[published])
    ledger.add("driver_sources_unpublished", len(silent))
    return picked(found, np.lexsort((found.end_ns, found.begin_ns, found.cause, found.source)))


def _dropped(sources: Sources, reads: Reads) -> DriverLosses:
    """Between the arrivals of two packets, or between two pulls."""
    known_ns = _arrival(reads)
    before_ns = np.empty_like(known_ns)
    before_ns[1:] = known_ns[:-1]
    first = np.flatnonzero(reads.first)
    before_ns[first] = sources.begin_ns[reads.source[first]]
    cause = np.where(reads.packet, 0, 1).astype(np.int64)
    return _stretches(reads.source, cause, reads.dropped, before_ns, known_ns)


def _missing(reads: Reads, frames: Frames) -> DriverLosses:
    rows = np.flatnonzero(frames.completed & (frames.missing != NONE))
    missing, dropped = frames.missing[rows], np.maximum(frames.dropped[rows], 0)
    first = np.append(True, frames.source[rows[1:]] != frames.source[rows[:-1]])[: len(rows)]
    left = _left(missing, dropped, first)
    cause = np.full(len(rows), 2, np.int64)
    begin_ns, end_ns = (pick(_arrival(reads), row[rows]) for row in (frames.first, frames.last))
    end_ns = np.where(end_ns != NONE, end_ns, frames.boundary_ns[rows])
    count = np.maximum(missing - dropped - left, 0)
    return _stretches(frames.source[rows], cause, count, begin_ns, end_ns)


def _left(missing: Ints, dropped: Ints, first: Flags) -> Ints:
    """What of the drops before each frame may be of its own packets.

    What is left after a frame is what was left before it and its own drops, less what it missed; no
    more than its own drops, and nothing below zero. Such steps, x -> min(max(x + a, low), high),
    make a step of the same form one after the other, so all are added up by doubling.
    """
    step, low, high = dropped - missing, np.zeros_like(dropped), dropped.copy()
    # Nothing is left from before a source's first frame: its step is a constant.
    low[first] = high[first] = np.clip(step[first], 0, dropped[first])
    reach = 1
    while reach < len(step):
        last, then = slice(None, -reach), slice(reach, None)
        at_low = np.clip(low[last] + step[then], low[then], high[then])
        at_high = np.clip(high[last] + step[then], low[then], high[then])
        step[then] = step[then] + step[last]
        low[then], high[then] = at_low, at_high
        reach *= 2
    left = np.zeros_like(dropped)
    left[1:] = low[:-1]
    left[first] = 0
    return left


def _unpublished(reads: Reads, frames: Frames, published: Flags) -> DriverLosses:
    rows = np.flatnonzero(frames.completed)
    pulled_ns = pick(reads.ns, frames.last[rows])
    whole_ns = np.where(frames.boundary_ns[rows] != NONE, frames.boundary_ns[rows], pulled_ns)
    end_ns = np.append(whole_ns[1:], NONE)[: len(rows)]
    followed = np.append(frames.source[rows[1:]] == frames.source[rows[:-1]], False)[: len(rows)]
    cause = np.full(len(rows), 3, np.int64)
    followed &= np.isin(frames.source[rows], frames.source[published])
    count = (~published[rows] & followed).astype(np.int64)
    return _stretches(frames.source[rows], cause, count, whole_ns, end_ns)


def _arrival(reads: Reads) -> Ints:
    """When packets arrived, or where that is not known were read; buffers are by their pull."""
    return np.where(reads.packet & (reads.arrival_ns != NONE), reads.arrival_ns, reads.ns)


def _stretches(
    source: Ints, cause: Ints, count: Ints, begin_ns: Ints, end_ns: Ints
) -> DriverLosses:
    """Add up the counts of rows that follow one another in a source without a row of none."""
    some = np.flatnonzero(count > 0)
    starts = np.ones(len(some), bool)
    starts[1:] = (some[1:] != some[:-1] + 1) | (source[some[1:]] != source[some[:-1]])
    starts[1:] |= cause[some[1:]] != cause[some[:-1]]
    begin = np.flatnonzero(starts)
    end = np.append(begin[1:], len(some))[: len(begin)] - 1
    # Where an arrival is not known the read bounds it, and clocks are set: nothing ends before it
    # began.
    since_ns, until_ns = begin_ns[some[begin]], end_ns[some[end]]
    since_ns = np.where(until_ns != NONE, np.minimum(since_ns, until_ns), since_ns)
    total = np.add.reduceat(count[some], begin) if len(begin) else np.empty(0, np.int64)
    return DriverLosses(
        source[some[begin]],
        cause[some[begin]],
        total.astype(np.int64, copy=False),
        since_ns,
        until_ns,
    )
