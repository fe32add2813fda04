# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a table of modes answers: where there are several, why, and where there is but one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pandas as pd

from strata.study.level_texts import level_text, levels_words
from strata.study.report_contents import Study
from strata.study.tables.table import ORIGIN, Table
from strata.study.wording import count_words, name_words, value_text
from strata.units import format_share

_FASTEST = 1
_TOLD = 4

_Row = Mapping[Any, Any]


@dataclass(frozen=True)
class _Group:
    """The modes of a group, the fastest first."""

    modes: Sequence[_Row]

    def pairs(self, *, of_some: bool) -> list[tuple[_Row, _Row]]:
        """Give neighbouring modes: those of which one is mostly of some runs or hops, or others."""
        return [pair for pair in pairwise(self.modes) if any(map(_mostly, pair)) == of_some]


def modes_answer(study: Study, table: Table, frame: pd.DataFrame) -> list[str]:
    """Say where a measure has several modes, and which layer makes the slow one slow.

    Modes that are mostly of some runs or hops are none of the measure: a sentence of their own says
    that runs or hops differ. Of tables by two or more factors, a sentence for each combination of
    all but the last one says at which levels of the last there is one mode: so a change that
    removes a mode is named. `frame` has the rows of `table` that were measured here. Empty where
    nothing has several.
    """
    unit = next(one.unit for one in table.columns if one.name == "p50")
    labels = [one.of for one in table.columns if one.of and one.name != ORIGIN]
    # Rows of a group follow each other.
    number = (frame["mode"] == _FASTEST).cumsum()
    groups = [_Group(rows.to_dict("records")) for _, rows in frame.groupby(number, sort=False)]
    measure, said = name_words(table.of), []
    several = [group for group in groups if group.pairs(of_some=False)]
    if several:
        told = [_pair(study, labels, unit, *p) for one in several for p in one.pairs(of_some=False)]
        where = _in_groups(several, groups)
        said.append(f"{measure} has several modes{where}: {_first(told)}")
        said += _of_one_mode(study, measure, groups, labels)
    differ = [group for group in groups if group.pairs(of_some=True)]
    if differ:
        told = [_pair(study, labels, unit, *p) for one in differ for p in one.pairs(of_some=True)]
        said.append(
            f"{measure} differs between runs or hops{_in_groups(differ, groups)}, which only looks "
            f"like several modes where these are put together: {_first(told)}"
        )
    return said


def _of_one_mode(
    study: Study, measure: str, groups: Sequence[_Group], labels: Sequence[str]
) -> list[str]:
    """Say at which levels of the last factor there is one mode, where others have several.

    Groups with too few values for a search are not named, nor those whose runs or hops differ.
    """
    if len(labels) < 2:
        return []
    *outer, last = labels
    by_outer: dict[tuple[str, ...], list[_Group]] = {}
    for group in groups:
        by_outer.setdefault(tuple(str(group.modes[0][name]) for name in outer), []).append(group)
    said = []
    for levels, own in by_outer.items():
        if not any(group.pairs(of_some=False) for group in own):
            continue
        ones = [str(group.modes[0][last]) for group in own if group.modes[0]["modes"] == 1]
        words = ", ".join(level_text(level, study.factor(last)) for level in ones)
        where = levels_words(study, dict(zip(outer, levels, strict=True)))
        said.append(
            f"at {where}, {measure} has one mode with {name_words(last)} {words}"
            if ones
            else f"at {where}, {measure} has one mode with no {name_words(last)}"
        )
    return said


def _in_groups(some: Sequence[_Group], groups: Sequence[_Group]) -> str:
    """Say in how many groups it is so; nothing where there is one."""
    if len(groups) < 2:
        return ""
    return f" in {len(some)} of {count_words(len(groups), 'group', 'groups')}"


def _first(told: Sequence[str]) -> str:
    more = f"; and {len(told) - _TOLD} more" if len(told) > _TOLD else ""
    return "; ".join(told[:_TOLD]) + more


def _pair(study: Study, labels: Sequence[str], unit: str, fast: _Row, slow: _Row) -> str:
    """Name two modes, where they are, and the layer that makes the slow one slow."""
    where = levels_words(study, {name: slow[name] for name in labels})
    layer, share = slow.get("slower_layer"), slow.get("slower_share")
    why = f", the slow one slower in {layer} ({format_share(share)} of the difference)"
    return (
        f"{_mode(fast, unit)} and {_mode(slow, unit)}{f' at {where}' if where else ''}"
        f"{why if isinstance(layer, str) else ''}"
    )


def _mode(row: _Row, unit: str) -> str:
    of = f", mostly of {_mostly(row)}" if _mostly(row) else ""
    return f"{value_text(row['p50'], unit)} ({format_share(row['share'])}{of})"


def _mostly(row: _Row) -> str:
    """Return the runs or hops that a mode is mostly of; empty where it is of most."""
    found = row.get("mostly")
    return found if isinstance(found, str) else ""
