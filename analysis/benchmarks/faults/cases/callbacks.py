# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Callbacks that work for too long, now and then, in two ways, or fail."""

import numpy as np
from case import Case, Truth
from judge import MODE, Cause
from magnitude import median_of, slowest_of

from cases.graphs import CHAIN, pipeline, with_input

_HOLD = ("hold",)
_DETECTOR = ("/image", "/detector")
_TENTH = [0, 0, 0, 0, 0, 0, 0, 0, 0, 25]


def _apart(truth: Truth) -> float:
    """Plant how far the two kinds of work are apart: the medians of the halves."""
    work = np.sort(truth.durations("detector", "work"))
    slow = len(work) // 3
    return float(np.median(work[-slow:]) - np.median(work[:-slow]))


def _held(truth: Truth) -> float:
    """Plant the median time from the first line of the detector's callback to its publish."""
    sent = {row["number"]: int(row["begin_ns"]) for row in truth.rows("detector", "publish")}
    begun = truth.rows("detector", "callback", "/image")
    return float(np.median([sent[row["number"]] - int(row["begin_ns"]) for row in begun]))


CASES = [
    *(
        Case(
            f"work-{ms:g}ms",
            f"The detector computes for {ms:g} ms before it publishes.",
            Cause(CHAIN, _HOLD, _DETECTOR, _held),
            with_input(pipeline(), "detector", work_ms=ms),
        )
        for ms in (2, 5, 20, 40)
    ),
    Case(
        "work-at-the-end",
        "The planner computes for 8 ms, and publishes nothing.",
        Cause(CHAIN, ("callback",), ("/objects", "/planner"), median_of("planner", "work")),
        with_input(pipeline(), "planner", work_ms=8),
    ),
    Case(
        "work-sometimes",
        "Every tenth message keeps the detector for 25 ms.",
        Cause(CHAIN, _HOLD, _DETECTOR, slowest_of("detector", "work", 1.0), MODE),
        with_input(pipeline(count=220, period_ms=40), "detector", work_ms=_TENTH),
    ),
    Case(
        "work-of-two-kinds",
        "Every third message takes the detector 19 ms, the others 3.",
        Cause(CHAIN, _HOLD, _DETECTOR, _apart, MODE),
        with_input(pipeline(count=150), "detector", work_ms=[3, 3, 19]),
    ),
    Case(
        "throws",
        "The planner works for 5 ms and throws in 60 % of all cases.",
        Cause(CHAIN, ("callback",), ("/objects", "/planner"), median_of("planner", "callback")),
        with_input(pipeline(), "planner", work_ms=5, throws_of_five=3),
    ),
]
