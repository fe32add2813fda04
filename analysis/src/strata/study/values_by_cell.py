# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""One value per cell where a cell has one of each of its processes or hops."""

from __future__ import annotations

from collections.abc import Collection

import pandas as pd


def one_per_cell(frame: pd.DataFrame, each: str, shown: Collection[str]) -> pd.DataFrame:
    """Return the rows of a long frame with one value per cell; those of messages as they are.

    `each` is what the measure has a value of. Values of processes are summed, those of hops
    averaged (a loss weighted by what was expected), unless `shown` names process or hop: then they
    are told apart.
    """
    if each == "process" and "process" in frame and "process" not in shown:
        return _gathered(frame, "sum")
    if each == "cell" and "hop" in frame and "hop" not in shown:
        if "expected" in frame and frame["expected"].notna().all():
            return _loss_of_cells(frame)
        return _gathered(frame, "mean")
    return frame


def _gathered(frame: pd.DataFrame, how: str) -> pd.DataFrame:
    keys = _keys(frame)
    grouped = frame.dropna(subset=["value"]).groupby(keys, observed=True, sort=False)["value"]
    return (grouped.sum() if how == "sum" else grouped.mean()).reset_index()


def _loss_of_cells(frame: pd.DataFrame) -> pd.DataFrame:
    keys = _keys(frame)
    sums = frame.groupby(keys, observed=True, sort=False)[["lost", "expected"]].sum().reset_index()
    expected = sums["expected"].astype("float64")
    return sums.assign(value=(100 * sums["lost"].astype("float64") / expected.where(expected > 0)))


def _keys(frame: pd.DataFrame) -> list[str]:
    own = (
        "value",
        "process",
        "number",
        "t_ns",
        "hop",
        "over",
        "lost",
        "expected",
        "unsynchronised",
    )
    return [str(name) for name in frame.columns if name not in own]
