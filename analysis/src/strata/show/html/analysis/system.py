# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The first section of the page: the verdict over the whole system, and chains in groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from strata.show.html.analysis.tables import records
from strata.show.terminal.system import MOST_FILLING, executor_loads, group_facts
from strata.units import as_float

if TYPE_CHECKING:
    from strata.analysis import Analysis


@dataclass(frozen=True)
class CauseRow:
    """A row of the ranked causes; share is null where it is not known."""

    kind: str
    layer: str
    where: str
    share: float | None
    mean_ns: float
    stands_out: bool


@dataclass(frozen=True)
class LoadRow:
    """What an executor ran; `percent` is the width of its bar, of the largest."""

    work: str
    node: str
    trigger: str
    count: int
    share: float
    percent: float


@dataclass(frozen=True)
class GroupRow:
    """A group of chains; `chain_id` is the one that has a section, if one has."""

    nodes: str
    facts: str
    chain_id: int
    linked: bool


@dataclass(frozen=True)
class SystemSection:
    """What the section shows beside the sentence.

    `loads` has the load of each executor that stands out, with its number.
    """

    stands_out: bool
    causes: list[CauseRow]
    loads: list[tuple[int, list[LoadRow]]]
    groups: list[GroupRow]


def system_of(analysis: Analysis, shown: list[int]) -> SystemSection:
    """Return the section; `shown` are the chains that have sections of their own.

    Groups are empty where no two chains are alike.
    """
    groups = analysis.chain_groups
    alike = bool((groups["chains"] > 1).any())
    return SystemSection(
        stands_out=analysis.system.stands_out,
        causes=[_cause(row) for row in records(analysis.system_causes)],
        loads=_loads(analysis),
        groups=[_group(row, shown) for row in records(groups)] if alike else [],
    )


def _cause(row: dict[str, Any]) -> CauseRow:
    return CauseRow(
        kind=row["kind"],
        layer=row["layer"] or "",
        where=row["where"],
        share=as_float(row["share"]),
        mean_ns=float(row["mean_ns"]),
        stands_out=bool(row["stands_out"]),
    )


def _loads(analysis: Analysis) -> list[tuple[int, list[LoadRow]]]:
    found = []
    for number, own in executor_loads(analysis):
        most = max(row["share"] for row in own)
        found.append((number, [_load(row, most) for row in own[:MOST_FILLING]]))
    return found


def _load(row: dict[str, Any], most: float) -> LoadRow:
    return LoadRow(
        work=row["work"],
        node=row["node"] if isinstance(row["node"], str) else "",
        trigger=row["trigger"] if isinstance(row["trigger"], str) else "",
        count=int(row["count"]),
        share=float(row["share"]),
        percent=round(100 * float(row["share"]) / most, 2),
    )


def _group(row: Mapping[Any, Any], shown: list[int]) -> GroupRow:
    return GroupRow(
        nodes=row["nodes"].replace(" -> ", " → "),
        facts=group_facts(row),
        chain_id=int(row["chain_id"]),
        linked=int(row["chain_id"]) in shown,
    )
