# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Levels as texts: those of figures, tables and answers alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from strata.study.campaign_results import Factor, Study
from strata.study.wording import name_words
from strata.units import format_number

_KIB = 1024


def level_text(level: str, factor: Factor | None) -> str:
    """Write a level: sizes as 64 KiB, other numbers with their unit, names as they are."""
    if factor is None or factor.numbers is None:
        return level
    number = dict(zip(factor.levels, factor.numbers, strict=True)).get(level)
    if number is None:
        return level
    if factor.unit == "B":
        return size_text(number)
    return f"{number:g} {factor.unit}" if factor.unit else f"{number:g}"


class HasFactors(Protocol):
    """A study: that of results, or that of a report's contents."""

    def factor(self, name: str) -> Factor | None:
        """Return the factor of that name; null for what is none."""


def levels_words(study: HasFactors, levels: Mapping[str, object], between: str = ", ") -> str:
    """Name levels by their factors: ``rate 10 Hz, priority normal``; empty without any."""
    return between.join(
        f"{name_words(name)} {level_text(str(level), study.factor(name))}"
        for name, level in levels.items()
    )


def size_text(size: float) -> str:
    """Write a number of bytes in the largest binary unit that leaves it whole."""
    for unit, bytes_of in (("GiB", _KIB**3), ("MiB", _KIB**2), ("KiB", _KIB)):
        if size >= bytes_of and size % bytes_of == 0:
            return f"{size / bytes_of:g} {unit}"
    return f"{size:,.0f} B"


def between_levels(number: float, unit: str | None) -> str:
    """Write a number between the levels of a factor: bytes as 66.3 KiB, others with their unit."""
    if unit != "B":
        return f"{format_number(number)} {unit or ''}".strip()
    named = (("GiB", _KIB**3), ("MiB", _KIB**2), ("KiB", _KIB), ("B", 1))
    name, size = next(one for one in named if number >= one[1] or one[1] == 1)
    return f"{format_number(number / size)} {name}"


def level_words(study: Study, name: str) -> dict[str, str]:
    """Return the text of each level that the file states of a factor; empty for what is none."""
    stated = study.stated.factors.get(name)
    if stated is None:
        return {}
    numbers = tuple(map(stated.number, stated.names)) if stated.numeric else None
    factor = Factor(name, tuple(stated.names), stated.unit, numbers)
    return {level: level_text(level, factor) for level in factor.levels}
