# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Fires of timers as their declared table."""

from __future__ import annotations

import numpy as np

from strata.layers.timer_fires import CAUSES, TimerFires
from strata.model.columns import NONE
from strata.model.frames import named
from strata.schema import tables
from strata.schema.rows import Rows


def timer_fires_rows(fires: TimerFires) -> Rows:
    """Return the table `timer_fires`."""
    known = fires.expected_ns != NONE
    return Rows(
        tables.TIMER_FIRES,
        {
            "timer_id": fires.timer,
            "instance_id": fires.execution,
            "expected_ns": fires.expected_ns,
            "picked_ns": fires.picked_ns,
            "start_ns": fires.start_ns,
            "lateness_ns": np.where(known, fires.start_ns - fires.expected_ns, NONE),
            "skipped": fires.skipped,
            "cause": named(np.asarray(CAUSES, object), fires.cause),
        },
    )
