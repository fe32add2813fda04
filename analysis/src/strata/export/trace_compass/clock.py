# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The clock of the recording, so that a trace of its rows lies in one experiment with it."""

from __future__ import annotations

from dataclasses import dataclass

from strata.analysis import Analysis
from strata.errors import TraceError
from strata.read.discover import CtfTrace, find_traces

_SEVERAL = (
    "The recording has several clocks. The events of the trace `strata` have ns since the epoch, "
    "each by the clock of the host that its layer began on."
)
_UNKNOWN = (
    "The recording's clock could not be read. The trace `strata` has ns since the epoch, and may "
    "not be accepted as one experiment with the recording."
)


@dataclass(frozen=True)
class Clock:
    """A clock of 1 GHz: an event's time in ns since the epoch is its value plus `offset_ns`.

    `uuid` is the recording's, empty when it has none or several; then `offset_ns` is 0. `host` is
    the name of the host, or several joined by `, `. `notes` say what is lost by that.
    """

    host: str
    uuid: str = ""
    offset_ns: int = 0
    notes: tuple[str, ...] = ()


def clock_of(analysis: Analysis) -> Clock:
    """Return the clock of the trace that was analyzed, read from its metadata again."""
    hosts = ", ".join(sorted({process.host for process in analysis.trace.processes}))
    try:
        traces, _ = find_traces(analysis.trace.place)
    except TraceError:
        return Clock(hosts, notes=(_UNKNOWN,))
    known = {(trace.clock, trace.clock_offset_ns) for trace in traces if _counts_ns(trace)}
    if len(known) != 1 or not all(_counts_ns(trace) for trace in traces):
        return Clock(hosts, notes=(_SEVERAL,))
    uuid, offset_ns = known.pop()
    return Clock(hosts, uuid, offset_ns)


def _counts_ns(trace: CtfTrace) -> bool:
    clocks = trace.metadata.clocks
    return bool(clocks) and int(clocks[0]["frequency"]) == 1_000_000_000
