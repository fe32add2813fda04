# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Whether a source kept the rate that was asked of it: what it lost belongs to the rate it made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from strata.study.campaign_results import Results
from strata.study.long_frames import long_frame

SHORT_PERCENT = 5.0
"""A source that published this much less often than its stated rate fell short of it."""

NOT_REACHED = "not reached by the source"


def fell_short(percent: float | None) -> bool:
    """Tell whether this shortfall (%) is so large that the source did not reach its rate.

    Null, where no rate is stated, is not.
    """
    return percent is not None and percent > SHORT_PERCENT


def mean_shortfalls(
    results: Results, study: str, names: Sequence[str], where: Mapping[str, object] | None = None
) -> dict[tuple[str, ...], float]:
    """Return the mean shortfall in percent, over sources and repetitions, by levels of `names`.

    Of what was measured here; none where no rate is stated.
    """
    frame = long_frame(results, study, "shortfall", where=where, imports=False)
    frame = frame.dropna(subset=["value"])
    if frame.empty:
        return {}
    if not names:
        return {(): float(frame["value"].mean())}
    means = frame.groupby([*names], observed=True)["value"].mean()
    return {
        tuple(map(str, key if isinstance(key, tuple) else (key,))): float(value)
        for key, value in means.items()
    }
