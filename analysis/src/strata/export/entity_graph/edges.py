# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The edges of the graph: what causes what, with how long it takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from strata.export.entity_graph import entities as kinds
from strata.export.entity_graph.chosen_rows import ChosenRows
from strata.export.entity_graph.entities import Edge, Timed
from strata.export.entity_graph.pairs import Pair, by_pair
from strata.schema.confidence import UNSYNCHRONISED
from strata.schema.rows import NONE, Ints
from strata.stats.transfers import End, Transfers


class Endpoints:
    """The publisher and subscription of each message, by number.

    Those without init events are known by node and topic alone: they get negative numbers, and are
    in `unnamed` with these. Null (-1) is none of them.
    """

    def __init__(self, chosen: ChosenRows) -> None:
        """Take what was chosen."""
        self._rows = chosen
        messages = chosen.rows("messages")
        self.unnamed: dict[tuple[str, int], tuple[str, str]] = {}
        sides = []
        for kind, table, column, node in (
            (kinds.PUBLISHER, "publications", "publication_id", "publisher_node"),
            (kinds.SUBSCRIPTION, "takes", "take_id", "subscription_node"),
        ):
            number = chosen.rows(table)[f"{kind}_id"][messages[column]]
            sides.append(self._with_unnamed(kind, number, node))
        self.publisher, self.subscription = sides

    def _with_unnamed(self, kind: str, number: Ints, node: str) -> Ints:
        unknown = np.flatnonzero(number == NONE)
        messages = self._rows.rows("messages").take(unknown)
        out = number.copy()
        pairs = zip(messages.texts(node), messages.texts("topic"), strict=True)
        numbers: dict[tuple[str, str], int] = {}
        for row, pair in zip(unknown.tolist(), pairs, strict=True):
            out[row] = numbers.setdefault(pair, -2 - len(numbers))
        self.unnamed |= {(kind, number): pair for pair, number in numbers.items()}
        return out


def edges(chosen: ChosenRows, endpoints: Endpoints) -> Iterator[Edge]:
    """Yield the edges that have something chosen on them, with statistics of the whole trace."""
    yield from _messages(chosen, endpoints)
    yield from _started(chosen, endpoints)
    yield from _publishes(chosen)
    yield from _stored(chosen, endpoints)
    yield from _requests(chosen)
    yield from _calls(chosen)
    yield from _goals(chosen)


def _messages(chosen: ChosenRows, endpoints: Endpoints) -> Iterator[Edge]:
    messages, hops = chosen.rows("messages"), chosen.rows("hops")
    latency = Transfers(messages).latency_ns(End.START)
    known = (latency != NONE) & ~messages.words("confidence").are(UNSYNCHRONISED)
    pairs = by_pair(
        endpoints.publisher, endpoints.subscription, latency, chosen.messages, known=known
    )
    hop_of = dict(
        zip(
            zip(endpoints.publisher.tolist(), endpoints.subscription.tolist(), strict=True),
            messages["hop_id"].tolist(),
            strict=True,
        )
    )
    several = _pairs_per_hop(hop_of)
    for pair, timed in pairs.items():
        hop = hops.record(hop_of[pair])
        shared = ("its losses are those of several publishers or subscriptions of these nodes",)
        yield Edge(
            kinds.MESSAGE,
            f"{kinds.PUBLISHER} {pair[0]}",
            f"{kinds.SUBSCRIPTION} {pair[1]}",
            hop["topic"],
            timed,
            hop["lost"],
            shared if several[hop_of[pair]] > 1 and hop["lost"] else (),
        )


def _started(chosen: ChosenRows, endpoints: Endpoints) -> Iterator[Edge]:
    """Yield from subscriptions and services to the callbacks that their messages started."""
    messages, calls = chosen.rows("messages"), chosen.rows("service_calls")
    own = messages["callback_id"]
    pairs = by_pair(endpoints.subscription, own, np.full(len(own), NONE), chosen.messages)
    yield from _edges(kinds.TAKE, kinds.SUBSCRIPTION, kinds.CALLBACK, pairs, "messages")
    service, own = calls["service_object_id"], chosen.callback_of(calls["instance_id"])
    pairs = by_pair(service, own, np.full(len(own), NONE), chosen.calls)
    yield from _edges(kinds.SERVE, kinds.SERVICE, kinds.CALLBACK, pairs, "requests")


def _pairs_per_hop(hop_of: Mapping[Pair, int]) -> dict[int, int]:
    found: dict[int, int] = {}
    for hop in hop_of.values():
        found[hop] = found.get(hop, 0) + 1
    return found


def silent(kind: str, source: str, target: str, name: str) -> Edge:
    """Return an edge over which nothing went: two ends that belong together by their name."""
    what = "no message was taken" if kind == kinds.MESSAGE else "no call was recorded"
    return Edge(kind, source, target, name, Timed(), details=(what,))


def _publishes(chosen: ChosenRows) -> Iterator[Edge]:
    rows = chosen.rows("publications")
    instance = rows["instance_id"]
    begin = np.where(rows["client_ns"] == NONE, rows["rmw_publish_ns"], rows["client_ns"])
    hold = np.where(instance == NONE, NONE, begin - chosen.start_of(instance))
    pairs = by_pair(chosen.callback_of(instance), rows["publisher_id"], hold, chosen.publications)
    yield from _edges(kinds.PUBLISH, kinds.CALLBACK, kinds.PUBLISHER, pairs)


def _stored(chosen: ChosenRows, endpoints: Endpoints) -> Iterator[Edge]:
    """Yield what a callback stored for another one, or for a publish outside of callbacks."""
    links, messages = chosen.rows("links"), chosen.rows("messages")
    callback = messages["callback_id"][links["parent_id"]]
    publisher_callback = messages["publisher_callback_id"][links["child_id"]]
    publisher = endpoints.publisher[links["child_id"]]
    stored = links["stored_ns"]
    wanted = chosen.links & (stored != NONE)
    inside = publisher_callback != NONE
    for kind, target, flags in (
        (kinds.CALLBACK, publisher_callback, wanted & inside),
        (kinds.PUBLISHER, publisher, wanted & ~inside),
    ):
        own = np.flatnonzero((stored != NONE) & (inside == (kind == kinds.CALLBACK)))
        pairs = by_pair(callback[own], target[own], stored[own], flags[own])
        yield from _edges(kinds.STORE, kinds.CALLBACK, kind, pairs, "stored messages")


def _requests(chosen: ChosenRows) -> Iterator[Edge]:
    calls = chosen.rows("service_calls")
    instance = calls["caller_instance_id"]
    hold = np.where(instance == NONE, NONE, calls["begin_ns"] - chosen.start_of(instance))
    pairs = by_pair(chosen.callback_of(instance), calls["client_object_id"], hold, chosen.calls)
    yield from _edges(kinds.REQUEST, kinds.CALLBACK, kinds.CLIENT, pairs, "requests")


def _calls(chosen: ChosenRows) -> Iterator[Edge]:
    calls = chosen.rows("service_calls")
    client, service = calls["client_object_id"], calls["service_object_id"]
    pairs = by_pair(client, service, calls["latency_ns"], chosen.calls, known=calls["complete"])
    name_of = dict(
        zip(
            zip(client.tolist(), service.tolist(), strict=True), calls.texts("service"), strict=True
        )
    )
    for pair, timed in pairs.items():
        source, target = f"{kinds.CLIENT} {pair[0]}", f"{kinds.SERVICE} {pair[1]}"
        yield Edge(kinds.CALL, source, target, name_of[pair], timed)


def _goals(chosen: ChosenRows) -> Iterator[Edge]:
    """Yield from the server of an action's goal requests to the callback that executes goals."""
    goals, calls = chosen.rows("action_goals"), chosen.rows("service_calls")
    asked = goals["goal_call_id"]
    service = calls["service_object_id"][asked]
    pairs = by_pair(
        service, chosen.callback_of(goals["instance_id"]), goals["start_ns"], chosen.calls[asked]
    )
    yield from _edges(kinds.EXECUTE, kinds.SERVICE, kinds.CALLBACK, pairs, "goals")


def _edges(
    kind: str, source: str, target: str, pairs: Mapping[Pair, Timed], name: str = "publishes"
) -> Iterator[Edge]:
    for (a, b), timed in pairs.items():
        yield Edge(kind, f"{source} {a}", f"{target} {b}", name, timed)
