# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What threads did within layers, and who preempted them, as declared tables."""

from __future__ import annotations

import numpy as np
import pandas as pd

from strata.layers.cpu_waits import CPU_LAYERS, CpuWaits
from strata.layers.scheduling import LayerTimes, Preemptions
from strata.layers.stretches import LAYERS
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


def layer_cpu_waits_frame(model: Model, waits: CpuWaits) -> pd.DataFrame:
    """Return the table `layer_cpu_waits`."""
    return tables.LAYER_CPU_WAITS.frame(
        pd.DataFrame(
            {
                "message_id": waits.message,
                "layer": np.array([layer.name for layer in CPU_LAYERS], object)[waits.layer],
                "vtid": model.events.processes.thread_vtid[waits.thread],
                "about_ns": waits.about_ns,
                "least_ns": waits.least_ns,
                "most_ns": waits.most_ns,
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
