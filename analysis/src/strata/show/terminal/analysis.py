# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""An analysis as text for a terminal of 80 columns or more."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from strata.analysis import Analysis
from strata.printable import printable
from strata.schema.diagnostic import Severity
from strata.schema.events import INTERNAL_TOPICS
from strata.schema.quality import SAID_FIRST
from strata.schema.rows import Rows
from strata.show.terminal.actions import actions_text
from strata.show.terminal.breaking import Named, broken
from strata.show.terminal.chain_layers import chain_section
from strata.show.terminal.drivers import drivers_section
from strata.show.terminal.entities import lifecycle_section, timer_section
from strata.show.terminal.executors import executors_section
from strata.show.terminal.findings import finding_line, first_lines
from strata.show.terminal.services import services_text
from strata.show.terminal.summary import print_summary
from strata.show.terminal.system import (
    load_section,
    system_section,
)
from strata.show.terminal.trend import trend_section
from strata.show.words.commands import Commands
from strata.show.words.cpu_use import any_known, cpu_text
from strata.show.words.lost import loss_sentences
from strata.show.words.most import most_first
from strata.show.words.quantiles import Of, Quantiles
from strata.show.words.sections import SECTIONS, sections_of
from strata.show.words.unsynchronised import marked
from strata.symbols import shorten
from strata.units import format_count, format_ns

_LONG = 4
"""Hops of a chain from which on layers of less than `_SMALL` are put together."""
_SMALL = 0.01
_NARROW = 100
_DURATIONS = ("p50", "p99")
_OF_CHAIN = ("p50", "p90", "p99")
"""Quantiles that are shown unless the user chose others."""
_MOST_BESIDE_CPU = 3
_LABEL_WIDTH = 12
_HISTOGRAM_WIDTH = 56


def print_analysis(
    analysis: Analysis,
    console: Console,
    *,
    sections: Collection[str] = (),
    everything: bool = False,
    commands: Commands | None = None,
) -> None:
    """Print the summary of one screen, then the sections asked for (names of `SECTIONS`).

    With `everything` these are all that the trace has something for, with every chain and with
    internal topics. `commands` are what the summary suggests, by default those for `trace.path`.
    """
    there = sections_of(analysis)
    print_summary(analysis, commands or Commands(analysis.trace.path), console, there)
    if sections or everything:
        console.print()
    for name in there if everything else [one for one in SECTIONS if one in sections]:
        if name in there:
            for part in _MAKE[name](_Shown(analysis, console.width, everything)):
                if part is not None:
                    console.print(part)
        else:
            console.print(f"--{name}: the trace has none.\n")


@dataclass(frozen=True)
class _Shown:
    """What a section is made of: an analysis, the terminal's width, and whether of everything."""

    analysis: Analysis
    width: int
    everything: bool


def _quality_parts(of: _Shown) -> Iterator[RenderableType]:
    yield from first_lines(of.analysis.rows("quality").records())
    yield _head(of.analysis, of.width)
    yield _quality(of.analysis)


def _executor_parts(of: _Shown) -> Iterator[RenderableType | None]:
    yield load_section(of.analysis)
    yield executors_section(of.analysis, everything=True)


_MAKE: Mapping[str, Callable[[_Shown], Iterable[RenderableType | None]]] = {
    "causes": lambda of: [system_section(of.analysis, everything=True)],
    "layers": lambda of: chain_section(of.analysis, of.width, everything=of.everything),
    "trend": lambda of: trend_section(of.analysis, of.width, everything=of.everything),
    "hops": lambda of: [_hops(of.analysis, Quantiles(of.analysis), everything=of.everything)],
    "drivers": lambda of: [drivers_section(of.analysis, everything=of.everything)],
    "executors": _executor_parts,
    "services": lambda of: [services_text(of.analysis, everything=True)],
    "actions": lambda of: [actions_text(of.analysis, everything=True)],
    "callbacks": lambda of: [_callbacks(of.analysis, Quantiles(of.analysis))],
    "timers": lambda of: timer_section(of.analysis),
    "lifecycle": lambda of: lifecycle_section(of.analysis),
    "quality": _quality_parts,
}
"""How each section is made."""


def _head(analysis: Analysis, width: int) -> RenderableType:
    trace, counts = analysis.trace, analysis.counts
    grid = _grid(2)
    grid.add_row("trace", Text(broken(printable(trace.path), width - _LABEL_WIDTH)))
    if trace.machine:
        grid.add_row("machine", Text(printable(trace.machine)))
    grid.add_row(
        "events",
        f"{trace.events:,} in {format_ns(trace.duration_ns)}, "
        f"{format_count(len(trace.processes), 'process', 'processes')}",
    )
    grid.add_row(
        "messages",
        f"{counts.published:,} published, {counts.taken:,} taken, {counts.matched:,} matched",
    )
    return grid


def _quality(analysis: Analysis) -> RenderableType:
    grid = _grid(2)
    found = list(analysis.rows("quality").records())
    rows = [row for row in found if row["code"] not in SAID_FIRST]
    if len(rows) < len(found) and all(row["severity"] == Severity.INFO.value for row in rows):
        text = Text("see above; of what is there no event is lost and nothing is inferred")
        grid.add_row("quality", text)
    elif all(row["severity"] == Severity.INFO.value for row in found):
        # A message that nobody took is no lost event: what explains a number follows.
        grid.add_row("quality", Text("no event lost, nothing inferred", style="green"))
    for row in rows:
        grid.add_row("", finding_line(row))
    losses = analysis.rows("losses")
    for place in losses.words("place").take(losses.words("code").are("unreadable_traces")).texts():
        grid.add_row("", Text(printable(f"left out: {place}")))
    return Group(grid, Text())


def _hops(analysis: Analysis, quantiles: Quantiles, *, everything: bool) -> RenderableType:
    rows = analysis.rows("hops")
    if not everything:
        rows = rows.take(~rows.words("topic").are(*INTERNAL_TOPICS))
    table = Table(box=None, padding=(0, 1), show_edge=False, expand=True)
    table.add_column("topic", overflow="fold", ratio=1)
    table.add_column("from -> to", overflow="fold", ratio=1)
    for name in ("count", "lost"):
        table.add_column(name, justify="right", no_wrap=True)
    for name in (*quantiles.names(_DURATIONS), "max"):
        table.add_column(f"{name}\nto end", justify="right", no_wrap=True)
    for row in rows.records():
        way = f"{row['publisher_node']} -> {row['subscription_node']}"
        table.add_row(
            Named(row["topic"]),
            Named(marked(way, row["unsynchronised"])),
            f"{row['count']:,}",
            Text(f"{row['lost']:,}", style="red" if row["lost"] else ""),
            *_latencies(quantiles, ("hop", row["hop_id"]), row, "latency_"),
        )
    hidden = len(analysis.rows("hops")) - len(rows)
    parts: list[RenderableType] = [
        Rule(Text("hops, publish to the end of the callback", style="bold"), align="left"),
        table,
    ]
    parts += _losses(analysis, rows)
    if hidden:
        text = f"and {format_count(hidden, 'hop', 'hops')} of internal topics (--all)"
        parts.append(Padding(Text(text, style="dim"), (0, 1)))
    return Group(*parts, Text())


def _losses(analysis: Analysis, hops: Rows) -> list[RenderableType]:
    """Say of each hop what was lost and why, the most first."""
    of = {row["hop_id"]: row for row in hops.records()}
    begin_ns = analysis.trace.begin_ns
    texts = [
        f"{hop['topic']}, {hop['publisher_node']} -> {hop['subscription_node']}: {sentence}"
        for row in most_first(analysis.rows("hop_losses"), "count")
        if (hop := of.get(row["hop_id"]))
        for sentence in loss_sentences([row], hop["published"], begin_ns)
    ]
    return [Padding(Named(text, "yellow"), (0, 1)) for text in texts]


def _callbacks(analysis: Analysis, quantiles: Quantiles) -> RenderableType:
    callbacks = analysis.rows("callbacks")
    total = np.nan_to_num(callbacks["duration_mean_ns"]) * callbacks["duration_count"]
    rows = callbacks.take(np.argsort(-total, kind="stable"))
    table = Table(box=None, padding=(0, 1), show_edge=False, expand=True)
    for name, ratio in (("node", 2), ("callback [of]", 3)):
        table.add_column(name, overflow="fold", ratio=ratio)
    # Beside more quantiles there is no room for it in a terminal of 80 columns.
    used = any_known(callbacks) and len(quantiles.names(_DURATIONS)) <= _MOST_BESIDE_CPU
    names = ("count", *quantiles.names(_DURATIONS), "max", *(["CPU"] if used else []))
    for name in names:
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows.records():
        table.add_row(
            Named(row["node"]),
            Named(shorten(row["symbol"]) + (f" [{row['trigger']}]" if row["trigger"] else "")),
            f"{row['count']:,}",
            *_latencies(quantiles, ("callback", row["callback_id"]), row, "duration_"),
            *([cpu_text(row)] if used else []),
        )
    parts: list[RenderableType] = [
        Rule(Text("callbacks, by total time", style="bold"), align="left"),
        table,
    ]
    return Group(*parts, Text())


def _latencies(quantiles: Quantiles, of: Of, row: Mapping[str, Any], prefix: str) -> list[str]:
    values = quantiles.values(of, _DURATIONS, row, prefix)
    return [format_ns(ns) for ns in (*values, row[f"{prefix}max_ns"])]


def _grid(columns: int) -> Table:
    grid = Table.grid(padding=(0, 2))
    for index in range(columns):
        grid.add_column(no_wrap=index == 0, style="bold" if index == 0 else "")
    return grid
