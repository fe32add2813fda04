# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Actions and the phases of their goals, as text."""

from __future__ import annotations

from typing import Any

from rich.console import Group, RenderableType
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from strata.analysis import Analysis
from strata.show.terminal.breaking import Named
from strata.show.words.most import most_first
from strata.units import format_ns, format_share

_FIGURES = ("goals", "p50", "p99", "max", "share")
_MAX_ACTIONS = 6


def actions_text(analysis: Analysis, *, everything: bool) -> RenderableType:
    """Return the section of actions: a row each, what became of its goals, and their phases."""
    rows = most_first(analysis.rows("actions"), "goals")
    shown = rows if everything else rows[:_MAX_ACTIONS]
    phases = analysis.rows("action_phases")
    table = Table(box=None, padding=(0, 1), show_edge=False, expand=True)
    table.add_column("action, client -> server", overflow="fold", ratio=1)
    for name in _FIGURES:
        table.add_column(name, justify="right", no_wrap=True)
    for row in shown:
        way = f"{row['client_node']} -> {row['server_node']}"
        table.add_row(
            Group(Named(row["action"], "bold"), Named(way), Text(outcome(row))),
            f"{row['goals']:,}",
            *(format_ns(row[f"latency_{name}_ns"]) for name in ("p50", "p99", "max")),
            "",
        )
        for phase in phases.take(phases["action_id"] == row["action_id"]).records():
            figures = [format_ns(phase[f"{name}_ns"]) for name in ("p50", "p99", "max")]
            table.add_row(f"  {phase['phase']}", "", *figures, format_share(phase["share"]))
    parts: list[RenderableType] = [Rule(Text("actions", style="bold"), align="left"), table]
    if len(rows) > len(shown):
        parts.append(Text(f" and {len(rows) - len(shown)} more (--all)", style="dim"))
    return Group(*parts, Text())


def outcome(row: dict[Any, Any]) -> str:
    """Say what became of the goals, and of their feedback."""
    parts = [f"{row['complete']:,} complete"]
    parts += [f"{row[name]:,} {name}" for name in ("refused", "canceled") if row[name]]
    if row["inferred"]:
        parts.append(f"{row['inferred']:,} inferred by order")
    if row["feedback"]:
        first = format_ns(row["first_feedback_p50_ns"])
        parts.append(f"{row['feedback']:,} feedback messages, the first after {first} (p50)")
        parts.append(f"{row['feedback_taken']:,} of them taken")
        if row["feedback_callbacks"]:
            parts.append(f"{row['feedback_callbacks']:,} callbacks")
    return ", ".join(parts)
