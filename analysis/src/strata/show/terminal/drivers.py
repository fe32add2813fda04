# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Sources of sensor data and what they lost, as text."""

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
from strata.units import format_count, format_ns

_TIMES = {
    "sweep": "sweep_p50_ns",
    "queue p50": "queue_p50_ns",
    "p99": "queue_p99_ns",
    "max": "queue_max_ns",
    "convert": "conversion_p50_ns",
}
_UNPUBLISHED = "not published"
_UNITS = {
    "socket buffer full": ("packet", "packets"),
    "appsink full": ("buffer", "buffers"),
    "never came": ("packet", "packets"),
    _UNPUBLISHED: ("frame", "frames"),
}


def drivers_section(analysis: Analysis, *, everything: bool) -> RenderableType | None:
    """Return a row a source, and below what each published and lost; None without sources.

    With `everything`, each stretch of time is told in which data were lost.
    """
    sources = analysis.rows("driver_sources")
    if not len(sources):
        return None
    table = Table(box=None, padding=(0, 1), show_edge=False, expand=True)
    table.add_column("source", overflow="fold", ratio=1)
    for name in ("read", "frames", *_TIMES):
        table.add_column(name, justify="right", no_wrap=True)
    remarks: list[Named] = []
    for row in sources.records():
        name = source_name(row)
        table.add_row(
            Named(row["place"]),
            f"{row['reads']:,}",
            f"{row['frames']:,}",
            *(format_ns(row[column]) for column in _TIMES.values()),
        )
        remarks.append(Named(f"{name}: {_way(row)}"))
        remarks += [
            Named(f"{name}: {text}", "yellow")
            for text in loss_sentences(analysis, row["source_id"], everything=everything)
        ]
    note = (
        "sweep: first to closing packet of a frame; queue: from arrival until read; convert: from"
    )
    note += " the complete frame to the message (medians)"
    parts: list[RenderableType] = [Rule(Text("sensor drivers", style="bold"), align="left"), table]
    parts += [Padding(text, (0, 1)) for text in (*remarks, Named(note, "dim"))]
    return Group(*parts, Text())


def source_name(row: Mapping[Any, Any]) -> str:
    """Return the place of a row of `driver_sources` with the driver's own name for it."""
    name = row["name"] or ""
    return f"{row['place']} ({name})" if name and name not in row["place"] else row["place"]


def _way(row: Mapping[str, Any]) -> str:
    nodes = row["nodes"] or f"pid {row['vpid']}"
    return f"{nodes} -> {row['topics'] or 'no message known'}"


def loss_sentences(analysis: Analysis, source_id: int, *, everything: bool) -> list[str]:
    """Say how much a source lost by each cause, and when (since the trace's first event)."""
    losses = analysis.rows("driver_losses")
    of_cause: dict[str, list[dict[str, Any]]] = {}
    for row in losses.take(losses["source_id"] == source_id).records():
        of_cause.setdefault(row["cause"], []).append(row)
    return [
        _sentence(cause, rows, analysis.trace.begin_ns, everything=everything)
        for cause, rows in of_cause.items()
    ]


def _sentence(cause: str, rows: list[dict[str, Any]], begin_ns: int, *, everything: bool) -> str:
    total = format_count(sum(row["count"] for row in rows), *_UNITS[cause])
    text = f"{total} {cause}" if cause == _UNPUBLISHED else f"{total} lost, {cause}"
    begins, ends = (
        [row[name] for row in rows if row[name] is not None] for name in ("begin_ns", "end_ns")
    )
    text += _window(min(begins, default=None), max(ends, default=None), begin_ns)
    if len(rows) == 1:
        return text
    shown = rows if everything else [max(rows, key=lambda row: row["count"])]
    told = [f"{row['count']:,}{_window(row['begin_ns'], row['end_ns'], begin_ns)}" for row in shown]
    most = "" if everything else "the most "
    return f"{text} in {len(rows):,} stretches: {most}{', '.join(told)}"


def _window(first_ns: int | None, last_ns: int | None, begin_ns: int) -> str:
    since = "" if first_ns is None else f" from {format_ns(first_ns - begin_ns)}"
    until = "" if last_ns is None else f" until {format_ns(last_ns - begin_ns)}"
    return since + until
