# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What the endpoints of matched messages are called: hops."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from strata.engine import _model as engine
from strata.layers.transfers import Transfers
from strata.model.build import Model
from strata.model.columns import NONE, Ints
from strata.model.entities import UNKNOWN, Endpoints
from strata.model.naming import owner_names
from strata.model.search import pick
from strata.schema.rows import Again, Coded, Later, Objects


@dataclass(frozen=True)
class EndpointNames:
    """The hop of every matched message, by number, and the names of every hop, in their order."""

    hop: Ints
    topic: tuple[str, ...]
    publisher_node: tuple[str, ...]
    subscription_node: tuple[str, ...]

    def columns(self) -> dict[str, Later]:
        """Return topic and nodes of every message."""
        names = {
            "topic": self.topic,
            "publisher_node": self.publisher_node,
            "subscription_node": self.subscription_node,
        }
        return {column: Again(partial(self._of_hops, words)) for column, words in names.items()}

    def _of_hops(self, words: tuple[str, ...]) -> Coded:
        return Coded.of(words).take(self.hop)


def endpoint_names(model: Model, transfers: Transfers) -> EndpointNames:
    """Return the hop of every matched message: topic, publishing and subscribing node.

    A topic that one side does not know is the other side's; see `UNKNOWN` for none. An endpoint
    without init events is named by its process and rmw handle, so that two are never one.
    """
    publications, takes = model.publications, model.takes
    publisher = publications.publisher[transfers.publication]
    subscription = takes.subscription[transfers.take]
    entities = model.entities
    topic = _topics(
        (entities.publishers.topic, publisher), (entities.subscriptions.topic, subscription)
    )
    publishing = _node_names(
        model,
        entities.publishers,
        publisher,
        publications.thread[transfers.publication],
        publications.rmw_handle[transfers.publication],
    )
    taking = _node_names(
        model,
        entities.subscriptions,
        subscription,
        takes.thread[transfers.take],
        takes.rmw_handle[transfers.take],
    )
    width = len(publishing.words), len(taking.words)
    key = (topic.codes * width[0] + publishing.codes) * width[1] + taking.codes
    keys, _, number = engine.find_distinct(key)
    names = [
        (
            topic.words[at // width[1] // width[0]],
            publishing.words[at // width[1] % width[0]],
            taking.words[at % width[1]],
        )
        for at in keys.tolist()
    ]
    order = sorted(range(len(names)), key=names.__getitem__)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    columns = tuple(zip(*(names[at] for at in order), strict=True)) or ((), (), ())
    return EndpointNames(rank[number], *columns)


def _topics(publishing: tuple[Objects, Ints], taking: tuple[Objects, Ints]) -> Coded:
    """Return the topic of each message, by the rows of its two endpoints in their topics."""
    numbers: dict[str, int] = {UNKNOWN: 0}
    codes = []
    for of, rows in (publishing, taking):
        own = [NONE if name is None else numbers.setdefault(name, len(numbers)) for name in of]
        codes.append(np.array([*own, NONE], np.int64)[rows])
    known = np.where(codes[0] != NONE, codes[0], codes[1])
    return Coded(np.maximum(known, 0), tuple(numbers))


def _node_names(
    model: Model, endpoints: Endpoints, rows: Ints, thread: Ints, rmw_handle: Ints
) -> Coded:
    """Return the node of each message's endpoint; those without one are told by their handle."""
    processes = model.processes
    process = processes.thread_process[thread]
    known, handle = rows != NONE, engine.find_distinct(rmw_handle)[2]
    # One name a declared endpoint, or process and handle: not one a message.
    apart = len(endpoints) + (process + 1) * (int(handle.max(initial=0)) + 1) + handle
    _, first, number = engine.find_distinct(np.where(known, rows, apart))
    names = owner_names(
        model.entities.nodes,
        processes,
        pick(endpoints.node, rows[first]),
        process[first],
        rmw_handle[first],
    )
    return Coded.of(names.tolist()).take(number)
