# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What drivers read, as declared tables."""

from __future__ import annotations

import numpy as np
import pandas as pd

from strata.layers.driver import frame_times
from strata.model.build import Model
from strata.model.driver.losses import CAUSES
from strata.model.frames import nullable
from strata.schema import tables


def driver_frames_frame(model: Model) -> pd.DataFrame:
    """Return the table `driver_frames`; `frame_id` is the row of the model's frames."""
    frames, times = model.driver.frames, frame_times(model)
    return tables.DRIVER_FRAMES.frame(
        pd.DataFrame(
            {
                "frame_id": np.arange(len(frames)),
                "source_id": frames.source,
                "frame": nullable(frames.number),
                "first_arrival_ns": nullable(times.first_arrival_ns),
                "arrival_ns": nullable(times.arrival_ns),
                "read_ns": nullable(times.read_ns),
                "boundary_ns": nullable(frames.boundary_ns),
                "ready_ns": nullable(frames.ready_ns),
                "sweep_ns": nullable(times.sweep_ns),
                "conversion_ns": nullable(times.conversion_ns),
                "packets": nullable(frames.packets),
                "missing": nullable(frames.missing),
                "dropped": nullable(frames.dropped),
                "publications": model.driver.publications,
            }
        )
    )


def driver_losses_frame(model: Model) -> pd.DataFrame:
    """Return the table `driver_losses`."""
    losses = model.driver.losses
    return tables.DRIVER_LOSSES.frame(
        pd.DataFrame(
            {
                "source_id": losses.source,
                "cause": np.asarray(CAUSES, dtype=object)[losses.cause],
                "count": losses.count,
                "begin_ns": nullable(losses.begin_ns),
                "end_ns": nullable(losses.end_ns),
            }
        )
    )
