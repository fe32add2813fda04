# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The executors of an analysis as a table for a terminal."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd
from rich.console import Group, RenderableType
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from strata.analysis import Analysis
from strata.printable import printable


def executors_section(analysis: Analysis) -> RenderableType | None:
    """Return how each thread of each executor spent its time; None without executors."""
    if analysis.executors.empty:
        return None
    table = Table(box=None, padding=(0, 1), show_edge=False, expand=True)
    table.add_column("executor", no_wrap=True)
    table.add_column("nodes", overflow="fold", ratio=1)
    for name in ("thread", "callbacks", "executing", "waiting", "mutex", "ready"):
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
            *(share(row, f"{state}_ns") for state in ("executing", "waiting", "mutex", "ready")),
        )
    return Group(Rule(Text("executors, by thread", style="bold"), align="left"), table, Text())


def share(row: Mapping[Hashable, Any], name: str) -> str:
    """Return a part of a thread's time in per cent; a dash where it is not known."""
    span = row["end_ns"] - row["begin_ns"]
    return "-" if pd.isna(row[name]) or not span else f"{row[name] / span:.1%}"
