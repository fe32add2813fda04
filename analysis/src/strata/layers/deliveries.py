# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What happened to every message at every subscription that it was published for.

A message was published for a subscription (`layers/pairs`) when it was published while that one
lived, and not before the first message that it took of the publisher: until then the two had not
found each other, as far as events show (`before_first` counts these). Each has one fate
(strata.schema.fates), by the first rule that applies:

    taken by the subscription                                           received
    overwritten in a ring buffer, by the enqueue's own word             lost: overwritten
    an ambiguous take may be of it                                      unknown
    events were lost between its publish and when it would be taken     unknown
    a later message was received                                        lost, by what the middleware
                                                                        tells of the sample
    published not longer before the end of all traffic than the hop's
    longest latency                                                     in flight
    nothing was ever received                                           lost: never took anything
    the reader's process has no event after it was under way            lost: process ended
    else                                                                lost: reader went silent

A publisher's messages are taken in order: one that is missing would have been taken before the next
one that was; after the last one, within the hop's longest latency.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from strata.engine import _model as engine
from strata.engine.groups import raise_to
from strata.layers.endpoint_names import EndpointNames
from strata.layers.pairs import Ends, Pairs, find_pairs, readers, stays_within, writers
from strata.layers.transfers import Transfers
from strata.model.build import Model
from strata.model.columns import NONE, Ints
from strata.model.entities import UNKNOWN, take
from strata.model.naming import owner_names
from strata.model.search import pick
from strata.schema.fates import NEVER_TOOK, NUMBER, PROCESS_ENDED, WENT_SILENT

Flags = npt.NDArray[np.bool_]

_FATES = np.array(
    [
        NUMBER[cause]
        for cause in (
            "received",
            "overwritten",
            "ambiguous take",
            "tracer lost events",
            "lost on the way",
            "lost on the way or overwritten",
            "in flight",
            NEVER_TOOK,
            PROCESS_ENDED,
            WENT_SILENT,
        )
    ],
    np.int64,
)
"""The fate of each number that the engine gives."""
Names = tuple[str, str, str]
"""Of a hop: topic, node of the publisher, node of the subscription."""


@dataclass(frozen=True)
class Deliveries:
    """One row a message and a subscription that it was published for, by hop and time.

    `hop` is a row of `hops`, which has the names of every hop, those of the messages first; `fate`
    is a row of strata.schema.fates.FATES. `since_ns` is when the reader took last, or its process
    emitted its last event, where the fate is of that; else `NONE`. `before_first` has one row a
    hop: publications while the subscription lived, before it took its first.
    """

    hops: Sequence[Names]
    before_first: Ints
    hop: Ints
    publication: Ints
    fate: Ints
    published_ns: Ints
    since_ns: Ints


def find_deliveries(model: Model, transfers: Transfers, names: EndpointNames) -> Deliveries:
    """Return what happened to all messages; `names` are those of the transfers (endpoint_names)."""
    process_end_ns = model.facts.process_last_ns
    writing, reading = writers(model), readers(model, process_end_ns)
    pairs = find_pairs(model, transfers, names.hop, writing, reading)
    within = stays_within(model, pairs, writing, reading)
    hops, hop = _hops(model, names, (writing, reading, pairs), within)
    clock = model.host_clocks.of_process
    apart = clock[writing.process[pairs.writer]] != clock[reading.process[pairs.reader]]
    of, told = model.facts.told()
    readers_ = (
        reading.entity,
        reading.process,
        reading.begin_ns,
        reading.until_ns,
        process_end_ns[reading.process],
        _end_of_traffic(model)[clock[reading.process]],
    )
    hop, publication, number, published_ns, since_ns, before_first = engine.find_deliveries(
        _publications(model, writing),
        _messages(transfers, reading, names),
        (readers_, model.facts.told_of(reading.process)),
        ((pairs.writer, pairs.reader, hop), within, apart),
        len(hops),
        [
            model.matches.overwritten,
            _doubtful(model, reading),
            _without_publication(model, reading),
            (of, told),
        ],
        list(zip(*(bounds.tolist() for bounds in model.losses), strict=True)),
    )
    fate = _resent(model, publication, _FATES[number])
    return Deliveries(hops, before_first, hop, publication, fate, published_ns, since_ns)


def _publications(model: Model, writing: Ends) -> tuple[Ints, ...]:
    published = model.publications
    sample = model.middleware.writes.sample
    return (
        writing.of,
        published.handed_ns,
        published.rmw_publish_ns,
        published.source_timestamp,
        sample,
    )


def _messages(transfers: Transfers, reading: Ends, names: EndpointNames) -> tuple[Ints, ...]:
    # Between hosts only what the reader's clock saw counts: publish and last are of two.
    begin_ns = np.where(transfers.unsynchronised, transfers.taken_ns, transfers.publish_ns)
    return (
        transfers.publication,
        reading.of[transfers.take],
        names.hop,
        transfers.taken_ns,
        transfers.last_ns - begin_ns,
    )


def _hops(
    model: Model, names: EndpointNames, of: tuple[Ends, Ends, Pairs], within: Flags
) -> tuple[list[Names], Ints]:
    """Names of all hops, those of the messages first, and the hop of each pair."""
    writing, reading, pairs = of
    columns = (names.topic, names.publisher_node, names.subscription_node)
    known: list[Names] = list(zip(*columns, strict=True))
    published = model.publications
    handed = engine.first_handed(
        (writing.of, published.handed_ns, published.rmw_publish_ns), len(writing.entity)
    )
    # What stayed in its process was never for a reader elsewhere.
    any_ns, sent_ns = (first_ns[pairs.writer] for first_ns in handed)
    # A hop over which nothing was ever published is none.
    used = np.where(within, any_ns, sent_ns) < reading.until_ns[pairs.reader]
    rest = np.flatnonzero((pairs.hop == NONE) & used)
    if not len(rest):
        return known, pairs.hop
    declared = _declared_names(model, writing, reading, pairs, rest)
    number = {name: row for row, name in enumerate(dict.fromkeys([*known, *declared]))}
    hop = pairs.hop.copy()
    hop[rest] = [number[name] for name in declared]
    return list(number), hop


def _declared_names(
    model: Model, writing: Ends, reading: Ends, pairs: Pairs, rows: Ints
) -> list[Names]:
    entities, processes = model.entities, model.processes
    named = []
    for endpoints, ends, number in (
        (entities.publishers, writing, pairs.writer[rows]),
        (entities.subscriptions, reading, pairs.reader[rows]),
    ):
        entity = ends.entity[number]
        node = pick(endpoints.node, entity)
        named.append(
            owner_names(entities.nodes, processes, node, ends.process[number], ends.handle[number])
        )
    topic = take(entities.publishers.topic, writing.entity[pairs.writer[rows]], UNKNOWN)
    return list(zip(topic, *named, strict=True))


def _end_of_traffic(model: Model) -> Ints:
    """When a message was last published or taken, or a callback last ran, by each clock.

    Nodes that are shut down may emit events for long after.
    """
    clock = model.host_clocks.of_thread
    end_ns = np.zeros(int(clock.max(initial=0)) + 1, np.int64)
    for thread, ns in (
        (model.publications.thread, model.publications.handed_ns),
        (model.takes.thread, model.takes.taken_ns),
        (model.executions.thread, model.executions.until_ns),
    ):
        raise_to(end_ns, clock[thread], ns)
    return end_ns


def _doubtful(model: Model, reading: Ends) -> tuple[Ints, Ints]:
    """Return publications of which takes may be that were matched to none, and their readers."""
    taken, publication = model.matches.doubtful
    return publication, reading.of[taken]


def _without_publication(model: Model, reading: Ends) -> tuple[Ints, Ints]:
    """Return reader and time of takes that may be of any publication without a stamp."""
    takes, published = model.takes, model.publications
    timed = (published.rmw_publish_ns != NONE) & (published.source_timestamp == NONE)
    unmatched = np.full(len(takes), timed.any())
    unmatched[model.matches.take] = False
    unmatched &= ~takes.duplicate & (takes.rmw_take_ns != NONE)
    return reading.of[unmatched], takes.rmw_take_ns[unmatched]


def _resent(model: Model, publication: Ints, fate: Ints) -> Ints:
    """Tell apart what was sent more than once to one place: it was asked for again."""
    lost = np.flatnonzero(fate == NUMBER["lost on the way"])
    if len(lost):
        sample = model.middleware.writes.sample[publication[lost]]
        again = np.isin(sample, model.facts.sent_again())
        fate[lost[again]] = NUMBER["resend given up"]
    return fate
