# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A comparison on one screen: the answer, where it is, and what else differs and matters."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from strata.comparison.amounts import percent, signed_ns, subject_text
from strata.comparison.answer import Answer, Change, answer
from strata.comparison.comparison import Block, Comparison, Row
from strata.comparison.places import PlacedTime
from strata.comparison.runs import CALLBACK, CHAIN
from strata.comparison.sentences import further, headline, small_text
from strata.printable import printable
from strata.show.words.comparison import (
    group_text,
    only_count_text,
    place_text,
    quality_text,
    sides_text,
    unit_text,
)
from strata.show.words.fitting import fitted
from strata.symbols import shorten
from strata.units import NOTHING, format_ns

MOST_LINES = 40
"""Of a terminal of 80 columns."""
_MOST_PLACES = 8
_MOST_SUBJECTS = 5
_MOST_FURTHER = 6
_FEWEST = 2
_GLUE = "\N{NO-BREAK SPACE}"
_UNIT = re.compile(r"(?<=\d) (?=(?:ns|us|ms|s|%)(?!\w))")
_NAMES = 38
"""Columns of the names of a table; the numbers to the right of it have the rest."""


@dataclass(frozen=True)
class _Section:
    """A table of one line per row; `wanted` rows of it are shown where there is space."""

    title: str
    heads: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    wanted: int
    rest: str


def print_summary(comparison: Comparison, console: Console) -> None:
    """Print the answer and what is relevant, in at most 40 lines at 80 columns."""
    found = answer(comparison)
    above = _above(comparison, found, console.width)
    below = _below(comparison, found, console.width)
    sections = [one for one in _sections(comparison, found) if one.rows]
    options = console.options
    lines = sum(len(console.render_lines(part, options)) for part in (*above, *below))
    left = MOST_LINES - lines
    for at, section in enumerate(sections):
        # A title, the heads, what is left out, and an empty line after it.
        later = sum(min(len(one.rows), _FEWEST) + 4 for one in sections[at + 1 :])
        shown = max(0, min(section.wanted, len(section.rows), left - later - 4))
        part = _table(section, shown, console.width)
        left -= sum(len(console.render_lines(one, options)) for one in part) if shown else 0
        above += part if shown else []
    for renderable in (*above, *below):
        console.print(renderable)


def _above(comparison: Comparison, found: Answer, width: int) -> list[RenderableType]:
    parts: list[RenderableType] = [_text(headline(comparison, found), width, "bold")]
    parts += [_text(text, width) for text in further(comparison, found)]
    parts.append(Text())
    for letter, side in (("A", comparison.a), ("B", comparison.b)):
        parts.append(_text(f"{letter}  {sides_text(side)}", width))
        lost = quality_text(side, letter)
        if lost:
            more = f" (and {len(lost) - 1} more, with --all)" if len(lost) > 1 else ""
            parts.append(_text(f"{lost[0]}{more}", width, "yellow"))
    return [*parts, Text()]


def _below(comparison: Comparison, found: Answer, width: int) -> list[RenderableType]:
    texts = [small_text(comparison, found), only_count_text(comparison), unit_text(comparison)]
    texts.append("--all: every comparison; --relevant: what matters; a page: strata report A B.")
    return [_text(text, width, "dim") for text in texts if text]


def _sections(comparison: Comparison, found: Answer) -> list[_Section]:
    change = found.median or found.tail
    sections = []
    if comparison.quantiles and change is not None:
        sections.append(_quantiles(comparison, change))
    if change is not None and change.split is not None:
        sections.append(_places(change))
    relevant = [b for b in comparison.blocks if comparison.is_relevant(b, b.whole)]
    kind = change.block.subject.kind if change else ""
    alike = [block for block in relevant if block.subject.kind == kind]
    others = [block for block in relevant if block.subject.kind != kind]
    if len(alike) > 1:
        sections.append(_subjects(f"{kind}s that differ", alike, _MOST_SUBJECTS))
    sections.append(_subjects("hops, services and callbacks that differ", others, _MOST_FURTHER))
    return sections


def _quantiles(comparison: Comparison, change: Change) -> _Section:
    row = change.block.whole
    assert row.a is not None
    assert row.b is not None
    assert row.difference is not None
    rows = []
    for name in comparison.quantiles:
        moved = row.difference.quantiles[name]
        mark = "" if moved.without_zero else " (may be 0)"
        of_a, of_b = row.a.quantile(name), row.b.quantile(name)
        relative = percent(moved.value / of_a) if of_a else NOTHING
        cells = (format_ns(of_a), format_ns(of_b), signed_ns(moved.value), relative)
        rows.append((f"{name}{mark}", *cells))
    return _Section(
        f"{change.block.subject.kind} {subject_text(change.block.subject)}",
        ("A", "B", "B - A", "of A"),
        rows,
        len(rows),
        "",
    )


def _places(change: Change) -> _Section:
    assert change.split is not None
    whole = change.split.difference_ns

    def row(place: PlacedTime) -> tuple[str, ...]:
        times = (place.a_ns, place.b_ns)
        share = percent(place.difference_ns / whole, sign=False)
        return (place_text(place), *map(format_ns, times), signed_ns(place.difference_ns), share)

    places = sorted(change.split.places, key=lambda place: -abs(place.difference_ns))
    return _Section(
        f"where, {group_text(change.split)}",
        ("A", "B", "B - A", "of it"),
        [row(place) for place in places],
        _MOST_PLACES,
        "layers of hops that differ less",
    )


def _subjects(title: str, blocks: Sequence[Block], wanted: int) -> _Section:
    def size(block: Block) -> float:
        row = block.whole
        return abs(row.difference.shift.value) if row.difference else abs(row.mean_ns)

    def cells(row: Row) -> tuple[str, ...]:
        assert row.a is not None
        assert row.b is not None
        shift = row.difference.shift.value if row.difference else row.mean_ns
        return (format_ns(row.a.p50), format_ns(row.b.p50), signed_ns(shift), percent(row.relative))

    ordered = sorted(blocks, key=lambda block: -size(block))
    rows = [(_name(block), *cells(block.whole)) for block in ordered]
    return _Section(title, ("A p50", "B p50", "shift", "of A"), rows, wanted, "more")


def _name(block: Block) -> str:
    """Name a subject in a line: a chain by its topics, a callback by its node, a hop by its ends.

    Of a hop with long names the topic and the reading node are said, or the topic alone.
    """
    subject = block.subject
    if subject.kind == CHAIN:
        return " > ".join(subject.name.split(" -> "))
    if subject.kind == CALLBACK and subject.node:
        return f"{subject.node}: {shorten(subject.name)}"
    reader = subject.where.split(" -> ")[-1]
    shown = (subject_text(subject), f"{subject.name} > {reader}")
    return next((text for text in shown if cell_len(text) <= _NAMES), subject.name)


def _table(section: _Section, shown: int, width: int) -> list[RenderableType]:
    table = Table(box=None, padding=(0, 1, 0, 0), show_edge=False)
    names = max(_NAMES, min(width, 100) - 80 + _NAMES)
    table.add_column("", no_wrap=True, min_width=names, max_width=names)
    for head in section.heads:
        table.add_column(head, justify="right", no_wrap=True, min_width=9)
    for name, *cells in section.rows[:shown]:
        table.add_row(Text(fitted(printable(name), names)), *cells)
    parts: list[RenderableType] = [
        Text(fitted(printable(section.title), width), style="bold", no_wrap=True),
        table,
    ]
    hidden = len(section.rows) - shown
    if hidden:
        parts.append(Text(f"and {hidden:,} {section.rest} (--all)", style="dim"))
    return [*parts, Text()]


def _text(text: str, width: int, style: str = "") -> Text:
    # A number and its unit are one word.
    glued = _UNIT.sub(_GLUE, printable(text))
    lines = textwrap.wrap(glued, width, break_on_hyphens=False)
    return Text("\n".join(lines).replace(_GLUE, " "), style=style)
