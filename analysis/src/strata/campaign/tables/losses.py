# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The table of losses: what was published, received and lost, a row a group of cells.

What a producer did not make is no loss: it stands apart, as shortfall.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from strata.campaign.measures import long_frame
from strata.campaign.model import Figure, listed
from strata.campaign.results import Outcome, Results, Study, keeps
from strata.campaign.tables.table import Column, Rows, Table

CLASSES = ((0.1, "excellent"), (1.0, "good"), (5.0, "moderate"))
"""Classes of loss in percent: below the bound; `severe` above all. 5 % itself is moderate."""
SEVERE = "severe"
TIE = "tie"
_LEAST_DIFFERENCE = 0.01
"""In percentage points; below it two losses are one (the rule of gscam_stress)."""
_SIGNIFICANT = 0.05

_COUNTS = ("published", "left_out", "before_first", "received", "lost", "after_last")


def loss(results: Results, study: str, figure: Figure) -> Table:
    """Return what became of the messages of each group of cells, with classes when asked for."""
    rows = listed(figure.rows)
    compared = figure.classes and len(rows) > 1
    columns = (
        *(Column(name, name.replace("_", " ")) for name in rows),
        Column("published", "published", form="count"),
        Column("left_out", "warm-up", form="count"),
        Column("received", "received", form="count"),
        Column("lost", "lost", form="count"),
        Column("loss", "loss", "%", "percent", "lost of received and lost"),
        *((Column("class", "class"),) if figure.classes else ()),
        *((Column("best", "best"),) if compared else ()),
        Column("before_first", "before the first", form="count", text="nobody took them yet"),
        Column("after_last", "after the last", form="count", text="in flight at the end, or lost"),
        Column("own_lost", "lost, the nodes say", form="count", text="by sequence numbers"),
        Column("shortfall", "shortfall", "%", "percent", "published less often than nominal"),
        Column("dropped", "dropped by drivers", form="count", text="packets or buffers"),
        Column("missing", "missing packets", form="count"),
    )
    found = results.study(study)
    groups = cell_groups(found, rows, figure)
    short = long_frame(results, study, "shortfall", where=figure.where, imports=False)
    out = Rows(columns)
    for levels, cells in groups:
        row = _row(results, cells)
        if figure.classes:
            row["class"] = loss_class(row["loss"])
        own = short[short["cell"].isin([cell.id for cell in cells])]["value"]
        row["shortfall"] = float(own.mean()) if len(own) else None
        out.rows.append({**levels, **row})
    if compared:
        _mark_best(out.rows, rows)
    return Table(
        "loss",
        "loss of messages",
        columns,
        out.frame(),
        _notes(results, groups, figure, compared, rows),
        "" if out.rows else found.why_empty(figure.where),
        "loss",
    )


def loss_class(percent: float | None) -> str | None:
    """Name the class of a loss in percent, of those that gscam_stress made; null for none."""
    if percent is None:
        return None
    for bound, name in CLASSES:
        if percent < bound or (percent == bound and name == CLASSES[-1][1]):
            return name
    return SEVERE


def cell_groups(
    study: Study, rows: Sequence[str], figure: Figure
) -> list[tuple[dict[str, str], list[Outcome]]]:
    """Return the finished cells of each combination of levels, in the file's order."""
    found: dict[tuple[str, ...], list[Outcome]] = {}
    for one in study.finished:
        if keeps(figure.where, one.cell.levels):
            key = tuple(one.cell.levels.get(name, "") for name in rows)
            found.setdefault(key, []).append(one)

    def place(key: tuple[str, ...]) -> tuple[int, ...]:
        factors = [study.factor(name) for name in rows]
        return tuple(
            factor.levels.index(level) if factor and level in factor.levels else -1
            for factor, level in zip(factors, key, strict=True)
        )

    return [(dict(zip(rows, key, strict=True)), found[key]) for key in sorted(found, key=place)]


def _row(results: Results, cells: Sequence[Outcome]) -> dict[str, Any]:
    hops = pd.concat([results.measured(cell).read("hops") for cell in cells], ignore_index=True)
    sources = pd.concat(
        [results.measured(cell).read("sources", ["dropped", "missing"]) for cell in cells]
    )
    row: dict[str, Any] = {name: int(hops[name].sum()) for name in _COUNTS}
    expected = row["received"] + row["lost"]
    row["loss"] = 100.0 * row["lost"] / expected if expected else None
    told = hops["own_lost"].dropna()
    row["own_lost"] = int(told.sum()) if len(told) else None
    for name in ("dropped", "missing"):
        row[name] = int(sources[name].sum()) if len(sources) else None
    return row


def _mark_best(rows: list[dict[str, Any]], names: Sequence[str]) -> None:
    """Say, for each level of the factors before the last, which level of the last lost least."""
    groups: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row in rows:
        if row["loss"] is not None:
            groups.setdefault(tuple(row[name] for name in names[:-1]), []).append(row)
    for group in groups.values():
        for row in group:
            row["best"] = best_of(group, names[-1])


def best_of(group: Sequence[dict[str, Any]], name: str) -> str | None:
    """Return the level with the least loss; `TIE` unless it is less than every other's.

    Rows have `name`, received, lost and loss (in percent). Less means by 0.01 percentage points or
    more, and more than chance: Fisher's exact test, p below 0.05. Null for one row.
    """
    from scipy.stats import fisher_exact

    if len(group) < 2:
        return None
    first, *others = sorted(group, key=lambda row: float(row["loss"]))
    for row in others:
        counts = [[first["lost"], first["received"]], [row["lost"], row["received"]]]
        is_less = row["loss"] - first["loss"] >= _LEAST_DIFFERENCE
        if not is_less or float(fisher_exact(np.asarray(counts)).pvalue) >= _SIGNIFICANT:
            return TIE
    return str(first[name])


def _notes(
    results: Results,
    groups: Sequence[tuple[dict[str, str], list[Outcome]]],
    figure: Figure,
    compared: bool,
    rows: Sequence[str],
) -> tuple[str, ...]:
    notes = [
        "Lost: published between the first and the last that a subscription took, and not taken by "
        "it. What was in flight at the end is no loss, nor what the producer did not make "
        "(shortfall).",
    ]
    if figure.classes:
        notes.append("Classes: excellent below 0.1 %, good to 1, moderate to 5, severe above.")
    if compared:
        notes.append(
            f"Best: the {rows[-1]} that lost least, by 0.01 percentage points or more and by more "
            f"than chance (Fisher's exact test, p < 0.05) than each other; else {TIE}."
        )
    differing = 0
    for _, cells in groups:
        for cell in cells:
            findings = results.measured(cell).read("findings", ["code", "count"])
            own = findings[findings["code"] == "loss_disagreements"]["count"]
            differing += int(own.sum())
    if differing:
        notes.append(
            f"Of {differing} hops, what the nodes counted by sequence numbers is not what the "
            "trace's matches say."
        )
    return tuple(notes)
