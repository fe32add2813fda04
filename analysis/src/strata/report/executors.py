# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The executors of an analysis as a table for a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from strata.analysis import Analysis
from strata.printable import printable
from strata.units import as_float, format_share

EXECUTOR_STATES = ("executing", "waiting", "mutex", "ready")


def executors_section(analysis: Analysis) -> RenderableType | None:
    """Return how each thread of each executor spent its time; None without executors."""
    if analysis.executors.empty:
        return None
    table = Table(box=None, padding=(0, 1), show_edge=False, expand=True)
    table.add_column("executor", no_wrap=True)
    table.add_column("nodes", overflow="fold", ratio=1)
    for name in ("thread", "callbacks", *EXECUTOR_STATES):
        table.add_column(name, justify="right", no_wrap=True)
    known = analysis.executors.set_index("executor_id")
    last = None
    for row in analysis.executor_threads.sort_values(["executor_id", "vtid"]).to_dict("records"):
        executor = known.loc[row["executor_id"]]
        nodes = executor["nodes"].replace(", ", "\n")
        head = ("", "") if last == row["executor_id"] else (executor["kind"], nodes)
        last = row["executor_id"]
        table.add_row(
            Text(head[0]),
            Text("\n".join(printable(node) for node in head[1].split("\n"))),
            str(row["vtid"]),
            f"{row['executions']:,}",
            *(format_share(share) for share in state_shares(row).values()),
        )
    return Group(Rule(Text("executors, by thread", style="bold"), align="left"), table, Text())


def state_shares(row: Mapping[Any, Any]) -> dict[str, float | None]:
    """Return the fractions of its time that a thread was in each state; null where not known.

    `row` is of the table `executor_threads`.
    """
    span = row["end_ns"] - row["begin_ns"]
    times = {state: as_float(row[f"{state}_ns"]) for state in EXECUTOR_STATES}
    return {state: ns / span if ns is not None and span else None for state, ns in times.items()}
