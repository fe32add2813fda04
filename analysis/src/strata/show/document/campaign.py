# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A campaign's report for machines: one JSON document, or a sheet (columns and rows) per table.

The document is a contract, described in docs/json.md: fields are added, never renamed or removed,
while `schema` stays the same. Durations are ns, shares fractions, levels the names of the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from strata.show.words.campaign_tables import figure_title
from strata.study.report_contents import (
    FAILED,
    FINISHED,
    OPEN,
    SKIPPED,
    CellRow,
    Chart,
    Contents,
    Finding,
    StudyPart,
)
from strata.study.tables.table import Column, Table
from strata.study.wording import MICRO, sentence

SCHEMA = 1
_NUMBERS = ("count", "number", "figure", "percent", "share", "p")
_UNITS = {
    "%": "percent",
    "ns^2": "ns2",
    "ms^2": "ms2",
    "MB/s": "mb_per_s",
    "ms/MB": "ms_per_mb",
    MICRO: "us",
}


@dataclass(frozen=True)
class Sheet:
    """A table as plain values: the names of its columns, those of numbers with their unit."""

    columns: tuple[str, ...]
    rows: list[list[Any]]


def document(contents: Contents) -> dict[str, Any]:
    """Return the whole report as JSON; null is what does not exist."""
    original = contents.original
    return {
        "schema": SCHEMA,
        "name": contents.name,
        "question": contents.question,
        "file": contents.file,
        "sha256": contents.digest,
        "made_utc": contents.made_utc,
        "quick": contents.is_quick,
        "seed": contents.seed,
        "counts": {status: contents.count(status) for status in (FINISHED, FAILED, SKIPPED, OPEN)},
        "cells": [_cell(cell) for cell in contents.cells],
        "findings": [_finding(one) for one in contents.findings],
        "machine": [
            {"at_utc": one.at_utc, "facts": dict(one.facts)} for one in contents.environments
        ],
        "changed": list(contents.changed),
        "machines": contents.machines and _table("machines", contents.machines),
        "original": original
        and {
            "title": original.title,
            "machine": original.machine,
            "corrections": list(original.corrections),
        },
        "studies": [_study(part) for part in contents.studies],
        "commands": list(contents.commands),
    }


def sheets(contents: Contents) -> dict[str, Sheet]:
    """Return every table of the report by its name; cells, answers, findings and machine first."""
    levels = dict.fromkeys(name for cell in contents.cells for name in cell.levels)
    cells = [_cell(cell) for cell in contents.cells]
    columns = ("id", "study", *levels, *(name for name in _CELL if name not in ("id", "study")))
    facts = dict.fromkeys(name for one in contents.environments for name in one.facts)
    out = {
        "cells": Sheet(
            columns, [[{**cell["levels"], **cell}.get(name) for name in columns] for cell in cells]
        ),
        "answers": Sheet(
            ("study", "answer"),
            [
                [part.study.name, sentence(text)]
                for part in contents.studies
                for text in part.answer
            ],
        ),
        "findings": Sheet(_FINDING, [list(_finding(one).values()) for one in contents.findings]),
        "machine": Sheet(
            ("fact", *(one.at_utc for one in contents.environments)),
            [
                [name, *(_cut(one.facts.get(name)) for one in contents.environments)]
                for name in facts
            ],
        ),
    }
    tables = {name: table for part in contents.studies for name, table in part.tables.items()}
    if contents.machines is not None:
        tables["machines"] = contents.machines
    for name, table in tables.items():
        out[name] = Sheet(
            tuple(map(_named, table.columns)),
            [list(row.values()) for row in _rows(table)],
        )
    return out


def _cut(fact: object) -> object:
    """Return a fact as one cell of a sheet: the elements of a list after each other."""
    return "; ".join(map(str, fact)) if isinstance(fact, list | tuple) else fact


_CELL = ("id", "study", "repetition", "status", "reason", "duration_s", "load_average", "measured")
_FINDING = ("code", "severity", "text", "cells", "most")


def _cell(cell: CellRow) -> dict[str, Any]:
    return {
        "id": cell.cell_id,
        "study": cell.study,
        "levels": dict(cell.levels),
        "repetition": cell.repetition,
        "status": cell.status,
        "reason": cell.reason or None,
        "duration_s": cell.duration_s,
        "load_average": cell.load,
        "measured": cell.measured or None,
    }


def _finding(found: Finding) -> dict[str, Any]:
    return {
        "code": found.code,
        "severity": found.severity,
        "text": sentence(found.text),
        "cells": found.cells,
        "most": found.most or None,
    }


def _study(part: StudyPart) -> dict[str, Any]:
    study = part.study
    charts = [one for one in part.parts if isinstance(one, Chart)]
    return {
        "name": study.name,
        "question": study.question,
        "scenario": study.scenario,
        "client": study.client or None,
        "warm_up": study.warm_up,
        "factors": [
            {"name": one.name, "unit": one.unit, "levels": list(one.levels)}
            for one in study.factors
        ],
        "answers": [sentence(text) for text in part.answer],
        "tables": [_table(name, table) for name, table in part.tables.items()],
        "figures": [
            {"kind": one.request.kind, "measure": one.measure.name, "title": figure_title(one)}
            for one in charts
        ],
    }


def _table(name: str, table: Table) -> dict[str, Any]:
    return {
        "name": name,
        "kind": table.kind,
        "title": table.title,
        "measure": table.of or None,
        "columns": [_column(one) for one in table.columns],
        "rows": _rows(table),
        "notes": [sentence(text) for text in table.notes],
        "empty": sentence(table.empty) or None,
    }


def _column(column: Column) -> dict[str, Any]:
    return {
        "name": column.name,
        "label": column.label,
        "unit": column.unit or None,
        "form": column.form,
        "text": column.text or None,
    }


def _named(column: Column) -> str:
    """Name a column of a sheet: with its unit, for a sheet says it nowhere else."""
    unit = _UNITS.get(column.unit, column.unit)
    return f"{column.name}_{unit}" if unit else column.name


def _rows(table: Table) -> list[dict[str, Any]]:
    return [
        {column.name: _plain(row[column.name], column) for column in table.columns}
        for row in table.frame.to_dict("records")
    ]


def _plain(value: object, column: Column) -> Any:
    """Return a value as JSON has it; what is null, or no finite number, is null."""
    if isinstance(value, Mapping | list | tuple):
        return value
    if value is None or pd.isna(value):  # type: ignore[call-overload]
        return None
    if column.form == "flag":
        return bool(value)
    if isinstance(value, str) or column.form not in _NUMBERS:
        return str(value)
    number = float(value)  # type: ignore[arg-type]
    if number in (float("inf"), float("-inf")):
        return None
    return int(number) if column.form == "count" and number == int(number) else number
