# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A difference graph as SVG: nodes in columns by how far messages have come, hops between them."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup, escape

from strata.show.html.comparison.graph import SAME, DifferenceGraph, GraphEdge, GraphNode
from strata.show.words.fitting import fitted

_WIDTH, _HEIGHT = 164, 46
_BETWEEN, _BELOW = 124, 34
_EDGE = 12
_LONGEST = 22
_NAMED_EDGES = 12
"""With more, only hops that changed have the names of their topics."""
_SMALLEST = 0.75
"""Of its size: what is wider than the page even then is scrolled."""


@dataclass(frozen=True)
class _Box:
    x: float
    y: float


def drawn(graph: DifferenceGraph) -> Markup:
    """Return the graph as an SVG element; empty for a graph without nodes."""
    if not graph.nodes:
        return Markup()
    boxes = _placed(graph)
    width = max(box.x for box in boxes.values()) + _WIDTH + _EDGE
    height = max(box.y for box in boxes.values()) + _HEIGHT + _EDGE
    few = len(graph.edges) <= _NAMED_EDGES
    parts = [
        _edge(edge, boxes, at, named=few or edge.kind != SAME)
        for edge, at in _numbered(graph.edges)
    ]
    parts += [_node(node, boxes[node.name]) for node in graph.nodes]
    size = f'width="{width:.0f}" height="{height:.0f}"'
    style = f'style="min-width:{_SMALLEST * width:.0f}px"'
    head = (
        f'<svg class="graph" viewBox="0 0 {width:.0f} {height:.0f}" {size} {style} role="img" '
        f'aria-label="{escape(summary(graph))}">'
    )
    return Markup(head + "".join(parts) + "</svg>")


def summary(graph: DifferenceGraph) -> str:
    """Say the graph in words: how many nodes and hops, and those that changed."""
    changed = [f"{edge.topic} {edge.label}" for edge in graph.edges if edge.label]
    changed += [f"{node.name} {node.label}" for node in graph.nodes if node.label]
    text = f"{len(graph.nodes)} nodes and {len(graph.edges)} hops. "
    return text + ("Changed: " + "; ".join(changed) if changed else "No relevant change.")


def _placed(graph: DifferenceGraph) -> dict[str, _Box]:
    """Place each node right of those whose messages it takes; a loop is cut where it closes."""
    column: dict[str, int] = {node.name: 0 for node in graph.nodes}
    forward = _without_loops(graph)
    for _ in graph.nodes:
        for source, target in forward:
            column[target] = max(column[target], column[source] + 1)
    columns: dict[int, list[str]] = {}
    for name, at in column.items():
        columns.setdefault(at, []).append(name)
    row: dict[str, float] = {}
    for at in sorted(columns):
        before = {
            name: [row[source] for source, target in forward if target == name and source in row]
            for name in columns[at]
        }
        ordered = sorted(
            columns[at], key=lambda name: sum(before[name]) / max(len(before[name]), 1)
        )
        row |= {name: float(place) for place, name in enumerate(ordered)}
    most = max(len(names) for names in columns.values())
    return {
        name: _Box(
            _EDGE + at * (_WIDTH + _BETWEEN),
            _EDGE + (row[name] + (most - len(columns[at])) / 2) * (_HEIGHT + _BELOW),
        )
        for name, at in column.items()
    }


def _without_loops(graph: DifferenceGraph) -> list[tuple[str, str]]:
    """Return the pairs of nodes with edges between them, less those that close a loop."""
    after: dict[str, set[str]] = {node.name: set() for node in graph.nodes}
    kept = []
    for edge in graph.edges:
        reached, ahead = set(), [edge.target]
        while ahead:
            name = ahead.pop()
            if name not in reached:
                reached.add(name)
                ahead += after[name]
        if edge.source not in reached:
            after[edge.source].add(edge.target)
            kept.append((edge.source, edge.target))
    return kept


def _numbered(edges: tuple[GraphEdge, ...]) -> list[tuple[GraphEdge, int]]:
    """Number the edges between the same two nodes, so that they are drawn beside each other."""
    seen: dict[tuple[str, str], int] = {}
    found = []
    for edge in edges:
        at = seen.get((edge.source, edge.target), 0)
        seen[edge.source, edge.target] = at + 1
        found.append((edge, at))
    return found


def _edge(edge: GraphEdge, boxes: dict[str, _Box], at: int, *, named: bool) -> str:
    begin, end = boxes[edge.source], boxes[edge.target]
    x0, y0 = begin.x + _WIDTH, begin.y + _HEIGHT / 2 + 9 * at
    x1, y1 = end.x, end.y + _HEIGHT / 2 + 9 * at
    if x1 > x0:
        bend = (x1 - x0) / 2
        bends = ((x0 + bend, y0), (x1 - bend, y1))
        middle = ((x0 + x1) / 2, (y0 + y1) / 2)
    else:
        # Back to a node that is not to the right: below both.
        low = max(y0, y1) + _HEIGHT / 2 + _BELOW / 2 + 9 * at
        bends = ((x0 + 60, low), (x1 - 60, low))
        middle = ((x0 + x1) / 2, low - 8)
    points = ((x0, y0), *bends, (x1 - 7, y1))
    begin_at, *others = (f"{x:.0f},{y:.0f}" for x, y in points)
    path = f"M{begin_at} C{' '.join(others)}"
    arrow = f"M{x1 - 8:.0f},{y1 - 4:.0f} L{x1:.0f},{y1:.0f} L{x1 - 8:.0f},{y1 + 4:.0f} Z"
    width = 1.5 + 4.5 * edge.weight
    name = escape(fitted(edge.topic, _LONGEST)) if named else ""
    shift = 26 * at
    return (
        f'<g class="edge {edge.kind}"><title>{escape(edge.title)}</title>'
        f'<path class="line" d="{path}" style="stroke-width:{width:.1f}px"/>'
        f'<path class="head" d="{arrow}"/>'
        f'<text x="{middle[0]:.0f}" y="{middle[1] - 7 + shift:.0f}">{name}</text>'
        f'<text class="amount" x="{middle[0]:.0f}" y="{middle[1] + 15 + shift:.0f}">'
        f"{escape(edge.label)}</text></g>"
    )


def _node(node: GraphNode, box: _Box) -> str:
    middle = box.x + _WIDTH / 2
    down = box.y + (_HEIGHT / 2 + 5 if not node.label else 20)
    label = (
        f'<text class="amount" x="{middle:.0f}" y="{box.y + 37:.0f}">{escape(node.label)}</text>'
        if node.label
        else ""
    )
    return (
        f'<g class="node {node.kind}"><title>{escape(node.name)}</title>'
        f'<rect x="{box.x:.0f}" y="{box.y:.0f}" width="{_WIDTH}" height="{_HEIGHT}" rx="8"/>'
        f'<text x="{middle:.0f}" y="{down:.0f}">{escape(fitted(node.name, _LONGEST))}</text>'
        f"{label}</g>"
    )
