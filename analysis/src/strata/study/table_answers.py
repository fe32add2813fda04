# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What the tables of a study answer, in sentences: breakpoints, slopes, spreads and modes.

Every number is one of the table; only what is measured here is said.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from strata.study.level_texts import between_levels, level_text, levels_words
from strata.study.mode_answers import modes_answer
from strata.study.report_contents import HERE, Study
from strata.study.segmented_fits import BEND, BREAKPOINT, LINE
from strata.study.tables.table import ORIGIN, Table
from strata.study.wording import name_words, value_text
from strata.units import format_number, format_p, format_share

_MOST = 4
_ALPHA = 0.05
_OWN = ("a", "b", "first", "second", "points")


def table_answers(study: Study, tables: Sequence[Table]) -> tuple[str, ...]:
    """Return the sentences of tables of segmented fits, spreads and modes, in their order."""
    out: list[str] = []
    for table in tables:
        frame = table.frame
        if ORIGIN in frame:
            frame = frame[frame[ORIGIN] == HERE]
        if table.kind in _ANSWERS and len(frame):
            out += _ANSWERS[table.kind](study, table, frame)
    return tuple(out)


def _segmented(study: Study, table: Table, frame: pd.DataFrame) -> list[str]:
    """Say of each row how the measure grows, and whether it is in proportion."""
    rows = frame.to_dict("records")
    said = [_growth(study, table, row) for row in rows[:_MOST]]
    if len(rows) > _MOST:
        said.append(f"{len(rows) - _MOST} more fits are in the table")
    return said


def _growth(study: Study, table: Table, row: Mapping[Any, Any]) -> str:
    units = {column.name: column.unit for column in table.columns}
    over = next(column.text for column in table.columns if column.name == "points")
    over = over.removeprefix("levels of ")
    what = f"{_where(study, table, row)}the {table.title.partition(':')[0]}"
    unit = units["breakpoint"] or None
    if row["shape"] == BREAKPOINT:
        at = _bounds(row, "breakpoint", lambda value: between_levels(value, unit))
        growth = (
            f"grows by {_slope(row, 'below', units)} up to {at}, and by "
            f"{_slope(row, 'above', units)} beyond"
        )
    elif row["shape"] == BEND:
        growth = (
            f"bends (p {format_p(row['p'])}), but the levels do not bound where: it grows by "
            f"{_slope(row, 'below', units)} first, and by {_slope(row, 'above', units)} at the end"
        )
    else:
        growth = (
            f"has no breakpoint that the data support; along one straight line it grows by "
            f"{_slope(row, 'line_slope', units)}"
        )
    if row["shape"] != LINE:
        changes = ""
        if row["shape"] == BREAKPOINT:
            changes = f" at {between_levels(float(row['breakpoint']), unit)}"
        return f"{what} {growth}; it is not in proportion to {over}: the slope changes{changes}"
    at_zero = _bounds(
        row, "line_intercept", lambda value: value_text(value, units["line_intercept"])
    )
    if row["in_proportion"]:
        shown = f"it may be in proportion to {over} (at 0 the fit is {at_zero})"
    elif row["line_intercept_low"] <= 0 <= row["line_intercept_high"]:
        scatter = format_share(row["scatter"])
        shown = f"that it grows at all may be chance: the scatter about the fit is {scatter}"
    else:
        shown = f"it is not in proportion to {over}: at 0 the fit is {at_zero}"
    return f"{what} {growth}; {shown}"


def _slope(row: Mapping[Any, Any], name: str, units: Mapping[str, str]) -> str:
    return f"{_bounds(row, name, format_number)} {units[name]}"


def _bounds(row: Mapping[Any, Any], name: str, text: Callable[[float], str]) -> str:
    low, high = (text(float(row[f"{name}_{end}"])) for end in ("low", "high"))
    return f"{text(float(row[name]))} [{low} to {high}]"


def _spread(study: Study, table: Table, frame: pd.DataFrame) -> list[str]:
    """Say how many pairs differ in spread, and which ratio is the furthest from 1."""
    name = _over(table)
    told = frame[frame["p"].notna()] if "p" in frame else frame.iloc[:0]
    bounds = [_bounds_of_ratio(row, "mad_") for row in told.to_dict("records")]
    is_apart = np.array([known is not None and known.excludes_one for known in bounds], bool)
    is_apart &= (told["p"] < _ALPHA).to_numpy(bool)
    apart = told[is_apart]
    pairs = f"pairs of {'neighbouring ' if 'neighbouring' in table.title else ''}levels"
    begin = f"{name_words(name)}: the spread (MAD) differs by more than chance in {len(apart)} of "
    if apart.empty:
        return [f"{begin}{len(told)} {pairs}"] if len(told) else []
    within = _within_a_run([one for one, is_one in zip(bounds, is_apart, strict=True) if is_one])
    furthest = apart["mad_ratio"].map(lambda ratio: max(ratio, 1 / ratio)).idxmax()
    row = apart.loc[[furthest]].to_dict("records")[0]
    factor = study.factor(name)
    a, b = (level_text(str(row[end]), factor) for end in ("a", "b"))
    return [
        f"{begin}{len(told)} {pairs}{within}; the furthest apart are {a} and {b}, where it becomes "
        f"{_ratio(row, 'mad')} times as large{_at(study, table, row)}"
    ]


def _spread_interaction(study: Study, table: Table, frame: pd.DataFrame) -> list[str]:
    """Say of the MAD, row by row, how much one factor changes what another one widens."""
    if "ratio" not in frame:
        return []
    rows = frame[(frame["statistic"] == "mad") & frame["ratio"].notna()]
    over, by = _over(table), next(c.of for c in table.columns if c.name == "first")
    said = []
    for row in rows.to_dict("records")[:_MOST]:
        a, b = (level_text(str(row[end]), study.factor(over)) for end in ("a", "b"))
        first, second = (level_text(str(row[end]), study.factor(by)) for end in ("first", "second"))
        known = _bounds_of_ratio(row, "")
        if known is None:
            chance = "without an interval: there are too few values"
        elif not known.excludes_one:
            chance = "which may be chance"
        else:
            chance = f"an interaction: {name_words(by)} changes what {name_words(over)} does"
            chance += _within_a_run([known])
        interval = f" [{known.text}]" if known else ""
        said.append(
            f"{name_words(over)}: from {a} to {b} the spread (MAD) becomes "
            f"{format_number(row['first_ratio'])} times as large at {first} and "
            f"{format_number(row['second_ratio'])} times at {second}{_at(study, table, row)}; the "
            f"first over the second is {format_number(row['ratio'])}{interval}, {chance}"
        )
    return said


@dataclass(frozen=True)
class _RatioBounds:
    """The interval by which a ratio of spreads is judged; `is_of_runs` tells of what it is."""

    low: float
    high: float
    is_of_runs: bool

    @property
    def excludes_one(self) -> bool:
        return self.low > 1 or self.high < 1

    @property
    def text(self) -> str:
        return f"{format_number(self.low)} to {format_number(self.high)}"


def _bounds_of_ratio(row: Mapping[Any, Any], name: str) -> _RatioBounds | None:
    """Return the interval of runs, where there is one: that of messages lacks how runs differ."""
    for between in ("runs_", ""):
        low, high = (row.get(f"{name}{between}{end}") for end in ("low", "high"))
        if low is not None and high is not None and pd.notna(low) and pd.notna(high):
            return _RatioBounds(float(low), float(high), bool(between))
    return None


def _within_a_run(bounds: Sequence[_RatioBounds | None]) -> str:
    """Say of how many differences it is not known whether runs differ as much."""
    count = sum(known is not None and not known.is_of_runs for known in bounds)
    if not count:
        return ""
    some = "" if count == len(bounds) else f"{count} of these "
    return f" ({some}within one run: another run may differ by as much)"


def _ratio(row: Mapping[Any, Any], name: str) -> str:
    known = _bounds_of_ratio(row, f"{name}_")
    ratio = format_number(row[f"{name}_ratio"])
    return f"{ratio} [{known.text}]" if known else ratio


def _over(table: Table) -> str:
    return next(column.of for column in table.columns if column.name == "a")


def _at(study: Study, table: Table, row: Mapping[Any, Any]) -> str:
    where = _levels(study, table, row)
    return f", at {where}" if where else ""


def _where(study: Study, table: Table, row: Mapping[Any, Any]) -> str:
    where = _levels(study, table, row)
    return f"{where}: " if where else ""


def _levels(study: Study, table: Table, row: Mapping[Any, Any]) -> str:
    """Name the levels that are held fixed in a row."""
    held = [one for one in table.columns if one.of and one.name not in (*_OWN, ORIGIN)]
    return levels_words(study, {one.of: row[one.name] for one in held})


_ANSWERS: dict[str, Callable[[Study, Table, pd.DataFrame], list[str]]] = {
    "modes": modes_answer,
    "segmented": _segmented,
    "spread": _spread,
    "spread_interaction": _spread_interaction,
}
