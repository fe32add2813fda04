# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""ros2_evaluation, and the courses that used it: one latency a line, in seconds, no header."""

from __future__ import annotations

import re

import numpy as np

from strata.originals.imported import Finding, Imported, Run, Samples
from strata.originals.text import Text

NAME = "transport_time"

_NUMBER = re.compile(r"[+-]?[0-9]*\.[0-9]+([eE][+-]?[0-9]+)?")
_CONVERSIONS = (
    "latency: seconds x 10^3; publisher's and listener's clocks, both CLOCK_REALTIME",
    "stamps were doubles of seconds since 1970, which have steps of 0.24 us",
)


def matches(text: Text) -> bool:
    """Return whether a file begins as this format does."""
    return bool(text.lines) and _NUMBER.fullmatch(text.lines[0].text.strip()) is not None


def read(text: Text) -> Imported:
    """Read a file; raises OriginalError for a line that is no number, or not a finite one."""
    if not text.lines:
        raise text.none("messages")
    values = np.array([text.number(line, "latency", line.text.strip()) for line in text.lines])
    with np.errstate(over="ignore"):
        values *= 1e3
    wrong = np.flatnonzero(~np.isfinite(values))
    if len(wrong):
        line = text.lines[int(wrong[0])]
        advice = "Fix the line, or leave it out"
        raise text.error(line, f"has latency {line.text.strip()!r}, which is not finite", advice)
    samples = Samples()
    samples.add("latency", "each", values)
    findings = text.findings()
    negative = int(np.count_nonzero(values < 0))
    if negative:
        what = f"{negative} of {len(values)} messages arrived before they were sent: clocks"
        findings.append(Finding("negative_latency", negative, f"{what} are not synchronised"))
    run = Run({"messages": len(values)}, samples.frame())
    return Imported(text.path, NAME, {}, [run], _CONVERSIONS, findings)
