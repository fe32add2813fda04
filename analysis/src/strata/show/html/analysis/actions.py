# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of the page's table of actions and of the phases of their goals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from strata.show.html.analysis.tables import records, statistics
from strata.show.terminal.actions import outcome
from strata.units import as_float

if TYPE_CHECKING:
    from strata.analysis import Analysis


@dataclass(frozen=True)
class PhaseRow:
    """A phase of the complete goals of an action; durations in ns."""

    phase: str
    share: float | None
    statistics: dict[str, float | None]


@dataclass(frozen=True)
class ActionRow:
    """An action and a node that sends it goals; statistics are null without complete goals."""

    action: str
    client: str
    server: str
    goals: int
    outcome: str
    latency: dict[str, float | None]
    phases: list[PhaseRow]


def action_rows(analysis: Analysis) -> list[ActionRow]:
    """Return all actions with their phases, those of the most goals first."""
    phases = {int(str(key)): rows for key, rows in analysis.action_phases.groupby("action_id")}
    none = analysis.action_phases.iloc[:0]
    return [
        ActionRow(
            action=row["action"],
            client=row["client_node"],
            server=row["server_node"],
            goals=int(row["goals"]),
            outcome=outcome(row),
            latency=statistics(row, "latency_"),
            phases=[
                PhaseRow(part["phase"], as_float(part["share"]), statistics(part, ""))
                for part in records(phases.get(int(row["action_id"]), none))
            ],
        )
        for row in records(analysis.actions.sort_values("goals", ascending=False, kind="stable"))
    ]
