# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Timers and lifecycles for a terminal of 80 columns or more."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from strata.analysis import Analysis
from strata.printable import printable
from strata.schema.rows import Rows
from strata.show.words.most import most_first
from strata.units import format_count, format_ns

_MAX_TIMERS = 12
_FIRES = {
    "overruns": "fired late by a period or more, its thread busy",
    "undecided": "skipped periods, cause not known",
    "pauses": "began anew after a cancel, reset or longer period",
    "early": "began anew after a reset or shorter period",
    "irregular": "beyond the grids that are followed",
}
"""What the counts of `timer_statistics` say."""


def entity_sections(analysis: Analysis, *, everything: bool) -> list[RenderableType]:
    """Return the sections `timers` and `lifecycle`, each only when it has something to show."""
    parts: list[RenderableType] = []
    timers, states = (analysis.rows(name) for name in ("timer_statistics", "lifecycle_statistics"))
    if len(timers):
        parts.append(_timers(timers, everything=everything))
    if len(states):
        parts.append(_lifecycle(states))
    return parts


def fire_remarks(row: Mapping[Any, Any], but: Collection[str] = ()) -> list[str]:
    """Say what the fires of a row of `timer_statistics` tell beside their times.

    `but` names columns to say nothing of.
    """
    return [
        f"{row[name]:,} {text}" for name, text in _FIRES.items() if row[name] and name not in but
    ]


def _timers(timers: Rows, *, everything: bool) -> RenderableType:
    rows = most_first(timers, "count")
    shown = rows if everything else rows[:_MAX_TIMERS]
    table = Table(box=None, padding=(0, 1), show_edge=False, expand=True)
    table.add_column("node", overflow="fold", ratio=1)
    for name in ("period", "count", "p50", "p99", "late p50", "p99", "max", "skipped"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in shown:
        table.add_row(
            Text(printable(row["node"])),
            format_ns(row["period_ns"]),
            f"{row['count']:,}",
            *(format_ns(row[f"interval_{name}"]) for name in ("p50", "p99")),
            *(format_ns(row[f"lateness_{name}"]) for name in ("p50", "p99", "max")),
            f"{row['skipped']:,}",
        )
    parts: list[RenderableType] = [Rule(Text("timers", style="bold"), align="left"), table]
    remarks = ["p50, p99: between two fires; late: from when it was due to its callback"]
    remarks += [remark for row in shown if (remark := _remark(row))]
    if len(rows) > len(shown):
        more = format_count(len(rows) - len(shown), "timer", "timers")
        remarks.append(f"and {more} (--all)")
    parts += [Padding(Text(printable(text), style="dim"), (0, 1)) for text in remarks]
    return Group(Text(), *parts)


def _remark(row: Mapping[str, Any]) -> str:
    found = fire_remarks(row)
    return f"{row['node']} {format_ns(row['period_ns'])}: {'; '.join(found)}" if found else ""


def _lifecycle(states: Rows) -> RenderableType:
    table = Table(box=None, padding=(0, 1), show_edge=False, expand=True)
    table.add_column("node", overflow="fold", ratio=1)
    table.add_column("state", no_wrap=True)
    for name in ("count", "total", "p50", "max"):
        table.add_column(name, justify="right", no_wrap=True)
    shown = None
    for row in states.records():
        first = row["lifecycle_node_id"] != shown
        shown = row["lifecycle_node_id"]
        table.add_row(
            Text(printable(row["node"]) if first else ""),
            Text(printable(row["state"])),
            f"{row['count']:,}",
            format_ns(row["total_ns"]),
            *(format_ns(row[f"duration_{name}"]) for name in ("p50", "max")),
        )
    return Group(Text(), Rule(Text("lifecycle", style="bold"), align="left"), table)
