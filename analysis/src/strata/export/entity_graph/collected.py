# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The graph of what was chosen from an analysis."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np

from strata.export.chosen import Chosen
from strata.export.entity_graph import entities as kinds
from strata.export.entity_graph.chosen_rows import ChosenRows
from strata.export.entity_graph.edges import Endpoints, edges, silent
from strata.export.entity_graph.entities import Edge, Entity, EntityGraph, Timed
from strata.export.entity_graph.places import Places
from strata.schema.events import INTERNAL_TOPICS
from strata.schema.rows import NONE, Ints
from strata.symbols import shorten
from strata.units import format_ns

_OWN_SERVICE = re.compile(
    r".*/(get_parameters|get_parameter_types|set_parameters|set_parameters_atomically"
    r"|describe_parameters|list_parameters|get_type_description|get_logger_levels"
    r"|set_logger_levels)"
)
"""Services that every node has: they are in the graph only when they were called."""

_ACTION = re.compile(r"(.*)/_action/(\w+)")


def shown(name: str) -> str:
    """Return the name of a topic or service as the graph shows it: of an action's part by the
    action.
    """
    part = _ACTION.fullmatch(name)
    return f"{part.group(1)} ({part.group(2)})" if part else name


def collect(chosen: Chosen) -> EntityGraph:
    """Return the graph: without a choice of everything but internal topics and the services that
    every node has, otherwise of what the chosen messages passed.
    """
    return _Graph(chosen).graph()


class _Graph:
    def __init__(self, chosen: Chosen) -> None:
        self._name = Path(chosen.analysis.trace.path).resolve().name
        self._chosen = ChosenRows(chosen)
        self._endpoints = Endpoints(self._chosen)
        self._places = Places(chosen.analysis)
        self._entities = {entity.key: entity for entity in self._all()}

    def graph(self) -> EntityGraph:
        own = [*edges(self._chosen, self._endpoints)]
        own += self._silent({(edge.source, edge.target) for edge in own})
        own = [edge for edge in own if {edge.source, edge.target} <= self._entities.keys()]
        own += self._owned(own)
        self._moved(own)
        used = {end for edge in own for end in (edge.source, edge.target)}
        if self._chosen.everything:
            used |= {key for key, entity in self._entities.items() if self._is_own(entity)}
        found = tuple(entity for key, entity in self._entities.items() if key in used)
        places = self._places.of({entity.place for entity in found})
        return EntityGraph(self._name, places, found, tuple(own))

    @staticmethod
    def _is_own(entity: Entity) -> bool:
        """Whether an entity without edges is in the graph."""
        if entity.kind in (kinds.SERVICE, kinds.CLIENT):
            return not _OWN_SERVICE.fullmatch(entity.name)
        # A callback that never ran, and that nothing leads to, says nothing.
        return entity.kind != kinds.CALLBACK or bool(entity.timed.count)

    def _all(self) -> Iterator[Entity]:
        """Yield every entity but those of internal topics and their callbacks."""
        yield from self._timers()
        yield from self._endpoints_of(kinds.SUBSCRIPTION, "takes")
        yield from self._servers()
        yield from self._callbacks()
        yield from self._endpoints_of(kinds.PUBLISHER, "publications")
        yield from self._clients()
        for (kind, number), (node, topic) in self._endpoints.unnamed.items():
            if topic not in INTERNAL_TOPICS:
                column = getattr(self._endpoints, kind)
                count = Timed(int((column == number).sum()))
                place = self._places.named(node)
                yield Entity(kind, number, place, topic, count, ("no init event was recorded",))

    def _timers(self) -> Iterator[Entity]:
        lateness = {
            row["timer_id"]: Timed(row["count"], row["lateness_p50_ns"], row["lateness_p99_ns"])
            for row in self._chosen.rows("timer_statistics").records()
        }
        for row in self._chosen.rows("timers").records():
            number = row["timer_id"]
            period = f"period {format_ns(row['period_ns'], micro='µs')}"
            place = self._places.of_node(row["node_id"], row)
            count = Timed(lateness[number].count if number in lateness else 0)
            yield Entity(kinds.TIMER, number, place, period, count)
        self._lateness = lateness

    def _endpoints_of(self, kind: str, events: str) -> Iterator[Entity]:
        rows = self._chosen.rows(f"{kind}s")
        counted = _counts(self._chosen.rows(events)[f"{kind}_id"], len(rows))
        for row in rows.records():
            if row["topic"] not in INTERNAL_TOPICS:
                number = row[f"{kind}_id"]
                place = self._places.of_node(row["node_id"], row)
                details = (*_action(row["topic"]), f"queue depth: {row['queue_depth']}")
                yield Entity(kind, number, place, row["topic"], Timed(counted[number]), details)

    def _servers(self) -> Iterator[Entity]:
        rows = self._chosen.rows("service_objects")
        counted = _counts(self._chosen.rows("service_calls")["service_object_id"], len(rows))
        for row in rows.records():
            number, place = row["service_object_id"], self._places.of_node(row["node_id"], row)
            count = Timed(counted[number])
            yield Entity(kinds.SERVICE, number, place, row["name"], count, _action(row["name"]))

    def _clients(self) -> Iterator[Entity]:
        rows = self._chosen.rows("client_objects")
        counted = _counts(self._chosen.rows("service_calls")["client_object_id"], len(rows))
        for row in rows.records():
            number, place = row["client_object_id"], self._places.of_node(row["node_id"], row)
            name = row["name"] or "(unknown)"
            yield Entity(
                kinds.CLIENT,
                number,
                place,
                name,
                Timed(counted[number]),
                _action(row["name"] or ""),
            )

    def _callbacks(self) -> Iterator[Entity]:
        ran = {
            row["callback_id"]: Timed(row["count"], row["duration_p50_ns"], row["duration_p99_ns"])
            for row in self._chosen.rows("callbacks").records()
        }
        for row in self._chosen.rows("callback_objects").records():
            if row["trigger"] in INTERNAL_TOPICS:
                continue
            number, place = row["callback_id"], self._places.of_node(row["node_id"], row)
            symbol = row["symbol"]
            name = shorten(symbol) if symbol else f"callback at {row['address']:#x}"
            details = (f"its {row['kind']}: {row['trigger']}",) if row["trigger"] else ()
            yield Entity(kinds.CALLBACK, number, place, name, ran.get(number, Timed()), details)

    def _owned(self, there: list[Edge]) -> Iterator[Edge]:
        """Yield from what starts a callback to it, where one of them is in the graph."""
        used = {end for edge in there for end in (edge.source, edge.target)}
        pairs = {(edge.source, edge.target) for edge in there}
        started = self._started()
        for kind, source, number, callback in self._owners():
            target = f"{kinds.CALLBACK} {callback}"
            if not {source, target} <= self._entities.keys() or (source, target) in pairs:
                continue
            if callback in started or {source, target} & used:
                ran = Timed(self._entities[target].timed.count)
                timed = self._lateness.get(number, ran) if kind == kinds.FIRE else ran
                yield Edge(kind, source, target, self._entities[source].name, timed)

    def _owners(self) -> Iterator[tuple[str, str, int, int]]:
        """Yield the kind of edge, the entity and its number, and the callback that it starts."""
        servers = {
            (row["vpid"], row["node_id"], row["name"]): row["service_object_id"]
            for row in self._chosen.rows("service_objects").records()
        }
        for row in self._chosen.rows("callback_objects").records():
            server = servers.get((row["vpid"], row["node_id"], row["trigger"]))
            for kind, entity, number in (
                (kinds.FIRE, kinds.TIMER, row["timer_id"]),
                (kinds.TAKE, kinds.SUBSCRIPTION, row["subscription_id"]),
                (kinds.SERVE, kinds.SERVICE, server if row["kind"] == "service" else None),
            ):
                if number is not None:
                    yield kind, f"{entity} {number}", number, row["callback_id"]

    def _started(self) -> frozenset[int]:
        """Return the callbacks that ran in what was chosen."""
        callbacks = self._chosen.rows("callback_instances")["callback_id"]
        return frozenset(np.unique(callbacks[self._chosen.executions]).tolist())

    def _moved(self, own: list[Edge]) -> None:
        """Put callbacks whose owner is not known into the node of what started them."""
        for edge in own:
            target = self._entities[edge.target]
            if edge.kind in _STARTS and self._places.is_unknown(target.place):
                place = self._entities[edge.source].place
                self._entities[edge.target] = replace(target, place=place)

    def _silent(self, there: set[tuple[str, str]]) -> Iterator[Edge]:
        """Yield what belongs together by its name, if all is chosen, and is not in `there`."""
        if not self._chosen.everything:
            return
        hops = {
            (row["publisher_node"], row["topic"], row["subscription_node"])
            for row in self._chosen.rows("hops").records()
        }
        by_name: dict[tuple[str, str], list[Entity]] = {}
        for entity in self._entities.values():
            by_name.setdefault((entity.kind, entity.name), []).append(entity)
        for (kind, name), sources in by_name.items():
            if kind not in (kinds.PUBLISHER, kinds.CLIENT):
                continue
            edge, other = _BY_NAME[kind]
            for source, target in product(sources, by_name.get((other, name), ())):
                # A hop says that both were there at the same time.
                ends = self._places.name(source.place), name, self._places.name(target.place)
                met = kind == kinds.CLIENT or ends in hops
                if met and (source.key, target.key) not in there:
                    yield silent(edge, source.key, target.key, name)


_STARTS = (kinds.FIRE, kinds.TAKE, kinds.SERVE, kinds.EXECUTE)

_BY_NAME = {
    kinds.PUBLISHER: (kinds.MESSAGE, kinds.SUBSCRIPTION),
    kinds.CLIENT: (kinds.CALL, kinds.SERVICE),
}


def _counts(numbers: Ints, count: int) -> list[int]:
    found: list[int] = np.bincount(numbers[numbers != NONE], minlength=count).tolist()
    return found


def _action(name: str) -> tuple[str, ...]:
    part = _ACTION.fullmatch(name)
    return (f"part of the action {part.group(1)}",) if part else ()
