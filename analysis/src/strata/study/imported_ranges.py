# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Ranges of imported summaries, and those of our own values beside them.

A tool that writes a minimum, a mean and a maximum a second or a run has a range; its values
belong in no distribution.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from strata.study.campaign_results import Factor, Results
from strata.study.imported_results import HERE, SUMMARIES, Import, imported_frame
from strata.study.level_texts import level_text

_LOW = ("interval_min", "run_min")
_MEAN = ("interval_mean", "run_mean", "mean_of_interval_means")
_HIGH = ("interval_max", "run_max")
_TOLD = (*_LOW, *_MEAN, *_HIGH)


def ranged_measures(imports: list[Import]) -> list[str]:
    """List the measures of which an import has a range, by name."""
    names: set[str] = set()
    for one in imports:
        samples = one.samples()
        names.update(samples.loc[samples["statistic"].isin(_TOLD), "measure"])
    return sorted(names)


def range_frame(
    results: Results, imports: list[Import], study: str, measure: str, own: pd.DataFrame
) -> pd.DataFrame:
    """Give the range of each combination of levels that an import has one of, and ours.

    Columns: one per factor, `level` (their texts), `origin`, `cell` and `repetition` (of the
    first), `low`, `value` (the mean; where there is none, the largest) and `high`, in the measure's
    unit, null where not known. Means of intervals are weighted by their messages where these are
    counted.
    `own` is the measure's long frame.
    """
    factors = results.study(study).factors
    told = imported_frame(imports, results.campaign, study, measure, SUMMARIES)
    told = told[told["statistic"].isin(_TOLD)]
    if told.empty:
        return told.assign(level="", low=np.nan, high=np.nan)
    theirs = _levelled(told, factors)
    ours = _levelled(own[own["origin"] == HERE], factors)
    ours = ours[ours["level"].isin(theirs["level"])]
    rows = [_imported(group) for _, group in theirs.groupby(["level", "origin"], sort=False)]
    rows += [_own(group) for _, group in ours.groupby("level", sort=False)]
    return pd.DataFrame(rows)


def _levelled(rows: pd.DataFrame, factors: tuple[Factor, ...]) -> pd.DataFrame:
    """Name each row's combination of levels, in the file's order."""
    ordered = rows.sort_values([one.name for one in factors], kind="stable") if factors else rows
    parts = [ordered[one.name].astype(str).map(_texts(one)) for one in factors]
    texts = [", ".join(names) for names in zip(*parts, strict=True)] if parts else ""
    return ordered.assign(level=texts)


def _texts(factor: Factor) -> dict[str, str]:
    return {level: level_text(level, factor) for level in factor.levels}


def _imported(rows: pd.DataFrame) -> dict[str, object]:
    means = rows[rows["statistic"].isin(_MEAN)]
    high = rows.loc[rows["statistic"].isin(_HIGH), "value"].max()
    value = high
    if len(means):
        counts = means["count"].fillna(0).to_numpy(np.float64)
        weights = counts if (counts > 0).all() else None
        value = np.average(means["value"].to_numpy(np.float64), weights=weights)
    low = rows.loc[rows["statistic"].isin(_LOW), "value"].min()
    return {**_common(rows), "low": low, "value": value, "high": high}


def _own(rows: pd.DataFrame) -> dict[str, object]:
    values = rows["value"]
    return {**_common(rows), "low": values.min(), "value": values.mean(), "high": values.max()}


def _common(rows: pd.DataFrame) -> dict[str, object]:
    kept = [name for name in rows.columns if name not in ("value", "statistic", "count", "number")]
    return {str(name): rows[name].iloc[0] for name in kept}
