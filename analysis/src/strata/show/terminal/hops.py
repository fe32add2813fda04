# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Hops of several traces side by side, as text for a terminal of 80 columns or more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Console, Group, RenderableType
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from strata.printable import printable
from strata.schema.layers import DRIVER_LAYERS, HOP_LAYERS
from strata.show.terminal.breaking import broken
from strata.show.terminal.sparkline import sparkline
from strata.show.words.hop_selection import Selection, letter
from strata.show.words.lost import loss_sentences
from strata.stats.bottleneck import describe_modes
from strata.stats.hop_distributions import Distribution, Hop, Measure, TraceHops, Way
from strata.stats.mode_tables import mode_rows
from strata.stats.transfers import End
from strata.units import format_count, format_ns, format_share

_USUAL = ("min", "p50", "mad", "p90", "p99", "max", "mean")
_ALWAYS = ("max", "mean")
"""Shown beside quantiles that the user chose: as many as fit beside `min` and five of them."""
_MOST_STATISTICS = 7
_COLUMN_WIDTH = 10
_ENDS_WIDTH = 24
"""Of a line of bars, what the letter of its trace and the two ends of the axis take."""

Measured = Mapping[str, Distribution]
_ENDS = {End.START: "the start of its callback", End.END: "the end of its callback"}
_OTHER = {End.START: End.END, End.END: End.START}


def print_hops(
    traces: Sequence[TraceHops], console: Console, *, until: End, selection: Selection
) -> None:
    """Print a block for each hop with a line for each trace, then the chains."""
    lettered = {letter(at): trace for at, trace in enumerate(traces)}
    letters = list(lettered)
    for name, trace in lettered.items():
        for text in trace.recording:
            console.print(Text(printable(f"{name}, {trace.name}: {text}"), style="bold red"))
    console.print(_legend(lettered, until, console.width))
    hops = selection.hops(traces)
    for way in hops:
        found = {name: trace.hops[way] for name, trace in lettered.items() if way in trace.hops}
        console.print(_hop(way, found, letters, until, console.width))
        for name, hop in found.items():
            begin_ns = lettered[name].begin_ns
            for text in loss_sentences(hop.losses, hop.published, begin_ns):
                console.print(Text(printable(f"{name}  {text}"), style="yellow"))
        console.print()
    if not hops:
        console.print("No hop: no message that was asked for was followed from publish to take.\n")
    for way in selection.chains(traces):
        whole = {name: trace.chains[way] for name, trace in lettered.items() if way in trace.chains}
        console.print(_chain(way, whole, letters, console.width))
    hidden = selection.hidden(traces)
    if hidden:
        text = f"and {format_count(hidden, 'hop', 'hops')} of internal topics (--all)"
        console.print(Text(text, style="dim"))


def _legend(lettered: Mapping[str, TraceHops], until: End, width: int) -> RenderableType:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True, style="bold")
    grid.add_column()
    for name, trace in lettered.items():
        grid.add_row(name, Text(broken(printable(trace.name), width - 5)))
    note = (
        f"Latency of a hop: each message from its publish{_of_drivers(lettered)} to {_ENDS[until]} "
        f"({until.value}), and its median to {_ENDS[_OTHER[until]]} ({_OTHER[until].value}). "
        f"`strata analyze` and `compare` call the time to {End.END.value} the latency. "
        "Bars: messages by latency, on one logarithmic axis "
        "for all lines of a block. Mostly: the layer with the largest share of the typical "
        "messages (p40 to p60)."
    )
    return Group(grid, Text(note, style="dim"), Text())


def _of_drivers(lettered: Mapping[str, TraceHops]) -> str:
    """Say where latencies begin that do so before the publish, where there are any."""
    own = {layer.name for layer in DRIVER_LAYERS}
    hops = [hop for trace in lettered.values() for hop in trace.hops.values()]
    some = any(part.layer in own for hop in hops for part in hop.layers)
    return " (of a sensor's driver, from the arrival of its data)" if some else ""


def _hop(
    way: Way, found: Mapping[str, Hop], letters: Sequence[str], until: End, width: int
) -> RenderableType:
    measures: dict[str, Measure] = {
        name: hop.transfer if until is End.START else hop.whole for name, hop in found.items()
    }
    counts = {name: (hop.count, hop.lost) for name, hop in found.items()}
    other = {name: hop.whole if until is End.START else hop.transfer for name, hop in found.items()}
    parts = [
        Rule(Text(f"hop, publish to {until.value}", style="bold"), align="left"),
        Text(printable(way.name), style="bold", overflow="fold"),
        Text(printable(" -> ".join(way.nodes)), overflow="fold"),
        _numbers(measures, counts, letters),
        _to_other_end(other, _OTHER[until]),
        *_bars(measures, width),
        *_layers(found, letters, width),
        *(_largest(name, one) for name, one in measures.items() if len(one.values)),
    ]
    return Group(*parts)


def _chain(
    way: Way, found: Mapping[str, Distribution], letters: Sequence[str], width: int
) -> RenderableType:
    counts = {name: (len(one.values), None) for name, one in found.items()}
    parts = [
        Rule(Text("chain, first publish to the last callback_end", style="bold"), align="left"),
        Text(printable(way.name), style="bold", overflow="fold"),
        Text(printable(" -> ".join(way.nodes)), overflow="fold"),
        _numbers(found, counts, letters),
        *_bars(found, width),
    ]
    return Group(*parts, Text())


def _numbers(
    found: Measured, counts: Mapping[str, tuple[int, int | None]], letters: Sequence[str]
) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), show_edge=False)
    table.add_column("", no_wrap=True, style="bold", min_width=2)
    names = _statistics(found)
    for name, width in {"count": 7, "lost": 5, **dict.fromkeys(names, 7)}.items():
        table.add_column(name, justify="right", no_wrap=True, min_width=width)
    for name in letters:
        if name not in found:
            table.add_row(name, "-")
            continue
        count, lost = counts[name]
        statistics = {**found[name].statistics, **found[name].quantiles}
        table.add_row(
            name,
            f"{count:,}",
            "-" if lost is None else f"{lost:,}",
            *(format_ns(statistics[key]) for key in names),
        )
    return table


def _to_other_end(found: Measured, end: End) -> Text:
    """Name the medians to the other end, so that no two numbers seem to contradict each other."""
    medians = [f"{name} p50 {format_ns(one.statistics['p50'])}" for name, one in found.items()]
    return Text(f"   to {end.value}: {', '.join(medians)}", overflow="fold")


def _statistics(found: Measured) -> tuple[str, ...]:
    """Return the statistics to show: with quantiles that the user chose in place of the usual."""
    chosen = next((tuple(one.quantiles) for one in found.values()), ())
    return ("min", *chosen, *_ALWAYS)[:_MOST_STATISTICS] if chosen else _USUAL


def _bars(found: Measured, width: int) -> list[RenderableType]:
    """A line of bars for each trace, on one axis, with its modes where it has several."""
    found = {name: one for name, one in found.items() if len(one.values)}
    if not found:
        return []
    low = min(int(one.values.min()) for one in found.values())
    high = max(int(one.values.max()) for one in found.values())
    lines: list[RenderableType] = []
    for name, one in found.items():
        bars = sparkline(one.values, low, high, max(10, width - _ENDS_WIDTH))
        line = Text(name.ljust(3), style="bold")
        line.append(f"{format_ns(low)} {bars} {format_ns(high)}", style="not bold")
        lines.append(line)
        modes = mode_rows(one.modes, one.values)
        if modes:
            lines.append(Text(f"   {describe_modes(modes)}"))
    return lines


def _layers(found: Mapping[str, Hop], letters: Sequence[str], width: int) -> list[RenderableType]:
    """The quantiles of each layer, as many traces beside each other as the terminal is wide.

    The median, or those that the user chose, each of all traces before the next.
    """
    present = {part.layer for hop in found.values() for part in hop.layers}
    names = [f"   {layer.name}" for layer in HOP_LAYERS if layer.name in present]
    longest = max(map(len, names), default=0) + 1
    shown = [name for name in letters if name in found]
    chosen = next((tuple(p.quantiles) for hop in found.values() for p in hop.layers), ())
    if chosen:
        columns = [
            (f"{quantile} {name}", {part.layer: part.quantiles[quantile] for part in hop.layers})
            for quantile in chosen
            for name, hop in ((name, found[name]) for name in shown)
        ]
    else:
        columns = [
            (name, {part.layer: part.statistics["p50"] for part in found[name].layers})
            for name in shown
        ]
    widest = max(_COLUMN_WIDTH, *(len(head) + 1 for head, _ in columns)) if columns else 1
    fit = max(1, (width - longest) // widest)
    title = "   layer" if chosen else "   layer, p50"
    return [
        _layer_table(title, columns[at : at + fit], longest, widest)
        for at in range(0, len(columns), fit)
    ]


def _layer_table(
    title: str, columns: Sequence[tuple[str, Mapping[str, float | None]]], width: int, column: int
) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), show_edge=False)
    table.add_column(title, no_wrap=True, min_width=width)
    for head, _ in columns:
        table.add_column(head, justify="right", no_wrap=True, width=column - 1)
    for layer in HOP_LAYERS:
        if any(layer.name in values for _, values in columns):
            cells = (format_ns(values.get(layer.name)) for _, values in columns)
            table.add_row(f"   {layer.name}", *cells)
    return table


def _largest(name: str, measure: Measure) -> Text:
    line = Text(name.ljust(3), style="bold")
    typical, tail = measure.typical, measure.tail
    text = f"mostly {typical.layer} {format_share(typical.share)}"
    text += f", slowest 1 %: {tail.layer} {format_share(tail.share)}"
    line.append(text, style="not bold")
    return line
