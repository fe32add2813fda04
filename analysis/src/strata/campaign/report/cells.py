# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Values as the text of a table's cells and of sentences."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from strata.campaign.tables.table import Column
from strata.report.html.figures.axes import MICRO
from strata.units import NOTHING, as_float, format_number, format_p, format_share

_FEW_DIGITS = 1e-3


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


def value_text(value: float | None, unit: str) -> str:
    """Write a value with its unit; of times in ms, the unit that suits it."""
    if value is None or value != value:
        return NOTHING
    if unit == "ms" and value:
        for name, size in (("s", 1000.0), ("ms", 1.0), (MICRO, 1e-3), ("ns", 1e-6)):
            if abs(value) >= size or name == "ns":
                return f"{format_number(value / size)} {name}"
    return f"{format_number(value)} {unit}".rstrip()
