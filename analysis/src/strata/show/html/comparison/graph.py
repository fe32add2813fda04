# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The graph of the nodes that both sides have, with what changed on its edges and in its nodes.

An edge is a hop: what changed up to the start of its callback. In a node is what changed in the
callbacks that its messages run. A change that is not relevant has no number.
"""

from __future__ import annotations

from dataclasses import dataclass

from strata.comparison.amounts import percent, signed_ns
from strata.comparison.comparison import Block, Comparison, Row, Verdict
from strata.comparison.runs import HOP
from strata.schema.layers import CALLBACK
from strata.show.html.templates import with_micro
from strata.show.html.theme import MICRO
from strata.units import format_ns

SLOWER, FASTER, SAME, ONE_SIDED = "slower", "faster", "same", "one-sided"
SIGNS = {SLOWER: "\N{BLACK UP-POINTING TRIANGLE}", FASTER: "\N{BLACK DOWN-POINTING TRIANGLE}"}
"""What says it without colour: later is up."""


@dataclass(frozen=True)
class GraphNode:
    """A node with what changed in its callbacks; `label` is empty where that is not relevant."""

    name: str
    label: str
    kind: str

    @property
    def selects(self) -> str:
        """What a click selects: the hops to the node and its callbacks."""
        return f"node:{self.name}"


@dataclass(frozen=True)
class GraphEdge:
    """A hop from `source` to `target`; `title` says both sides in full.

    `selects` names the hop in the page's address; empty where only one side has it. `weight` is
    the share of the largest change, from 0 to 1; losses that changed are in `label`.
    """

    source: str
    target: str
    topic: str
    label: str
    kind: str
    title: str
    weight: float
    selects: str = ""


@dataclass(frozen=True)
class DifferenceGraph:
    """Nodes in the order in which messages first meet them, and the hops between them."""

    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]


def difference_graph(comparison: Comparison) -> DifferenceGraph:
    """Return the graph of all hops; those that only one side has are edges without numbers."""
    keys = {id(block): subject_key(block, at) for at, block in enumerate(comparison.blocks)}
    blocks = [block for block in comparison.blocks if block.subject.kind == HOP]
    largest = max((abs(_shift(block.transfer)) for block in blocks), default=0.0)
    edges = [_edge(comparison, block, largest, keys[id(block)]) for block in blocks]
    for letter, subjects in (("A", comparison.only_a), ("B", comparison.only_b)):
        for subject in subjects:
            if subject.kind == HOP:
                source, target = subject.where.split(" -> ")
                only = f"only in {letter}"
                title = f"{subject.name}: {only}"
                edges.append(GraphEdge(source, target, subject.name, only, ONE_SIDED, title, 0.0))
    names = dict.fromkeys(name for edge in edges for name in (edge.source, edge.target))
    nodes = tuple(_node(comparison, name, blocks) for name in names)
    return DifferenceGraph(nodes, tuple(edges))


def subject_key(block: Block, number: int) -> str:
    """Return what names the subject of a block in the page's address: `hop:3`."""
    return f"{block.subject.kind}:{number}"


def _edge(comparison: Comparison, block: Block, largest: float, key: str) -> GraphEdge:
    source, target = block.subject.where.split(" -> ")
    row = block.transfer or block.whole
    kind = _kind(comparison, block, row)
    shift = _shift(row)
    label = f"{SIGNS[kind]} {with_micro(signed_ns(shift))}" if kind != SAME else ""
    loss = block.loss
    if loss is not None and loss.verdict.found:
        more = "loses more" if loss.verdict is Verdict.LOSES_MORE else "loses less"
        label = f"{label} {more}".strip()
        kind = kind if kind != SAME else SLOWER if more == "loses more" else FASTER
    sides = ", ".join(
        f"{letter} {format_ns(figures.p50, micro=MICRO)}"
        for letter, figures in (("A", row.a), ("B", row.b))
        if figures is not None
    )
    title = f"{block.subject.name}, publish to callback_start: median {sides}"
    if row.difference is not None:
        title += (
            f"; shift {with_micro(signed_ns(shift))} ({percent(row.relative)}), {row.verdict.value}"
        )
    weight = abs(shift) / largest if largest and kind != SAME else 0.0
    return GraphEdge(source, target, block.subject.name, label, kind, title, weight, key)


def _node(comparison: Comparison, name: str, blocks: list[Block]) -> GraphNode:
    """Say what changed in the callbacks of a node: the largest relevant change of one of them."""
    rows = [
        (block, row)
        for block in blocks
        if block.subject.where.split(" -> ")[1] == name
        for row in block.layers
        if row.layer == CALLBACK.name and comparison.is_relevant(block, row)
    ]
    if not rows:
        return GraphNode(name, "", SAME)
    block, row = max(rows, key=lambda pair: abs(_shift(pair[1])))
    kind = _kind(comparison, block, row)
    return GraphNode(name, f"{SIGNS[kind]} {with_micro(signed_ns(_shift(row)))}", kind)


def _kind(comparison: Comparison, block: Block, row: Row) -> str:
    if row.difference is None or not comparison.is_relevant(block, row):
        return SAME
    return SLOWER if _shift(row) > 0 else FASTER


def _shift(row: Row | None) -> float:
    return row.difference.shift.value if row is not None and row.difference is not None else 0.0
