# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Services and actions that answer late."""

from __future__ import annotations

import numpy as np
from case import Case, Truth
from judge_entities import Call, Goals
from magnitude import median_of


def _until_served(truth: Truth) -> float:
    """Plant the median time from the sending of a request to its callback."""
    sent = truth.rows("commander", "sent", "/plan")
    served = truth.rows("planner", "work", "/plan")
    pairs = zip(sent, served, strict=True)
    return float(np.median([int(there["begin_ns"]) - int(here["end_ns"]) for here, there in pairs]))


def _until_asked(truth: Truth) -> float:
    """Plant the median time from the sending of a goal to when it was accepted."""
    sent = {row["number"]: int(row["end_ns"]) for row in truth.rows("commander", "sent", "/drive")}
    asked = truth.rows("driver", "asked", "/drive")
    return float(np.median([int(row["begin_ns"]) - sent[row["number"]] for row in asked]))


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
    Case(
        "action-executes-30ms",
        "The server of an action computes for 30 ms for each goal.",
        Goals(
            "/drive",
            "/commander",
            "/driver",
            "execution",
            median_of("driver", "executed", "/drive"),
        ),
        program="action.py",
        arguments=("30", "30", "0"),
    ),
    Case(
        "action-behind-a-callback",
        "Each goal waits for another callback of the server's executor before it is accepted.",
        Goals("/drive", "/commander", "/driver", "goal request", _until_asked),
        program="action.py",
        arguments=("30", "2", "25"),
    ),
]
