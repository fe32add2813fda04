# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""perf_node of Box-Robotics' ros2-ouster-tools: `recv_stamp,msg_stamp`, ns, one line a message.

The node writes no sequence numbers: what was lost is estimated from the grid of the stamps, which
is sound where the sensor makes them (TIME_FROM_PTP_1588 ...) and not where the receiver does.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from strata.originals.imported import Finding, Imported, Run, Samples
from strata.originals.text import Text, fields_of
from strata.stats.periods import grid_losses

NAME = "perf_node"
COLUMNS = ["recv_stamp", "msg_stamp"]

_OTHER_CLOCK_NS = 3_600_000_000_000
"""Stamps an hour apart in the median are of two clocks, as those of an internal oscillator are."""

_CONVERSIONS = (
    "period: difference of successive recv_stamp, ns / 10^6; one less than the number of messages",
    "sent_period: difference of successive msg_stamp, ns / 10^6; one less than the number of "
    "messages",
    "stamp_latency: recv_stamp - msg_stamp, ns / 10^6; with the sensor's stamps it includes the "
    "sweep",
    "grid_loss: share of the stamps' grid (median period, from first to last) without a message",
)


def matches(text: Text) -> bool:
    """Return whether a file begins as this format does."""
    return bool(text.lines) and fields_of(text.lines[0].text, ",") == COLUMNS


def read(text: Text) -> Imported:
    """Read a file; raises OriginalError for a line that is none of this format."""
    if not matches(text):
        found = text.lines[0].text.strip() if text.lines else ""
        advice = "perf_node writes recv_stamp,msg_stamp"
        raise text.error(1, f"is {found[:60]!r}, not a header of perf_node", advice)
    lines = text.lines[1:]
    rows = text.rows(lines, COLUMNS, ",")
    if not rows:
        raise text.none("messages")
    stamps = np.array(
        [
            [text.integer(line, name, one) for name, one in zip(COLUMNS, row, strict=True)]
            for line, row in zip(lines, rows, strict=True)
        ],
        np.int64,
    )
    samples, findings = _samples(stamps[:, 0], stamps[:, 1])
    run = Run({"messages": len(stamps)}, samples.frame())
    return Imported(text.path, NAME, {}, [run], _CONVERSIONS, text.findings() + findings)


def _samples(
    received: npt.NDArray[np.int64], sent: npt.NDArray[np.int64]
) -> tuple[Samples, list[Finding]]:
    samples, findings = Samples(), _ordered(received, sent)
    later = np.arange(1, len(received))
    samples.add("period", "each", np.diff(received) / 1e6, numbers=later)
    stamped = sent > 0
    if not stamped.all():
        unset = int(np.count_nonzero(~stamped))
        text = f"{unset} messages have no own stamp (0); they count only for period"
        findings.append(Finding("unset_stamps", unset, text))
    pairs = stamped[1:] & stamped[:-1]
    samples.add("sent_period", "each", np.diff(sent)[pairs] / 1e6, numbers=later[pairs])
    latency = (received - sent)[stamped]
    if not len(latency):
        return samples, findings
    if abs(float(np.median(latency))) > _OTHER_CLOCK_NS:
        text = "recv_stamp and msg_stamp are of two clocks, over an hour apart: no stamp_latency"
        findings.append(Finding("other_clock", len(latency), text))
    else:
        samples.add("stamp_latency", "each", latency / 1e6, numbers=np.flatnonzero(stamped))
        negative = int(np.count_nonzero(latency < 0))
        if negative:
            text = f"{negative} of {len(latency)} messages arrived before they were stamped: clocks"
            findings.append(Finding("negative_latency", negative, f"{text} are not synchronised"))
    lost = _grid_loss(sent[stamped])
    if lost is not None:
        samples.add("grid_loss", "run", [lost], counts=[int(np.count_nonzero(stamped))])
    return samples, findings


def _ordered(received: npt.NDArray[np.int64], sent: npt.NDArray[np.int64]) -> list[Finding]:
    out = []
    for name, stamps in (("recv_stamp", received), ("msg_stamp", sent)):
        back = int(np.count_nonzero(np.diff(stamps) < 0))
        if back:
            text = f"{name} goes back {back} times: its clock was set, or messages changed places"
            out.append(Finding("stamps_go_back", back, text))
    return out


def _grid_loss(sent: npt.NDArray[np.int64]) -> float | None:
    """Give the share (%) of the grid without a message; null where there is no grid."""
    between = np.diff(sent)
    if len(between) < 2 or (between < 0).any():
        return None
    period = round(float(np.median(between)))
    try:
        return 100 * grid_losses(sent, period).share
    except ValueError:
        # Stamps that all are the same, or more of them than places.
        return None
