# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The report of a campaign as Markdown: what a report of one's own is written from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from strata.printable import printable
from strata.show.words.campaign_tables import TablePart, table_part, unfinished_cells
from strata.study.report_contents import (
    FAILED,
    FINISHED,
    OPEN,
    SKIPPED,
    Contents,
    Environment,
    StudyPart,
)
from strata.study.tables.table import Table
from strata.study.wording import capital, count_words, sentence

_MACHINE = (
    "host.",
    "address",
    "virtualisation.",
    "cpus.0.",
    "turbo",
    "smt",
    "idle_states",
    "load_average",
    "sysctl.net.core.",
    "clock.",
    "versions.",
    "ros.",
    "middlewares",
)
"""Of the machine's facts, those that a reader of results asks for first; the page has all."""
_NOT_OF_INTEREST = ("host.boot_id",)

_OF_HOST = re.compile(r"^hosts\.\w+\.")
MACHINES = "machines"
"""The name of the table of the facts in which machines beside differ."""

_SPECIAL = re.compile(r"([\\`*\[\]<|])")


def markdown(contents: Contents) -> str:
    """Return what ran and on which machine; of each study the question, the answer, its tables."""
    quick = " (its quick variant)" if contents.is_quick else ""
    lines = [f"# {_text(capital(contents.name))}{quick}", "", _text(contents.question), ""]
    counts = [f"{contents.count(status)} {status}" for status in (FINISHED, FAILED, SKIPPED, OPEN)]
    lines += [f"{count_words(len(contents.cells), 'cell', 'cells')}: {', '.join(counts)}.", ""]
    for row in unfinished_cells(contents.cells):
        reason = f"{row.reason}: " if row.reason else ""
        lines.append(f"* {row.status}: {_text(reason + row.which)}")
    for one in contents.findings:
        lines.append(f"* {one.severity}: {_text(sentence(one.text))} ({_text(one.where)})")
    lines += _machine(contents.environments)
    if contents.changed:
        lines += ["", f"Changed between the starts: {_text(', '.join(contents.changed))}."]
    if contents.machines is not None:
        lines += ["", *_table(contents.machines, MACHINES)]
    lines += ["", "```sh", *contents.commands, "```"] if contents.commands else []
    for part in contents.studies:
        lines += ["", *_study(part)]
    if contents.original and contents.original.corrections:
        lines += ["", "## Corrections of the original", ""]
        lines += [f"* {_text(sentence(text))}" for text in contents.original.corrections]
    return "\n".join(lines) + "\n"


def markdown_tables(contents: Contents) -> Mapping[str, str]:
    """Return each table of the report by its name."""
    tables = {name: one for part in contents.studies for name, one in part.tables.items()}
    if contents.machines is not None:
        tables[MACHINES] = contents.machines
    return {name: "\n".join(_table(table, name)) + "\n" for name, table in tables.items()}


def _machine(environments: Sequence[Environment]) -> Iterator[str]:
    """Write the first facts of the machine, and of further hosts, a column per start."""
    names = dict.fromkeys(name for one in environments for name in one.facts)
    told = {
        name: texts
        for name in names
        if _is_of_interest(_OF_HOST.sub("", name))
        and any(texts := [_fact(one.facts.get(name)) for one in environments])
    }
    if not told:
        return
    several = len(environments) > 1
    heads = [_text(one.at_utc) if several else "" for one in environments]
    yield from ("", f"| machine | {' | '.join(heads)} |", f"| --- |{' --- |' * len(heads)}")
    for name, texts in told.items():
        yield f"| {_text(name)} | {' | '.join(texts)} |"


def _is_of_interest(name: str) -> bool:
    return name.startswith(_MACHINE) and name not in _NOT_OF_INTEREST


def _fact(value: object) -> str:
    if value in (None, "", [], ()):
        return ""
    return _text("; ".join(map(str, value)) if isinstance(value, list | tuple) else str(value))


def _study(part: StudyPart) -> Iterator[str]:
    yield from (f"## {_text(part.study.name)}", "", _text(part.study.question), "")
    yield from (f"* {_text(sentence(text))}" for text in part.answer)
    for name, table in part.tables.items():
        yield ""
        yield from _table(table, name)


def _table(table: Table, name: str) -> Iterator[str]:
    part = table_part(table, name)
    yield from (f"**{_text(part.title)}** (`{name}`)", "")
    if not part.rows:
        yield f"No row: {_text(sentence(part.empty))}"
    else:
        yield from _grid(part)
    if part.notes:
        yield ""
        yield " ".join(_text(note) for note in part.notes)


def _grid(part: TablePart) -> Iterator[str]:
    heads = [f"{one.label} ({one.unit})" if one.unit else one.label for one in part.columns]
    lines = ["---" if one.form == "text" else "---:" for one in part.columns]
    for cells in ([*map(_text, heads)], lines, *(map(_text, row) for row in part.rows)):
        yield f"| {' | '.join(cells)} |"


def _text(text: str) -> str:
    """Write text so that Markdown shows it as it is, on one line."""
    return _SPECIAL.sub(r"\\\1", printable(text))
