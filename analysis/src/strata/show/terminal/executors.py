# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The executors of an analysis as a table for a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from strata.analysis import Analysis
from strata.show.terminal.breaking import Named
from strata.show.words.cpu_use import NOTE, any_known, cpu_text
from strata.units import as_float, format_share

EXECUTOR_STATES = ("executing", "waiting", "mutex", "ready")

_MOST_NODES = 6


def executors_section(analysis: Analysis, *, everything: bool) -> RenderableType | None:
    """Return how each thread of each executor spent its time; None without executors.

    Without `everything`, of an executor of many nodes the first few are named.
    """
    executors = {row["executor_id"]: row for row in analysis.rows("executors").records()}
    if not executors:
        return None
    used = any_known(analysis.rows("executor_threads"))
    # Closer together, to leave room for one column more in a terminal of 80.
    padding = (0, 1, 0, 0) if used else (0, 1)
    table = Table(box=None, padding=padding, show_edge=False, expand=True)
    for name in ("no." if used else "executor", "kind"):
        table.add_column(name, no_wrap=True)
    for name in ("thread", "callbacks", *EXECUTOR_STATES, *(["CPU"] if used else [])):
        table.add_column(name, justify="right", no_wrap=True)
    last = None
    for row in in_executors(analysis):
        number = row["executor_id"]
        head = ("", "") if last == number else (str(number), executors[number]["kind"])
        last = number
        table.add_row(
            *map(Text, head),
            str(row["vtid"]),
            f"{row['executions']:,}",
            *(format_share(share) for share in state_shares(row).values()),
            *([cpu_text(row)] if used else []),
        )
    parts: list[RenderableType] = [
        Rule(Text("executors, by thread", style="bold"), align="left"),
        Padding(table, (0, 0, 0, 1)) if used else table,
    ]
    if used:
        parts.append(Padding(Text(NOTE, style="dim"), (0, 1)))
    for number, executor in executors.items():
        text = f"{number}: {node_list(executor['nodes'], everything=everything)}"
        parts.append(Padding(Named(text), (0, 1)))
    return Group(*parts, Text())


def in_executors(analysis: Analysis) -> list[dict[str, Any]]:
    """Return the rows of `executor_threads`, those of an executor by the ids of its threads."""
    rows = analysis.rows("executor_threads").records()
    return sorted(rows, key=lambda row: (row["executor_id"], row["vtid"]))


def node_list(names: str, *, everything: bool) -> str:
    """Return the nodes of an executor; without `everything` the first few, and how many more."""
    nodes = names.split(", ") if names else []
    shown = nodes if everything else nodes[:_MOST_NODES]
    rest = f" and {len(nodes) - len(shown)} more" if len(nodes) > len(shown) else ""
    return (", ".join(shown) or "nodes are not known") + rest


def state_shares(row: Mapping[Any, Any]) -> dict[str, float | None]:
    """Return the fractions of its time that a thread was in each state; null where not known.

    `row` is of the table `executor_threads`.
    """
    span = row["end_ns"] - row["begin_ns"]
    times = {state: as_float(row[f"{state}_ns"]) for state in EXECUTOR_STATES}
    return {state: ns / span if ns is not None and span else None for state, ns in times.items()}
