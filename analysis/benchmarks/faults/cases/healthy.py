# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Nothing was planted."""

from case import Case
from judge import Healthy

from cases.graphs import CHAIN, of_robots, pipeline

CASES = [
    Case("healthy-20hz", "Nothing; 20 Hz.", Healthy(CHAIN), pipeline()),
    Case("healthy-100hz", "Nothing; 100 Hz.", Healthy(CHAIN), pipeline(period_ms=10, count=500)),
    Case("healthy-5hz", "Nothing; 5 Hz.", Healthy(CHAIN), pipeline(period_ms=200, count=40)),
    Case("healthy-64kb", "Nothing; messages of 64 KiB.", Healthy(CHAIN), pipeline(size=65536)),
    Case(
        "healthy-short", "Nothing; a run of 2 s.", Healthy(CHAIN), pipeline(period_ms=20, count=100)
    ),
    Case(
        "healthy-three-robots",
        "Nothing; three robots with the same nodes, which are one group of chains.",
        Healthy("/robot_1/image -> /robot_1/objects", alike=3),
        # Processes that still look for each other hold up those that have begun.
        of_robots(3, pipeline(period_ms=100, count=60, settle_s=3)),
    ),
]
