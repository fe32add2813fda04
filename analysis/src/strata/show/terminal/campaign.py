# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The report of a campaign as text for a terminal of 80 columns or more: all but the figures."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill

from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table as Grid
from rich.text import Text

from strata.printable import printable, printable_lines
from strata.show.words.campaign_tables import TablePart, table_part, unfinished_cells
from strata.study.report_contents import FAILED, FINISHED, OPEN, SKIPPED, Contents, StudyPart
from strata.study.wording import count_words, sentence

_GAP = 2
_WIDEST_TEXT = 24
_WIDEST_LABEL = 16


def print_contents(contents: Contents, console: Console) -> None:
    """Print what ran and why the rest did not; of each study the answer and its tables.

    A table that is wider than the console is printed in blocks, each with the columns that tell
    its rows apart. Figures are on the page alone: their number is told.
    """
    quick = " (its quick variant)" if contents.is_quick else ""
    console.print(Text(printable(f"{contents.name}{quick}: {contents.question}"), style="bold"))
    _ran(contents, console)
    for finding in contents.findings:
        _say(console, f"{finding.severity}: {finding.text} ({finding.where})")
    for part in contents.studies:
        _study(part, console)
    if contents.machines is not None:
        console.print()
        console.print(Rule("Machines", align="left", characters="="))
        _table(table_part(contents.machines, "machines"), console)
    if contents.original and contents.original.corrections:
        console.print(Rule("Corrections of the original", align="left", characters="-"))
        for text in contents.original.corrections:
            _say(console, f"- {sentence(text)}", indent=2)


def _ran(contents: Contents, console: Console) -> None:
    counts = [f"{contents.count(status)} {status}" for status in (FINISHED, FAILED, SKIPPED, OPEN)]
    total = count_words(len(contents.cells), "cell", "cells")
    console.print(Text(f"{total}: {', '.join(counts)}"))
    for row in unfinished_cells(contents.cells):
        cells = count_words(len(row.cells), "cell", "cells")
        reason = f": {row.reason}" if row.reason else ""
        _say(console, f"{row.status} {cells}{reason}: {row.which}", indent=2)


def _study(part: StudyPart, console: Console) -> None:
    console.print()
    console.print(Rule(printable(part.study.name), align="left", characters="="))
    _say(console, part.study.question)
    if part.study.client:
        _say(console, f"measured here with the client library {part.study.client}", indent=2)
    for text in part.answer:
        _say(console, f"> {sentence(text)}", indent=2)
    tables = part.tables
    for name, table in tables.items():
        console.print()
        _table(table_part(table, name), console)
    figures = len(part.parts) - len(tables)
    if figures:
        console.print()
        _say(console, f"{count_words(figures, 'figure', 'figures')}: on the page (--format html)")


def _table(part: TablePart, console: Console) -> None:
    console.print(Text(printable(part.title), style="bold"))
    _say(console, f"--table {part.place}", indent=2)
    if not part.rows:
        _say(console, f"no row: {part.empty}", indent=2)
    else:
        for block in blocks(part, console.width):
            console.print(_grid(part, block))
    for note in part.notes:
        _say(console, note, indent=2)


def blocks(part: TablePart, width: int) -> list[list[int]]:
    """Return positions of the columns that are printed together, within `width` cells.

    Every block begins with the columns of text at the table's begin, which name its rows.
    """
    first = next((at for at, one in enumerate(part.columns) if one.form != "text"), 0)
    widths = [_width(part, at) for at in range(len(part.columns))]
    names = list(range(first))
    left = width - sum(widths[at] + _GAP for at in names)
    out: list[list[int]] = []
    room = 0
    for at in range(first, len(part.columns)):
        if not out or widths[at] + _GAP > room:
            out.append([*names])
            room = left
        out[-1].append(at)
        room -= widths[at] + _GAP
    return out or [names]


def _width(part: TablePart, at: int) -> int:
    longest = max([cell_len(row[at]) for row in part.rows] + [0])
    label = max(cell_len(word) for word in _label(part, at).split("\n"))
    if part.columns[at].form == "text":
        longest = min(longest, _WIDEST_TEXT)
    return max(longest, label)


def _label(part: TablePart, at: int) -> str:
    column = part.columns[at]
    label = fill(column.label, _WIDEST_LABEL, break_long_words=False, break_on_hyphens=False)
    return f"{label}\n({column.unit})" if column.unit else label


def _grid(part: TablePart, block: Sequence[int]) -> Grid:
    grid = Grid(box=None, pad_edge=False, padding=(0, _GAP, 0, 0))
    for at in block:
        is_text = part.columns[at].form == "text"
        grid.add_column(
            Text(printable_lines(_label(part, at))),
            justify="left" if is_text else "right",
            max_width=_WIDEST_TEXT if is_text else None,
            no_wrap=not is_text,
            overflow="fold",
        )
    for row in part.rows:
        grid.add_row(*(Text(printable(row[at])) for at in block))
    return grid


def _say(console: Console, text: str, *, indent: int = 0) -> None:
    console.print(Padding(Text(printable(text)), (0, 0, 0, indent)))
