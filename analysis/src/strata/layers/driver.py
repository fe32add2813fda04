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

from strata.model.columns import NONE, Ints
from strata.model.drivers import DriverFrames, MadeOf
from strata.model.search import pick
from strata.schema import layers as names
from strata.schema.quality import NOTHING_FOUND, Finding, Findings
from strata.schema.rows import nulls

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
    publish_ns: Ints
    durations: dict[str, Ints]

    @property
    def is_none(self) -> bool:
        """Return whether no message was made of sensor data, as far as is known."""
        return self.begin_ns is self.publish_ns


def cut_origin(
    frames: DriverFrames, made_of: MadeOf, publication: Ints, publish_ns: Ints
) -> tuple[Origin, Findings]:
    """Cut what lies before the publish of every matched message, of a row of the publications.

    What no read of data was seen for is counted beside it.
    """
    frame = pick(made_of.frame, publication)
    if not (frame != NONE).any():
        return _no_origin(publish_ns), NOTHING_FOUND
    caused = made_of.caused[publication]
    read_ns = pick(frames.read_ns, frame)
    read = (read_ns != NONE) & (read_ns <= publish_ns)
    unread = Finding("driver_frames_unread", int(((frame != NONE) & ~caused & ~read).sum()))
    began = read & ~caused
    of_frame = np.where(began, frame, NONE)
    columns = (frames.arrival_ns, frames.read_ns, frames.sweep_ns, frames.conversion_ns)
    arrival_ns, read_ns, sweep_ns, conversion_ns = (pick(column, of_frame) for column in columns)
    arrived = arrival_ns != NONE
    origin = Origin(
        frame,
        made_of.inferred[publication],
        pick(frames.thread, of_frame),
        np.where(arrived, arrival_ns, np.where(began, read_ns, publish_ns)),
        arrival_ns,
        read_ns,
        sweep_ns,
        conversion_ns,
        publish_ns,
        {
            names.DRIVER_QUEUE.column: np.where(arrived, read_ns - arrival_ns, NONE),
            names.DRIVER.column: np.where(began, publish_ns - read_ns, NONE),
        },
    )
    return origin, Findings(unread)


def _no_origin(publish_ns: Ints) -> Origin:
    none = nulls(len(publish_ns))
    no_frame = np.broadcast_to(np.bool_(False), len(publish_ns))
    durations = {names.DRIVER_QUEUE.column: none, names.DRIVER.column: none}
    return Origin(none, no_frame, none, publish_ns, none, none, none, none, publish_ns, durations)
