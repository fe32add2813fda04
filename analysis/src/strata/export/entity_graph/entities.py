# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What the graph consists of: entities in nodes, and edges between entities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from strata.units import format_ns

TIMER = "timer"
SUBSCRIPTION = "subscription"
SERVICE = "service"
CALLBACK = "callback"
PUBLISHER = "publisher"
CLIENT = "client"

KINDS: Mapping[str, str] = {
    TIMER: "timer",
    SUBSCRIPTION: "subscription",
    SERVICE: "service server",
    CALLBACK: "callback",
    PUBLISHER: "publisher",
    CLIENT: "service client",
}
"""Kinds of entities, with their names in words."""

FIRE = "fire"
TAKE = "take"
SERVE = "serve"
PUBLISH = "publish"
MESSAGE = "message"
REQUEST = "request"
CALL = "call"
EXECUTE = "execute"
STORE = "store"

MEASURES: Mapping[str, str] = {
    FIRE: "from its due time to the start of the callback",
    TAKE: "",
    SERVE: "",
    PUBLISH: "from the start of the callback to the publish",
    MESSAGE: "from the publish to the start of the callback; of a sensor driver's message from the "
    "arrival of its data",
    REQUEST: "from the start of the callback to the request",
    CALL: "from the request to the response",
    EXECUTE: "from the answer to the goal's request to the start of its execution",
    STORE: "from the end of the callback that stored the message to the start of the callback that "
    "published from it, or to that publish",
}
"""What the durations of each kind of edge are; empty where none is measured."""


@dataclass(frozen=True)
class Timed:
    """How many of something there were, and quantiles of their durations in ns.

    The quantiles are null where no duration is known.
    """

    count: int = 0
    p50_ns: float | None = None
    p99_ns: float | None = None

    @property
    def lines(self) -> tuple[str, ...]:
        """The count and the quantiles in words, a line each."""
        counted = (f"count: {self.count:,}",)
        if self.p50_ns is None:
            return counted
        p50, p99 = (format_ns(value, micro="µs") for value in (self.p50_ns, self.p99_ns))
        return (*counted, f"p50: {p50}", f"p99: {p99}")


@dataclass(frozen=True)
class Entity:
    """An entity of a node. `number` is its id in the table of its kind, negative if it has none.

    `name` is what it is known by: topic, service, period or symbol. `timed` of a callback is how
    long it ran, of a timer its lateness; of the others their messages or calls are counted.
    """

    kind: str
    number: int
    place: str
    name: str
    timed: Timed
    details: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """A name for it that no other entity has."""
        return f"{self.kind} {self.number}"

    @property
    def title(self) -> str:
        """What it is, in lines."""
        return "\n".join((f"{KINDS[self.kind]} {self.name}", *self.details, *self.timed.lines))


@dataclass(frozen=True)
class Edge:
    """An edge between two entities, by key. `lost` is the messages of its hop that were lost."""

    kind: str
    source: str
    target: str
    name: str
    timed: Timed
    lost: int = 0
    details: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """What it is, in lines."""
        lost = (f"lost: {self.lost:,}",) if self.kind == MESSAGE else ()
        measured = (MEASURES[self.kind],) if self.timed.p50_ns is not None else ()
        return "\n".join((self.name, *self.timed.lines, *lost, *self.details, *measured))


@dataclass(frozen=True)
class Place:
    """A node, with the process and the executors that run it, in words."""

    key: str
    name: str
    process: str
    executors: tuple[str, ...]

    @property
    def title(self) -> str:
        """What it is, in lines."""
        return "\n".join((f"node {self.name}", f"process {self.process}", *self.executors))


@dataclass(frozen=True)
class EntityGraph:
    """The graph; each entity's place is there, and the ends of each edge are."""

    name: str
    places: tuple[Place, ...]
    entities: tuple[Entity, ...]
    edges: tuple[Edge, ...]
