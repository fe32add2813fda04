# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""How edges are drawn: the slower the median, the thicker, in a colour for each power of ten.

The colours are Okabe and Ito's, with a dark red, which people with any kind of colour blindness can
tell apart; the thickness says the same.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Step:
    """A step of the scale, for medians below `below_ns`; colours on a light and a dark ground."""

    name: str
    below_ns: float
    label: str
    light: str
    dark: str
    width: float


STEPS = (
    Step("t0", 1e5, "below 100 µs", "#56b4e9", "#56b4e9", 1.6),
    Step("t1", 1e6, "below 1 ms", "#0072b2", "#3f9fe0", 2.2),
    Step("t2", 1e7, "below 10 ms", "#e69f00", "#e69f00", 2.8),
    Step("t3", 1e8, "below 100 ms", "#d55e00", "#f0762e", 3.4),
    Step("t4", float("inf"), "100 ms and more", "#a50044", "#ff6f9f", 4.2),
)
UNKNOWN = Step("none", float("inf"), "no duration", "#6b737d", "#9aa1a9", 1.2)


def step_of(median_ns: float | None) -> Step:
    """Return the step of a median, or that of edges without a duration for null."""
    if median_ns is None:
        return UNKNOWN
    return next(step for step in STEPS if median_ns < step.below_ns)
