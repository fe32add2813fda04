# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Services that answer late."""

from __future__ import annotations

import numpy as np
from case import Case, Truth
from judge import Call, median_of


def _until_served(truth: Truth) -> float:
    """Plant the median time from the sending of a request to its callback."""
    sent = truth.rows("commander", "sent", "/plan")
    served = truth.rows("planner", "work", "/plan")
    pairs = zip(sent, served, strict=True)
    return float(np.median([int(there["begin_ns"]) - int(here["end_ns"]) for here, there in pairs]))


CASES = [
    *(
        Case(
            f"service-works-{milliseconds}ms",
            f"The service computes for {milliseconds} ms.",
            Call(
                "/plan", "/commander", "/planner", "callback", median_of("planner", "work", "/plan")
            ),
            program="service.py",
            arguments=("40", str(milliseconds), "0"),
        )
        for milliseconds in (4, 25)
    ),
    Case(
        "service-behind-a-callback",
        "Each request waits for another callback of the server's executor.",
        Call("/plan", "/commander", "/planner", "request executor wait", _until_served),
        program="service.py",
        arguments=("40", "3", "20"),
    ),
]
