# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The declaration of a layer, how layers merge, and the routes of messages through them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise

from strata.schema.checkpoints import Checkpoint, Thread

JOINED = " + "
"""Between the names of the layers that a merged one is made of."""


class Place(Enum):
    """Where a layer's time is spent, which names it in results; `TOPIC` belongs to no node."""

    SOURCE = "the sensor's data, at the publishing node"
    PUBLISHER = "the publishing node"
    WRITER = "the topic, at the publishing node"
    TOPIC = "the topic"
    WAY = "the topic, to the reading node"
    CARRIED = "the topic, to the reading node, with the transport that carried it"
    READER = "the topic, at the reading node"
    NODE = "the reading node"
    CALLBACK = "the callback of the reading node"
    STORE = "the topic, in the reading node"
    LINKED_CALLBACK = "the callback that published"


class Owner(Enum):
    """Whose share of the time of all messages a layer is (strata.verdict.time_parts)."""

    TOPIC = "its topic"
    HOP = "its hop"
    EXECUTOR = "the executor whose thread took the message"
    UNDIVIDED = "the executor for what is known to have run meanwhile; the topic for the rest"


@dataclass(frozen=True)
class Layer:
    """One layer: its name in results, its column in `messages`, and its definition.

    It lies between `begin` and `end`; null if it is more or less than the time between two
    checkpoints. `thread` is the one that it belongs to, null if it belongs to several. A merged
    layer has `parts`. `holds` are the layers that contain this time in other messages. `waits`: it
    ends when another thread wakes up or an executor gets to it. `colour` is its fill.
    """

    name: str
    column: str
    doc: str
    begin: Checkpoint | None = None
    end: Checkpoint | None = None
    thread: Thread | None = None
    place: Place = Place.TOPIC
    owner: Owner = Owner.TOPIC
    waits: bool = False
    colour: str = ""
    parts: tuple[Layer, ...] = ()
    holds: tuple[Layer, ...] = ()

    def __hash__(self) -> int:
        """Columns are unique among the layers of one thing."""
        return hash(self.column)

    @property
    def basic(self) -> tuple[Layer, ...]:
        """The layers that it is made of, in order; itself where it is not merged."""
        return tuple(one for part in self.parts for one in part.basic) or (self,)

    def has(self, layer: Layer) -> bool:
        """Return whether it is this layer, or is merged from it and others."""
        return layer == self or any(part.has(layer) for part in self.parts)


def merged(doc: str, colour: str, *parts: Layer) -> Layer:
    """Return the merged layer of `parts`, for messages without the checkpoints between them.

    Its name and column join theirs. It lies where all of them lie, else between nodes.
    """
    places = {part.place for part in parts}
    owners = {part.owner for part in parts}
    if Owner.EXECUTOR not in owners:
        owner = Owner.TOPIC
    else:
        # What comes before an executor wait is not known to belong to the executor.
        first = parts[0].owner is Owner.EXECUTOR
        owner = Owner.EXECUTOR if first else Owner.UNDIVIDED
    return Layer(
        JOINED.join(part.name for part in parts),
        "_".join(part.column.removesuffix("_ns") for part in parts) + "_ns",
        doc,
        begin=parts[0].begin,
        end=parts[-1].end,
        place=places.pop() if len(places) == 1 else Place.TOPIC,
        owner=owner,
        colour=colour,
        parts=parts,
    )


@dataclass(frozen=True)
class Route:
    """A path of messages through checkpoints, and the layer between each two of them.

    A checkpoint that is not known merges the layers on both sides of it. Time before the first
    known checkpoint, and after the last, is in no layer. `merged_only` are layers that have no time
    of their own on this route and occur only as parts of merged ones.
    """

    name: str
    doc: str
    checkpoints: tuple[Checkpoint, ...]
    layers: tuple[Layer, ...]
    merged_only: tuple[Layer, ...] = ()

    @classmethod
    def of(
        cls, name: str, doc: str, *way: Checkpoint | Layer, merged_only: tuple[Layer, ...] = ()
    ) -> Route:
        """Return the route of checkpoints with layers between them."""
        checkpoints = tuple(one for one in way if isinstance(one, Checkpoint))
        layers = tuple(one for one in way if isinstance(one, Layer))
        if any(isinstance(one, Layer) != bool(at % 2) for at, one in enumerate(way)):
            raise ValueError(f"Cannot declare route {name}: not a layer between each two points.")
        return cls(name, doc, checkpoints, layers, merged_only)

    def spans(self, known: Collection[Checkpoint]) -> Iterator[tuple[Checkpoint, Checkpoint]]:
        """Yield each pair of neighbours among the known checkpoints."""
        there = [one for one in self.checkpoints if one in known]
        yield from pairwise(there)

    def between(self, begin: Checkpoint, end: Checkpoint) -> frozenset[Layer]:
        """Return the layers between two of its checkpoints."""
        at = self.checkpoints.index
        return frozenset(self.layers[at(begin) : at(end)])


def cut(route: Route, ns: Mapping[Checkpoint, int], layers: Collection[Layer]) -> dict[Layer, int]:
    """Return the durations of the layers of one message on a route, from what is known of it.

    `layers` are all that may occur. This is the reference for the rule, which tests check;
    analysis/native/model/layers applies the same one. A span whose layers are all part of a longer
    span counts as time of the longer one.
    """
    by_basic = {frozenset(layer.basic): layer for layer in layers}
    spans = list(route.spans(ns))
    covered = [
        frozenset(one for layer in route.between(*span) for one in layer.basic) for span in spans
    ]
    out: dict[Layer, int] = {}
    for (begin, end), own in zip(spans, covered, strict=True):
        whole = max((other for other in covered if own <= other), key=len)
        layer = by_basic[whole]
        if layer not in route.merged_only:
            out[layer] = out.get(layer, 0) + ns[end] - ns[begin]
    return out
