# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The values of a measure over a study as one long frame, one row per value.

It has a column per factor (ordered as in the file), `repetition`, `cell`, `number` (of the message
or sample; null for a value of a whole cell), `value` in the measure's unit, `origin`, and the
measure's own columns. Durations are int64 ns (`Measure.dtype`), and so is `t_ns`, the time since
the cell's first message or sample: null for imported values. What belongs to the warm-up is not in
it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from strata.originals.linuxptp import CLOCK_OFFSET
from strata.study import measure_values as values
from strata.study.campaign_results import HERE, Outcome, Results, Study, keeps, level_texts
from strata.study.clock_logs import clock_frame
from strata.study.imported_results import imported_frame, read_imports
from strata.study.measure_definitions import Measure, find_measure

_BY_SECOND = {"shortfall_by_second": "shortfall", "rate_by_second": "rate"}
"""Measures of whole seconds, and what files that have a value a second call them."""

_MEANS_OF_SECONDS = ("rate", "shortfall", "throughput")
"""Measures of a cell that are the mean of those of its seconds."""


def long_frame(
    results: Results,
    study: str,
    measure: str,
    *,
    where: Mapping[str, object] | None = None,
    imports: bool = True,
) -> pd.DataFrame:
    """Return all values of a measure in a study, of the finished cells and, last, of imports.

    Before imports come those of other machines beside. `imports=False` leaves out both.

    `where` keeps the cells of one level a factor, or of one of several. Raises CampaignError for an
    unknown measure or study.
    """
    declared = find_measure(measure)
    found = results.study(study)
    parts = [_of_cells(results, found, declared, where)]
    if imports:
        parts += _beside(results, study, declared, where)
        parts.append(_imported(results, found, declared, where))
    return _joined(found, declared, parts)


def _beside(
    results: Results, study: str, measure: Measure, where: Mapping[str, object] | None
) -> list[pd.DataFrame]:
    """Return the values of other machines; their cells are named after them."""
    parts = []
    for name, other in results.beside:
        if study in other.studies:
            rows = _of_cells(other, other.study(study), measure, where)
            if len(rows):
                parts.append(rows.assign(cell=name + "/" + rows["cell"].astype(str), origin=name))
    return parts


def _imported(
    results: Results, study: Study, measure: Measure, where: Mapping[str, object] | None
) -> pd.DataFrame:
    """Return imported values; of statistics, only what a cell has one of here, too."""
    if measure.name == CLOCK_OFFSET:
        rows = clock_frame(results, study.name)
        return rows[_kept(rows, where)] if len(rows) else rows
    imports = read_imports(results.directory.path)
    name, is_by_second = measure.name, measure.name in _BY_SECOND
    kinds: tuple[str, ...] = ("each", "run") if measure.each in ("cell", "process") else ("each",)
    if is_by_second:
        name, kinds = _BY_SECOND[name], ("interval",)
    rows = imported_frame(imports, results.campaign, study.name, name)
    if measure.name in _MEANS_OF_SECONDS:
        # What seconds have one of, a run has: their mean. A file may have that alone.
        means = imported_frame(imports, results.campaign, study.name, name, ("run_mean",))
        rows = _with_means(rows, means.assign(statistic="run"))
    return rows[rows["statistic"].isin(kinds) & _kept(rows, where)]


def _kept(rows: pd.DataFrame, where: Mapping[str, object] | None) -> pd.Series[bool]:
    kept = pd.Series(data=True, index=rows.index)
    for name, level in (where or {}).items():
        kept &= rows[name].astype(str).isin(level_texts(level))
    return kept


def _with_means(rows: pd.DataFrame, means: pd.DataFrame) -> pd.DataFrame:
    """Add the mean of each run that has values of seconds alone, and those that files state."""
    seconds = rows[rows["statistic"] == "interval"]
    seconds = seconds[~seconds["cell"].isin(rows.loc[rows["statistic"] == "run", "cell"])]
    first = seconds.drop_duplicates("cell").set_index("cell")
    mean = seconds.groupby("cell", sort=False)["value"].mean()
    made = first.assign(value=mean, number=0, statistic="run").reset_index()
    parts = [part for part in (rows, made[rows.columns], means) if len(part)]
    return pd.concat(parts, ignore_index=True) if parts else rows


def _context(study: Study, outcome: Outcome) -> values.Context:
    return values.Context(study.stated.chain, outcome.cell.nominal_hz)


def _of_cells(
    results: Results, study: Study, measure: Measure, where: Mapping[str, object] | None
) -> pd.DataFrame:
    """Return the values of finished cells; what they are is found once for a study."""
    known = results.values_of(study.name)
    if measure.name not in known:
        measured = [results.measured(one) for one in study.finished]
        pairs = zip(measured, study.finished, strict=True)
        frames = [measure.of_cell(tables, _context(study, one)) for tables, one in pairs]
        known[measure.name] = _labelled(study, study.finished, frames)
    every = known[measure.name]
    if not where or every.empty:
        return every
    kept = [one.id for one in study.finished if keeps(where, one.cell.levels)]
    return every[every["cell"].isin(kept)]


def _labelled(
    study: Study, outcomes: Sequence[Outcome], frames: Sequence[pd.DataFrame]
) -> pd.DataFrame:
    """Put the values of cells below each other, with what is said of their cells."""
    pairs = [(one.cell, frame) for one, frame in zip(outcomes, frames, strict=True) if len(frame)]
    if not pairs:
        return pd.DataFrame()
    cells, counts = [cell for cell, _ in pairs], [len(frame) for _, frame in pairs]

    def repeated(labels: Iterable[object]) -> pd.Series[Any]:
        return pd.Series(np.repeat(np.array([*labels], object), counts)).infer_objects()

    said = {
        factor.name: repeated(cell.levels.get(factor.name) for cell in cells)
        for factor in study.factors
    }
    said["repetition"] = repeated(cell.repetition for cell in cells)
    said["cell"] = repeated(cell.id for cell in cells)
    return pd.concat([frame for _, frame in pairs], ignore_index=True).assign(**said, origin=HERE)


def _joined(study: Study, measure: Measure, parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Join parts, with factors as ordered categories: a campaign has few names and many rows."""
    names = [factor.name for factor in study.factors]
    columns = [*names, "repetition", "cell", "number", "value", "origin", *measure.columns]
    parts = [part.reindex(columns=columns) for part in parts if len(part)]
    empty = pd.DataFrame(columns=columns)
    frame = pd.concat(parts, ignore_index=True) if parts else empty
    for factor in study.factors:
        further = [str(one) for one in frame[factor.name].dropna().unique()]
        order = list(dict.fromkeys([*factor.levels, *further]))
        own = frame[factor.name].astype(object)
        frame[factor.name] = pd.Categorical(own, order, ordered=True)
    for name in ("cell", "hop", "layer", "process", "over", "clock"):
        if name in columns:
            frame[name] = _as_found(frame[name])
    origins = [HERE, *sorted(set(frame["origin"].dropna()) - {HERE})]
    frame["origin"] = pd.Categorical(frame["origin"], origins, ordered=True)
    frame["number"] = frame["number"].astype("Int64")
    frame["repetition"] = frame["repetition"].astype("Int64")
    return frame.astype({"value": measure.dtype} | ({"t_ns": "Int64"} if "t_ns" in columns else {}))


def _as_found(column: pd.Series[str]) -> pd.Categorical[str]:
    codes, found = pd.factorize(column)
    return pd.Categorical.from_codes(codes, found, ordered=True)
