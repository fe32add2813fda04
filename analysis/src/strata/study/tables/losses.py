# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The table of losses: what was published, received and lost, one row per group of cells.

What a producer did not make is no loss: it is a column of its own, shortfall. Imports that count
nothing else have it in place of a loss, and say so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from strata.campaign.model import Figure, listed
from strata.study.campaign_results import HERE, Outcome, Results
from strata.study.cell_transfers import fate
from strata.study.imported_deficits import LOSS, SHORTFALL, Deficit
from strata.study.source_shortfall import SHORT_PERCENT, fell_short, mean_shortfalls
from strata.study.tables.loss_classes import Loss, class_notes, loss_class
from strata.study.tables.loss_evidence import (
    cell_groups,
    counts_of,
    deficit_groups,
    import_notes,
    loss_of,
)
from strata.study.tables.table import ORIGIN, Column, Rows, Table, factor_columns
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
    Column("seen", "class as observed", text="of the loss itself, as rmw_benchmark has it"),
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
_OF_IMPORTS = (
    Column("asked", "asked for", form="count", text="messages, by the stated rate and the time"),
    Column("class_of", "class of", text=f"{LOSS}, or {SHORTFALL} where a file knows no loss"),
    Column("short_at_most", "shortfall at most", "%", "percent", "one-sided bound of 95 %"),
)


def loss(results: Results, study: str, figure: Figure) -> Table:
    """Return what became of the messages of each group of cells, with classes when asked for."""
    rows = listed(figure.rows)
    found = results.study(study)
    over = figure.over or (rows[-1] if figure.classes and len(rows) > 1 else None)
    groups = cell_groups(found, rows, figure)
    theirs = deficit_groups(results, study, rows, figure)
    columns = _loss_columns(
        rows, figure, is_of_chains=found.stated.chain, over=over, has_imports=bool(theirs)
    )
    short = mean_shortfalls(results, study, rows, figure.where)
    out = Rows(columns)
    for levels, cells in groups:
        row = _row(results, cells)
        if found.stated.chain:
            row |= _of_chains(results, cells)
        row |= _classes(loss_of(row), LOSS)
        row["shortfall"] = short.get(tuple(levels.values()))
        out.rows.append({**levels, ORIGIN: HERE, **row})
    out.rows += [
        {**levels, ORIGIN: origin, **_of_deficits(runs)} for (origin, levels), runs in theirs
    ]
    if over:
        _mark_least(out.rows, [ORIGIN, *(name for name in rows if name != over)], over)
    return Table(
        "loss",
        "loss of messages",
        columns,
        out.frame(),
        (
            *_notes(results, groups, figure, over),
            *import_notes(runs[0].of for _, runs in theirs),
        ),
        "" if out.rows else found.why_empty(figure.where),
        "loss",
    )


def _classes(loss: Loss, of: str) -> dict[str, Any]:
    return {
        "class": loss.class_name,
        "seen": loss_class(loss.percent),
        "to_tell": loss.to_tell,
        "class_of": of,
    }


def _of_deficits(runs: Sequence[Deficit]) -> dict[str, Any]:
    """Return the row of imported runs: they count losses, or what came of what was asked for."""
    asked, missing = sum(one.asked for one in runs), sum(one.missing for one in runs)
    short = Loss(missing, asked)
    if runs[0].of == LOSS:
        return {
            **_classes(short, LOSS),
            "received": asked - missing,
            "lost": missing,
            "loss": short.percent,
            "at_most": short.at_most,
            "shortfall": None,
        }
    return {
        **_classes(short, SHORTFALL),
        "asked": asked,
        "received": asked - missing,
        "shortfall": sum(one.percent * one.asked for one in runs) / asked if asked else None,
        "short_at_most": short.at_most,
    }


def _loss_columns(
    rows: Sequence[str],
    figure: Figure,
    *,
    is_of_chains: bool,
    over: str | None,
    has_imports: bool,
) -> tuple[Column, ...]:
    """Return the columns of a group: of whole chains, classes, who lost least where asked for."""
    return (
        *factor_columns([*rows, *([ORIGIN] if has_imports else [])]),
        *(_OF_IMPORTS[:1] if has_imports else ()),
        Column("published", "published", form="count"),
        Column("left_out", "warm-up", form="count"),
        Column("received", "received", form="count"),
        Column("lost", "lost", form="count"),
        Column("loss", "loss", "%", "percent", "lost of received and lost"),
        Column("at_most", "loss at most", "%", "percent", "one-sided bound of 95 %"),
        *(_OF_CHAINS if is_of_chains else ()),
        *(_OF_CLASSES if figure.classes else ()),
        *(_OF_IMPORTS[1:2] if has_imports and figure.classes else ()),
        *((Column("lost_least", "lost least", of=over),) if over else ()),
        Column("before_first", "before the first", form="count", text="nobody took them yet"),
        Column(
            "after_last",
            "after the last",
            form="count",
            text="in flight at the end, or lost: with these the loss may be more",
        ),
        *_OF_NODES,
        Column("shortfall", "shortfall", "%", "percent", "published less often than nominal"),
        *(_OF_IMPORTS[2:] if has_imports else ()),
        Column("dropped", "dropped by drivers", form="count", text="packets or buffers"),
        Column("missing", "missing packets", form="count"),
    )


def _row(results: Results, cells: Sequence[Outcome]) -> dict[str, Any]:
    row = counts_of(results, cells)
    row["loss"], row["at_most"] = (found := loss_of(row)).percent, found.at_most
    return row


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


def _mark_least(rows: list[dict[str, Any]], others: Sequence[str], over: str) -> None:
    """Say, for each combination of the other factors' levels, which level lost least.

    Rows whose source fell short of its rate are left out: their loss is of a lower rate.
    """
    groups: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in others), []).append(row)
    for group in groups.values():
        reached = [row for row in group if not _is_short(row)]
        known = [one for row in reached if (one := _counted(row, over))["loss"] is not None]
        for row in group:
            row["lost_least"] = least_of(known, over)


def _is_short(row: dict[str, Any]) -> bool:
    return row["class_of"] == LOSS and fell_short(row["shortfall"])


def _counted(row: dict[str, Any], over: str) -> dict[str, Any]:
    """Return what `least_of` needs of a row: of imports, what did not come."""
    lost = row["asked"] - row["received"] if row["class_of"] == SHORTFALL else row["lost"]
    loss = Loss(lost, row["received"] + lost).percent
    return {over: row[over], "received": row["received"], "lost": lost, "loss": loss}


def least_of(group: Sequence[dict[str, Any]], name: str) -> str | None:
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
            f"Lost least: the {name_words(over)} that lost less than each other one by 0.01 "
            f"percentage points or more, and by more than chance (Fisher's exact test, p < 0.05); "
            f"else {TIE}. This is of losses alone; the winner of the table side by side is by "
            "loss, then by latency, where intervals are apart. Where the source published over "
            f"{SHORT_PERCENT:g} % less often than was asked for (shortfall), a row is left out: "
            "its loss is of a lower rate."
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
