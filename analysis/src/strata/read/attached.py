# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""When all processes were recorded that a recording has attached to.

LTTng begins to record processes one after the other, and ends so, too: at both ends of such a trace
some are there and others are not, and what they exchanged would seem lost. The manifest has the
instants just after the session was started and just before it was stopped.
"""

from __future__ import annotations

from typing import Any

from strata.read.manifest import read_manifest
from strata.read.trace import Trace

_LAST = (1 << 63) - 1


def attached_bounds(trace: Trace) -> tuple[int, int] | None:
    """Return the first and the last instant at which all were recorded, in ns since the epoch.

    Null for a recording of a command, and where it is not known.
    """
    manifest = read_manifest(trace.path) or {}
    offset_ns = next(iter(trace.clock_offsets_ns.values()), None)
    if not (manifest.get("command") or {}).get("attached") or offset_ns is None:
        return None
    begin_ns, end_ns = (_instant(manifest.get(side)) for side in ("start", "end"))
    if begin_ns is None:
        return None
    return begin_ns + offset_ns, _LAST if end_ns is None else end_ns + offset_ns


def _instant(moment: Any) -> int | None:
    """Return when a moment of a manifest was, by CLOCK_MONOTONIC."""
    clocks = (moment or {}).get("clocks") if isinstance(moment, dict) else None
    at_ns = clocks.get("at_monotonic_ns") if isinstance(clocks, dict) else None
    return at_ns if isinstance(at_ns, int) and 0 <= at_ns < 1 << 62 else None
