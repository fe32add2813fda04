# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""How far a result can be trusted, in a few words: "OK", or how much is missing or inferred."""

from __future__ import annotations

from strata.analysis import Analysis
from strata.schema.diagnostic import Severity
from strata.units import format_count

_COUNTED = {
    "discarded_events": "events discarded",
    "lost_messages": "messages lost",
    "driver_packets_dropped": "sensor packets dropped",
    "driver_packets_missing": "sensor packets missing",
    "driver_buffers_dropped": "sensor buffers dropped",
}
"""Findings whose counts are worth a place beside the word."""


def trust_words(analysis: Analysis, named: int = 2) -> str:
    """Return "OK" where nothing was lost or inferred, else the number of remarks that say what.

    Remarks that only explain a number are not counted. `named` is how many counts are added.
    """
    rows = [
        row for row in analysis.rows("quality").records() if row["severity"] != Severity.INFO.value
    ]
    if not rows:
        return "OK"
    counted = {row["code"]: row["count"] for row in rows}
    counts = [f"{counted[code]:,} {text}" for code, text in _COUNTED.items() if code in counted]
    return ", ".join([format_count(len(rows), "remark", "remarks"), *counts[:named]])
