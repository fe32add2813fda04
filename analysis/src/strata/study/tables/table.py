# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A table of a report as data: terminal and page render the same frame by the same columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd

from strata.study.campaign_results import HERE, Study
from strata.study.level_texts import level_words
from strata.study.wording import name_words

_NAMED = 4
ORIGIN = "origin"


@dataclass(frozen=True)
class Column:
    """A column: its label, unit, and how its values are written.

    `form` is text, count, number, figure (a count or a number), exact (all digits as they are),
    percent (a number in percent), share (a fraction, written in percent), p (a probability) or
    flag. `text` explains it. `of` is the factor whose levels the values are; `texts` say what
    values are written as.
    """

    name: str
    label: str
    unit: str = ""
    form: str = "text"
    text: str = ""
    of: str = ""
    texts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Table:
    """A table: a frame, its columns in order, and what must be said beside it.

    `of` names the measure, empty without one; `empty` says why there is no row.
    """

    kind: str
    title: str
    columns: tuple[Column, ...]
    frame: pd.DataFrame
    notes: tuple[str, ...] = ()
    empty: str = ""
    of: str = ""


@dataclass
class Rows:
    """Collects the rows of a table."""

    columns: tuple[Column, ...]
    rows: list[dict[str, Any]] = field(default_factory=list)

    def frame(self) -> pd.DataFrame:
        """Give the frame, with the columns in order."""
        return pd.DataFrame(self.rows, columns=[column.name for column in self.columns])


def label_columns(names: Sequence[str], frame: pd.DataFrame) -> tuple[Column, ...]:
    """Return the columns that tell groups apart, and the origin where there are several."""
    return factor_columns([*names, *([ORIGIN] if shows_origin(frame) else [])])


def factor_columns(names: Sequence[str]) -> tuple[Column, ...]:
    """Return a column of the levels of each factor, or of what else is told apart (hop)."""
    return tuple(Column(name, name_words(name), of=name) for name in names)


def written(table: Table, study: Study, keep: Sequence[str] = ()) -> Table:
    """Give levels their texts, and leave out columns without any value, but those to keep."""
    frame = table.frame
    columns = [
        replace(column, texts={**column.texts, **level_words(study, column.of)})
        for column in table.columns
        if frame.empty or column.of or column.name in keep or frame[column.name].notna().any()
    ]
    kept = frame[[column.name for column in columns]]
    return replace(table, columns=tuple(columns), frame=kept)


def first_ones(names: Sequence[str]) -> str:
    """Name some and count the rest: ``a, b, c, d and 7 more``."""
    rest = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {rest} more" if rest > 0 else "")


def shows_origin(frame: pd.DataFrame) -> bool:
    """Tell whether rows have several origins, or another than this campaign."""
    found = set(frame[ORIGIN].dropna().astype(str)) if ORIGIN in frame else set()
    return bool(found - {HERE})


def groups(
    frame: pd.DataFrame, names: Sequence[str]
) -> Iterator[tuple[dict[str, str], pd.DataFrame]]:
    """Give the rows of each combination of levels and origin, in the file's order.

    Within a group they are in the order of measuring: by cell, hop and number.
    """
    keys = [*names, ORIGIN]
    order = [name for name in ("cell", "hop", "process", "number") if name in frame.columns]
    for key, own in frame.groupby(keys, observed=True, sort=True):
        levels = dict(zip(keys, (str(one) for one in key), strict=True))
        yield levels, own.sort_values(order, kind="stable")
