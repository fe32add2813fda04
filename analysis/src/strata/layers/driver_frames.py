# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What drivers read, as declared tables."""

from __future__ import annotations

import numpy as np

from strata.model.build import Model
from strata.model.drivers import CAUSES, DriverFrames, DriverLosses
from strata.schema import tables
from strata.schema.rows import Coded, Rows


def driver_frames_rows(model: Model) -> Rows:
    """Return the table `driver_frames`; `frame_id` is the row of the model's frames."""
    return frames_table(model.driver.frames)


def frames_table(frames: DriverFrames) -> Rows:
    """Return the table `driver_frames`; `frame_id` is the row of the frames."""
    return Rows(
        tables.DRIVER_FRAMES,
        {
            "frame_id": np.arange(len(frames)),
            "source_id": frames.source,
            "frame": frames.number,
            "first_arrival_ns": frames.first_arrival_ns,
            "arrival_ns": frames.arrival_ns,
            "read_ns": frames.read_ns,
            "boundary_ns": frames.boundary_ns,
            "ready_ns": frames.ready_ns,
            "sweep_ns": frames.sweep_ns,
            "conversion_ns": frames.conversion_ns,
            "packets": frames.packets,
            "missing": frames.missing,
            "dropped": frames.dropped,
            "publications": frames.publications,
        },
    )


def driver_losses_rows(model: Model) -> Rows:
    """Return the table `driver_losses`."""
    return losses_table(model.driver.losses)


def losses_table(losses: DriverLosses) -> Rows:
    """Return the table `driver_losses`."""
    return Rows(
        tables.DRIVER_LOSSES,
        {
            "source_id": losses.source,
            "cause": Coded(losses.cause, CAUSES),
            "count": losses.count,
            "begin_ns": losses.begin_ns,
            "end_ns": losses.end_ns,
        },
    )
