# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The table of boundaries: up to which data rate the loss stays in each class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from strata.campaign.model import Figure, listed
from strata.stats.shares import CONFIDENCE
from strata.study.campaign_results import HERE, Results, Study
from strata.study.level_texts import level_text
from strata.study.tables.loss_classes import CLASSES, Boundary, Loss, boundary_of
from strata.study.tables.loss_evidence import (
    LOSS,
    OF_SHORTFALL,
    by_data_rate,
    data_rates,
    evidence,
)
from strata.study.tables.table import ORIGIN, Column, Rows, Table, factor_columns
from strata.study.wording import name_words

_MB_S = "MB/s"
_WHOLE_FROM = 10.0


@dataclass(frozen=True)
class Series:
    """The losses of a level of `by` and an origin, by levels of `over` from the lowest data rate.

    `of` says what they are of: loss or shortfall.
    """

    levels: Mapping[str, str]
    origin: str
    of: str
    losses: Mapping[str, Loss]


def boundaries(results: Results, study: str, figure: Figure) -> Table:
    """Return a row per level of `by` and class: up to which data rate the loss stays in it.

    A loss is in a class when what it is at most (95 %) is, and out of it when what it is at least
    is; between these its messages do not decide.
    """
    over, by = str(figure.over), listed(figure.by)
    words, found = name_words(over), results.study(study)
    rates = data_rates(results, study, over, figure)
    series = series_of(results, study, figure, rates)
    imported = any(one.origin != HERE for one in series)
    columns = _columns(by, over, has_imports=imported)
    out = Rows(columns)
    for one in series:
        measured = levels_text(list(one.losses), found, over, rates)
        for bound, name in CLASSES:
            edge = boundary_of(one.losses, bound)
            out.rows.append(
                {
                    **one.levels,
                    ORIGIN: one.origin,
                    "of": one.of,
                    "class": name,
                    "below": bound,
                    "up_to": edge.up_to,
                    "up_to_rate": rates.get(edge.up_to or ""),
                    "next": edge.next_out,
                    "next_rate": rates.get(edge.next_out or ""),
                    "undecided": levels_text(edge.undecided, found, over, {}) or None,
                    "seen_up_to": edge.seen_up_to,
                    "measured": measured,
                }
            )
    notes = (
        f"{words} by growing data rate, which is what was asked for: payload times the stated "
        "rate (without one, the throughput that was measured). The boundary of a class lies "
        "between its 'up to' and its 'next that is not'.",
        f"A loss is below a bound when what it is at most is, and not below it when what it is at "
        f"least is (each {100 * CONFIDENCE:g} %, one-sided, Clopper and Pearson; as if each "
        "message were lost independently); else it is undecided. 'As observed' is by the loss "
        "itself.",
        *((OF_SHORTFALL,) if imported else ()),
    )
    empty = "" if out.rows else found.why_empty(figure.where)
    return Table("boundaries", "where loss begins", columns, out.frame(), notes, empty, LOSS)


def series_of(
    results: Results, study: str, figure: Figure, rates: Mapping[str, float]
) -> list[Series]:
    """Return the losses of each level of `by` and origin, along `over` by growing data rate."""
    over, by = str(figure.over), listed(figure.by)
    labels: dict[tuple[str, ...], Series] = {}
    losses: dict[tuple[str, ...], dict[str, Loss]] = {}
    for one in evidence(results, study, [*by, over], figure):
        levels = {name: one.levels[name] for name in by}
        key = (one.origin, *levels.values())
        labels.setdefault(key, Series(levels, one.origin, one.of, {}))
        losses.setdefault(key, {})[one.levels[over]] = one.loss
    out = []
    for key, made in labels.items():
        ordered = {level: losses[key][level] for level in by_data_rate(list(losses[key]), rates)}
        out.append(Series(made.levels, made.origin, made.of, ordered))
    return out


def edge_text(edge: Boundary, study: Study, over: str, rates: Mapping[str, float]) -> str:
    """Say a boundary in words: `up to 664 MB/s (1440p60), and not at 746 MB/s (2160p30)`."""
    text = up_to_text(edge.up_to, study, over, rates)
    if edge.next_out:
        text += f", and not at {_at(edge.next_out, study, over, rates)}"
    if edge.undecided:
        text += f"; too few messages decide at {levels_text(edge.undecided, study, over, {})}"
    return text


def up_to_text(level: str | None, study: Study, over: str, rates: Mapping[str, float]) -> str:
    """Say up to which level and data rate; null for none."""
    return f"up to {_at(level, study, over, rates)}" if level else "at no measured data rate"


def levels_text(levels: Sequence[str], study: Study, over: str, rates: Mapping[str, float]) -> str:
    """Name levels, each with its data rate where that is known."""
    return ", ".join(_named(level, study, over, rates) for level in levels)


def rate_text(rate: float) -> str:
    """Write a data rate: whole MB/s from 10 on."""
    return f"{rate:,.0f} {_MB_S}" if rate >= _WHOLE_FROM else f"{rate:.3g} {_MB_S}"


def _at(level: str, study: Study, over: str, rates: Mapping[str, float]) -> str:
    name = _named(level, study, over, {})
    return f"{rate_text(rates[level])} ({name})" if level in rates else name


def _named(level: str, study: Study, over: str, rates: Mapping[str, float]) -> str:
    name = level_text(level, study.factor(over))
    return f"{name} ({rate_text(rates[level])})" if level in rates else name


def _columns(by: Sequence[str], over: str, *, has_imports: bool) -> tuple[Column, ...]:
    words = name_words(over)
    return (
        *factor_columns([*by, *([ORIGIN] if has_imports else [])]),
        *((Column("of", "of"),) if has_imports else ()),
        Column("class", "class"),
        Column("below", "below", "%", "number"),
        Column("up_to", "up to", text=f"{words}: it and all of a lower data rate", of=over),
        Column("up_to_rate", "data rate", _MB_S, "number", "of 'up to'"),
        Column("next", "next that is not", text=words, of=over),
        Column("next_rate", "its data rate", _MB_S, "number"),
        Column("undecided", "undecided", text=f"{words} below that, with too few messages"),
        Column("seen_up_to", "up to, as observed", text="by the loss itself", of=over),
        Column("measured", "measured", text=f"{words} by data rate"),
    )
