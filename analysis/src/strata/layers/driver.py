# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The layers before the publish of a message that a driver made of sensor data.

    first     closing data   packet_received,   frame_     cloud_ready,
    packet    arrived        buffer_pulled      boundary   copy_done     publish
       | sweep   | driver queue  |                driver                    |
                                                    |conversion|

A message's latency begins when the data that completed its frame were at this host; where that is
not known, when they were read. The sweep before is the sensor's own time, and no layer.

A message that another one caused (published in the callback of a subscription) began there: it has
no driver layers, whatever was read for it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from strata.model.build import Model
from strata.model.columns import NONE, Ints
from strata.model.search import pick
from strata.schema import layers as names
from strata.schema.quality import Ledger

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Origin:
    """What each matched message was made of; `NONE` is null.

    `frame` is a row of the driver's frames, `thread` the one that read its data. `begin_ns` is
    where the message's latency begins. Columns but these, `frame` and `inferred` are known where
    `durations` holds layers of the message.
    """

    frame: Ints
    inferred: Flags
    thread: Ints
    begin_ns: Ints
    arrival_ns: Ints
    read_ns: Ints
    sweep_ns: Ints
    conversion_ns: Ints
    durations: dict[str, Ints]


@dataclass(frozen=True)
class FrameTimes:
    """One row a frame: when it came, and what it took; `NONE` is null."""

    first_arrival_ns: Ints
    arrival_ns: Ints
    read_ns: Ints
    sweep_ns: Ints
    conversion_ns: Ints


def frame_times(model: Model) -> FrameTimes:
    """Return the times of all frames of drivers."""
    frames, reads = model.driver.frames, model.driver.reads
    first_ns, arrival_ns = (pick(reads.arrival_ns, row) for row in (frames.first, frames.last))
    read_ns = pick(reads.ns, frames.last)
    whole_ns = np.where(frames.boundary_ns != NONE, frames.boundary_ns, read_ns)
    return FrameTimes(
        first_ns,
        arrival_ns,
        read_ns,
        _between(first_ns, arrival_ns),
        _between(whole_ns, frames.ready_ns),
    )


def cut_origin(model: Model, publish_ns: Ints, ledger: Ledger) -> Origin:
    """Cut what lies before the publish of every matched message."""
    publication = model.matches.publication
    frame = model.driver.frame[publication]
    times = frame_times(model)
    read_ns = pick(times.read_ns, frame)
    caused = _caused(model)[publication]
    read = (read_ns != NONE) & (read_ns <= publish_ns)
    ledger.add("driver_frames_unread", int(((frame != NONE) & ~caused & ~read).sum()))
    began = read & ~caused
    columns = (times.arrival_ns, times.read_ns, times.sweep_ns, times.conversion_ns)
    arrival_ns, read_ns, sweep_ns, conversion_ns = (
        np.where(began, pick(column, frame), NONE) for column in columns
    )
    arrived = arrival_ns != NONE
    last = pick(model.driver.frames.last, np.where(began, frame, NONE))
    thread = pick(model.timeline.thread, pick(model.driver.reads.position, last))
    return Origin(
        frame,
        model.driver.inferred[publication],
        thread,
        np.where(arrived, arrival_ns, np.where(began, read_ns, publish_ns)),
        arrival_ns,
        read_ns,
        sweep_ns,
        conversion_ns,
        {
            names.DRIVER_QUEUE.column: np.where(arrived, read_ns - arrival_ns, NONE),
            names.DRIVER.column: np.where(began, publish_ns - read_ns, NONE),
        },
    )


def _between(begin_ns: Ints, end_ns: Ints) -> Ints:
    known = (begin_ns != NONE) & (end_ns != NONE) & (end_ns >= begin_ns)
    return np.where(known, end_ns - begin_ns, NONE)


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
