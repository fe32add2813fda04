# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Long frames by level, by cell and by layer, as figures and answers need them."""

from __future__ import annotations

import pandas as pd

from strata.study.report_contents import Chart, Request, Study
from strata.study.values_by_cell import one_per_cell
from strata.study.wording import natural_key


def levels_of(frame: pd.DataFrame, name: str, study: Study) -> list[str]:
    """Return the levels of a column that have rows: a factor's in the file's order.

    Other columns (hop, layer, process) are sorted so that chain_2 comes before chain_10.
    """
    if name not in frame:
        return []
    seen = set(frame[name].dropna().astype(str).unique())
    factor = study.factor(name)
    if factor is not None:
        known = [level for level in factor.levels if level in seen]
        return known + sorted(seen - set(known), key=natural_key)
    return sorted(seen, key=natural_key)


def only(frame: pd.DataFrame, request: Request) -> pd.DataFrame:
    """Return the rows that `where` asks for."""
    for name, levels in request.where.items():
        if name in frame:
            frame = frame[frame[name].astype(str).isin(levels)]
    return frame


def by_cell(chart: Chart) -> pd.DataFrame:
    """Return the rows of a figure with one value per cell, for what is said of cells.

    Values of processes are summed, those of hops averaged (a loss weighted by what was expected),
    unless the figure shows processes or hops apart.
    """
    request = chart.request
    return one_per_cell(chart.frame, chart.measure.each, (request.x, request.by, *request.panels))


def across_clocks(rows: pd.DataFrame) -> pd.Series[bool]:
    """Flag rows of hops between hosts of unsynchronised clocks: their layers contain the offset."""
    if "unsynchronised" not in rows:
        return pd.Series(data=False, index=rows.index)
    return rows["unsynchronised"].isin([True])


def layer_means(rows: pd.DataFrame, x: str) -> pd.DataFrame:
    """Return the mean of each layer (columns) at each level of `x` (rows), in the unit of rows.

    `rows` are the measure layer: the mean of a layer over the messages of a hop in a cell. Every
    hop of every cell counts the same; one without a layer spent no time in it.
    """
    key = [name for name in ("cell", "hop") if name in rows]
    levels = rows[x].astype(str) if x in rows else pd.Series("", index=rows.index)
    counts = rows[key].assign(level=levels).drop_duplicates().groupby("level", sort=False).size()
    sums = rows.groupby([levels, rows["layer"].astype(str)], sort=False)["value"].sum()
    table = sums.unstack().fillna(0.0)
    return table.div(counts.reindex(table.index), axis=0)
