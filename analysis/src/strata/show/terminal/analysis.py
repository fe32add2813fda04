# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""An analysis as text for a terminal of 80 columns or more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from strata.analysis import Analysis
from strata.printable import printable
from strata.schema.events import INTERNAL_TOPICS
from strata.schema.quality import SAID_FIRST
from strata.schema.rows import Rows
from strata.show.terminal.actions import actions_text
from strata.show.terminal.breaking import broken
from strata.show.terminal.drivers import drivers_section
from strata.show.terminal.entities import entity_sections
from strata.show.terminal.executors import executors_section
from strata.show.terminal.findings import finding_line, first_lines
from strata.show.terminal.layer_rows import add_layer, add_rest, hop_line, layer_table
from strata.show.terminal.scheduling import thread_table
from strata.show.terminal.services import services_text
from strata.show.terminal.sparkline import sparkline
from strata.show.terminal.system import (
    chosen_chains,
    groups_section,
    like_it,
    load_section,
    system_section,
)
from strata.show.words.cpu_use import any_known, cpu_text
from strata.show.words.links import cut_chains, links_advice
from strata.show.words.lost import loss_sentences
from strata.show.words.most import most_first
from strata.show.words.quantiles import Of, Quantiles
from strata.show.words.unsynchronised import NOTE, marked
from strata.stats.partition import partition
from strata.symbols import shorten
from strata.units import format_count, format_ns

_MAX_CHAINS = 6
_MAX_OF_MANY = 3
"""Chains that are shown of a system with more than `_MAX_CHAINS`."""
_LONG = 4
"""Hops of a chain from which on layers of less than `_SMALL` are put together."""
_SMALL = 0.01
_NARROW = 100
_DURATIONS = ("p50", "p99")
_OF_CHAIN = ("p50", "p90", "p99")
"""Quantiles that are shown unless the user chose others."""
_MAX_CALLBACKS = 12
_MOST_BESIDE_CPU = 3
_MAX_LOSSES = 8
_LABEL_WIDTH = 12
_HISTOGRAM_WIDTH = 56


def print_analysis(analysis: Analysis, console: Console, *, everything: bool) -> None:
    """Print the head, the quality, chains with their layers, hops and callbacks.

    Without `everything`, hops of internal topics and the callbacks that ran the least are left out,
    and the text says how many.
    """
    for line in first_lines(analysis.rows("quality").records()):
        console.print(line)
    console.print(_head(analysis, console.width))
    console.print(_quality(analysis, everything=everything))
    verdict = system_section(analysis, everything=everything)
    if verdict is not None:
        console.print(verdict)
    _print_chains(analysis, console, everything=everything)
    chains, hops = analysis.rows("chains"), analysis.rows("hops")
    if len(chains):
        legend = (
            "bars: messages by latency, on a logarithmic axis; share: of the latency of all "
            "messages; typical messages: from the 40th to the 60th percentile of latency, of "
            "several modes within the most frequent one"
        )
        if (hops["unsynchronised"] > 0).any():
            legend += f"; {NOTE}"
        console.print(Text(legend, style="dim"), Text())
    else:
        console.print("No chain: no message was followed from a publish to a callback.\n")
    proposals = analysis.rows("link_proposals")
    for sentence in cut_chains(proposals):
        console.print(Text(sentence))
    if proposals["probable"].any():
        console.print(Text(links_advice(analysis.trace.path)), Text())
    quantiles = Quantiles(analysis)
    if len(hops):
        console.print(_hops(analysis, quantiles, everything=everything))
    drivers = drivers_section(analysis, everything=everything)
    if drivers is not None:
        console.print(drivers)
    for executors in (
        load_section(analysis),
        executors_section(analysis, everything=everything),
    ):
        if executors is not None:
            console.print(executors)
    if len(analysis.rows("services")):
        console.print(services_text(analysis, everything=everything))
    if len(analysis.rows("actions")):
        console.print(actions_text(analysis, everything=everything))
    console.print(_callbacks(analysis, quantiles, everything=everything))
    for section in entity_sections(analysis, everything=everything):
        console.print(section)


def _print_chains(analysis: Analysis, console: Console, *, everything: bool) -> None:
    """Print groups, then each chain, or the slowest chain of some groups."""
    chains = {row["chain_id"]: row for row in analysis.rows("chains").records()}
    groups = groups_section(analysis)
    if groups is not None:
        console.print(groups)
    most = _MAX_CHAINS if len(chains) <= _MAX_CHAINS else _MAX_OF_MANY
    shown = list(chains) if everything else chosen_chains(analysis, most)
    for number in shown:
        console.print(_chain(analysis, chains[number], width=console.width, everything=everything))
    if len(chains) > len(shown):
        more = format_count(len(chains) - len(shown), "more chain", "more chains")
        console.print(f"... and {more} (--all)\n")


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


def _quality(analysis: Analysis, *, everything: bool) -> RenderableType:
    grid = _grid(2)
    found = list(analysis.rows("quality").records())
    rows = [row for row in found if row["code"] not in SAID_FIRST]
    every = len(rows)
    if not everything:
        rows = [row for row in rows if row["severity"] != "info"]
    if not rows and every < len(found):
        grid.add_row("quality", Text("see above; of what is there nothing is lost or inferred"))
    elif not rows:
        grid.add_row("quality", Text("nothing lost, nothing inferred", style="green"))
    for index, row in enumerate(rows):
        grid.add_row("quality" if not index else "", finding_line(row))
    losses = analysis.rows("losses")
    for place in losses.words("place").take(losses.words("code").are("unreadable_traces")).texts():
        grid.add_row("", Text(printable(f"left out: {place}")))
    hidden = every - len(rows)
    if hidden:
        grid.add_row(
            "", Text(f"and {format_count(hidden, 'remark', 'remarks')} (--all)", style="dim")
        )
    return Group(grid, Text())


def _chain(
    analysis: Analysis, chain: Mapping[str, Any], *, width: int, everything: bool
) -> RenderableType:
    chain_id = chain["chain_id"]
    layers = analysis.rows("chain_layers")
    layers = layers.take(layers["chain_id"] == chain_id)
    quantiles = Quantiles(analysis)
    values = quantiles.values(("chain", chain_id), _OF_CHAIN, chain, "latency_")
    shown = zip(quantiles.names(_OF_CHAIN), values, strict=True)
    latency = ", ".join(
        [
            format_count(chain["count"], "message", "messages"),
            *(f"{name} {format_ns(ns)}" for name, ns in shown),
            f"max {format_ns(chain['latency_max'])}",
        ]
    )
    latency = marked(latency, chain["unsynchronised"])
    if chain["unfinished"]:
        latency += f"; {chain['unfinished']:,} more reached a last callback that never ended"
    if chain["cut_short"]:
        latency += (
            f"; of {chain['cut_short']:,} the way goes on, and was not followed: there are too "
            "many ways (--chain follows one)"
        )
    title = chain["name"]
    if title in _shared(analysis.rows("chains")):
        title = f"{title} ({chain['nodes']})"
    parts: list[RenderableType] = [
        Rule(Text(_chain_head(analysis, chain_id), style="bold"), align="left"),
        Text(printable(title), style="bold", overflow="fold"),
        Text(latency),
        Text(_distribution(analysis, chain)),
        *_chain_tables(
            layers,
            chain["nodes"].split(" -> "),
            quantiles,
            narrow=width < _NARROW,
            everything=everything,
        ),
    ]
    threads = thread_table(analysis, chain_id, chain["latency_mean"])
    if threads is not None:
        parts.append(threads)
    for bottleneck in analysis.bottlenecks:
        if bottleneck.chain_id == chain_id:
            text = Text("Bottleneck: " if bottleneck.stands_out else "", style="bold red")
            text.append(printable(bottleneck.text), style="default not bold")
            parts.append(text)
    return Group(*parts, Text())


def _shared(chains: Rows) -> set[str]:
    """Return the names that several chains have: branches over the same topics to other nodes."""
    times = Counter(chains.texts("name"))
    return {name for name, count in times.items() if count > 1}


def _distribution(analysis: Analysis, chain: Mapping[str, Any]) -> str:
    instances = analysis.rows("chain_instances")
    values = instances["latency_ns"][instances["chain_id"] == chain["chain_id"]]
    low, high = chain["latency_min"], chain["latency_max"]
    bars = sparkline(values, low, high, _HISTOGRAM_WIDTH)
    return f"{format_ns(low)} {bars} {format_ns(high)}"


def _chain_head(analysis: Analysis, chain_id: int) -> str:
    alike = like_it(analysis, chain_id)
    return f"chain, {alike}" if alike else "chain"


def _chain_tables(
    layers: Rows, nodes: list[str], quantiles: Quantiles, *, narrow: bool, everything: bool
) -> list[RenderableType]:
    """Return the layers hop by hop; of a long chain small layers are one row a hop."""
    fold = not everything and len(nodes) - 1 > _LONG
    # The head of the columns is a table of its own, so that it comes before the first hop's line.
    names = quantiles.names(_DURATIONS)
    parts: list[RenderableType] = [layer_table(names, narrow=narrow)]
    for step, own in partition(layers["hop"]):
        rows = layers.take(own)
        table = layer_table(names, narrow=narrow, header=False)
        parts.append(hop_line(step, f"{nodes[step]} -> {nodes[step + 1]}"))
        small = (rows["share"] < _SMALL) & fold
        for row in rows.take(~small).records():
            of = ("chain layer", row["chain_id"])
            durations = quantiles.values(of, _DURATIONS, row, hop=row["hop"], layer=row["layer"])
            layer = marked(row["layer"], row["unsynchronised"])
            add_layer(table, layer, row["where"], durations, row["share"], places=row["places"])
        if small.any():
            add_rest(table, int(small.sum()), float(rows["share"][small].sum()), len(names))
        parts.append(table)
    return parts


def _hops(analysis: Analysis, quantiles: Quantiles, *, everything: bool) -> RenderableType:
    rows = analysis.rows("hops")
    if not everything:
        rows = rows.take(~rows.words("topic").are(*INTERNAL_TOPICS))
    table = Table(box=None, padding=(0, 1), show_edge=False, expand=True)
    table.add_column("topic", overflow="fold", ratio=1)
    table.add_column("from -> to", overflow="fold", ratio=1)
    for name in ("count", "lost", *quantiles.names(_DURATIONS), "max"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows.records():
        way = f"{row['publisher_node']} -> {row['subscription_node']}"
        table.add_row(
            Text(printable(row["topic"])),
            Text(printable(marked(way, row["unsynchronised"]))),
            f"{row['count']:,}",
            Text(f"{row['lost']:,}", style="red" if row["lost"] else ""),
            *_latencies(quantiles, ("hop", row["hop_id"]), row, "latency_"),
        )
    hidden = len(analysis.rows("hops")) - len(rows)
    parts: list[RenderableType] = [
        Rule(Text("hops, to the end of the callback", style="bold"), align="left"),
        table,
    ]
    parts += _losses(analysis, rows, everything=everything)
    if hidden:
        text = f"and {format_count(hidden, 'hop', 'hops')} of internal topics (--all)"
        parts.append(Padding(Text(text, style="dim"), (0, 1)))
    return Group(*parts, Text())


def _losses(analysis: Analysis, hops: Rows, *, everything: bool) -> list[RenderableType]:
    """Say of each hop what was lost and why, the most first."""
    of = {row["hop_id"]: row for row in hops.records()}
    begin_ns = analysis.trace.begin_ns
    texts = [
        f"{hop['topic']}, {hop['publisher_node']} -> {hop['subscription_node']}: {sentence}"
        for row in most_first(analysis.rows("hop_losses"), "count")
        if (hop := of.get(row["hop_id"]))
        for sentence in loss_sentences([row], hop["published"], begin_ns)
    ]
    shown = texts if everything else texts[:_MAX_LOSSES]
    lines = [Padding(Text(printable(text), style="yellow"), (0, 1)) for text in shown]
    if len(texts) > len(shown):
        more = Text(f"and {len(texts) - len(shown)} more losses of hops (--all)", style="dim")
        lines.append(Padding(more, (0, 1)))
    return [*lines]


def _callbacks(analysis: Analysis, quantiles: Quantiles, *, everything: bool) -> RenderableType:
    callbacks = analysis.rows("callbacks")
    total = np.nan_to_num(callbacks["duration_mean"]) * callbacks["duration_count"]
    rows = callbacks.take(np.argsort(-total, kind="stable"))
    shown = rows if everything else rows.take(np.arange(min(len(rows), _MAX_CALLBACKS)))
    table = Table(box=None, padding=(0, 1), show_edge=False, expand=True)
    for name, ratio in (("node", 3), ("callback", 4), ("of", 3)):
        table.add_column(name, overflow="fold", ratio=ratio)
    # Beside more quantiles there is no room for it in a terminal of 80 columns.
    used = any_known(callbacks) and len(quantiles.names(_DURATIONS)) <= _MOST_BESIDE_CPU
    names = ("count", *quantiles.names(_DURATIONS), "max", *(["CPU"] if used else []))
    for name in names:
        table.add_column(name, justify="right", no_wrap=True)
    for row in shown.records():
        table.add_row(
            Text(printable(row["node"])),
            Text(printable(shorten(row["symbol"]))),
            Text(printable(row["trigger"] or "")),
            f"{row['count']:,}",
            *_latencies(quantiles, ("callback", row["callback_id"]), row, "duration_"),
            *([cpu_text(row)] if used else []),
        )
    parts: list[RenderableType] = [
        Rule(Text("callbacks, by total time", style="bold"), align="left"),
        table,
    ]
    if len(rows) > len(shown):
        more = f"and {format_count(len(rows) - len(shown), 'callback', 'callbacks')} (--all)"
        parts.append(Padding(Text(more, style="dim"), (0, 1)))
    return Group(*parts)


def _latencies(quantiles: Quantiles, of: Of, row: Mapping[str, Any], prefix: str) -> list[str]:
    values = quantiles.values(of, _DURATIONS, row, prefix)
    return [format_ns(ns) for ns in (*values, row[f"{prefix}max"])]


def _grid(columns: int) -> Table:
    grid = Table.grid(padding=(0, 2))
    for index in range(columns):
        grid.add_column(no_wrap=index == 0, style="bold" if index == 0 else "")
    return grid
