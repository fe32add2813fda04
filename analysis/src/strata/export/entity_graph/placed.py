# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Where the graph's parts are drawn: entities in nodes, nodes in columns, edges between entities.

Each node is laid out by itself, inputs on its left side and outputs on its right; then the nodes
are. An edge that goes against the flow passes below everything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from strata.export.entity_graph import entities as kinds
from strata.export.entity_graph.collected import shown
from strata.export.entity_graph.entities import KINDS, Edge, Entity, EntityGraph, Place
from strata.show.graph.drawing import elided
from strata.show.graph.layout import Box, Layout, Link, lay_out
from strata.units import format_ns

CHARACTER, BOLD_CHARACTER = 6.6, 7.9
LINE, PADDING = 15.0, 9.0
HEAD = 16.0
_MOST = 44
_INNER_GAP, _GAP, _LANE = 46.0, 130.0, 14.0
_LEFT = (kinds.TIMER, kinds.SUBSCRIPTION, kinds.SERVICE)
_RIGHT = (kinds.PUBLISHER, kinds.CLIENT)

Point = tuple[float, float]


@dataclass(frozen=True)
class PlacedEntity:
    """An entity: its left upper corner and size in pixels, and its lines of text."""

    entity: Entity
    x: float
    y: float
    width: float
    height: float
    lines: tuple[str, ...]


@dataclass(frozen=True)
class PlacedPlace:
    """A node: its left upper corner and size in pixels, and its lines of text."""

    place: Place
    x: float
    y: float
    width: float
    height: float
    lines: tuple[str, ...]


@dataclass(frozen=True)
class PlacedEdge:
    """An edge: the points along it, and where its label ends."""

    edge: Edge
    points: tuple[Point, ...]
    label: Point


@dataclass
class Placed:
    """Everything that is drawn, and the size of it in pixels."""

    width: float = 0.0
    height: float = 0.0
    places: list[PlacedPlace] = field(default_factory=list)
    entities: dict[str, PlacedEntity] = field(default_factory=dict)
    edges: list[PlacedEdge] = field(default_factory=list)


def label_of(edge: Edge) -> str:
    """Return what is written at an edge; empty where nothing was measured."""
    median = edge.timed.p50_ns
    lost = f"{edge.lost:,} lost" if edge.lost else ""
    parts = (format_ns(median, micro="µs") if median is not None else "", lost)
    return ", ".join(part for part in parts if part)


def lines_of(entity: Entity) -> tuple[str, ...]:
    """Return what is written in an entity's box."""
    name = (elided(shown(entity.name), _MOST), KINDS[entity.kind])
    timed = entity.timed
    if timed.p50_ns is None:
        return (*name, f"{timed.count:,}") if timed.count else name
    return (*name, f"{format_ns(timed.p50_ns, micro='µs')}, {timed.count:,} times")


def place_graph(graph: EntityGraph) -> Placed:
    """Return where everything of a graph is drawn."""
    inner = {place.key: _Inside(place, graph) for place in graph.places}
    place_of = {entity.key: entity.place for entity in graph.entities}
    between = [edge for edge in graph.edges if place_of[edge.source] != place_of[edge.target]]
    outer = lay_out(
        [Box(key, inside.width, inside.height) for key, inside in inner.items()],
        [Link(place_of[edge.source], place_of[edge.target]) for edge in between],
        gap=_GAP,
    )
    placed = Placed(outer.width, outer.height)
    for key, inside in inner.items():
        inside.put(placed, *outer.places[key])
    lanes = {
        edge: node.y + inner[node.place.key].bottom + lane
        for node in placed.places
        for edge, lane in inner[node.place.key].lanes.items()
    }
    routes = {id(edge): route for edge, route in zip(between, outer.routes, strict=True)}
    _Routes(placed, place_of, routes, lanes).put(graph.edges)
    return placed


class _Inside:
    """The layout of a node's entities."""

    def __init__(self, place: Place, graph: EntityGraph) -> None:
        self._place = place
        own = [entity for entity in graph.entities if entity.place == place.key]
        self._lines = {entity.key: lines_of(entity) for entity in own}
        self._own = {entity.key: entity for entity in own}
        self._size = {key: _size(lines) for key, lines in self._lines.items()}
        self.head = (elided(place.name, 60), *_under(place))
        edges = [edge for edge in graph.edges if {edge.source, edge.target} <= self._own.keys()]
        self._layout = self._laid_out(edges)
        head = max(
            len(self.head[0]) * BOLD_CHARACTER, *(len(text) * CHARACTER for text in self.head)
        )
        self.top = HEAD + len(self.head) * LINE
        self.width = max(self._layout.width, head) + 2 * PADDING
        at = self._layout.places
        back = [e for e in edges if at[e.source][0] + self._size[e.source][0] + 4 > at[e.target][0]]
        self.lanes = {id(edge): _LANE * (number + 1) for number, edge in enumerate(back)}
        self.bottom = self.top + self._layout.height
        self.height = self.bottom + len(back) * _LANE + PADDING

    def _laid_out(self, edges: Sequence[Edge]) -> Layout:
        """Lay out the entities, with inputs in the first column and outputs in the last."""
        boxes = [Box(key, *self._size[key]) for key in self._own]
        links = [Link(e.source, e.target, len(label_of(e)) * CHARACTER) for e in edges]
        return lay_out(boxes, links, gap=_INNER_GAP)

    def put(self, placed: Placed, x: float, y: float) -> None:
        """Add the node and its entities."""
        node = PlacedPlace(self._place, x, y, self.width, self.height, self.head)
        placed.places.append(node)
        free = self.width - 2 * PADDING - self._layout.width
        right = {key for key, entity in self._own.items() if entity.kind in _RIGHT}
        for key, entity in self._own.items():
            (left, top), (width, height) = self._layout.places[key], self._size[key]
            # Outputs go to the right side, from where their edges leave.
            at = self._layout.width - width + free if key in right else left
            placed.entities[key] = PlacedEntity(
                entity, x + PADDING + at, y + self.top + top, width, height, self._lines[key]
            )


def _under(place: Place) -> tuple[str, ...]:
    return (f"process {place.process}", *place.executors)


def _size(lines: Sequence[str]) -> tuple[float, float]:
    width = max(len(lines[0]) * BOLD_CHARACTER, *(len(line) * CHARACTER for line in lines[1:]))
    return width + 2 * PADDING, len(lines) * LINE + PADDING


class _Routes:
    """The points of each edge.

    `routes` are those of edges between nodes, `lanes` where edges within a node that go against its
    flow pass below its entities.
    """

    def __init__(
        self,
        placed: Placed,
        place_of: Mapping[str, str],
        routes: Mapping[int, list[Point]],
        lanes: Mapping[int, float],
    ) -> None:
        self._placed = placed
        self._node = {node.place.key: node for node in placed.places}
        self._place_of = place_of
        self._routes = routes
        self._lanes = lanes
        self._labels: dict[tuple[int, int], int] = {}

    def put(self, edges: Sequence[Edge]) -> None:
        """Add the edges."""
        bottom = self._placed.height
        for edge in edges:
            source = self._placed.entities[edge.source]
            target = self._placed.entities[edge.target]
            begin = source.x + source.width, source.y + source.height / 2
            end = target.x, target.y + target.height / 2
            if id(edge) in self._lanes:
                lane = self._lanes[id(edge)]
                points, label = self._around(begin, end, lane, 14, 14)
            elif begin[0] + 4 > end[0]:
                bottom += _LANE
                right = self._node[self._place_of[edge.source]]
                left = self._node[self._place_of[edge.target]]
                out, into = right.x + right.width + 12 - begin[0], end[0] - left.x + 12
                points, label = self._around(begin, end, bottom, out, into)
            else:
                points, label = self._along(edge, begin, end)
            self._placed.edges.append(PlacedEdge(edge, points, label))
        self._placed.height = bottom

    def _along(self, edge: Edge, begin: Point, end: Point) -> tuple[tuple[Point, ...], Point]:
        """Return the points of an edge with the flow, and where its label ends."""
        bends = self._routes.get(id(edge), [])[1:-1]
        points = (begin, *self._leaving(edge, begin), *bends, *self._entering(edge, end), end)
        return points, self._beside(end)

    @staticmethod
    def _around(
        begin: Point, end: Point, y: float, out: float, into: float
    ) -> tuple[tuple[Point, ...], Point]:
        """Return the points of an edge against the flow, which passes at `y`, and of its label.

        It goes `out` pixels to the right first, and comes from `into` pixels to the left.
        """
        right, left = begin[0] + out, end[0] - into
        points = (begin, (right, begin[1]), (right, y), (left, y), (left, end[1]), end)
        return points, ((right + left) / 2, y - 3)

    def _leaving(self, edge: Edge, begin: Point) -> tuple[Point, ...]:
        """Return the point at which an edge to another node leaves its node."""
        node = self._node[self._place_of[edge.source]]
        return () if id(edge) not in self._routes else ((node.x + node.width, begin[1]),)

    def _entering(self, edge: Edge, end: Point) -> tuple[Point, ...]:
        node = self._node[self._place_of[edge.target]]
        return () if id(edge) not in self._routes else ((node.x, end[1]),)

    def _beside(self, end: Point) -> Point:
        """Return where a label goes: before the end of its edge, above earlier ones."""
        at = round(end[0]), round(end[1])
        number = self._labels.get(at, 0)
        self._labels[at] = number + 1
        return end[0] - 11, end[1] - 5 - 12 * number
