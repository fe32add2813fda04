# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A difference graph as SVG, by the layout of all pages; a click selects differences."""

from __future__ import annotations

from markupsafe import Markup

from strata.show.graph.drawing import DrawnBox, DrawnLink, draw, elided, wrapped
from strata.show.html.comparison.graph import SAME, DifferenceGraph, GraphEdge, GraphNode

ONLY = "only"
"""What a hop that one side has selects: the list of what only one side has."""
_LONGEST = 22
_NAMED_EDGES = 12
"""With more hops, only those that changed have the names of their topics."""


def drawn(graph: DifferenceGraph) -> Markup:
    """Return the graph as an SVG element; empty for a graph without nodes."""
    if not graph.nodes:
        return Markup()
    named = len(graph.edges) <= _NAMED_EDGES
    return draw(
        [_box(node) for node in graph.nodes],
        [_link(edge, named=named) for edge in graph.edges],
        label=summary(graph),
        key="difference",
    ).svg


def summary(graph: DifferenceGraph) -> str:
    """Say the graph in words: how many nodes and hops, and those that changed."""
    changed = [f"{edge.topic} {edge.label}" for edge in graph.edges if edge.label]
    changed += [f"{node.name} {node.label}" for node in graph.nodes if node.label]
    text = f"{len(graph.nodes)} nodes and {len(graph.edges)} hops. "
    return text + ("Changed: " + "; ".join(changed) if changed else "No relevant change.")


def _box(node: GraphNode) -> DrawnBox:
    lines = (node.label,) if node.label else ()
    title = f"{node.name}: {node.label or 'no relevant change'} in its callbacks"
    name = wrapped(node.name, _LONGEST)
    return DrawnBox(node.name, name, lines, title, node.kind, {"selects": node.selects})


def _link(edge: GraphEdge, *, named: bool) -> DrawnLink:
    topic = (elided(edge.topic, _LONGEST),) if named or edge.kind != SAME else ()
    lines = (*topic, *((edge.label,) if edge.label else ()))
    return DrawnLink(
        edge.source,
        edge.target,
        lines,
        edge.title,
        edge.weight,
        edge.kind,
        {"selects": edge.selects or ONLY},
    )
