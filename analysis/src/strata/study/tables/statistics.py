# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Tables about one measure, one row per group of cells: its statistics and intervals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from strata.campaign.model import Figure, listed
from strata.study.call_values import answered_calls
from strata.study.campaign_results import FINISHED, Outcome, Results, Study, keeps
from strata.study.cell_tables import CellTables
from strata.study.level_texts import levels_words
from strata.study.long_frames import long_frame
from strata.study.measure_definitions import Measure, find_measure
from strata.study.tables.clock_offsets import ClockErrors
from strata.study.tables.imported_means import OF_MEANS, VALUES, imported_statistics
from strata.study.tables.table import Column, Rows, Table, first_ones, groups, label_columns
from strata.study.wording import name_words

if TYPE_CHECKING:
    from strata.stats.intervals import StatisticName

_STATISTICS = (
    ("min", "min"),
    ("p25", "p25"),
    ("p50", "median"),
    ("p75", "p75"),
    ("mad", "MAD"),
    ("mean", "mean"),
    ("std", "std"),
    ("p90", "p90"),
    ("p99", "p99"),
    ("p999", "p99.9"),
    ("max", "max"),
)
_WITH_INTERVALS: tuple[StatisticName, ...] = ("mean", "p50", "p90", "p99")
STATISTIC_LABELS = dict(_STATISTICS)
"""How tables label statistics."""
_OF_CALLS = ("call_latency", "request_latency", "call_chain_latency")
SEED = 1
"""Of all bootstraps of a report: the same data give the same intervals."""


def summary(results: Results, study: str, figure: Figure) -> Table:
    """Return count and quantiles of a measure for each combination of the rows' factors."""
    measure = find_measure(figure.of or "latency")
    rows = listed(figure.rows)
    frame = long_frame(results, study, measure.name, where=figure.where)
    told = imported_statistics(results, study, measure.name, figure.where)
    told = told if set(rows) <= set(told.columns) else told.iloc[:0]
    errors = ClockErrors(results, study, measure.name)
    labels = label_columns(rows, told if len(told) else frame)
    columns = (*_summary_columns(labels, measure, of_means=len(told) > 0), *errors.columns)
    out = Rows(columns)
    for levels, own in groups(frame, rows):
        hop = levels.get("hop")
        counts = _counts(results, study, own, hop, of_calls=measure.name in _OF_CALLS)
        out.rows.append({**levels, **counts, **_described(own), **errors.of(own)})
    for levels, own in groups(told, rows) if len(told) else ():
        out.rows.append({**levels, **_of_means(own)})
    notes = [f"{name_words(measure.name)}: {measure.text}."]
    notes += put_together(results, study, figure, frame)
    if len(told):
        notes.append(OF_MEANS)
    notes += errors.notes()
    notes.append("MAD is the median of |x - median|, unscaled; std divides by n - 1.")
    return Table(
        "summary",
        f"{name_words(measure.name)} ({measure.shown_unit})",
        columns,
        out.frame(),
        tuple(notes),
        "" if out.rows else why_no_rows(results, study, figure, frame),
        measure.name,
    )


def _summary_columns(
    labels: Sequence[Column], measure: Measure, *, of_means: bool
) -> tuple[Column, ...]:
    """Return what a group has, beside what tells it; `of_means`: some groups are of means."""
    return (
        *labels,
        *((Column(VALUES, "values", text="what each value is"),) if of_means else ()),
        Column("count", "n", form="count", text=f"one value per {measure.each}"),
        Column("repetitions", "runs", form="count"),
        Column(
            "left_out",
            "warm-up",
            form="count",
            text="messages (or calls) of the measured hops that are left out",
        ),
        Column("lost", "lost", form="count", text="messages (or calls) of the measured hops"),
        *(Column(name, label, measure.unit, "number") for name, label in _STATISTICS),
    )


def _of_means(own: pd.DataFrame) -> dict[str, Any]:
    """Return what an import's minima, means and maxima of seconds or runs say of all messages."""
    found = {name: own[own["part"] == name]["value"] for name in ("min", "mean", "max")}
    return {
        VALUES: str(own[VALUES].iloc[0]),
        "count": int(found["mean"].count()) or None,
        "repetitions": own["cell"].nunique(),
        "min": float(found["min"].min()) if len(found["min"]) else None,
        "mean": float(found["mean"].mean()) if len(found["mean"]) else None,
        "max": float(found["max"].max()) if len(found["max"]) else None,
    }


def _described(own: pd.DataFrame) -> dict[str, float | int | None]:
    from strata.stats.summary import describe

    values = own["value"].to_numpy(np.float64)
    p25, p75 = np.quantile(values, [0.25, 0.75]) if len(values) else (None, None)
    return {**describe(values), "p25": p25, "p75": p75, "repetitions": own["cell"].nunique()}


def _counts(
    results: Results, study: str, own: pd.DataFrame, hop: str | None, *, of_calls: bool
) -> dict[str, int | None]:
    """Return how many messages (or calls) were lost and left out in the cells of a group of rows.

    Of one hop where the group is of one; null where it is none (a chain, a publisher).
    """
    cells = set(own["cell"].astype(str))
    ran = results.measured_cells(study, cells)
    hops = [
        _calls(one) if of_calls else one.read("hops", ["hop", "lost", "left_out"]) for one in ran
    ]
    if hop is not None:
        hops = [one[one["hop"] == hop] for one in hops]
    if not sum(len(one) for one in hops):
        # Imported, too: their files do not tell.
        return {"lost": None, "left_out": None}
    return {name: int(sum(one[name].sum() for one in hops)) for name in ("lost", "left_out")}


def _calls(measured: CellTables) -> pd.DataFrame:
    """Return of each hop of calls how many had no answer, and how many were warm-up."""
    counted = answered_calls(measured)
    lost = (~counted["is_answered"]).groupby(counted["hop"].astype(str)).sum()
    every = measured.read("calls", ["hop", "warm_up"])
    left_out = every["warm_up"].groupby(every["hop"].astype(str)).sum()
    frame = pd.DataFrame({"lost": lost, "left_out": left_out}).fillna(0).astype("int64")
    return frame.rename_axis("hop").reset_index()


def intervals(results: Results, study: str, figure: Figure) -> Table:
    """Return mean, median, p90 and p99 of a measure with their confidence intervals."""
    measure = find_measure(figure.of or "latency")
    rows = listed(figure.rows)
    frame = long_frame(results, study, measure.name, where=figure.where)
    errors = ClockErrors(results, study, measure.name)
    columns = (*_interval_columns(label_columns(rows, frame), measure.unit), *errors.columns)
    out = Rows(columns)
    for levels, own in groups(frame, rows):
        known = levels | errors.of(own)
        out.rows += [{**known, **row} for row in _intervals(own, figure.confidence)]
    notes = (
        "An interval is for the messages of these runs, and allows for their dependence (effective "
        "n). Another run may differ by more: see the lowest and the highest run.",
        *put_together(results, study, figure, frame),
        *errors.notes(),
    )
    return Table(
        "intervals",
        f"{name_words(measure.name)} with confidence intervals ({measure.shown_unit})",
        columns,
        out.frame(),
        notes,
        why_no_rows(results, study, figure, frame),
        measure.name,
    )


def _intervals(own: pd.DataFrame, confidences: Sequence[float]) -> list[dict[str, Any]]:
    """Return the intervals of a group's values: each statistic at each confidence."""
    from strata.stats.intervals import interval
    from strata.stats.summary import describe

    values = own["value"].to_numpy(np.float64)
    each = [
        describe(run["value"].to_numpy(np.float64)) for _, run in own.groupby("cell", observed=True)
    ]
    out = []
    for statistic in _WITH_INTERVALS:
        runs = [float(one) for run in each if (one := run[statistic]) is not None]
        for confidence in confidences:
            found = interval(values, statistic, confidence, seed=SEED)
            out.append(
                {
                    "statistic": STATISTIC_LABELS[statistic],
                    "confidence": confidence,
                    "estimate": found.estimate,
                    "low": found.low,
                    "high": found.high,
                    "count": found.count,
                    "effective_count": found.effective_count,
                    "coverage": found.coverage,
                    "run_low": min(runs) if len(runs) > 1 else None,
                    "run_high": max(runs) if len(runs) > 1 else None,
                    "method": found.method,
                }
            )
    return out


def _interval_columns(labels: Sequence[Column], unit: str) -> tuple[Column, ...]:
    """Return what an interval has, beside what tells its group."""
    return (
        *labels,
        Column("statistic", "statistic"),
        Column("confidence", "confidence", form="share"),
        Column("estimate", "estimate", unit, "number"),
        Column("low", "from", unit, "number"),
        Column("high", "to", unit, "number"),
        Column("count", "n", form="count"),
        Column("effective_count", "effective n", form="number"),
        Column("coverage", "true coverage", form="share"),
        Column("run_low", "lowest run", unit, "number"),
        Column("run_high", "highest run", unit, "number"),
        Column("method", "method"),
    )


def why_no_rows(results: Results, study: str, figure: Figure, frame: pd.DataFrame) -> str:
    """Say why a table has no row; empty when it has some."""
    return "" if len(frame) else results.study(study).why_empty(figure.where)


def put_together(
    results: Results, study: str, figure: Figure, frame: pd.DataFrame
) -> tuple[str, ...]:
    """Say what is in one row of a table, where that is several, and which cells are in none."""
    said = []
    told = (figure.rows, figure.factors, figure.over, figure.within, figure.by)
    rows = [name for names in told for name in listed(names)]
    for name, many in (("hop", "hops"), ("process", "processes")):
        if name in frame.columns and name not in rows:
            counts = frame.groupby("cell", observed=True)[name].nunique()
            if len(counts) and counts.max() > 1:
                said.append(f"Each row combines all {many} of its cells, up to {counts.max()}.")
    keys = [*rows, "origin"]
    for name in (*(factor.name for factor in results.study(study).factors), "repetition"):
        if name not in rows and len(frame):
            several = frame.groupby(keys, observed=True)[name].nunique().max()
            if several > 1:
                words = "repetitions" if name == "repetition" else f"levels of {name_words(name)}"
                said.append(f"Each row combines all {words} of its cells.")
    having = set(frame["cell"].astype(str))
    found = results.study(study)
    without = [
        one.id
        for one in in_order(found, found.finished)
        if keeps(figure.where, one.cell.levels) and one.id not in having
    ]
    if having and without:
        said.append(f"Cells without a value: {first_ones(without)}.")
    return tuple(said)


def skipped_notes(results: Results, study: str, figure: Figure) -> tuple[str, ...]:
    """Name the cells that a table has not, and why: a gap is never silent."""
    found: dict[str, list[str]] = {}
    for one in in_order(results.study(study), results.study(study).outcomes):
        if one.status != FINISHED and keeps(figure.where, one.cell.levels):
            group = levels_words(results.study(study), one.cell.levels, " + ")
            if group not in found.setdefault(one.line, []):
                found[one.line].append(group)
    return tuple(f"Missing: {first_ones(cells)} ({why})." for why, cells in found.items())


def in_order(study: Study, outcomes: Iterable[Outcome]) -> list[Outcome]:
    """Sort cells, which ran at random, by the file's order of their levels, then repetition."""

    def place(one: Outcome) -> tuple[int, ...]:
        levels = one.cell.levels
        own = (factor for factor in study.factors if factor.name in levels)
        places = (factor.levels.index(levels[factor.name]) for factor in own)
        return (*places, one.cell.repetition)

    return sorted(outcomes, key=place)
