# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Stamps whose clock cannot be the receiver's: ahead of it, or off by the leap seconds of TAI."""

from __future__ import annotations

from collections.abc import Iterator

from strata.study.campaign_results import Results
from strata.study.measure_values import Context, stamp_latency
from strata.study.report_contents import Finding
from strata.study.wording import NANOSECONDS, value_text

_S = 1_000_000_000
TAI_MINUS_UTC_NS = 37 * _S
"""Since 2017 (IERS Bulletin C); PTP distributes TAI, and ROS 2 nodes read UTC."""
_NEAR_NS = _S


def clock_findings(results: Results) -> Iterator[Finding]:
    """Give a finding for cells whose median latency by stamps is below 0 or about 37 s.

    With the number of these cells, and the first of them.
    """
    tai: list[tuple[str, int]] = []
    ahead: list[tuple[str, int]] = []
    for study in results.studies.values():
        for outcome in study.finished:
            values = stamp_latency(results.measured(outcome), Context())["value"]
            if values.empty:
                continue
            median = round(values.median())
            if abs(abs(median) - TAI_MINUS_UTC_NS) < _NEAR_NS:
                tai.append((outcome.id, median))
            elif median < 0:
                ahead.append((outcome.id, median))
    if tai:
        first, median = tai[0]
        text = (
            f"the median latency by stamps is {value_text(median, NANOSECONDS)}: one clock has TAI "
            "(what PTP distributes), the other UTC, which are 37 s apart; set the offset of ptp4l "
            "or phc2sys (docs/scenarios.md)"
        )
        yield Finding("warning", text, len(tai), first, code="stamps_of_tai")
    if ahead:
        first, median = ahead[0]
        text = (
            f"the median latency by stamps is {value_text(median, NANOSECONDS)}, below 0: the "
            "stamps' clock is ahead of the receiver's, so latencies by stamps are no latencies"
        )
        yield Finding("warning", text, len(ahead), first, code="stamps_ahead")
