# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The verdict over the whole system, and groups of chains, for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from strata.analysis import Analysis
from strata.printable import printable
from strata.show.terminal.breaking import Named
from strata.units import as_float, format_count, format_ns, format_share

Row = Mapping[Any, Any]

_FILLED_SHARE = 0.01
MOST_FILLING = 12
"""So many callbacks of an executor are shown."""


def system_section(analysis: Analysis, *, everything: bool) -> RenderableType | None:
    """Return the sentence for the whole system; with `everything`, all ranked causes too."""
    verdict = analysis.system
    if not verdict.text:
        return None
    text = Text("System: ", style="bold red" if verdict.stands_out else "bold green")
    text.append(printable(verdict.text), style="default not bold")
    parts: list[RenderableType] = [text, Text()]
    if everything and len(analysis.rows("system_causes")):
        parts += [_causes(analysis), Text()]
    return Group(*parts)


def _causes(analysis: Analysis) -> RenderableType:
    table = Table(box=None, padding=(0, 1), show_edge=False, expand=True)
    table.add_column("cause", no_wrap=True)
    table.add_column("where", overflow="fold", ratio=1)
    for name in ("share", "each"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in analysis.rows("system_causes").records():
        layer = row["layer"] or row["kind"]
        where = (
            row["where"]
            if row["kind"] != "executor"
            else f"executor of {row['where'] or '(unknown)'}"
        )
        mark = "* " if row["stands_out"] else "  "
        table.add_row(
            Text(mark + layer),
            Named(where),
            "" if row["share"] is None else format_share(row["share"]),
            format_ns(row["mean_ns"]),
        )
    title = Rule(Text("where all messages spend their time (* stands out)", style="bold"))
    title.align = "left"
    return Group(title, table)


def groups_section(analysis: Analysis) -> RenderableType | None:
    """Return each group of chains with their number and range; None where all chains differ."""
    groups = analysis.rows("chain_groups")
    if (groups["chains"] <= 1).all():
        return None
    lines: list[RenderableType] = [Rule(Text("chains, in groups", style="bold"), align="left")]
    for row in groups.records():
        lines.append(Named(row["nodes"]))
        lines.append(Padding(Text(group_facts(row)), (0, 0, 0, 2)))
    return Group(*lines, Text())


def group_facts(group: Row) -> str:
    """Say what a group holds: "12 chains of 7 to 11 hops, 488 messages, p50 1.0 s to 1.9 s"."""
    low, high = group["hops_low"], group["hops_high"]
    hops = format_count(high, "hop", "hops") if low == high else f"{low} to {high} hops"
    facts = [
        f"{format_count(group['chains'], 'chain', 'chains')} of {hops}",
        format_count(group["count"], "message", "messages"),
    ]
    if as_float(group["p50_low_ns"]) is not None:
        least, most = format_ns(group["p50_low_ns"]), format_ns(group["p50_high_ns"])
        facts.append(f"p50 {least}" + (f" to {most}" if most != least else ""))
        facts.append(f"max {format_ns(group['max_ns'])}")
    return ", ".join(facts)


def like_it(analysis: Analysis, chain_id: int) -> str:
    """Say of a chain how many are like it; empty where it is alone in its group."""
    members, groups = analysis.rows("chain_group_members"), analysis.rows("chain_groups")
    own = members["group_id"][members["chain_id"] == chain_id]
    found = groups.take(np.isin(groups["group_id"], own))
    if not len(found) or found["chains"][0] <= 1:
        return ""
    group = found.record(0)
    alike = "of this shape" if group["same"] == "shape" else "between these ends"
    return f"the slowest of {group['chains']} chains {alike}"


def executor_loads(analysis: Analysis) -> Iterator[tuple[int, list[dict[str, Any]]]]:
    """Give each executor that stands out, with the rows of `executor_load` worth showing."""
    causes, load = analysis.rows("system_causes"), analysis.rows("executor_load")
    named = causes["stands_out"] & causes.words("kind").are("executor")
    for number in causes["executor_id"][named].tolist():
        own = (load["executor_id"] == number) & (load["share"] >= _FILLED_SHARE)
        if own.any():
            yield number, list(load.take(own).records())


def load_section(analysis: Analysis) -> RenderableType | None:
    """Return what fills each executor that messages wait for; None where none stands out."""
    parts: list[RenderableType] = []
    for number, own in executor_loads(analysis):
        table = Table(box=None, padding=(0, 1), show_edge=False, expand=True)
        for name in ("node", "of"):
            table.add_column(name, overflow="fold", ratio=1)
        for name in ("work", "count", "share", "time"):
            table.add_column(name, justify="right", no_wrap=True)
        for row in own[:MOST_FILLING]:
            table.add_row(
                Named(row["node"] or ""),
                Named(row["trigger"] or ""),
                row["work"],
                f"{row['count']:,}",
                format_share(row["share"]),
                format_ns(row["duration_ns"]),
            )
        title = f"what fills executor {number}"
        parts += [Rule(Text(title, style="bold"), align="left"), table]
        if len(own) > MOST_FILLING:
            more = f"and {len(own) - MOST_FILLING} more of 1 % or more"
            parts.append(Padding(Text(more, style="dim"), (0, 1)))
        parts.append(Text())
    return Group(*parts) if parts else None
