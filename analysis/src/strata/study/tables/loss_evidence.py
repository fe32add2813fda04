# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What is known of the loss of each group of cells, ours and imported.

Of ours it is the loss, and of imports that count lost messages. Others count what was asked for and
did not come, which is `shortfall`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from strata.campaign.model import Figure
from strata.study.campaign_results import HERE, Outcome, Results, Study, keeps
from strata.study.imported_deficits import (
    LOSS,
    SHORTFALL,
    Deficit,
    imported_deficits,
    imported_losses,
)
from strata.study.source_shortfall import mean_shortfalls
from strata.study.tables.loss_classes import Loss

OF_SHORTFALL = (
    "Imported files that count no losses count what was asked for and did not come: their loss and "
    "its class are those of this shortfall, in which what the source did not make is missing, too."
)
OF_NUMBERS = (
    "Losses of imported files are gaps in sequence numbers: what was lost before the first and "
    "after the last message that was received is not in them."
)
_COUNTS = ("published", "left_out", "before_first", "received", "lost", "after_last")


@dataclass(frozen=True)
class Evidence:
    """A group of cells of one origin; `of` says what its loss is of: LOSS or SHORTFALL.

    `shortfall` is the mean of its sources in percent, null where no rate is stated, and of imports.
    """

    levels: Mapping[str, str]
    origin: str
    of: str
    loss: Loss
    shortfall: float | None = None


def evidence(results: Results, study: str, names: Sequence[str], figure: Figure) -> list[Evidence]:
    """List what is known of each combination of levels, ours first, in the file's order."""
    found = results.study(study)
    short = mean_shortfalls(results, study, names, figure.where)
    out = [
        Evidence(
            levels,
            HERE,
            LOSS,
            loss_of(counts_of(results, cells)),
            short.get(tuple(levels.values())),
        )
        for levels, cells in cell_groups(found, names, figure)
    ]
    for (origin, levels), runs in deficit_groups(results, study, names, figure):
        lost = sum(one.missing for one in runs)
        loss = Loss(lost, sum(one.asked for one in runs))
        out.append(Evidence(levels, origin, runs[0].of, loss))
    return out


def import_notes(told: Iterable[str]) -> tuple[str, ...]:
    """Say what the losses of imports are of, each of LOSS or SHORTFALL."""
    notes = {LOSS: OF_NUMBERS, SHORTFALL: OF_SHORTFALL}
    found = set(told)
    return tuple(note for of, note in notes.items() if of in found)


def deficit_groups(
    results: Results, study: str, names: Sequence[str], figure: Figure
) -> list[tuple[tuple[str, dict[str, str]], list[Deficit]]]:
    """List the imported runs of each origin and combination of levels, in the file's order.

    Those of a group are all of losses, where its files count any, else all of shortfalls.
    """
    groups: dict[tuple[str, tuple[str, ...]], list[Deficit]] = {}
    for read in (imported_losses, imported_deficits):
        own: dict[tuple[str, tuple[str, ...]], list[Deficit]] = {}
        for one in read(results, study, figure.where):
            levels = {**one.levels, "repetition": str(one.repetition)}
            key = tuple(levels[name] for name in names)
            own.setdefault((one.origin, key), []).append(one)
        groups = {**own, **groups}
    found = results.study(study)
    ordered = sorted(groups, key=lambda group: (group[0], _places(found, names, group[1])))
    return [
        ((origin, dict(zip(names, key, strict=True))), groups[origin, key])
        for origin, key in ordered
    ]


def cell_groups(
    study: Study, rows: Sequence[str], figure: Figure
) -> list[tuple[dict[str, str], list[Outcome]]]:
    """Return the finished cells of each combination of levels, in the file's order."""
    found: dict[tuple[str, ...], list[Outcome]] = {}
    for one in study.finished:
        if keeps(figure.where, one.cell.levels):
            key = tuple(level_of(one, name) for name in rows)
            found.setdefault(key, []).append(one)
    ordered = sorted(found, key=lambda key: _places(study, rows, key))
    return [(dict(zip(rows, key, strict=True)), found[key]) for key in ordered]


def counts_of(results: Results, cells: Sequence[Outcome]) -> dict[str, Any]:
    """Return what became of the messages of cells, by the trace and by their nodes."""
    hops = pd.concat([results.measured(cell).read("hops") for cell in cells], ignore_index=True)
    sources = pd.concat(
        [results.measured(cell).read("sources", ["dropped", "missing"]) for cell in cells]
    )
    row: dict[str, Any] = {name: int(hops[name].sum()) for name in _COUNTS}
    counted = hops[hops["own_lost"].notna()]
    for name in ("own_lost", "matched_lost"):
        row[name] = int(counted[name].sum()) if len(counted) else None
    for name in ("dropped", "missing"):
        row[name] = int(sources[name].sum()) if len(sources) else None
    return row


def loss_of(counts: Mapping[str, Any]) -> Loss:
    """Return the loss of what `counts_of` counted."""
    return Loss(counts["lost"], counts["received"] + counts["lost"])


def level_of(one: Outcome, name: str) -> str:
    """Return a cell's level of a factor, or its repetition."""
    return str(one.cell.repetition) if name == "repetition" else one.cell.levels[name]


def _places(study: Study, names: Sequence[str], key: Sequence[str]) -> tuple[int, ...]:
    """Return the place of a combination in the file's order.

    Levels that the file does not have (any more) come last.
    """
    places = []
    for name, level in zip(names, key, strict=True):
        stated = study.stated.factors.get(name)
        if stated is None:
            places.append(int(level))
        else:
            known = stated.names
            places.append(known.index(level) if level in known else len(known))
    return tuple(places)
