# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""One chain, or several alike, as a few lines: its quantiles, and a line per hop and callback."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.cells import cell_len
from rich.text import Text

from strata.analysis import Analysis
from strata.schema.layers import CALLBACK, HOLD, LINK_HOLD, STORED, SUSPENDED
from strata.schema.rows import Rows
from strata.show.words.chain_choice import has_late_part
from strata.show.words.naming import Names, fitted, function_name
from strata.show.words.quantiles import Quantiles
from strata.show.words.unsynchronised import marked
from strata.stats.partition import partition
from strata.stats.places import base_place
from strata.units import format_count, format_ns, format_number, format_share, unit_for

LEGEND = "Lines of a chain: means, which add up; # is 10 %"
LEGEND_MARK = "; < marks the bottleneck"
"""Said of the lines of chains; the mark where any has one."""

_QUANTILES = ("p50", "p99")
_BAR = 10
_LAYER = 18
"""Cells that the first layer of a line has at least: a longer one goes below its name."""
_INDENT = 2
_VALUE = 8
_WORTH_NAMING = 0.05
_MOST_LAYERS = 3
_IN_CALLBACK = {
    CALLBACK.name: "callback",
    HOLD.name: "until it publishes",
    SUSPENDED.name: "suspended",
    STORED.name: "stored",
    LINK_HOLD.name: "then until it publishes",
}
"""Layers of what a node does with a message, in the words of a line of its own."""


@dataclass(frozen=True)
class Line:
    """One hop, or what a node did with its message: mean ns, share, and layers with theirs.

    `names` are ways to write its name, the longest first.
    """

    names: tuple[str, ...]
    mean_ns: float
    share: float
    layers: tuple[tuple[str, float], ...]
    marked: bool = False


class ChainBlock:
    """The lines of one chain, or of the slowest of a group of chains that are alike."""

    def __init__(self, analysis: Analysis, chain_id: int, names: Names, width: int) -> None:
        self._analysis, self._names, self._width = analysis, names, width
        self.chain_id = chain_id
        chains = analysis.rows("chains")
        self._chain = chains.record(int(np.flatnonzero(chains["chain_id"] == chain_id)[0]))
        self._same_name = int((chains.words("name").are(self._chain["name"])).sum()) > 1
        self._group = _group_of(analysis, chain_id)
        found = [one for one in analysis.bottlenecks if one.chain_id == chain_id]
        self._bottleneck = found[0] if found else None

    def head(self, *, short: bool = False) -> list[Text]:
        """Return its topics and quantiles; of a group, how many chains and their range.

        A `short` one is one line as far as its title leaves room for the median.
        """
        whole = self._figures()
        for figures in (whole, self._median()) if short else (whole,):
            room = self._width - len(figures) - 2
            for title in self._titles():
                if cell_len(title) <= room:
                    return [_head_line(title, " " * (room - cell_len(title) + 2) + figures)]
        title = self._titles()[0]
        return [_head_line(self._short_title(title), ""), Text(f"  {whole}")]

    def notes(self) -> list[Text]:
        """Return what is not in the figures: messages of the start-up, and without an end."""
        chain = self._chain
        notes = []
        if self._bottleneck is not None and self._bottleneck.start_up_count:
            count = format_count(self._bottleneck.start_up_count, "message", "messages")
            where = f" before {self._names.topic(chain['start_up_node'] or 'a node')} was ready"
            notes.append(f"start-up: {count}{where}; not in BOTTLENECK and Slowest")
        if chain["unfinished"]:
            notes.append(f"{chain['unfinished']:,} more reached a last callback that never ended")
        if chain["cut_short"]:
            notes.append(f"{chain['cut_short']:,} go on further (--chain follows one path)")
        return [Text(f"  {fitted(note, self._width - 2)}", style="dim") for note in notes]

    def lines(self) -> list[Line]:
        """Return a line per hop, and one per callback that a hop leads to."""
        rows = self._analysis.rows("chain_layers")
        rows = rows.take(rows["chain_id"] == self.chain_id)
        topics, nodes = (self._chain[name].split(" -> ") for name in ("name", "nodes"))
        mark = self._marked_layer(rows)
        out: list[Line] = []
        for hop, own in partition(rows["hop"]):
            of_hop = rows.take(own)
            inside = of_hop.words("layer").are(*_IN_CALLBACK)
            if (~inside).any():
                names = self._hop_names(nodes[hop], topics[hop], nodes[hop + 1])
                out.append(_line(names, of_hop.take(~inside), mark))
            if inside.any():
                callback = of_hop.take(inside)
                out.append(_line(self._callback_names(nodes[hop + 1], callback), callback, mark))
        return out

    def texts(self, lines: Sequence[Line]) -> list[Text]:
        """Return lines as text; a name for which there is no room beside its layers is above."""
        longest = max(
            (cell_len(one) for line in lines for one in _layer_texts(line)[:1]), default=0
        )
        most = self._width - _INDENT - _VALUE - _BAR - 5 - min(longest, _LAYER)
        fit = [cell_len(name) for line in lines for name in line.names if cell_len(name) <= most]
        room = max(fit, default=0)
        return [text for line in lines for text in self._text(line, room)]

    def _text(self, line: Line, room: int) -> Iterator[Text]:
        fixed = _INDENT + room + 1 + _VALUE + 1 + _BAR + 3
        left = self._width - fixed
        name = next((one for one in line.names if cell_len(one) <= room), None)
        first = _layer_texts(line)[:1]
        if name is not None and all(cell_len(text) <= left for text in first):
            yield self._row(f"{'':{_INDENT}}{_padded(name, room)} ", line, left)
            return
        whole = next(
            (one for one in line.names if cell_len(one) <= self._width - _INDENT), line.names[-1]
        )
        yield Text(f"{'':{_INDENT}}{fitted(whole, self._width - _INDENT)}")
        yield self._row(f"{'':{_INDENT + 2}}", line, self._width - _INDENT - 2 - _VALUE - _BAR - 4)

    @staticmethod
    def _row(before: str, line: Line, room: int) -> Text:
        text = Text(f"{before}{format_ns(line.mean_ns):>{_VALUE}} ")
        bar = "#" * round(line.share * _BAR)
        text.append(f"{bar:<{_BAR}}", style="red" if line.marked else "cyan")
        text.append("< " if line.marked else "  ", style="bold red")
        shown: list[str] = []
        used = 0
        for layer in _layer_texts(line):
            used += cell_len(layer) + (2 if shown else 0)
            if used > room:
                break
            shown.append(layer)
        text.append("  ".join(shown), style="dim")
        text.rstrip()
        return text

    def _median(self) -> str:
        """Return the median; of a group, the range of medians."""
        group = self._group
        low, high = (
            (self._chain["latency_p50_ns"],) * 2
            if group is None
            else (group["p50_low_ns"], group["p50_high_ns"])
        )
        least, most = format_ns(low), format_ns(high)
        return f"p50 {least}" + (f" to {most}" if least != most else "")

    def _figures(self) -> str:
        group, chain = self._group, self._chain
        if group is not None:
            return f"{self._median()}  max {format_ns(group['max_ns'])}  n {group['count']:,}"
        quantiles = Quantiles(self._analysis)
        values = quantiles.values(("chain", self.chain_id), _QUANTILES, chain, "latency_")
        shown = zip(quantiles.names(_QUANTILES), map(format_ns, values), strict=True)
        parts = [f"{name} {value}" for name, value in shown]
        parts += [f"max {format_ns(chain['latency_max_ns'])}"]
        if not quantiles:
            parts.append(f"mean {format_ns(chain['latency_mean_ns'])}")
        return "  ".join([*parts, f"n {chain['count']:,}"])

    def _titles(self) -> tuple[str, ...]:
        """Return what it is called, the longest first."""
        if self._group is not None:
            return self._group_titles(self._group)
        title = " > ".join(map(self._names.topic, self._chain["name"].split(" -> ")))
        if self._same_name:
            nodes = list(map(self._names.node, self._chain["nodes"].split(" -> ")))
            title += f" ({' > '.join(nodes)})"
        return (marked(title, self._chain["unsynchronised"]),)

    def _group_titles(self, group: dict[str, Any]) -> tuple[str, ...]:
        low, high = group["hops_low"], group["hops_high"]
        hops = format_count(high, "hop", "hops") if low == high else f"{low} to {high} hops"
        ends = "nodes" if group["same"] == "ends" else "name"
        steps = [
            step if step == "..." else self._names.topic(step)
            for step in str(group[ends]).split(" -> ")
        ]
        title = f"{group['chains']:,} chains {' > '.join(steps)}"
        return f"{title}, {hops}", title

    def _short_title(self, title: str) -> str:
        if cell_len(title) <= self._width:
            return title
        steps = title.split(" > ")
        while (
            len(steps) > 3 and cell_len(" > ".join([*steps[:-2], "...", steps[-1]])) > self._width
        ):
            del steps[-2]
        if len(steps) > 2:
            steps = [*steps[:-2], "...", steps[-1]]
        each = (self._width - 10) // 2
        short = " > ".join(steps)
        return (
            short
            if cell_len(short) <= self._width
            else " > ".join(fitted(step, each) for step in (steps[0], "...", steps[-1]))
        )

    def _marked_layer(self, rows: Rows) -> int:
        """Return the position of the layer that is the bottleneck; -1 where none is."""
        found = self._bottleneck
        if found is None or not has_late_part(found):
            return -1
        # What only the slowest messages wait for is marked too, as nothing else stands out.
        typical = bool({"typical", "all hops"} & set(found.reasons))
        layer = found.layer if typical or not found.tail_layer else found.tail_layer
        place = base_place(found.where if typical or not found.tail_layer else found.tail_where)
        flags = rows.words("layer").are(layer)
        there = flags & np.asarray([base_place(one) == place for one in rows.texts("where")], bool)
        flags = there if there.any() else flags
        if not flags.any():
            return -1
        at = np.flatnonzero(flags)
        return int(rows["position"][at[np.argmax(np.nan_to_num(rows["mean_ns"][at]))]])

    def _hop_names(self, publisher: str, topic: str, reader: str) -> tuple[str, ...]:
        short, names = self._names.topic(topic), self._names
        after = f"{short} > {names.node(reader)}"
        return f"{names.node(publisher)} > {after}", f"> {after}"

    def _callback_names(self, node: str, rows: Rows) -> tuple[str, ...]:
        short = self._names.node(node)
        if rows.words("layer").are(STORED.name).any():
            return (f"{short}: stored until it publishes", f"{short}: stored", "stored")
        own = next(
            iter(rows.take(rows.words("layer").are(HOLD.name, CALLBACK.name)).texts("where")), ""
        )
        function = function_name(base_place(own).partition(" [")[0]) if own else None
        return f"{short}: {function or 'callback'}", function or "callback"


def _line(names: tuple[str, ...], rows: Rows, mark: int) -> Line:
    means = np.nan_to_num(rows["mean_ns"])
    layers = [
        (marked(_IN_CALLBACK.get(layer, layer), count), float(ns))
        for layer, ns, count in zip(
            rows.texts("layer"), means, rows["unsynchronised"].tolist(), strict=True
        )
    ]
    if [name for name, _ in layers] == [CALLBACK.name]:
        layers = []
    layers.sort(key=lambda item: -item[1])
    share, has = float(np.nan_to_num(rows["share"]).sum()), bool((rows["position"] == mark).any())
    return Line(names, float(means.sum()), share, tuple(layers), has)


def _layer_texts(line: Line) -> list[str]:
    """Name the largest layers with their means, in the unit of the line."""
    unit = unit_for(line.mean_ns)
    if len(line.layers) == 1:
        return [line.layers[0][0]]
    return [
        f"{layer} {format_number(ns / unit.ns)}"
        for layer, ns in line.layers[:_MOST_LAYERS]
        if ns >= _WORTH_NAMING * line.mean_ns
    ]


def folded(lines: Sequence[Line], most: int) -> tuple[list[Line], list[Line]]:
    """Return the `most` lines with the longest means and those marked, in their order; the rest."""
    ranked = sorted(range(len(lines)), key=lambda at: (not lines[at].marked, -lines[at].mean_ns))
    kept = set(ranked[:most])
    return (
        [line for at, line in enumerate(lines) if at in kept],
        [line for at, line in enumerate(lines) if at not in kept],
    )


def rest_text(rest: Sequence[Line]) -> Text:
    """Say what the lines that are not shown are together."""
    mean_ns, share = sum(line.mean_ns for line in rest), sum(line.share for line in rest)
    count = format_count(len(rest), "more hop or callback", "more hops and callbacks")
    return Text(
        f"  and {count}: {format_ns(mean_ns)}, {format_share(share)} (--layers)", style="dim"
    )


def _group_of(analysis: Analysis, chain_id: int) -> dict[str, Any] | None:
    members, groups = analysis.rows("chain_group_members"), analysis.rows("chain_groups")
    own = members["group_id"][members["chain_id"] == chain_id]
    found = groups.take(np.isin(groups["group_id"], own))
    return found.record(0) if len(found) and found["chains"][0] > 1 else None


def _head_line(title: str, figures: str) -> Text:
    text = Text(title, style="bold")
    text.append(figures, style="not bold")
    return text


def _padded(name: str, width: int) -> str:
    return name + " " * (width - cell_len(name))
