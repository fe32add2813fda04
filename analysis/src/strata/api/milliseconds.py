# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Durations as people read them."""

from __future__ import annotations

from strata.lazy import pandas as pd

_FIRST_INSTANT_NS = 10**17
"""No duration is as long as this (three years), and no clock since 1973 shows less."""


def in_ms(frame: pd.DataFrame, digits: int = 3) -> pd.DataFrame:
    """Return a copy of a frame with its durations in milliseconds, rounded to `digits`.

    ::

        strata.in_ms(a.chains[["name", "latency_p50_ns", "latency_p99_ns"]])

    Each column `x_ns` becomes `x_ms`, of floats; null becomes NaN. Instants (ns since the epoch)
    and all other columns stay as they are.
    """
    found = frame.copy()
    durations = [
        str(name)
        for name in frame.columns
        if str(name).endswith("_ns") and pd.api.types.is_numeric_dtype(frame[name])
    ]
    durations = [name for name in durations if not (frame[name] > _FIRST_INSTANT_NS).any()]
    for name in durations:
        found[name] = (frame[name].astype("float64") / 1e6).round(digits)
    return found.rename(columns={name: f"{name.removesuffix('_ns')}_ms" for name in durations})
