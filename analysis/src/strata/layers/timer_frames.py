# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Fires of timers as their declared table."""

from __future__ import annotations

import numpy as np
import pandas as pd

from strata.layers.timer_fires import CAUSES, TimerFires
from strata.model.columns import NONE
from strata.model.frames import nullable
from strata.schema import tables


def timer_fires_frame(fires: TimerFires) -> pd.DataFrame:
    """Return the table `timer_fires`."""
    lateness = pd.Series(fires.start_ns - fires.expected_ns, dtype="Int64")
    return tables.TIMER_FIRES.frame(
        pd.DataFrame(
            {
                "timer_id": fires.timer,
                "instance_id": fires.execution,
                "expected_ns": nullable(fires.expected_ns),
                "picked_ns": nullable(fires.picked_ns),
                "start_ns": fires.start_ns,
                "lateness_ns": lateness.mask(fires.expected_ns == NONE),
                "skipped": fires.skipped,
                "cause": np.asarray(CAUSES, dtype=object)[fires.cause],
            }
        )
    )
