# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Tables about one measure, a row a group of cells: its statistics, intervals and modes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from strata.campaign.measures import find_measure, long_frame
from strata.campaign.model import Figure, listed
from strata.campaign.results import Results, keeps
from strata.campaign.tables.table import Column, Rows, Table, groups, label_columns
from strata.campaign.words import name_words

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
_NAMES = dict(_STATISTICS)
SEED = 1
"""Of all bootstraps of a report: the same data give the same intervals."""


def summary(results: Results, study: str, figure: Figure) -> Table:
    """Return count and quantiles of a measure for each combination of the rows' factors."""
    measure = find_measure(figure.of or "latency")
    rows = listed(figure.rows)
    frame = long_frame(results, study, measure.name, where=figure.where)
    columns = (
        *label_columns(rows, frame),
        Column("count", "n", form="count", text=f"values: one for each {measure.each}"),
        Column("repetitions", "runs", form="count"),
        Column("left_out", "warm-up", form="count", text="messages left out, of the measured hops"),
        Column("lost", "lost", form="count", text="messages, of the measured hops"),
        *(Column(name, label, measure.unit, "number") for name, label in _STATISTICS),
    )
    out = Rows(columns)
    for levels, own in groups(frame, rows):
        hop = levels.get("hop")
        out.rows.append({**levels, **_counts(results, study, own, hop), **_described(own)})
    notes = [f"{name_words(measure.name)}: {measure.text}."]
    notes += put_together(results, study, figure, frame)
    notes.append("MAD is the median of |x - median|, unscaled; std divides by n - 1.")
    return Table(
        "summary",
        f"{name_words(measure.name)} ({measure.unit})",
        columns,
        out.frame(),
        tuple(notes),
        why_no_rows(results, study, figure, frame),
        measure.name,
    )


def _described(own: pd.DataFrame) -> dict[str, float | int | None]:
    from strata.stats.summary import describe

    values = own["value"].to_numpy(np.float64)
    p25, p75 = np.quantile(values, [0.25, 0.75])
    ends = {"p25": float(p25), "p75": float(p75), "repetitions": own["cell"].nunique()}
    return {**describe(values), **ends}


def _counts(
    results: Results, study: str, own: pd.DataFrame, hop: str | None
) -> dict[str, int | None]:
    """Return how many messages were lost and left out in the cells of a group of rows.

    Of one hop where the group is of one; null where it is none (a chain, a publisher).
    """
    cells = set(own["cell"].astype(str))
    ran = [one for one in results.study(study).finished if one.id in cells]
    hops = [results.measured(one).read("hops", ["hop", "lost", "left_out"]) for one in ran]
    if hop is not None:
        hops = [one[one["hop"] == hop] for one in hops]
    if not sum(len(one) for one in hops):
        # Imported, too: their files do not tell.
        return {"lost": None, "left_out": None}
    return {name: int(sum(one[name].sum() for one in hops)) for name in ("lost", "left_out")}


def intervals(results: Results, study: str, figure: Figure) -> Table:
    """Return mean, median, p90 and p99 of a measure with their confidence intervals."""
    from strata.stats.intervals import interval
    from strata.stats.summary import describe

    measure = find_measure(figure.of or "latency")
    rows = listed(figure.rows)
    frame = long_frame(results, study, measure.name, where=figure.where)
    columns = _interval_columns(label_columns(rows, frame), measure.unit)
    out = Rows(columns)
    for levels, own in groups(frame, rows):
        values = own["value"].to_numpy(np.float64)
        each = [
            describe(run["value"].to_numpy(np.float64))
            for _, run in own.groupby("cell", observed=True)
        ]
        for statistic in _WITH_INTERVALS:
            runs = [float(one) for run in each if (one := run[statistic]) is not None]
            for confidence in figure.confidence:
                found = interval(values, statistic, confidence, seed=SEED)
                out.rows.append(
                    {
                        **levels,
                        "statistic": _NAMES[statistic],
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
    notes = (
        "An interval is of the messages of these runs, whose dependence it allows for (effective "
        "n). Another run may differ by more: see the lowest and the highest run.",
        *put_together(results, study, figure, frame),
    )
    return Table(
        "intervals",
        f"{name_words(measure.name)} with confidence intervals ({measure.unit})",
        columns,
        out.frame(),
        notes,
        why_no_rows(results, study, figure, frame),
        measure.name,
    )


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


def modes(results: Results, study: str, figure: Figure) -> Table:
    """Return how many modes a measure has in each group, and where they lie."""
    from strata.stats.modes import MIN_COUNT, find_modes

    measure = find_measure(figure.of or "latency")
    rows = listed(figure.rows)
    frame = long_frame(results, study, measure.name, where=figure.where)
    columns = (
        *label_columns(rows, frame),
        Column("count", "n", form="count"),
        Column("dip_p", "dip test p", form="p", text="if there were one mode; least is 0.0005"),
        Column("modes", "modes", form="count"),
        Column("mode", "mode", form="count", text="from 1, the fastest first"),
        Column("share", "share", form="share"),
        Column("p50", "median", measure.unit, "number"),
        Column("low", "from", measure.unit, "number"),
        Column("high", "to", measure.unit, "number"),
    )
    out = Rows(columns)
    for levels, own in groups(frame, rows):
        # The search is of whole positive numbers; a millionth of the unit is one (ms: ns).
        values = np.round(own["value"].to_numpy(np.float64) * 1e6).astype(np.int64)
        found = find_modes(values[values > 0])
        number = found.number(values)
        for mode in range(found.count or 1):
            part = values[number == mode] / 1e6
            if not len(part):
                continue
            out.rows.append(
                {
                    **levels,
                    "count": len(values),
                    "dip_p": found.p_value,
                    "modes": found.count,
                    "mode": mode + 1,
                    "share": len(part) / len(values),
                    "p50": float(np.median(part)),
                    "low": float(part.min()),
                    "high": float(part.max()),
                }
            )
    notes = (
        "Hartigan's dip test of the logarithm, and valleys of its density: docs/method.md. Of "
        f"less than {MIN_COUNT} values no modes are told.",
        *put_together(results, study, figure, frame),
    )
    return Table(
        "modes",
        f"modes of {name_words(measure.name)} ({measure.unit})",
        columns,
        out.frame(),
        notes,
        why_no_rows(results, study, figure, frame),
        measure.name,
    )


def why_no_rows(results: Results, study: str, figure: Figure, frame: pd.DataFrame) -> str:
    """Say why a table has no row; empty when it has some."""
    return "" if len(frame) else results.study(study).why_empty(figure.where)


def put_together(
    results: Results, study: str, figure: Figure, frame: pd.DataFrame
) -> tuple[str, ...]:
    """Say what is in one row of a table, where that is several, and which cells are in none."""
    said = []
    told = (figure.rows, figure.factors, figure.over, figure.within)
    rows = [name for names in told for name in listed(names)]
    for name, many in (("hop", "hops"), ("process", "processes")):
        if name in frame.columns and name not in rows:
            counts = frame.groupby("cell", observed=True)[name].nunique()
            if len(counts) and counts.max() > 1:
                said.append(f"A row has all {many} of its cells together, up to {counts.max()}.")
    keys = [*rows, "origin"]
    for name in (*(factor.name for factor in results.study(study).factors), "repetition"):
        if name not in rows and len(frame):
            several = frame.groupby(keys, observed=True)[name].nunique().max()
            if several > 1:
                words = "repetitions" if name == "repetition" else f"levels of {name}"
                said.append(f"A row has all {words} of its cells together.")
    having = set(frame["cell"].astype(str))
    without = [
        one.id
        for one in results.study(study).finished
        if keeps(figure.where, one.cell.levels) and one.id not in having
    ]
    if having and without:
        said.append(f"Without such a value: {', '.join(without)}.")
    return tuple(said)


def skipped_notes(results: Results, study: str, figure: Figure) -> tuple[str, ...]:
    """Name the cells that a table has not, and why: a gap is never silent."""
    found: dict[str, list[str]] = {}
    for one in results.study(study).outcomes:
        if one.status != "finished" and keeps(figure.where, one.cell.levels):
            words = f"{one.status}: {one.reason}" if one.reason else one.status
            group = "+".join(one.cell.levels.values())
            if group not in found.setdefault(words, []):
                found[words].append(group)
    return tuple(f"Not here: {', '.join(cells)} ({words})." for words, cells in found.items())
