# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What drivers read as columns of what layers need of it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from strata.engine.groups import sums
from strata.model.build import Model
from strata.model.columns import NONE
from strata.model.driver.columns import DriverFrames, DriverReads, DriverSources, MadeOf
from strata.model.driver.losses import DriverLosses
from strata.model.search import pick

Flags = npt.NDArray[np.bool_]


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


def reads_of_model(model: Model) -> DriverReads:
    """Return what the model has of reads."""
    known = model.facts.driver()
    if known is not None:
        return known.reads
    return DriverReads(model.driver.reads.source, model.driver.reads.queue_ns)


def losses_of_model(model: Model) -> DriverLosses:
    """Return what the model has of losses."""
    known = model.facts.driver()
    return model.driver.losses if known is None else known.losses


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


def made_of_model(model: Model) -> MadeOf:
    """Return what the model's publications were made of."""
    known = model.facts.driver()
    if known is not None:
        return known.made_of
    return MadeOf(model.driver.frame, model.driver.inferred, _caused(model))


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
