# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Values as the text of a table's cells and of sentences."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from strata.study.report_contents import FAILED, OPEN, SKIPPED, CellRow, Chart
from strata.study.tables.table import Column, Table
from strata.study.wording import capital, name_words, sentence, shown_factor, shown_unit
from strata.units import NOTHING, as_float, format_number, format_p, format_share

LONG_TABLE = 30
"""A table of more rows is folded away."""

_MOST_NAMED = 12
_FEW_DIGITS = 1e-3
_SIGNIFICANT, _MOST_SIGNIFICANT = 3, 6
_ROUNDED = ("number", "figure")
_PRINTED = "exact"


@dataclass(frozen=True)
class TablePart:
    """A table as texts: rows of cells, whose classes are those of their columns."""

    place: str
    kind: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]
    empty: str
    is_long: bool


@dataclass(frozen=True)
class UnfinishedCells:
    """Cells which did not finish for the same reason."""

    status: str
    reason: str
    cells: tuple[CellRow, ...]

    @property
    def which(self) -> str:
        """Name the cells; of many that have not run yet, give the number of each study."""
        if self.status == OPEN and len(self.cells) > _MOST_NAMED:
            studies = Counter(cell.study for cell in self.cells)
            return ", ".join(f"{count} of {study}" for study, count in studies.items())
        return ", ".join(cell.cell_id for cell in self.cells)


def table_part(table: Table, place: str) -> TablePart:
    """Write a table's values as texts."""
    columns = tuple(replace(one, unit=shown_unit(one.unit)) for one in table.columns)
    rows = tuple(
        row_texts({str(name): value for name, value in row.items()}, columns)
        for row in _shown(table).to_dict("records")
    )
    return TablePart(
        place=place,
        kind=table.kind,
        title=capital(table.title),
        columns=columns,
        rows=rows,
        notes=(*map(sentence, table.notes), *_explained(table.columns)),
        empty=table.empty or ("" if rows else "there is no such value"),
        is_long=len(rows) > LONG_TABLE,
    )


def _shown(table: Table) -> pd.DataFrame:
    """Return a table's values in the units that people read: durations in ms."""
    factors = {one.name: shown_factor(one.unit) for one in table.columns}
    scaled = {
        name: pd.to_numeric(table.frame[name]) * factor
        for name, factor in factors.items()
        if factor != 1.0
    }
    return table.frame.assign(**scaled)


def _explained(columns: Sequence[Column]) -> list[str]:
    """Say what columns hold, of those that their labels do not tell."""
    told = [f"{column.label}: {column.text}" for column in columns if column.text]
    return [sentence("; ".join(told))] if told else []


def unfinished_cells(cells: Sequence[CellRow]) -> list[UnfinishedCells]:
    """Return the cells that did not finish, failed ones first, those of one reason together."""
    groups: dict[tuple[str, str], list[CellRow]] = {}
    for status in (FAILED, SKIPPED, OPEN):
        for cell in cells:
            if cell.status == status:
                groups.setdefault((status, cell.reason), []).append(cell)
    return [
        UnfinishedCells(status, reason, tuple(found)) for (status, reason), found in groups.items()
    ]


def figure_title(chart: Chart) -> str:
    """Say what a figure shows: the measure, along what, and where."""
    request = chart.request
    what = {
        "samples": "value by value",
        "quantiles": "quantile function",
        "boxplot": "distribution",
        "histogram": "histogram",
        "curve": "",
        "bars": "",
        "timeline": "over time",
        "band": "",
        "ranges": "ranges, beside those of others",
    }[request.kind]
    name = name_words(chart.measure.name)
    if request.kind == "bars":
        name = "layers of the mean latency"
    parts = [f"{name}: {what}" if what else name]
    along = [text for text in (request.x, request.by) if text]
    if along:
        parts.append("by " + " and ".join(text.replace("_", " ") for text in along))
    if request.where:
        parts.append(
            "at "
            + ", ".join(f"{k.replace('_', ' ')} {'/'.join(v)}" for k, v in request.where.items())
        )
    return capital(" ".join(parts))


def row_texts(row: Mapping[str, object], columns: Sequence[Column]) -> tuple[str, ...]:
    """Write a row's values, its numbers of one unit with digits that tell them apart.

    A period that is steady to some us has its median, least and largest at 100.002, 97.634 and
    102.389 ms: three digits would say 100, 97.6 and 102. Beside a printed figure ours has as many
    decimals as that one.
    """
    least = _printed_decimals(row, columns)
    decimals = {
        unit: max(least, _decimals_to_tell(_rounded(row, columns, unit)))
        for unit in {column.unit for column in columns if column.form in _ROUNDED}
    }
    return tuple(
        _with_decimals(row[column.name], column, decimals.get(column.unit, 0)) for column in columns
    )


def _printed_decimals(row: Mapping[str, object], columns: Sequence[Column]) -> int:
    """Return how many decimals the printed figure of a row has; 0 without one."""
    printed = [row[column.name] for column in columns if column.form == _PRINTED]
    texts = [one for one in printed if isinstance(one, str) and as_float(one) is not None]
    return max((len(text.partition(".")[2]) for text in texts if "e" not in text), default=0)


def _rounded(row: Mapping[str, object], columns: Sequence[Column], unit: str) -> list[float]:
    """Return a row's numbers of one unit; those without any are of nothing in common."""
    if not unit:
        return []
    own = [one.name for one in columns if one.form in _ROUNDED and one.unit == unit]
    values = (as_float(row[name]) for name in own)
    return [value for value in values if value is not None and abs(value) >= _FEW_DIGITS]


def _decimals_to_tell(values: Sequence[float]) -> int:
    """Return the fewest decimals with which values that differ are written differently."""
    different = len({_decimal_text(value, _MOST_SIGNIFICANT) for value in values})
    for decimals in range(_MOST_SIGNIFICANT):
        if len({_decimal_text(value, decimals) for value in values}) == different:
            return decimals
    return _MOST_SIGNIFICANT


def _decimal_text(value: float, decimals: int) -> str:
    """Write a number with so many decimals: three significant digits at least, six at most."""
    if value == 0:
        return f"{value:.{decimals}f}"
    digits = math.floor(math.log10(abs(value))) + 1
    kept = max(_SIGNIFICANT - digits, min(decimals, _MOST_SIGNIFICANT - digits), 0)
    return f"{value:,.{kept}f}"


def _with_decimals(value: object, column: Column, decimals: int) -> str:
    number = None if isinstance(value, str) else as_float(value)
    plain = cell_text(value, column)
    if number is None or column.form not in _ROUNDED or not decimals or not number:
        return plain
    is_whole = column.form == "figure" and number == round(number)
    return plain if is_whole or abs(number) < _FEW_DIGITS else _decimal_text(number, decimals)


def cell_text(value: object, column: Column) -> str:
    """Write a value as its column asks, a level as its text; null is a dash."""
    if column.form == "flag":
        return "yes" if value is not None and value is not pd.NA and bool(value) else ""
    number = as_float(value)
    if column.form == "text" or isinstance(value, str):
        is_null = value is None or value is pd.NA or value != value
        return NOTHING if is_null else column.texts.get(str(value), str(value))
    if number is None:
        return NOTHING
    if column.form == "p":
        return format_p(number)
    return _NUMBERS[column.form](number)


def number_text(number: float) -> str:
    """Write a number with three significant digits; very small ones with a power of ten."""
    if 0 < abs(number) < _FEW_DIGITS:
        return f"{number:.2e}"
    return format_number(number)


_NUMBERS: dict[str, Callable[[float], str]] = {
    "count": lambda number: f"{number:,.0f}",
    "share": format_share,
    "percent": lambda number: format_share(number / 100).removesuffix(" %"),
    "number": number_text,
    "figure": lambda number: f"{number:,.0f}" if number == round(number) else number_text(number),
    "exact": lambda number: f"{number:.12g}",
}
