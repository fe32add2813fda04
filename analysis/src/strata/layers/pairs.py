# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Which publisher and which subscription belong together, also where nothing was ever taken.

A publisher and a subscription are a pair when a message of one was taken by the other, or when they
have one topic and live at the same time. Topics have one name in several systems (two runs in one
trace, two ROS domains), which no event tells apart. What tells them apart is who takes from whom:
processes between which messages went are of one system. A subscription that takes its topic from
elsewhere, and whose process is of another system than the publisher's, is no pair of it.

Topics that every node has (`INTERNAL_TOPICS`) make a pair only by messages that were taken.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from strata.engine import _model as engine
from strata.layers.transfers import Transfers
from strata.model.build import Model
from strata.model.columns import NONE, Ints
from strata.model.entities import Endpoints, take
from strata.model.search import pick, runs, spread
from strata.schema.events import INTERNAL_TOPICS

Flags = npt.NDArray[np.bool_]

FAR = int(np.iinfo(np.int64).max)


@dataclass(frozen=True)
class Ends:
    """Publishers, or subscriptions: the known ones first, then those without init events.

    `of` numbers the end of each publication, or take. `entity` is a row of the model's, `NONE` for
    the latter, which `handle` tells apart. They live from `begin_ns` to `until_ns`.
    """

    of: Ints
    entity: Ints
    process: Ints
    handle: Ints
    begin_ns: Ints
    until_ns: Ints


@dataclass(frozen=True)
class Pairs:
    """One row a pair: numbers of ends, and the hop of its messages; `NONE` without any."""

    writer: Ints
    reader: Ints
    hop: Ints


def writers(model: Model) -> Ends:
    """Return all that published."""
    publications = model.publications
    process = model.processes.thread_process[publications.thread]
    return _ends(
        model.entities.publishers, publications.publisher, process, publications.rmw_handle
    )


def readers(model: Model, process_end_ns: Ints) -> Ends:
    """Return all that took, or could have.

    A subscription of a process that ended lives until another process has its node again.
    """
    takes, subscriptions = model.takes, model.entities.subscriptions
    process = model.processes.thread_process[takes.thread]
    ends = _ends(subscriptions, takes.subscription, process, takes.rmw_handle)
    if not len(subscriptions):
        return ends
    names = take(model.entities.nodes.name, subscriptions.node, None)
    number: dict[tuple[str | None, str | None], int] = {}
    owned = zip(names.tolist(), subscriptions.topic.tolist(), strict=True)
    same = np.array([number.setdefault(one, len(number)) for one in owned], np.int64)
    order = np.lexsort((subscriptions.begin_ns, same))
    first, second = order[:-1], order[1:]
    again = (same[first] == same[second]) & (names[first] != None)  # noqa: E711 (elementwise)
    again &= subscriptions.begin_ns[second] > process_end_ns[subscriptions.process[first]]
    row = first[again]
    ends.until_ns[row] = np.minimum(ends.until_ns[row], subscriptions.begin_ns[second[again]])
    return ends


def _ends(endpoints: Endpoints, rows: Ints, process: Ints, handle: Ints) -> Ends:
    """Return the ends of an entity's table, and after them those of rows without an entity."""
    count = len(endpoints)
    nameless = np.flatnonzero(rows == NONE)
    handles, _, which = engine.find_distinct(handle[nameless])
    _, first, key = engine.find_distinct(process[nameless] * len(handles) + which)
    # Numbered in the order of their first rows.
    order = np.argsort(first)
    of = rows.copy()
    of[nameless] = count + np.argsort(order)[key]
    first = nameless[first[order]]
    more = np.full(len(first), NONE, np.int64)
    until_ns = endpoints.by_handle.ends(endpoints.begin_ns)
    return Ends(
        of,
        np.concatenate([np.arange(count, dtype=np.int64), more]),
        np.concatenate([endpoints.process, process[first]]),
        np.concatenate([endpoints.rmw_handle, handle[first]]),
        np.concatenate([endpoints.begin_ns, np.zeros(len(more), np.int64)]),
        np.concatenate([np.where(until_ns != NONE, until_ns, FAR), np.full(len(more), FAR)]),
    )


def find_pairs(
    model: Model, transfers: Transfers, hop: Ints, writing: Ends, reading: Ends
) -> Pairs:
    """Return the pairs that messages made known, and after them those that are declared.

    `hop` is that of each message.
    """
    width = len(reading.entity) + 1
    writer, reader, hop = engine.match_pairs(
        writing.of[transfers.publication], reading.of[transfers.take], hop
    )
    matched = writer * width + reader
    declared = np.setdiff1d(_declared(model, writing, reading, width), matched)
    if len(declared):
        of = np.divmod(declared, width)
        declared = declared[~_elsewhere(model, matched, writing, reading, of)]
    writer, reader = np.divmod(np.concatenate([matched, declared]), width)
    return Pairs(writer, reader, np.append(hop, np.full(len(declared), NONE, np.int64)))


def _declared(model: Model, writing: Ends, reading: Ends, width: int) -> Ints:
    """Known publishers and subscriptions of one topic that live at the same time, as keys."""
    entities = model.entities
    publishing, taking = _codes(entities.publishers.topic, entities.subscriptions.topic)
    order = np.argsort(taking, kind="stable")
    place, row = spread(*runs(taking[order], publishing[publishing != NONE]))
    writer, reader = np.flatnonzero(publishing != NONE)[row], order[place]
    begin_ns = np.maximum(writing.begin_ns[writer], reading.begin_ns[reader])
    end_ns = np.minimum(writing.until_ns[writer], reading.until_ns[reader])
    return np.asarray((writer * width + reader)[begin_ns < end_ns], np.int64)


def _codes(*topics: npt.NDArray[np.object_]) -> list[Ints]:
    """Number topics; `NONE` for those that are not known, and those that every node has."""
    number: dict[str | None, int] = dict.fromkeys((None, *INTERNAL_TOPICS), NONE)
    return [
        np.array([number.setdefault(topic, len(number)) for topic in of.tolist()], np.int64)
        for of in topics
    ]


def _elsewhere(
    model: Model, matched: Ints, writing: Ends, reading: Ends, pairs: tuple[Ints, Ints]
) -> Flags:
    """Return which declared pairs are of two systems: the reader is supplied in its own."""
    writer, reader = pairs
    theirs, own = np.divmod(matched, len(reading.entity) + 1)
    system = _systems(writing.process[theirs], reading.process[own], len(model.processes.vpid))
    supplied = np.zeros(len(reading.entity), bool)
    # A take of which no publication is in the trace tells of a publisher elsewhere, too.
    supplied[reading.of] = True
    apart = system[writing.process[writer]] != system[reading.process[reader]]
    return np.asarray(apart & supplied[reader])


def _systems(first: Ints, second: Ints, count: int) -> Ints:
    """Number the processes so that those between which messages went have one number."""
    system = np.arange(count)
    while True:
        lowest = np.minimum(system[first], system[second])
        before = system.copy()
        np.minimum.at(system, first, lowest)
        np.minimum.at(system, second, lowest)
        if (system == before).all():
            return system


def stays_within(model: Model, pairs: Pairs, writing: Ends, reading: Ends) -> Flags:
    """Tell for each pair whether its messages may stay within the process (ring buffers)."""
    within = writing.process[pairs.writer] == reading.process[pairs.reader]
    buffered = np.zeros(len(reading.entity) + 1, bool)
    takes = model.takes
    buffered[reading.of[takes.dequeue_ns != NONE]] = True
    stored = model.buffered
    buffered[pick(reading.entity, stored[stored != NONE])] = True
    return np.asarray(within & buffered[pairs.reader])
