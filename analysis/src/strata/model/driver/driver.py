# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""All that the events of the provider `driver` tell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from strata.model.columns import NONE, Ints
from strata.model.driver.frames import Frames, find_frames, with_inferred
from strata.model.driver.losses import DriverLosses, find_losses
from strata.model.driver.publications import Surroundings, link_publications
from strata.model.driver.reads import Flags, Reads, find_reads
from strata.model.driver.sources import Sources, find_sources
from strata.schema.events import DRIVER_PROVIDER
from strata.schema.quality import Ledger


@dataclass(frozen=True)
class Driver:
    """What drivers did; empty without `driver` events.

    `frame` has one row a publication: the frame that it was made of, or `NONE`. Those of
    `inferred` frames were linked by what their thread read last. `frame_of` holds the frame of each
    event of a name that tells one.
    """

    sources: Sources
    reads: Reads
    frames: Frames
    frame: Ints
    frame_of: dict[str, Ints]
    inferred: Flags
    losses: DriverLosses

    @property
    def publications(self) -> Ints:
        """How many publications each frame has."""
        return np.bincount(self.frame[self.frame != NONE], minlength=len(self.frames))


def no_driver() -> Driver:
    """Return what is there of drivers without their events."""
    none = np.empty(0, np.int64)
    flags, words = none.astype(bool), none.astype(object)
    return Driver(
        Sources(none, none, none, words, words, words, words, {}),
        Reads(none, none, flags, none, none, none, none, none, none),
        Frames(*[none] * 9),
        none,
        {},
        flags,
        DriverLosses(*[none] * 5),
    )


def find_driver(around: Surroundings, ledger: Ledger) -> Driver:
    """Return what drivers did, and which publications were made of their frames."""
    events, publications = around.events, around.publications
    sources = find_sources(events)
    reads = find_reads(events, around.timeline, sources)
    found = find_frames(events, sources, reads)
    frame = np.full(len(publications), NONE, np.int64)
    inferred = np.zeros(len(publications), bool)
    frames = found.frames
    if events.recorded(DRIVER_PROVIDER):
        links = link_publications(around, sources, reads, found)
        frame = links.frame
        inferred = links.read != NONE
        frames, frame[inferred] = _inferred(frames, reads, links.read[inferred])
        ledger.add("driver_links_inferred", int(inferred.sum()))
        ledger.add("driver_links_with_losses", int(links.doubtful.sum()))
    published = np.isin(np.arange(len(frames)), frame)
    losses = find_losses(sources, reads, frames, published, ledger)
    return Driver(sources, reads, frames, frame, found.of, inferred, losses)


def _inferred(frames: Frames, reads: Reads, rows: Ints) -> tuple[Frames, Ints]:
    """Frames with those that reads are taken for, and which one each read is."""
    buffers = frames.last[frames.number != NONE]
    known = np.full(len(reads) + 1, NONE, np.int64)
    known[buffers] = np.flatnonzero(frames.number != NONE)
    known[NONE] = NONE
    alone = np.unique(rows[known[rows] == NONE])
    known[alone] = len(frames) + np.arange(len(alone))
    return with_inferred(frames, reads, alone), known[rows]
