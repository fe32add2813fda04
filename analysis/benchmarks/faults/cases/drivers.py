# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Drivers that read late, or convert slowly."""

from __future__ import annotations

import numpy as np
from case import Case, Truth
from judge import Cause
from magnitude import median_of


def _last_queued(truth: Truth) -> float:
    """Plant how long the last packet of a frame lay in the socket; the median."""
    return float(np.median(truth.durations("lidar", "queued")[3::4]))


CASES = [
    *(
        Case(
            f"driver-reads-{milliseconds}ms-late",
            f"The driver reads each packet {milliseconds} ms after it came.",
            Cause("/points", ("driver queue",), ("/lidar",), _last_queued),
            program="driver.py",
            arguments=("200", str(milliseconds), "0"),
        )
        for milliseconds in (3, 12)
    ),
    *(
        Case(
            f"driver-converts-{milliseconds}ms",
            f"The driver needs {milliseconds} ms from a frame's last packet to its publish.",
            Cause("/points", ("driver",), ("/lidar",), median_of("lidar", "converted")),
            program="driver.py",
            arguments=("200", "0", str(milliseconds)),
        )
        for milliseconds in (4, 15)
    ),
]
