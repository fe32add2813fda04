# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The table of losses: what was published, received and lost, one row per group of cells.

What a producer did not make is no loss: it stands apart, as shortfall.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from strata.campaign.model import Figure, listed
from strata.study.campaign_results import Outcome, Results, Study, keeps
from strata.study.cell_transfers import fate
from strata.study.level_texts import level_text
from strata.study.long_frames import long_frame
from strata.study.tables.loss_classes import (
    CLASSES,
    NOWHERE,
    TOO_FEW,
    Loss,
    class_notes,
    up_to,
)
from strata.study.tables.table import Column, Rows, Table, factor_columns
from strata.study.wording import name_words

TIE = "tie"
_LEAST_DIFFERENCE = 0.01
"""In percentage points; below it two losses are one (the rule of gscam_stress)."""
_SIGNIFICANT = 0.05

_OF_CHAINS = (
    Column("chains", "chains", form="count", text="messages that came through the whole chain"),
    Column("chains_lost", "chains lost", form="count", text="on any of its hops"),
    Column("chain_loss", "loss of chains", "%", "percent", "lost of both"),
)
_OF_CLASSES = (
    Column("class", "class", text="of what the loss is at most"),
    Column(
        "to_tell",
        "messages needed",
        form="count",
        text="how many would decide the class of the observed loss, where these are too few",
    ),
)
_OF_NODES = (
    Column(
        "matched_lost",
        "lost, with warm-up",
        form="count",
        text="as lost, over the messages that the nodes count, for comparison with the next column",
    ),
    Column(
        "own_lost",
        "lost, by the nodes",
        form="count",
        text="by sequence numbers, with warm-up, before the first and after the last message; a "
        "lower bound for images without numbers",
    ),
)
_COUNTS = ("published", "left_out", "before_first", "received", "lost", "after_last")


def loss(results: Results, study: str, figure: Figure) -> Table:
    """Return what became of the messages of each group of cells, with classes when asked for."""
    rows = listed(figure.rows)
    found = results.study(study)
    over = figure.over or (rows[-1] if figure.classes and len(rows) > 1 else None)
    columns = _loss_columns(rows, figure, is_of_chains=found.stated.chain, over=over)
    groups = cell_groups(found, rows, figure)
    short = long_frame(results, study, "shortfall", where=figure.where, imports=False)
    out = Rows(columns)
    for levels, cells in groups:
        row = _row(results, cells)
        if found.stated.chain:
            row |= _of_chains(results, cells)
        if figure.classes:
            found_loss = _loss_of(row)
            row |= {"class": found_loss.class_name, "to_tell": found_loss.to_tell}
        own = short[short["cell"].isin([cell.id for cell in cells])]["value"]
        row["shortfall"] = float(own.mean()) if len(own) else None
        out.rows.append({**levels, **row})
    if over:
        _mark_best(out.rows, [name for name in rows if name != over], over)
    return Table(
        "loss",
        "loss of messages",
        columns,
        out.frame(),
        _notes(results, groups, figure, over),
        "" if out.rows else found.why_empty(figure.where),
        "loss",
    )


def _loss_columns(
    rows: Sequence[str], figure: Figure, *, is_of_chains: bool, over: str | None
) -> tuple[Column, ...]:
    """Return what is told of a group: of whole chains, classes and the best where asked for."""
    return (
        *factor_columns(rows),
        Column("published", "published", form="count"),
        Column("left_out", "warm-up", form="count"),
        Column("received", "received", form="count"),
        Column("lost", "lost", form="count"),
        Column("loss", "loss", "%", "percent", "lost of received and lost"),
        Column("at_most", "loss at most", "%", "percent", "one-sided bound of 95 %"),
        *(_OF_CHAINS if is_of_chains else ()),
        *(_OF_CLASSES if figure.classes else ()),
        *((Column("best", "best", of=over),) if over else ()),
        Column("before_first", "before the first", form="count", text="nobody took them yet"),
        Column(
            "after_last",
            "after the last",
            form="count",
            text="in flight at the end, or lost: with these the loss may be more",
        ),
        *_OF_NODES,
        Column("shortfall", "shortfall", "%", "percent", "published less often than nominal"),
        Column("dropped", "dropped by drivers", form="count", text="packets or buffers"),
        Column("missing", "missing packets", form="count"),
    )


def boundaries(results: Results, study: str, figure: Figure) -> Table:
    """Return, for each level of `by`, up to which level of `over` the loss stays in each class.

    Up to means: it and all levels before it in the file's order, as far as they were measured. A
    loss is in a class when what it is at most (95 %) is.
    """
    over, by = str(figure.over), listed(figure.by)
    words, found = name_words(over), results.study(study)
    columns = (
        *factor_columns(by),
        *(
            Column(name, f"loss below {bound:g} % up to", text=f"levels of {words}", of=over)
            for bound, name in CLASSES
        ),
        Column("measured", "measured", text=f"levels of {words}"),
    )
    factor = found.factor(over)
    order = list(factor.levels) if factor else []
    out = Rows(columns)
    for levels, cells in cell_groups(found, by, figure):
        losses = {
            level: _loss_of(_row(results, [one for one in cells if one.cell.levels[over] == level]))
            for level in order
            if any(one.cell.levels[over] == level for one in cells)
        }
        row = {name: up_to(losses, bound) for bound, name in CLASSES}
        measured = ", ".join(level_text(level, factor) for level in losses)
        out.rows.append({**levels, **row, "measured": measured})
    notes = (
        f"{words} in the order of the file; a loss is below a bound when what it is at most (95 %) "
        f"is. '{NOWHERE}': the first level already lost more; '{TOO_FEW}': the first level has too "
        "few to decide.",
    )
    empty = "" if out.rows else found.why_empty(figure.where)
    return Table("boundaries", "where loss begins", columns, out.frame(), notes, empty, "loss")


def cell_groups(
    study: Study, rows: Sequence[str], figure: Figure
) -> list[tuple[dict[str, str], list[Outcome]]]:
    """Return the finished cells of each combination of levels, in the file's order."""
    found: dict[tuple[str, ...], list[Outcome]] = {}
    for one in study.finished:
        if keeps(figure.where, one.cell.levels):
            key = tuple(_level(one, name) for name in rows)
            found.setdefault(key, []).append(one)

    def place(key: tuple[str, ...]) -> tuple[int, ...]:
        return tuple(
            factor.levels.index(level) if (factor := study.factor(name)) else int(level)
            for name, level in zip(rows, key, strict=True)
        )

    return [(dict(zip(rows, key, strict=True)), found[key]) for key in sorted(found, key=place)]


def _level(one: Outcome, name: str) -> str:
    return str(one.cell.repetition) if name == "repetition" else one.cell.levels[name]


def _row(results: Results, cells: Sequence[Outcome]) -> dict[str, Any]:
    hops = pd.concat([results.measured(cell).read("hops") for cell in cells], ignore_index=True)
    sources = pd.concat(
        [results.measured(cell).read("sources", ["dropped", "missing"]) for cell in cells]
    )
    row: dict[str, Any] = {name: int(hops[name].sum()) for name in _COUNTS}
    row["loss"], row["at_most"] = (found := _loss_of(row)).percent, found.at_most
    told = hops[hops["own_lost"].notna()]
    for name in ("own_lost", "matched_lost"):
        row[name] = int(told[name].sum()) if len(told) else None
    for name in ("dropped", "missing"):
        row[name] = int(sources[name].sum()) if len(sources) else None
    return row


def _loss_of(row: dict[str, Any]) -> Loss:
    return Loss(row["lost"], row["received"] + row["lost"])


def _of_chains(results: Results, cells: Sequence[Outcome]) -> dict[str, Any]:
    """Say how many publications of the first topic came through the whole chain, as of a hop."""
    received, lost = 0, 0
    for cell in cells:
        measured = results.measured(cell)
        chains = measured.read("chains", ["chain", "hops", "number"])
        publications = measured.read("publications", ["topic", "publisher_node", "number"])
        longest = chains[chains["hops"] == chains["hops"].max()]
        for name, own in longest.groupby("chain"):
            sent = publications[publications["topic"] == str(name).split(" -> ")[0]]
            if sent["publisher_node"].nunique() != 1:
                # A number is of one publisher; a chain does not tell of which.
                return {}
            found = fate(sent, own, cell.cell.warm_up)
            received, lost = received + found["received"], lost + found["lost"]
    expected = received + lost
    return {
        "chains": received,
        "chains_lost": lost,
        "chain_loss": 100.0 * lost / expected if expected else None,
    }


def _mark_best(rows: list[dict[str, Any]], others: Sequence[str], over: str) -> None:
    """Say, for each combination of the other factors' levels, which level lost least."""
    groups: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row in rows:
        if row["loss"] is not None:
            groups.setdefault(tuple(row[name] for name in others), []).append(row)
    for group in groups.values():
        for row in group:
            row["best"] = best_of(group, over)


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
    over: str | None,
) -> tuple[str, ...]:
    notes = [
        "Lost: published between the first and the last that a subscription took, and not taken by "
        "it. Messages in flight at the end are not lost, nor are those that the producer did not "
        "make (shortfall).",
    ]
    if figure.classes:
        notes += class_notes()
    if over:
        notes.append(
            f"Best: the {name_words(over)} that lost least: less than each other one by 0.01 "
            f"percentage points or more, and by more than chance (Fisher's exact test, p < 0.05); "
            f"else {TIE}."
        )
    differing = 0
    for _, cells in groups:
        for cell in cells:
            findings = results.measured(cell).read("findings", ["code", "count"])
            own = findings[findings["code"] == "loss_disagreements"]["count"]
            differing += int(own.sum())
    if differing:
        notes.append(
            f"On {differing} hops, the losses that the nodes counted by sequence numbers differ "
            "from those of the trace."
        )
    return tuple(notes)
