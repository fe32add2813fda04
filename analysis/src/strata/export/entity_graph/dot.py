# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The graph of entities in the DOT language of Graphviz (https://graphviz.org/doc/info/lang.html).

Nodes of ROS are clusters, within clusters of their processes. Quantiles are tooltips, which
`dot -Tsvg` keeps.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from strata.export.chosen import Chosen
from strata.export.entity_graph import entities as kinds
from strata.export.entity_graph.collected import collect, shown
from strata.export.entity_graph.entities import KINDS, Edge, Entity, EntityGraph
from strata.export.entity_graph.scale import STEPS, UNKNOWN, step_of
from strata.export.file_target import replacing_file
from strata.export.written import Written
from strata.printable import printable
from strata.units import format_ns

_SHAPES = {
    kinds.TIMER: "circle",
    kinds.SUBSCRIPTION: "rarrow",
    kinds.SERVICE: "hexagon",
    kinds.CALLBACK: "box",
    kinds.PUBLISHER: "cds",
    kinds.CLIENT: "parallelogram",
}
_FONT = 'fontname="Helvetica,Arial,sans-serif"'


def write(chosen: Chosen, target: Path, *, force: bool = False) -> Written:
    """Write the graph to the file `target`. Raises OutputError."""
    graph = collect(chosen)
    with replacing_file(target, chosen.choice.max_bytes, force=force) as file:
        for line in _lines(graph):
            file.write(f"{line}\n".encode())
    counts = {
        "nodes": len(graph.places),
        "entities": len(graph.entities),
        "edges": len(graph.edges),
    }
    return Written(target, file.size, counts)


def _lines(graph: EntityGraph) -> Iterator[str]:
    yield f"digraph {quoted(graph.name)} {{"
    yield "  rankdir=LR; compound=true; newrank=true;"
    yield f'  graph [{_FONT} bgcolor="white" style="rounded" color="#57606a"];'
    yield f'  node [{_FONT} fontsize=10 style="filled" fillcolor="#ffffff" color="#1b1f24"];'
    yield f"  edge [{_FONT} fontsize=9];"
    yield from _clusters(graph)
    for edge in graph.edges:
        yield f"  {quoted(edge.source)} -> {quoted(edge.target)} {_edge(edge)};"
    yield from _legend()
    yield "}"


def _clusters(graph: EntityGraph) -> Iterator[str]:
    processes = dict.fromkeys(place.process for place in graph.places)
    for number, process in enumerate(processes):
        yield f"  subgraph cluster_process_{number} {{"
        yield f"    label={quoted(f'process {process}')}; style=dashed;"
        for place in graph.places:
            if place.process == process:
                label = "\n".join((place.name, *place.executors))
                yield f"    subgraph {quoted(f'cluster {place.key}')} {{"
                yield f"      label={quoted(label)}; tooltip={quoted(place.title)}; style=solid;"
                for entity in graph.entities:
                    if entity.place == place.key:
                        yield f"      {quoted(entity.key)} {_entity(entity)};"
                yield "    }"
        yield "  }"


def _entity(entity: Entity) -> str:
    lines = (shown(entity.name), *entity.timed.lines[1:2])
    return _attributes(
        label="\n".join((KINDS[entity.kind], *lines)),
        shape=_SHAPES[entity.kind],
        tooltip=entity.title,
    )


def _edge(edge: Edge) -> str:
    step = step_of(edge.timed.p50_ns)
    median = edge.timed.p50_ns
    lines = [] if edge.kind != kinds.MESSAGE else [shown(edge.name)]
    if median is not None:
        lines.append(format_ns(median, micro="µs"))
    if edge.lost:
        lines.append(f"{edge.lost:,} lost")
    silent = edge.kind in (kinds.MESSAGE, kinds.CALL) and not edge.timed.count
    return _attributes(
        label="\n".join(lines),
        tooltip=edge.title,
        labeltooltip=edge.title,
        color=step.light,
        penwidth=f"{step.width:g}",
        style="dashed" if silent or edge.kind == kinds.STORE else "solid",
    )


def _legend() -> Iterator[str]:
    """Yield what the colours mean, as a table that is no part of the graph."""
    rows = "".join(
        f'<tr><td bgcolor="{step.light}" width="24"></td><td align="left">{step.label}</td></tr>'
        for step in (*STEPS, UNKNOWN)
    )
    head = '<tr><td colspan="2">median</td></tr>'
    table = f'<table border="0" cellborder="0" cellspacing="2">{head}{rows}</table>'
    yield f'  "legend" [shape=plaintext style="" tooltip="median of an edge" label=<{table}>];'


def _attributes(**values: str) -> str:
    return (
        "[" + " ".join(f"{name}={quoted(value)}" for name, value in values.items() if value) + "]"
    )


def quoted(text: str) -> str:
    """Return a quoted string: its line ends are those of the label, all else is as it is."""
    lines = (printable(line) for line in text.split("\n"))
    escaped = (line.replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return '"' + "\\n".join(escaped) + '"'
