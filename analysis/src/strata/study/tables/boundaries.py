# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The table of boundaries: up to which data rate the loss stays in each class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from strata.campaign.model import Figure, listed
from strata.stats.shares import CONFIDENCE
from strata.study.campaign_results import HERE, Results, Study
from strata.study.imported_deficits import LOSS
from strata.study.level_texts import level_text
from strata.study.source_shortfall import NOT_REACHED, SHORT_PERCENT, fell_short
from strata.study.tables.data_rates import DataRates, by_data_rate, data_rates
from strata.study.tables.loss_classes import CLASSES, Boundary, Loss, boundary_of
from strata.study.tables.loss_evidence import Evidence, evidence, import_notes
from strata.study.tables.table import ORIGIN, Column, Rows, Table, factor_columns
from strata.study.wording import name_words

_MB_S = "MB/s"
_WHOLE_FROM = 10.0

AS_RATES_GROW = (
    "A loss is taken not to fall while the data rate grows: a level of which too few messages came "
    "to decide is below a bound where one of a higher data rate is."
)
OF_NOT_REACHED = (
    f"Not reached: the source published over {SHORT_PERCENT:g} % less often than was asked for. "
    "What such a level lost is of the lower rate that the source made, so 'up to' ends before it."
)


@dataclass(frozen=True)
class Series:
    """The losses of an origin and the levels of `labels`, by level of `over` as data rates grow.

    `of` says what they are of: loss or shortfall. `rates` are the data rates of its levels in MB/s,
    `short` the mean shortfall (%) of those whose source did not reach its rate.
    """

    levels: Mapping[str, str]
    origin: str
    of: str
    losses: Mapping[str, Loss]
    rates: Mapping[str, float] = field(default_factory=dict)
    short: Mapping[str, float] = field(default_factory=dict)

    def boundary(self, bound: float) -> Boundary:
        """Find up to which level the loss stays below a bound, in percent."""
        return boundary_of(self.losses, bound, self.short)


def labels_of(figure: Figure) -> list[str]:
    """Name the factors in which series differ: those of `by` and of `panels`."""
    return list(dict.fromkeys([*listed(figure.by), *listed(figure.panels)]))


def boundaries(results: Results, study: str, figure: Figure) -> Table:
    """Return a row per series (levels of `by` and `panels`) and class: up to which data rate it is.

    A loss is in a class when what it is at most (95 %) is, and out of it when what it is at least
    is; between these its messages do not decide. A loss is taken not to fall while the data rate
    grows, so `up to` passes over levels that are undecided, and names them; it ends before a level
    whose source did not reach its rate.
    """
    over, labels, found = str(figure.over), labels_of(figure), results.study(study)
    series = series_of(results, study, figure, data_rates(results, study, over, labels, figure))
    imported = any(one.origin != HERE for one in series)
    columns = _columns(labels, over, has_imports=imported)
    out = Rows(columns)
    for one in series:
        out.rows += [_row(one, bound, name, found, over) for bound, name in CLASSES]
    notes = (
        *_notes(over),
        *((OF_NOT_REACHED,) if any(one.short for one in series) else ()),
        *import_notes(one.of for one in series if one.origin != HERE),
    )
    empty = "" if out.rows else found.why_empty(figure.where)
    return Table("boundaries", "where loss begins", columns, out.frame(), notes, empty, LOSS)


def _row(one: Series, bound: float, name: str, study: Study, over: str) -> dict[str, Any]:
    edge = one.boundary(bound)
    return {
        **one.levels,
        ORIGIN: one.origin,
        "of": one.of,
        "class": name,
        "below": bound,
        "up_to": edge.up_to,
        "up_to_rate": one.rates.get(edge.up_to or ""),
        "next": edge.next_out,
        "next_rate": one.rates.get(edge.next_out or ""),
        "undecided": levels_text(edge.undecided, study, over, {}) or None,
        "not_reached": levels_text(list(one.short), study, over, {}) or None,
        "seen_up_to": edge.seen_up_to,
        "measured": levels_text(list(one.losses), study, over, one.rates),
    }


def _notes(over: str) -> tuple[str, ...]:
    return (
        f"{name_words(over)} by growing data rate, which is what was asked for: payload times the "
        "stated rate (without one, the throughput that was measured). The boundary of a class lies "
        "between its 'up to' and its 'next that is not'.",
        f"A loss is below a bound when what it is at most is, and not below it when what it is at "
        f"least is (each {100 * CONFIDENCE:g} %, one-sided, Clopper and Pearson; as if each "
        "message were lost independently); else it is undecided. 'As observed' is by the loss "
        "itself.",
        AS_RATES_GROW,
    )


def series_of(results: Results, study: str, figure: Figure, rates: DataRates) -> list[Series]:
    """Return the losses of each series and origin, along `over` by growing data rate."""
    over, labels = str(figure.over), labels_of(figure)
    groups: dict[tuple[str, ...], list[Evidence]] = {}
    for one in evidence(results, study, [*labels, over], figure):
        key = (one.origin, *(one.levels[name] for name in labels))
        groups.setdefault(key, []).append(one)
    out = []
    for own in groups.values():
        levels = {name: own[0].levels[name] for name in labels}
        known = rates.of(levels)
        by_level = {one.levels[over]: one for one in own}
        ordered = [by_level[level] for level in by_data_rate(list(by_level), known)]
        losses = {one.levels[over]: one.loss for one in ordered}
        short = {
            one.levels[over]: one.shortfall
            for one in ordered
            if one.shortfall is not None and fell_short(one.shortfall)
        }
        out.append(Series(levels, own[0].origin, own[0].of, losses, known, short))
    return out


def edge_text(edge: Boundary, study: Study, over: str, rates: Mapping[str, float]) -> str:
    """Say a boundary in words: `up to 664 MB/s (1440p60), and not at 746 MB/s (2160p30)`."""
    text = up_to_text(edge.up_to, study, over, rates)
    if edge.next_out:
        text += f", and not at {_at(edge.next_out, study, over, rates)}"
    if edge.not_reached:
        text += f"; {NOT_REACHED}: {levels_text(edge.not_reached, study, over, rates)}"
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


def _columns(labels: Sequence[str], over: str, *, has_imports: bool) -> tuple[Column, ...]:
    words = name_words(over)
    return (
        *factor_columns([*labels, *([ORIGIN] if has_imports else [])]),
        *((Column("of", "of"),) if has_imports else ()),
        Column("class", "class"),
        Column("below", "below", "%", "number"),
        Column("up_to", "up to", text=f"{words}: it and all of a lower data rate", of=over),
        Column("up_to_rate", "data rate", _MB_S, "number", "of 'up to'"),
        Column("next", "next that is not", text=words, of=over),
        Column("next_rate", "its data rate", _MB_S, "number"),
        Column("undecided", "undecided", text=f"{words} before the next, with too few messages"),
        Column("not_reached", "not reached", text=f"{words} whose source fell short of its rate"),
        Column("seen_up_to", "up to, as observed", text="by the loss itself", of=over),
        Column("measured", "measured", text=f"{words} by data rate"),
    )
