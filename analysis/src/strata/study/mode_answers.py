# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a table of modes answers: where there are several, why, and where there is but one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import pandas as pd

from strata.study.report_contents import Study
from strata.study.tables.table import Column, Table
from strata.study.wording import count_words, name_words, value_text
from strata.units import format_share

_FASTEST = 1
_TOLD = 4


def modes_answer(_: Study, table: Table, frame: pd.DataFrame) -> list[str]:
    """Say where a measure has several modes, and which layer makes the slow one slow.

    Of tables by two or more factors, a sentence for each combination of all but the last one says
    at which levels of the last there is one mode: so a change that removes a mode is named.
    `frame` has the rows of `table` that were measured here. Empty where nothing has several.
    """
    unit = next(one.unit for one in table.columns if one.name == "p50")
    labels = [one for one in table.columns if one.of]
    told = []
    # Rows of a group follow each other, its fastest mode first.
    for fast, slow in pairwise(frame.to_dict("records")):
        if slow["mode"] == _FASTEST:
            continue
        where = _group({str(name): value for name, value in slow.items()}, labels)
        layer, share = slow.get("slower_layer"), slow.get("slower_share")
        why = f", the slow one slower in {layer} ({format_share(share)} of the difference)"
        told.append(
            f"{_mode(fast['p50'], fast['share'], unit)} and "
            f"{_mode(slow['p50'], slow['share'], unit)}"
            f"{f' at {where}' if where else ''}{why if isinstance(layer, str) else ''}"
        )
    if not told:
        return []
    fastest = frame[frame["mode"] == _FASTEST]
    several = int((fastest["modes"] > 1).sum())
    groups = count_words(len(fastest), "group", "groups")
    of = f" in {several} of {groups}" if len(fastest) > 1 else ""
    more = f"; and {len(told) - _TOLD} more" if len(told) > _TOLD else ""
    return [
        f"{name_words(table.of)} has several modes{of}: {'; '.join(told[:_TOLD])}{more}",
        *_of_one_mode(name_words(table.of), fastest, labels),
    ]


def _of_one_mode(measure: str, fastest: pd.DataFrame, labels: Sequence[Column]) -> list[str]:
    """Say at which levels of the last factor there is one mode, where others have several.

    `fastest` has a row per group. Groups with too few values for a search are not named.
    """
    if len(labels) < 2:
        return []
    *outer, last = labels
    said = []
    for _, own in fastest.groupby([one.name for one in outer], sort=False, observed=True):
        if not (own["modes"] > 1).any():
            continue
        levels = [str(level) for level in own.loc[own["modes"] == 1, last.name]]
        words = ", ".join(last.texts.get(level, level) for level in levels)
        where = _group({str(name): value for name, value in own.iloc[0].items()}, outer)
        said.append(
            f"at {where}, {measure} has one mode with {name_words(last.name)} {words}"
            if levels
            else f"at {where}, {measure} has one mode with no {name_words(last.name)}"
        )
    return said


def _mode(p50: float, share: float, unit: str) -> str:
    return f"{value_text(p50, unit)} ({format_share(share)})"


def _group(row: Mapping[str, object], labels: Sequence[Column]) -> str:
    """Name the levels of a row."""
    levels = ((name_words(one.name), str(row[one.name]), one.texts) for one in labels)
    return ", ".join(f"{name} {texts.get(level, level)}" for name, level, texts in levels)
