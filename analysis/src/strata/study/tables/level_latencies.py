# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Mean and largest latency at each combination of levels, of each origin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from strata.study.campaign_results import Results
from strata.study.tables.imported_means import (
    EACH,
    VALUES,
    imported_statistics,
    with_imported_means,
)
from strata.study.tables.side_by_side import weighted
from strata.study.tables.table import ORIGIN

_LATENCY = "latency"

Key = tuple[str, ...]


@dataclass(frozen=True)
class Latency:
    """Of the messages of a group, ns; `largest` is null where an import states none."""

    mean: float
    largest: float | None


def level_latencies(
    results: Results, study: str, names: Sequence[str], where: Mapping[str, object]
) -> dict[Key, Latency]:
    """Return the latency by origin and the levels of `names`; a group without values has none.

    Of imports without a value per message, the mean is that of the means that they state, weighted
    by their messages where these are counted, and the largest is that of the stated maxima.
    """
    keys = [ORIGIN, *names]
    frame = with_imported_means(results, study, _LATENCY, where)
    if frame.empty:
        return {}
    largest = _stated_maxima(results, study, keys, where)
    found = {}
    for key, own in frame.groupby(keys, observed=True, sort=False):
        place = tuple(map(str, key))
        is_each = bool((own[VALUES] == EACH).all())
        top = float(own["value"].max()) if is_each else largest.get(place)
        found[place] = Latency(float(weighted(own).mean()), top)
    return found


def _stated_maxima(
    results: Results, study: str, keys: Sequence[str], where: Mapping[str, object]
) -> dict[Key, float]:
    told: pd.DataFrame = imported_statistics(results, study, _LATENCY, where)
    told = told[told["part"] == "max"]
    if told.empty:
        return {}
    most = told.groupby([*keys], observed=True)["value"].max()
    # Keys are at least origin and one factor, so each is a tuple.
    return {tuple(map(str, key)): float(value) for key, value in most.items()}  # type: ignore[call-overload]
