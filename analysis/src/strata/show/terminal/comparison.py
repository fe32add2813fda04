# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A comparison and its gates as text for a terminal of 80 columns or more."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from strata.comparison.amounts import bounds_ns, percent, signed_ns, subject_text
from strata.comparison.answer import answer
from strata.comparison.comparison import Block, Comparison, Figures, Row, Verdict
from strata.comparison.difference import Estimate
from strata.comparison.gates.judge import Judgement, Outcome
from strata.comparison.runs import CALLBACK
from strata.comparison.sentences import further, headline
from strata.comparison.sides import Side
from strata.printable import printable
from strata.show.terminal.comparison_summary import print_summary
from strata.show.words.comparison import (
    found_text,
    gates_text,
    layer_text,
    loss_text,
    merged_text,
    notes,
    only_text,
    outcome_text,
    quality_text,
    sides_text,
    tail_texts,
    tails_of,
    verdict_text,
)
from strata.units import NOTHING, format_ns

_STYLES = {
    Verdict.SLOWER: "red",
    Verdict.LOSES_MORE: "red",
    Verdict.FASTER: "green",
    Verdict.LOSES_LESS: "green",
}
_OUTCOMES = {
    Outcome.HOLDS: "green",
    Outcome.BROKEN: "bold red",
    Outcome.UNDECIDED: "yellow",
    Outcome.MISSING: "bold red",
}


def print_comparison(comparison: Comparison, console: Console, *, everything: bool = False) -> None:
    """Print the answer on one screen; with `everything` each comparison with its layers.

    Then also what only one side has, and what the numbers are.
    """
    if not everything:
        print_summary(comparison, console)
        return
    console.print(_head(comparison))
    for block in comparison.blocks:
        if block.subject.kind != CALLBACK:
            console.print(_block(block, comparison))
    callbacks = [block for block in comparison.blocks if block.subject.kind == CALLBACK]
    if callbacks:
        console.print(_callbacks(callbacks, comparison.quantiles))
    only = only_text(comparison)
    if only:
        console.print(Rule(Text("only on one side", style="bold"), align="left"))
        for text in only:
            console.print(_text(text))
        console.print()
    for text in notes(comparison):
        console.print(_text(text, style="dim"))


def print_gates(judgements: Sequence[Judgement], console: Console, b: Side | None = None) -> None:
    """Print a line for each gate and subject; first the loss of `b`, which was not compared."""
    for text in quality_text(b, "B") if b is not None else ():
        console.print(_text(text, style="yellow"))
    console.print(Rule(Text("gates", style="bold"), align="left"))
    gate = None
    for one in judgements:
        if one.gate is not gate:
            gate = one.gate
            console.print(_text(gate.name, style="bold"))
        line = Text("  ")
        line.append(printable(outcome_text(one)), style=_OUTCOMES[one.outcome])
        console.print(line, soft_wrap=False, overflow="fold")
    console.print(_text(gates_text(judgements), style="bold"))


def _head(comparison: Comparison) -> RenderableType:
    found = answer(comparison)
    texts = [headline(comparison, found), *further(comparison, found)]
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True, style="bold")
    grid.add_column(overflow="fold")
    for letter, side in (("A", comparison.a), ("B", comparison.b)):
        grid.add_row(letter, Text(printable(sides_text(side))))
        for text in quality_text(side, letter):
            grid.add_row("", Text(printable(text), style="yellow"))
    sentences = [_text(text, style="bold") for text in texts]
    return Group(*sentences, Text(), grid, _text(found_text(comparison)), Text())


def _block(block: Block, comparison: Comparison) -> RenderableType:
    parts: list[RenderableType] = [
        Rule(Text(block.subject.kind, style="bold"), align="left"),
        _text(subject_text(block.subject), style="bold"),
        _sides(block, comparison.quantiles or ("p50", "p99")),
        _text(verdict_text(block.whole), style=_STYLES.get(block.whole.verdict, "")),
    ]
    parts += [_text(text) for text in tail_texts(block.whole, tails_of(comparison))]
    if block.loss is not None:
        parts.append(_text(loss_text(block.loss), style=_STYLES.get(block.loss.verdict, "")))
    if block.transfer is not None:
        text = f"{layer_text(block.transfer)}: {verdict_text(block.transfer)}"
        parts.append(_text(text, style=_STYLES.get(block.transfer.verdict, "")))
    if block.layers:
        parts.append(_layers(block))
        named = [(layer_text(row), row) for row in block.layers]
        parts += _chosen("layer", named, comparison.quantiles)
    parts += [_text(merged_text(row), style="dim") for row in block.layers if merged_text(row)]
    return Group(*parts, Text())


def _sides(block: Block, names: Sequence[str]) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), show_edge=False)
    table.add_column("", no_wrap=True, style="bold", min_width=2)
    for name, width in {"count": 9, "runs": 4, **dict.fromkeys(("mean", *names), 8)}.items():
        table.add_column(name, justify="right", no_wrap=True, min_width=width)
    for letter, figures in (("A", block.whole.a), ("B", block.whole.b)):
        assert figures is not None
        durations = (figures.part_of_mean, *map(figures.quantile, names))
        cells = (f"{figures.count:,}", str(figures.runs), *map(format_ns, durations))
        table.add_row(letter, *cells)
    return table


def _layers(block: Block) -> Table:
    table = _table("layer")
    for row in block.layers:
        _add(table, layer_text(row), row)
    whole = signed_ns(block.whole.mean_ns)
    table.add_row(Text("together", style="dim"), "", "", Text(whole, style="dim"), "", "")
    return table


def _callbacks(blocks: Sequence[Block], quantiles: Sequence[str]) -> RenderableType:
    table = _table("callback")
    for block in blocks:
        _add(table, subject_text(block.subject), block.whole)
    named = [(subject_text(block.subject), block.whole) for block in blocks]
    chosen = _chosen("callback", named, quantiles)
    return Group(Rule(Text("callbacks", style="bold"), align="left"), table, *chosen, Text())


def _chosen(
    first: str, rows: Sequence[tuple[str, Row]], quantiles: Sequence[str]
) -> list[RenderableType]:
    """By how much each quantile that the user chose moved; in brackets where it may not have."""
    if not quantiles:
        return []
    table = Table(box=None, padding=(0, 1, 0, 0), show_edge=False, expand=True)
    table.add_column(f"{first}, B - A [may be 0]", overflow="fold", ratio=1)
    for name in quantiles:
        table.add_column(name, justify="right", no_wrap=True, min_width=10)
    for text, row in rows:
        found = row.difference
        cells = [NOTHING if found is None else _moved(found.quantiles[name]) for name in quantiles]
        table.add_row(Text(printable(text)), *map(Text, cells))
    return [table]


def _moved(tail: Estimate) -> str:
    shown = signed_ns(tail.value)
    return shown if tail.without_zero else f"[{shown}]"


def _table(first: str) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), show_edge=False, expand=True)
    table.add_column(first, overflow="fold", ratio=1)
    for name in ("A p50", "B p50", "mean", "shift, 95 %"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    return table


def _add(table: Table, name: str, row: Row) -> None:
    table.add_row(
        Text(printable(name)),
        _p50(row.a),
        _p50(row.b),
        signed_ns(row.mean_ns),
        _shift(row),
        Text(_word(row), style=_STYLES.get(row.verdict, "dim")),
    )


def _p50(figures: Figures | None) -> str:
    return NOTHING if figures is None else format_ns(figures.p50)


def _shift(row: Row) -> str:
    if row.difference is None:
        return NOTHING
    doubt = "~" if row.difference.is_doubtful else ""
    if row.verdict is Verdict.NONE_FOUND:
        furthest = row.difference.shift.furthest
        return NOTHING if furthest is None else f"{doubt}+-{format_ns(furthest)}"
    return f"{doubt}{bounds_ns(row.difference.shift)}"


def _word(row: Row) -> str:
    """One word or two for a table; the percentage where a difference was found."""
    if row.verdict is Verdict.NONE_FOUND:
        return "none found"
    if row.verdict.found:
        return f"{row.verdict.value} {percent(row.relative)}"
    return str(row.verdict.value).removesuffix(" values")


def _text(text: str, style: str = "") -> Text:
    return Text(printable(text), style=style, overflow="fold")
