# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a study of losses found, in sentences: classes, boundaries, winners, what to take.

Imports have sentences of their own: they are of another machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import pandas as pd

from strata.campaign.model import Figure
from strata.study.campaign_results import HERE, Results, Study
from strata.study.imported_deficits import LOSS
from strata.study.level_texts import level_text
from strata.study.source_shortfall import NOT_REACHED, SHORT_PERCENT, fell_short
from strata.study.tables.boundaries import (
    AS_RATES_GROW,
    OF_NOT_REACHED,
    Series,
    edge_text,
    labels_of,
    levels_text,
    rate_text,
    series_of,
    up_to_text,
)
from strata.study.tables.data_rates import by_data_rate, data_rates
from strata.study.tables.level_latencies import Key, Latency, level_latencies
from strata.study.tables.loss_classes import CLASSES, SEVERE, TOO_FEW, class_notes, loss_class
from strata.study.tables.loss_evidence import import_notes
from strata.study.tables.side_by_side import NO_CLEAR_WINNER, side_by_side
from strata.study.tables.table import ORIGIN, Column, Rows, Table
from strata.study.wording import name_words
from strata.units import format_ns, format_share

_BOUNDS = {name: f"below {bound:g} %" for bound, name in CLASSES}
_BOUNDS[SEVERE] = f"above {CLASSES[-1][0]:g} %"

Sentence = dict[str, str]


def findings(results: Results, study: str, figure: Figure) -> Table:
    """Return a sentence per row.

    `about` is classes, not reached, reliable up to, winner or recommended. `over` has the
    configurations, `by` (and `panels`) what is compared at each; there are winners and a
    recommended level where that is one factor. A level is recommended for all if it wins at half
    of what was reached or more, and no other wins anywhere.
    """
    over, labels = str(figure.over), labels_of(figure)
    rates = data_rates(results, study, over, labels, figure)
    latencies = level_latencies(results, study, [*labels, over], figure.where)
    asked = _Asked(results.study(study), over, rates.every, latencies)
    series = series_of(results, study, figure, rates)
    rows: list[Sentence] = []
    for one in series:
        rows += [{ORIGIN: one.origin, **row} for row in asked.of_series(one)]
    if len(labels) == 1:
        side = Figure(kind="side_by_side", rows=over, over=labels[0], where=figure.where)
        frame = side_by_side(results, study, side).frame
        rows += asked.of_winners(frame, labels[0])
    order = {origin: at for at, origin in enumerate(dict.fromkeys(one.origin for one in series))}
    rows.sort(key=lambda row: order.get(row[ORIGIN], len(order)))
    # An import may have a winner and no series: one of latencies alone.
    has_origins = any(row[ORIGIN] != HERE for row in rows)
    columns = (
        *((Column(ORIGIN, "origin"),) if has_origins else ()),
        Column("about", "about"),
        Column("subject", "of"),
        Column("text", "finding"),
    )
    out = Rows(columns, rows)
    empty = "" if out.rows else asked.study.why_empty(figure.where)
    return Table("findings", "findings", columns, out.frame(), _notes(over, series), empty, LOSS)


def _notes(over: str, series: Sequence[Series]) -> tuple[str, ...]:
    return (
        *class_notes(),
        f"Of each {name_words(over)}, by growing data rate. A winner is that of the table side by "
        "side: by loss, then by latency, where intervals (95 %) are apart.",
        AS_RATES_GROW,
        *((OF_NOT_REACHED,) if any(one.short for one in series) else ()),
        *import_notes(one.of for one in series if one.origin != HERE),
    )


@dataclass(frozen=True)
class _Asked:
    """Makes the sentences of a study; `rates` are the data rates that all series share.

    `latencies` are by origin, the levels of a series, and the level of `over`.
    """

    study: Study
    over: str
    rates: Mapping[str, float]
    latencies: Mapping[Key, Latency]

    def of_series(self, one: Series) -> Iterator[Sentence]:
        """Say the classes of each configuration, and up to which data rate each holds."""
        subject = ", ".join(self._called(level, name) for name, level in one.levels.items())
        sure: dict[str, list[str]] = {}
        seen: dict[str, list[str]] = {}
        for level, loss in one.losses.items():
            if loss.class_name is not None and level not in one.short:
                sure.setdefault(loss.class_name, []).append(level)
                seen.setdefault(str(loss_class(loss.percent)), []).append(level)
        text = f"{one.of} at most (95 % sure): {self._classes(sure)}"
        yield _sentence("classes", subject, text)
        yield _sentence("classes", subject, f"{one.of} as observed: {self._classes(seen)}")
        if one.short:
            yield _sentence("not reached", subject, self._short(one))
        for bound, name in CLASSES:
            edge = one.boundary(bound)
            where = edge_text(edge, self.study, self.over, one.rates)
            text = f"{name} ({one.of} below {bound:g} %) {where}"
            if edge.seen_up_to != edge.up_to:
                observed = up_to_text(edge.seen_up_to, self.study, self.over, one.rates)
                text += f" (as observed: {observed})"
            ends = dict.fromkeys([edge.up_to or edge.seen_up_to, edge.next_out])
            text += "".join(f"; {self._measured(one, level)}" for level in ends if level)
            yield _sentence("reliable up to", subject, text)

    def _measured(self, one: Series, level: str) -> str:
        """Say what was lost at a level, and how long messages took."""
        percent = one.losses[level].percent
        parts = [f"{one.of} {_share(percent)}"] if percent is not None else []
        found = self.latencies.get((one.origin, *one.levels.values(), level))
        if found:
            parts.append(f"mean latency {format_ns(found.mean)}")
        if found and found.largest is not None:
            parts.append(f"largest {format_ns(found.largest)}")
        return f"at {self._levels([level])}: {', '.join(parts) or 'no value'}"

    def _short(self, one: Series) -> str:
        """Say which levels the source did not reach, and by how much it fell short of each."""
        each = [
            f"{levels_text([level], self.study, self.over, one.rates)}: {_share(percent)} less"
            for level, percent in one.short.items()
        ]
        return (
            f"{NOT_REACHED}, which published over {SHORT_PERCENT:g} % less often than was asked "
            f"for, at {'; '.join(each)}"
        )

    def of_winners(self, frame: pd.DataFrame, by: str) -> Iterator[Sentence]:
        """Say which level of `by` wins at each configuration, and which to take."""
        if ORIGIN not in frame:
            frame = frame.assign(**{ORIGIN: HERE})
        for origin, own in frame.groupby(ORIGIN, sort=False):
            having = own[own["winner"].notna()]
            won: list[tuple[str, str]] = []
            for level in by_data_rate([str(one) for one in having[self.over].unique()], self.rates):
                rows = having[having[self.over] == level]
                winner = str(rows["winner"].iloc[0])
                won.append((level, winner))
                yield {ORIGIN: str(origin), **self._winner(rows, level, winner, by)}
            if won:
                text = self._recommended(won, by)
                yield {ORIGIN: str(origin), **_sentence("recommended", name_words(by), text)}

    def _classes(self, classes: Mapping[str, Sequence[str]]) -> str:
        order = [*(name for _, name in CLASSES), SEVERE, TOO_FEW]
        parts = []
        for name in order:
            if name in classes:
                bound = f" ({_BOUNDS[name]})" if name in _BOUNDS else ""
                parts.append(f"{name}{bound} at {self._levels(classes[name])}")
        return "; ".join(parts) or "nothing was counted"

    def _winner(self, rows: pd.DataFrame, level: str, winner: str, by: str) -> Sentence:
        subject = levels_text([level], self.study, self.over, self.rates)
        each = "; ".join(self._values(row, by) for row in rows.to_dict("records"))
        if winner == NO_CLEAR_WINNER:
            return _sentence("winner", subject, f"{NO_CLEAR_WINNER}: {each}")
        if winner == NOT_REACHED:
            return _sentence("winner", subject, f"none, {NOT_REACHED} with any: {each}")
        text = f"{self._called(winner, by)} wins by {rows['winner_by'].iloc[0]}: {each}"
        return _sentence("winner", subject, text)

    def _values(self, row: Mapping[Any, Any], by: str) -> str:
        """Write what a level lost and how long it took, with intervals where there are any."""
        short = row["shortfall"] if pd.notna(row["shortfall"]) else None
        names = ["loss"] if pd.notna(row["loss"]) else []
        if not names or fell_short(short):
            names.append("shortfall")
        parts = [
            f"{name} {_share(row[name])}{_bounds(row, name, _share)}"
            for name in names
            if pd.notna(row[name])
        ]
        if pd.notna(row["latency"]):
            parts.append(f"latency {format_ns(row['latency'])}{_bounds(row, 'latency', format_ns)}")
        return f"{self._called(str(row[by]), by)}: {', '.join(parts) or 'no value'}"

    def _recommended(self, won: Sequence[tuple[str, str]], by: str) -> str:
        """Say which level to take: one that no other beats anywhere, else which one where."""
        reached = [(level, winner) for level, winner in won if winner != NOT_REACHED]
        places = f"{len(reached)} {name_words(self.over)}s"
        winners = {winner for _, winner in reached if winner != NO_CLEAR_WINNER}
        rest = ""
        if len(reached) < len(won):
            missed = [level for level, winner in won if winner == NOT_REACHED]
            rest = f"; {NOT_REACHED} with any: {self._levels(missed)}"
        if not winners:
            return (f"none: {NO_CLEAR_WINNER} at any of {places}" if reached else "none") + rest
        if len(winners) == 1:
            (best,) = winners
            count = sum(winner == best for _, winner in reached)
            name = self._called(best, by)
            wins = f"wins at {count} of {places}, and no other wins at any"
            if 2 * count < len(reached):
                return f"none for all; {name} {wins}: {NO_CLEAR_WINNER} at the others{rest}"
            return f"{name}: it {wins}{rest}"
        parts = []
        for winner, group in groupby(reached, key=lambda one: one[1]):
            levels = [level for level, _ in group]
            name = winner if winner == NO_CLEAR_WINNER else self._called(winner, by)
            parts.append(f"{self._span(levels)}: {name}")
        return f"none for all; by data rate, {'; '.join(parts)}{rest}"

    def _span(self, levels: Sequence[str]) -> str:
        first, last = levels[0], levels[-1]
        if first == last or first not in self.rates or last not in self.rates:
            return levels_text(levels, self.study, self.over, self.rates)
        return f"{rate_text(self.rates[first])} to {rate_text(self.rates[last])}"

    def _levels(self, levels: Sequence[str]) -> str:
        return levels_text(levels, self.study, self.over, {})

    def _called(self, level: str, name: str) -> str:
        return level_text(level, self.study.factor(name))


def _bounds(row: Mapping[Any, Any], name: str, write: Callable[[float], str]) -> str:
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    return f" ({write(low)} to {write(high)})" if pd.notna(low) and pd.notna(high) else ""


def _sentence(about: str, subject: str, text: str) -> Sentence:
    return {"about": about, "subject": subject, "text": text}


def _share(percent: float) -> str:
    return format_share(percent / 100.0)
