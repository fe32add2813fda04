# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What threads did within layers, and who preempted them, as declared tables."""

from __future__ import annotations

import numpy as np
import pandas as pd

from strata.layers.scheduling import LAYERS, LayerTimes, Preemptions
from strata.model.build import Model
from strata.schema import tables

_LAYER_NAMES = np.array([layer.name for layer in LAYERS], object)


def layer_scheduling_frame(model: Model, times: LayerTimes) -> pd.DataFrame:
    """Return the table `layer_scheduling`."""
    processes = model.events.processes
    return tables.LAYER_SCHEDULING.frame(
        pd.DataFrame(
            {
                "message_id": times.message,
                "layer": _LAYER_NAMES[times.layer],
                "vtid": processes.thread_vtid[times.thread],
                "running_ns": times.running_ns,
                "preempted_ns": times.preempted_ns,
                "blocked_ns": times.blocked_ns,
                "unknown_ns": times.unknown_ns,
            }
        )
    )


def preemptions_frame(preemptions: Preemptions) -> pd.DataFrame:
    """Return the table `preemptions`."""
    return tables.PREEMPTIONS.frame(
        pd.DataFrame(
            {
                "message_id": preemptions.message,
                "layer": _LAYER_NAMES[preemptions.layer],
                "tid": pd.Series(preemptions.tid, dtype="Int64").replace(-1, pd.NA),
                "comm": preemptions.name,
                "duration_ns": preemptions.duration_ns,
            }
        )
    )
