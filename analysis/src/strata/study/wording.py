# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Words that figures, captions and answers share."""

from __future__ import annotations

import re

from strata.units import NOTHING, format_ns, format_number

MICRO = "\N{MICRO SIGN}s"
NANOSECONDS = "ns"
"""The unit of durations in frames and tables; people read them in ms."""

_SHOWN = {NANOSECONDS: ("ms", 1e-6), f"{NANOSECONDS}^2": ("ms^2", 1e-12)}


def shown_unit(unit: str) -> str:
    """Return the unit in which people read values of this one: ms for ns."""
    return _SHOWN.get(unit, (unit, 1.0))[0]


def shown_factor(unit: str) -> float:
    """Return by what values in this unit are multiplied to be in the one that is shown."""
    return _SHOWN.get(unit, (unit, 1.0))[1]


STATISTIC_WORDS = {
    "mean": "mean",
    "min": "smallest",
    "p50": "median",
    "p90": "p90",
    "p99": "p99",
    "p999": "p99.9",
    "max": "largest",
    "mad": "MAD",
    "std": "standard deviation",
}
"""Statistics by their names in a campaign's file."""


_NAMES = {
    "cpu": "CPU",
    "cpu_all": "CPU of all processes",
    "cpu_over_time": "CPU",
    "rss": "RSS",
    "rss_max": "largest RSS",
}


def name_words(name: str) -> str:
    """Write the name of a measure or a factor as words."""
    return _NAMES.get(name, name.replace("_", " "))


def natural_key(text: str) -> list[tuple[int, int, str]]:
    """Return a key that sorts chain_2 before chain_10."""
    parts = re.split(r"(\d+)", text)
    return [(1, int(part), "") if part.isdigit() else (0, 0, part) for part in parts]


def capital(text: str) -> str:
    """Return text with a capital at its begin."""
    return text[:1].upper() + text[1:]


def count_words(count: int, one: str, many: str) -> str:
    """Write a count with its noun: ``1 cell``, ``1,024 cells``."""
    return f"{count:,} {one if count == 1 else many}"


def sentence(text: str) -> str:
    """Return text with a capital at its begin and a full stop at its end."""
    text = text.strip()
    if not text:
        return ""
    first = text.split(maxsplit=1)[0].rstrip(",;:")
    # A symbol (p, t(98 %)) or an identifier (rmw_zenoh_cpp) keeps its letters.
    is_word = (first.isalpha() and len(first) > 1) or first == "a"
    return (text[0].upper() + text[1:] if is_word else text) + ("" if text[-1] in ".?!:" else ".")


def value_text(value: float | None, unit: str) -> str:
    """Write a value with its unit; a duration in ns with the unit that suits it."""
    if value is None or value != value:
        return NOTHING
    if unit == NANOSECONDS:
        return format_ns(value, micro=MICRO)
    return f"{format_number(value)} {unit}".rstrip()
