# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Sources of sensor data and what they lost, as text."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from strata.analysis import Analysis
from strata.printable import printable
from strata.units import format_count, format_ns

_TIMES = {
    "sweep p50": "sweep_p50",
    "queue p50": "queue_p50",
    "p99": "queue_p99",
    "max": "queue_max",
    "conversion": "conversion_p50",
}
_UNITS = {
    "socket buffer full": ("packet", "packets"),
    "appsink full": ("buffer", "buffers"),
    "never came": ("packet", "packets"),
    "not published": ("frame", "frames"),
}
_MAX_STRETCHES = 3


def drivers_section(analysis: Analysis, *, everything: bool) -> RenderableType | None:
    """Return a row a source, and below what each lost, why and when; None without sources.

    Without `everything`, of many stretches of loss only those of the most are told each.
    """
    if analysis.driver_sources.empty:
        return None
    table = Table(box=None, padding=(0, 1), show_edge=False, expand=True)
    table.add_column("source", overflow="fold", ratio=1)
    for name in ("read", "frames", *_TIMES):
        table.add_column(name, justify="right", no_wrap=True)
    remarks: list[str] = []
    for row in analysis.driver_sources.to_dict("records"):
        table.add_row(
            Text.assemble((printable(source_name(row)), "bold"), "\n", printable(_way(row))),
            f"{row['reads']:,}",
            f"{row['frames']:,}",
            *(format_ns(row[column]) for column in _TIMES.values()),
        )
        remarks += [
            f"{source_name(row)}: {text}"
            for text in loss_sentences(analysis, row["source_id"], everything=everything)
        ]
    parts: list[RenderableType] = [Rule(Text("sensor drivers", style="bold"), align="left"), table]
    note = "sweep: first to last packet of a frame; queue: in the socket or appsink until read"
    parts += [Padding(Text(note, style="dim"), (0, 1))]
    parts += [Padding(Text(printable(text), style="yellow"), (0, 1)) for text in remarks]
    return Group(*parts, Text())


def source_name(row: Mapping[Any, Any]) -> str:
    """Return the place of a row of `driver_sources` with the driver's own name for it."""
    name = "" if pd.isna(row["name"]) else row["name"]
    return f"{row['place']} ({name})" if name and name not in row["place"] else row["place"]


def _way(row: Mapping[Hashable, Any]) -> str:
    nodes = row["nodes"] or f"pid {row['vpid']}"
    return f"{nodes} -> {row['topics'] or 'no message known'}"


def loss_sentences(analysis: Analysis, source_id: int, *, everything: bool) -> list[str]:
    """Say how much a source lost by each cause, and when (since the trace's first event)."""
    losses = analysis.driver_losses[analysis.driver_losses["source_id"] == source_id]
    return [
        _sentence(str(cause), rows, analysis.trace.begin_ns, everything=everything)
        for cause, rows in losses.groupby("cause", sort=False)
    ]


def _sentence(cause: str, rows: pd.DataFrame, begin_ns: int, *, everything: bool) -> str:
    total = format_count(int(rows["count"].sum()), *_UNITS[cause])
    shown = rows if everything else rows.nlargest(_MAX_STRETCHES, "count").sort_index()
    windows = [_window(row, begin_ns, alone=len(rows) == 1) for row in shown.to_dict("records")]
    more = len(rows) - len(shown)
    if more:
        windows.append(f"and {format_count(more, 'stretch', 'stretches')} more (--all)")
    lost = "not published" if cause == "not published" else f"lost, {cause}"
    return f"{total} {lost}: {'; '.join(windows)}"


def _window(row: Mapping[Hashable, Any], begin_ns: int, *, alone: bool) -> str:
    count = "" if alone else f"{row['count']:,} "
    since = "" if pd.isna(row["begin_ns"]) else f"from {format_ns(row['begin_ns'] - begin_ns)} "
    until = "" if pd.isna(row["end_ns"]) else f"until {format_ns(row['end_ns'] - begin_ns)}"
    return f"{count}{since}{until}".strip()
