# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The published figures of the original campaign, beside ours. They are of another machine.

A file that is known is mapped: its rows to the levels of the study's factors, its figures to a
measure and a statistic of it. Any other file is shown as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from strata.campaign.measures import MEASURES, long_frame
from strata.campaign.model import Figure
from strata.campaign.results import Results
from strata.campaign.tables import originals
from strata.campaign.tables.comparisons import anova
from strata.campaign.tables.statistics import SEED
from strata.campaign.tables.table import Column, Rows, Table
from strata.record.places import project_root

DIRECTORY = "published"
_ANOTHER = "Printed figures are of another machine: {machine}."


def published(results: Results, study: str, figure: Figure) -> Table:
    """Return the figures of a published file, those that are wrong corrected, and ours beside."""
    path = published_file(results, str(figure.file))
    original = results.campaign.original
    note = _ANOTHER.format(machine=original.machine if original else "not stated")
    if path is None:
        empty = f"the file {figure.file} is neither beside the campaign's file nor shipped"
        return Table("published", str(figure.file), (), pd.DataFrame(), (note,), empty)
    title = f"as published: {original.title}" if original else f"as published: {path.name}"
    if path.name == "dds-anova.csv":
        return _anova(results, study, path, title, note)
    known = originals.READERS.get(path.name)
    if known is None:
        return _as_it_is(path, title, note)
    figures = known(path)
    if any(name not in results.study(study).stated.factors for name in figures.factors):
        return _as_it_is(path, title, note)
    return _beside(results, study, figures, title, (note, *figures.notes))


def published_file(results: Results, name: str) -> Path | None:
    """Find a published file: beside the campaign's file, else among those that ship."""
    root = project_root()
    file = results.directory.document.get("file")
    places = [Path(str(file)).parent] if file else []
    places += [root / "trace_configs" / "campaigns"] if root else []
    found = (place / DIRECTORY / name for place in places)
    return next((path for path in found if path.is_file()), None)


def _as_it_is(path: Path, title: str, note: str) -> Table:
    frame = pd.read_csv(path, dtype=str)
    columns = tuple(Column(name, name, form="exact") for name in frame.columns)
    return Table("published", title, columns, frame, (note, f"{path.name}, as it is."))


def _beside(
    results: Results,
    study: str,
    figures: originals.Figures,
    title: str,
    notes: tuple[str, ...],
) -> Table:
    """Put our statistics beside the printed ones: a row for what either has."""
    factors = list(figures.factors)
    columns = (
        *(Column(name, name.replace("_", " ")) for name in factors),
        Column("measure", "measure"),
        Column("statistic", "statistic"),
        Column("unit", "unit"),
        Column("printed", "printed", form="exact", text="another machine"),
        Column("right", "corrected", form="exact", text="where the printed figure is wrong"),
        Column("here", "here", form="number", text="this machine"),
        Column("count", "n here", form="count"),
    )
    keys = [*factors, "measure", "statistic"]
    ours = _ours(results, study, figures)
    joined = figures.frame.merge(ours, on=keys, how="outer", suffixes=("", "_here"))
    joined["unit"] = joined["unit"].fillna(joined["unit_here"])
    order = {name: results.study(study).stated.factors[name].names for name in factors}
    order |= {
        name: list(figures.frame[name].drop_duplicates()) for name in ("measure", "statistic")
    }
    places = pd.DataFrame({name: joined[name].map(_places(one)) for name, one in order.items()})
    joined = joined.loc[places.sort_values(keys, kind="stable").index]
    frame = joined.reindex(columns=[column.name for column in columns]).reset_index(drop=True)
    return Table("published", title, columns, frame, notes)


def _places(levels: Sequence[str]) -> dict[str, int]:
    return {level: number for number, level in enumerate(levels)}


def _ours(results: Results, study: str, figures: originals.Figures) -> pd.DataFrame:
    factors = list(figures.factors)
    wanted = figures.frame.drop_duplicates(["measure", "statistic"])
    rows: list[dict[str, Any]] = []
    for measure, asked in wanted.groupby("measure", sort=False):
        name, share = originals.DERIVED.get(str(measure), (str(measure), 1.0))
        frame = long_frame(results, study, name, imports=False)
        grouped = frame.groupby(factors, observed=True) if factors else [((), frame)]
        for key, own in grouped:
            levels = dict(zip(factors, (str(one) for one in key), strict=True))
            values = own.sort_values(["cell", "number"])["value"].to_numpy(np.float64)
            if not len(values):
                continue
            for one in asked.to_dict("records"):
                scale = originals.SCALES.get((MEASURES[name].unit, one["unit"]), 1.0)
                value = _statistic(values, str(one["statistic"]), scale * share)
                rows.append(
                    {
                        **levels,
                        "measure": measure,
                        "statistic": one["statistic"],
                        "unit_here": one["unit"],
                        "here": value,
                        "count": len(values),
                    }
                )
    names = [*factors, "measure", "statistic", "unit_here", "here", "count"]
    return pd.DataFrame(rows, columns=names)


def _statistic(
    values: np.ndarray[tuple[int], np.dtype[np.float64]], name: str, scale: float
) -> float | None:
    """Return a statistic by the name that a published file's reader gives it."""
    from strata.stats.intervals import interval, mean_interval
    from strata.stats.summary import describe

    if name.startswith("mean, "):
        _, bound, confidence = name.split(", ")
        found = interval(values, "mean", float(confidence), seed=SEED)
        value = found.low if bound == "low" else found.high
    elif name == "se":
        found = mean_interval(values, 0.95)
        value = float(values.std(ddof=1)) / len(values) ** 0.5 if found.count > 1 else None
    else:
        value = describe(values)[name]
    if value is None:
        return None
    return float(value) if name == "count" else float(value) * scale


def _anova(results: Results, study: str, path: Path, title: str, note: str) -> Table:
    """Put our analysis of variance beside the printed one, term by term."""
    printed = originals.anova_terms(path)
    first, second = originals.ANOVA_FACTORS
    ours = anova(results, study, Figure(kind="anova", of="latency", factors=[first, second]))
    columns = [Column("term", "term")]
    rows = Rows(())
    for term, row in printed.items():
        rows.rows.append({"term": term, **{f"{key}_printed": one for key, one in row.items()}})
    frame = pd.DataFrame(rows.rows).merge(ours.frame, on="term", how="left")
    for name, label, form in (
        ("sum_sq", "sum of squares", "number"),
        ("df", "df", "count"),
        ("F", "F", "number"),
        ("p", "p", "p"),
        ("eta_sq", "eta squared", "share"),
    ):
        columns.append(Column(f"{name}_printed", f"{label}, printed", form=form))
        columns.append(Column(name, f"{label}, here", form=form))
    notes = (
        note,
        "The printed p of 0.000000 is no probability: it is below 1e-300. Eta squared is made of "
        "the printed sums of squares.",
        *ours.notes,
    )
    if ours.empty:
        notes = (*notes, f"Nothing here: {ours.empty}.")
    return Table("published", title, tuple(columns), frame[[c.name for c in columns]], notes)


def corrections(results: Results, study: str, figure: Figure) -> Table:
    """Return what is known to be wrong in the original, as the campaign's file lists it."""
    del study, figure
    original = results.campaign.original
    stated = list(original.corrections) if original else []
    columns = (Column("number", "", form="count"), Column("text", "what the original has wrong"))
    frame = pd.DataFrame({"number": range(1, len(stated) + 1), "text": stated})
    empty = "" if stated else "the campaign's file lists none"
    title = f"corrections of {original.title}" if original else "corrections"
    return Table("corrections", title, columns, frame, (), empty)
