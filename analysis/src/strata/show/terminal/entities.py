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
from strata.show.terminal.breaking import Named
from strata.show.words.most import most_first
from strata.units import format_ns

_FIRES = {
    "overruns": "fired late by a period or more, its thread busy",
    "undecided": "skipped periods, cause not known",
    "pauses": "began anew after a cancel, reset or longer period",
    "early": "began anew after a reset or shorter period",
    "irregular": "beyond the grids that are followed",
}
"""What the counts of `timer_statistics` say."""


def timer_section(analysis: Analysis) -> list[RenderableType]:
    """Return the section of timers; empty where none fired."""
    timers = analysis.rows("timer_statistics")
    return [_timers(timers)] if len(timers) else []


def lifecycle_section(analysis: Analysis) -> list[RenderableType]:
    """Return the section of lifecycle nodes; empty where there are none."""
    states = analysis.rows("lifecycle_statistics")
    return [_lifecycle(states)] if len(states) else []


def fire_remarks(row: Mapping[Any, Any], but: Collection[str] = ()) -> list[str]:
    """Say what the fires of a row of `timer_statistics` tell beside their times.

    `but` names columns to say nothing of.
    """
    return [
        f"{row[name]:,} {text}" for name, text in _FIRES.items() if row[name] and name not in but
    ]


def _timers(timers: Rows) -> RenderableType:
    rows = most_first(timers, "count")
    table = Table(box=None, padding=(0, 1), show_edge=False, expand=True)
    table.add_column("node", overflow="fold", ratio=1)
    for name in ("period", "count", "p50", "p99", "late p50", "p99", "max", "skipped"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(
            Named(row["node"]),
            format_ns(row["period_ns"]),
            f"{row['count']:,}",
            *(format_ns(row[f"interval_{name}_ns"]) for name in ("p50", "p99")),
            *(format_ns(row[f"lateness_{name}_ns"]) for name in ("p50", "p99", "max")),
            f"{row['skipped']:,}",
        )
    parts: list[RenderableType] = [Rule(Text("timers", style="bold"), align="left"), table]
    remarks = ["p50, p99: between two fires; late: from when it was due to its callback"]
    remarks += [remark for row in rows if (remark := _remark(row))]
    parts += [Padding(Named(text, "dim"), (0, 1)) for text in remarks]
    return Group(*parts, Text())


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
            Named(row["node"] if first else ""),
            Text(printable(row["state"])),
            f"{row['count']:,}",
            format_ns(row["total_ns"]),
            *(format_ns(row[f"duration_{name}_ns"]) for name in ("p50", "max")),
        )
    return Group(Rule(Text("lifecycle", style="bold"), align="left"), table, Text())
