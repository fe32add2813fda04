# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Services and the layers of their calls, as text."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from strata.analysis import Analysis
from strata.show.terminal.breaking import Named
from strata.show.words.most import most_first
from strata.show.words.unsynchronised import marked
from strata.units import format_ns, format_share

_FIGURES = ("count", "lost", "p50", "p99", "max", "share")
_MAX_SERVICES = 6


def services_text(analysis: Analysis, *, everything: bool) -> RenderableType:
    """Return the section of services: a row each, with its layers below it.

    Without `everything`, the services that were called the least are left out.
    """
    rows = most_first(analysis.rows("services"), "count")
    shown = rows if everything else rows[:_MAX_SERVICES]
    layers = analysis.rows("service_layers")
    table = Table(box=None, padding=(0, 1), show_edge=False, expand=True)
    table.add_column("service, client -> server", overflow="fold", ratio=1)
    for name in _FIGURES:
        table.add_column(name, justify="right", no_wrap=True)
    for row in shown:
        way = f"{row['client_node']} -> {row['service_node']}"
        table.add_row(
            Group(Named(row["service"], "bold"), Named(way)),
            f"{row['count']:,}",
            f"{row['lost']:,}",
            *(format_ns(row[f"latency_{name}_ns"]) for name in ("p50", "p99", "max")),
            "",
        )
        for layer in layers.take(layers["service_id"] == row["service_id"]).records():
            figures = [format_ns(layer[f"{name}_ns"]) for name in ("p50", "p99", "max")]
            name = f"  {marked(layer['layer'], layer['unsynchronised'])}"
            table.add_row(name, "", "", *figures, format_share(layer["share"]))
    parts: list[RenderableType] = [Rule(Text("services", style="bold"), align="left"), table]
    if len(rows) > len(shown):
        parts.append(Text(f" and {len(rows) - len(shown)} more (--all)", style="dim"))
    return Group(*parts, Text())
