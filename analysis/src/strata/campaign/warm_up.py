# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Whether a run is long enough to measure anything after its warm-up."""

from __future__ import annotations

from strata.scenario.model import Duration


def all_warm_up(warm_up: int, nominal_hz: float | None, duration: Duration) -> str | None:
    """Say that all messages of a run are warm-up; null where some are not, or it cannot be told.

    `warm_up` is in messages of each source. A duration in seconds has so many as the stated rate
    makes of it; without a rate it cannot be told.
    """
    if duration.seconds is None:
        count = duration.count
        text = _counted(count, duration.unit)
    elif nominal_hz is not None:
        count = duration.seconds * nominal_hz
        text = f"{duration.seconds:g} s at {nominal_hz:g} Hz, {_counted(count, 'messages')}"
    else:
        return None
    if count > warm_up:
        return None
    return f"all of it ({text}) is warm-up, which is {_counted(warm_up, 'messages')}"


def _counted(count: float, units: str) -> str:
    return f"{count:,.0f} {units.removesuffix('s') if count == 1 else units}"
