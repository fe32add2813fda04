# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The graph of entities as an SVG picture that needs nothing else: any browser shows it.

Each part has a `title`, which browsers show as a tooltip. Colours follow the reader's choice of a
light or dark appearance.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from markupsafe import Markup

from strata.export.chosen import Chosen
from strata.export.entity_graph import entities as kinds
from strata.export.entity_graph.collected import collect
from strata.export.entity_graph.entities import Edge, EntityGraph
from strata.export.entity_graph.placed import (
    LINE,
    PADDING,
    PlacedEdge,
    PlacedEntity,
    PlacedPlace,
    Point,
    label_of,
    place_graph,
)
from strata.export.entity_graph.scale import STEPS, UNKNOWN, step_of
from strata.export.file_target import replacing_file
from strata.export.written import Written
from strata.printable import printable, printable_lines

_MARGIN = 16.0
_LEGEND_STEP = 150.0

_STYLE = """
svg { --text: #1b1f24; --muted: #57606a; --ground: #ffffff; --node: #f4f5f7; --card: #ffffff;
  font: 12px system-ui, "Segoe UI", "DejaVu Sans", sans-serif; background: var(--ground); }
text { fill: var(--text); }
.bold { font-weight: 600; }
.muted { fill: var(--muted); }
.ground { fill: var(--ground); }
.node rect { fill: var(--node); stroke: var(--muted); }
.entity rect { fill: var(--card); stroke: var(--text); }
.callback rect { stroke-width: 2; }
.timer rect { rx: 17px; }
.service rect, .client rect { stroke-dasharray: 6 2; }
.edge path { fill: none; }
.edge .hit { stroke: transparent; stroke-width: 12; }
.edge text { text-anchor: end; font-size: 11px; paint-order: stroke; stroke: var(--node);
  stroke-width: 4px; stroke-linejoin: round; }
.broken .line { stroke-dasharray: 5 4; }
.edge:hover .line, .edge:hover text { stroke-width: 5px; }
""".strip()


def write(chosen: Chosen, target: Path, *, force: bool = False) -> Written:
    """Write the picture to the file `target`. Raises OutputError."""
    graph = collect(chosen)
    with replacing_file(target, chosen.choice.max_bytes, force=force) as file:
        for part in _parts(graph):
            file.write(f"{part}\n".encode())
    counts = {
        "nodes": len(graph.places),
        "entities": len(graph.entities),
        "edges": len(graph.edges),
    }
    return Written(target, file.size, counts)


def _parts(graph: EntityGraph) -> Iterator[Markup]:
    placed = place_graph(graph)
    legend = 3 * LINE
    width = max(placed.width, _LEGEND_STEP * (len(STEPS) + 1)) + 2 * _MARGIN
    height = placed.height + 2 * _MARGIN + legend
    top = -_MARGIN - legend
    yield Markup(
        '<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{}" width="{:.0f}" '
        'height="{:.0f}" viewBox="{:.0f} {:.0f} {:.0f} {:.0f}">'
    ).format(printable(graph.name), width, height, -_MARGIN, top, width, height)
    yield _style()
    yield Markup(
        '<rect class="ground" x="{:.0f}" y="{:.0f}" width="{:.0f}" height="{:.0f}"/>'
    ).format(-_MARGIN, top, width, height)
    yield from _legend(graph, top + _MARGIN + LINE)
    yield from map(_node, placed.places)
    yield from map(_edge, placed.edges)
    yield from map(_entity, placed.entities.values())
    yield Markup("</svg>")


def _style() -> Markup:
    steps = (*STEPS, UNKNOWN)
    light = "".join(f" --{step.name}: {step.light};" for step in steps)
    dark = "".join(f" --{step.name}: {step.dark};" for step in steps)
    rules = "".join(
        f".{step.name} {{ stroke: var(--{step.name}); stroke-width: {step.width:g}px; }}\n"
        f".{step.name}-end {{ fill: var(--{step.name}); }}\n"
        for step in steps
    )
    appearance = (
        "@media (prefers-color-scheme: dark) { svg { --text: #e6e8eb; --muted: #a3abb5; "
        f"--ground: #14171b; --node: #1c2026; --card: #2b313a;{dark} }} }}"
    )
    ends = "".join(
        f'<marker id="end-{step.name}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="9" '
        f'markerHeight="9" markerUnits="userSpaceOnUse" orient="auto">'
        f'<path d="M0 0L10 5L0 10z" class="{step.name}-end"/></marker>'
        for step in steps
    )
    # All of it is from this module and the scale; nothing is from a trace.
    return Markup(
        f"<style>{_STYLE}\nsvg {{{light} }}\n{appearance}\n{rules}</style><defs>{ends}</defs>"
    )


def _legend(graph: EntityGraph, y: float) -> Iterator[Markup]:
    yield Markup('<text class="bold" x="0" y="{:.0f}">{}</text>').format(y, printable(graph.name))
    for number, step in enumerate((*STEPS, UNKNOWN)):
        x = number * _LEGEND_STEP
        yield Markup(
            '<path class="{0}" d="M{1:.0f} {2:.0f}h24"/><text class="muted" x="{3:.0f}" '
            'y="{4:.0f}">{5}</text>'
        ).format(step.name, x, y + LINE, x + 30, y + LINE + 4, step.label)


def _node(node: PlacedPlace) -> Markup:
    return Markup('<g class="node"><title>{}</title>{}{}</g>').format(
        printable_lines(node.place.title),
        _rectangle(node, 8),
        _texts(node.lines, node.x + PADDING, node.y + 4),
    )


def _entity(entity: PlacedEntity) -> Markup:
    return Markup('<g class="entity {}"><title>{}</title>{}{}</g>').format(
        entity.entity.kind,
        printable_lines(entity.entity.title),
        _rectangle(entity, 4),
        _texts(entity.lines, entity.x + PADDING, entity.y),
    )


def _rectangle(box: PlacedPlace | PlacedEntity, radius: int) -> Markup:
    return Markup('<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" rx="{}"/>').format(
        box.x, box.y, box.width, box.height, radius
    )


def _texts(lines: Sequence[str], x: float, y: float) -> Markup:
    return Markup("").join(
        Markup('<text class="{}" x="{:.1f}" y="{:.1f}">{}</text>').format(
            "muted" if at else "bold", x, y + LINE * (at + 1), printable(line)
        )
        for at, line in enumerate(lines)
    )


def _edge(placed: PlacedEdge) -> Markup:
    edge = placed.edge
    step = step_of(edge.timed.p50_ns).name
    x, y = placed.label
    text = label_of(edge)
    label = Markup('<text x="{:.1f}" y="{:.1f}">{}</text>').format(x, y, text) if text else ""
    return Markup(
        '<g class="edge{0}"><title>{1}</title><path class="hit" d="{2}"/>'
        '<path class="line {3}" d="{2}" marker-end="url(#end-{3})"/>{4}</g>'
    ).format(
        " broken" if _is_broken(edge) else "",
        printable_lines(edge.title),
        _path(placed.points),
        step,
        label,
    )


def _is_broken(edge: Edge) -> bool:
    """Whether an edge is drawn with a broken line: nothing went over it, or not at once."""
    silent = edge.kind in (kinds.MESSAGE, kinds.CALL) and not edge.timed.count
    return silent or edge.kind == kinds.STORE


def _path(points: Sequence[Point]) -> str:
    parts = [f"M{points[0][0]:.1f} {points[0][1]:.1f}"]
    for (x0, y0), (x1, y1) in pairwise(points):
        if abs(y1 - y0) < 1 or abs(x1 - x0) < 1:
            parts.append(f"L{x1:.1f} {y1:.1f}")
        else:
            middle = (x0 + x1) / 2
            parts.append(f"C{middle:.1f} {y0:.1f} {middle:.1f} {y1:.1f} {x1:.1f} {y1:.1f}")
    return "".join(parts)
