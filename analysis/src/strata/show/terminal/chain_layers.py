# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Chains hop by hop and layer by layer, with their modes and bottlenecks, for a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.rule import Rule
from rich.text import Text

from strata.analysis import Analysis
from strata.printable import printable
from strata.schema.rows import Rows
from strata.show.terminal.breaking import Named
from strata.show.terminal.layer_rows import add_layer, add_rest, hop_line, layer_table
from strata.show.terminal.scheduling import thread_table
from strata.show.terminal.sparkline import sparkline
from strata.show.terminal.system import groups_section, like_it
from strata.show.words.chain_choice import chosen_chains
from strata.show.words.links import cut_chains, links_advice
from strata.show.words.quantiles import Quantiles
from strata.show.words.unsynchronised import NOTE, marked
from strata.stats.partition import partition
from strata.units import format_count, format_ns

_LONG = 4
"""Hops of a chain from which on layers of less than `_SMALL` are put together."""
_SMALL = 0.01
_NARROW = 100
_DURATIONS = ("p50", "p99")
_OF_CHAIN = ("p50", "p90", "p99")
"""Quantiles that are shown unless the user chose others."""
_HISTOGRAM_WIDTH = 56


def chain_section(analysis: Analysis, width: int, *, everything: bool) -> Iterator[RenderableType]:
    """Yield groups of chains, and each chain hop by hop, layer by layer.

    Without `everything` of each group the slowest chain.
    """
    yield from _chains(analysis, width, everything=everything)
    hops = analysis.rows("hops")
    legend = (
        "bars: messages by latency, on a logarithmic axis; share: of the latency of all "
        "messages; typical messages: from the 40th to the 60th percentile of latency, of "
        "several modes within the most frequent one; what a layer takes of them is a mean; hold: "
        "from the start of a callback until it publishes the next message"
    )
    if (hops["unsynchronised"] > 0).any():
        legend += f"; {NOTE}"
    yield Text(legend, style="dim")
    yield Text()
    proposals = analysis.rows("link_proposals")
    yield from map(Text, cut_chains(proposals))
    if proposals["probable"].any():
        yield Text(links_advice(analysis.trace.path))


def _chains(analysis: Analysis, width: int, *, everything: bool) -> Iterator[RenderableType]:
    """Yield groups, then each chain; without `everything` the slowest chain of each group."""
    chains = {row["chain_id"]: row for row in analysis.rows("chains").records()}
    groups = groups_section(analysis)
    if groups is not None:
        yield groups
    shown = list(chains) if everything else chosen_chains(analysis)
    for number in shown:
        yield _chain(analysis, chains[number], width=width, everything=everything)
    if len(chains) > len(shown):
        more = format_count(len(chains) - len(shown), "more chain", "more chains")
        yield Text(f"... and {more} (--all)")


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
            f"max {format_ns(chain['latency_max_ns'])}",
        ]
    )
    latency = marked(latency, chain["unsynchronised"])
    if chain["unfinished"]:
        latency += f"; {chain['unfinished']:,} more reached a last callback that never ended"
    if chain["cut_short"]:
        latency += (
            f"; of {chain['cut_short']:,} the path goes on, and was not followed: there are "
            "too many paths (--chain follows one)"
        )
    title = chain["name"]
    if title in _shared(analysis.rows("chains")):
        title = f"{title} ({chain['nodes']})"
    parts: list[RenderableType] = [
        Rule(Text(_chain_head(analysis, chain_id), style="bold"), align="left"),
        Named(title, "bold"),
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
    threads = thread_table(analysis, chain_id, chain["latency_mean_ns"])
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
    low, high = chain["latency_min_ns"], chain["latency_max_ns"]
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
