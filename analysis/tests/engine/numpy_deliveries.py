# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What became of messages by NumPy, as strata.layers.deliveries has it: the engine's oracle."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from strata.engine.windows import touched
from strata.layers import pairs as found_pairs
from strata.layers.deliveries import Deliveries
from strata.layers.endpoint_names import EndpointNames
from strata.layers.pairs import FAR, Ends, Pairs, readers, stays_within, writers
from strata.layers.transfers import Transfers
from strata.model.build import Model
from strata.model.columns import NONE, Ints
from strata.model.entities import UNKNOWN, take
from strata.model.naming import owner_names
from strata.model.search import pick, runs, spread
from strata.schema.fates import NUMBER

Flags = npt.NDArray[np.bool_]

_HOP = ["topic", "publisher_node", "subscription_node"]


@dataclass(frozen=True)
class _Rows:
    """One row a publication of a pair's writer that the reader might have got, in order of time.

    `published_ns` is by the reader's clock: where the writer has another one, they are taken to
    differ by the least that lies between a publish and its take.
    `taken_ns` is `NONE` for those that it did not take. `first` and `last` tell the first and last
    row of the pair that it took, `following` the next one, `NONE` for none.
    """

    pair: Ints
    publication: Ints
    published_ns: Ints
    taken_ns: Ints
    first: Ints
    last: Ints
    following: Ints


def find_deliveries(model: Model, transfers: Transfers, names: EndpointNames) -> Deliveries:
    """Tell what became of all messages; `names` are those of the transfers (endpoint_names)."""
    process_end_ns = model.facts.process_last_ns
    writing, reading = writers(model), readers(model, process_end_ns)
    pairs = find_pairs(model, transfers, writing, reading)
    rows = _rows(model, transfers, writing, reading, pairs)
    hops, hop_of_pair = _hops(model, transfers, names, (writing, reading, pairs), rows)
    # Nothing was ever published to a pair without a hop.
    longest = pick(_longest(transfers, names, len(hops)), hop_of_pair)
    begin_ns = pick(rows.published_ns, rows.first)
    alive = rows.published_ns >= reading.begin_ns[pairs.reader[rows.pair]]
    got = rows.taken_ns != NONE
    fate, since_ns = _fates(model, reading, pairs, rows, (longest, process_end_ns))
    early = (rows.first != NONE) & (rows.published_ns < begin_ns)
    # What reached the reader's queue was for it, also before its first take.
    early &= fate != NUMBER["overwritten"]
    before_first = np.zeros(len(hops), np.int64)
    np.add.at(before_first, hop_of_pair[rows.pair[alive & early]], 1)
    kept = np.flatnonzero(got | (alive & ~early))
    hop = hop_of_pair[rows.pair]
    kept = kept[np.lexsort((rows.published_ns[kept], hop[kept]))]
    return Deliveries(
        hops,
        before_first,
        hop[kept],
        rows.publication[kept],
        fate[kept],
        rows.published_ns[kept],
        since_ns[kept],
    )


def find_pairs(model: Model, transfers: Transfers, writing: Ends, reading: Ends) -> Pairs:
    """Return the pairs that messages made known, and after them those that are declared."""
    width = len(reading.entity) + 1
    known = writing.of[transfers.publication] * width + reading.of[transfers.take]
    matched = np.unique(known)
    declared = np.setdiff1d(found_pairs._declared(model, writing, reading, width), matched)
    if len(declared):
        of = np.divmod(declared, width)
        declared = declared[~found_pairs._elsewhere(model, matched, writing, reading, of)]
    writer, reader = np.divmod(np.concatenate([matched, declared]), width)
    return Pairs(writer, reader, np.full(len(writer), NONE, np.int64))


def _rows(model: Model, transfers: Transfers, writing: Ends, reading: Ends, pairs: Pairs) -> _Rows:
    publications = model.publications
    published_ns = publications.handed_ns
    order = np.lexsort((published_ns, writing.of))
    place, pair = spread(*runs(writing.of[order], pairs.writer))
    publication = order[place]
    reader = pairs.reader[pair]
    taken_ns = _taken(transfers, reading, reader, publication)
    # What stayed in its process was never for a reader elsewhere.
    sent = publications.rmw_publish_ns[publication] != NONE
    there = sent | stays_within(model, pairs, writing, reading)[pair]
    between_ns = np.where(taken_ns != NONE, taken_ns - published_ns[publication], FAR)
    ahead_ns = _ahead(model, (writing, reading, pairs), pair, between_ns)
    at_ns = published_ns[publication] + ahead_ns[pair]
    there &= at_ns < reading.until_ns[reader]
    kept = there | (taken_ns != NONE)
    pair, publication, taken_ns, at_ns = (
        column[kept] for column in (pair, publication, taken_ns, at_ns)
    )
    number = np.arange(len(pair))
    got = taken_ns != NONE
    begin = np.flatnonzero(np.append(True, pair[1:] != pair[:-1])) if len(pair) else number
    size = np.diff(np.append(begin, len(pair)))
    first = _reduced(np.minimum, np.where(got, number, FAR), begin, size)
    last = _reduced(np.maximum, np.where(got, number, NONE), begin, size)
    following = np.minimum.accumulate(np.where(got, number, FAR)[::-1])[::-1]
    following = np.where(number < last, following, NONE)
    first = np.where(last != NONE, first, NONE)
    return _Rows(pair, publication, at_ns, taken_ns, first, last, following)


def _ahead(model: Model, of: tuple[Ends, Ends, Pairs], pair: Ints, between_ns: Ints) -> Ints:
    """By how much the reader's clock of each pair is ahead of its writer's, as far as is known."""
    writing, reading, pairs = of
    clock = model.host_clocks.of_process
    apart = clock[writing.process[pairs.writer]] != clock[reading.process[pairs.reader]]
    least = np.full(len(apart), FAR, np.int64)
    np.minimum.at(least, pair, between_ns)
    return np.where(apart & (least != FAR), least, 0)


def _reduced(function: np.ufunc, values: Ints, begin: Ints, size: Ints) -> Ints:
    """Reduce runs of rows, and give the result to each of their rows."""
    if not len(values):
        return values
    return np.repeat(np.asarray(function.reduceat(values, begin), np.int64), size)


def _taken(transfers: Transfers, reading: Ends, reader: Ints, publication: Ints) -> Ints:
    """When each publication was taken by each reader first; `NONE` for never."""
    width = int(transfers.publication.max(initial=0)) + 1
    key = reading.of[transfers.take] * width + transfers.publication
    order = np.lexsort((transfers.taken_ns, key))
    first, count = runs(key[order], np.where(publication < width, reader * width + publication, -1))
    row = np.where(count > 0, first, NONE)
    return pick(transfers.taken_ns[order], row)


def _hops(
    model: Model,
    transfers: Transfers,
    names: EndpointNames,
    of: tuple[Ends, Ends, Pairs],
    rows: _Rows,
) -> tuple[pd.DataFrame, Ints]:
    """Names of all hops, those of the messages first, and the hop of each pair."""
    writing, reading, pairs = of
    known = pd.DataFrame({column: getattr(names, column) for column in _HOP}, dtype=object)
    hop = np.full(len(pairs.writer), NONE, np.int64)
    key = writing.of[transfers.publication] * (len(reading.entity) + 1) + reading.of[transfers.take]
    own = pairs.writer * (len(reading.entity) + 1) + pairs.reader
    order = np.argsort(own)
    hop[order[np.searchsorted(own[order], key)]] = names.hop
    # A hop over which nothing was ever published is none.
    used = np.zeros(len(hop), bool)
    used[rows.pair] = True
    rest = np.flatnonzero((hop == NONE) & used)
    if not len(rest):
        return known, hop
    declared = _declared_names(model, writing, reading, pairs, rest)
    every = pd.concat([known, declared], ignore_index=True)
    distinct = every.drop_duplicates(ignore_index=True)
    place = pd.MultiIndex.from_frame(distinct).get_indexer(pd.MultiIndex.from_frame(declared))
    hop[rest] = place
    return distinct, hop


def _declared_names(
    model: Model, writing: Ends, reading: Ends, pairs: Pairs, rows: Ints
) -> pd.DataFrame:
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
    return pd.DataFrame(dict(zip(_HOP, (topic, *named), strict=True)))


def _longest(transfers: Transfers, names: EndpointNames, count: int) -> Ints:
    """The longest latency of each hop, to the last checkpoint; of one without any, of all hops."""
    # Between hosts only what the reader's clock saw counts: publish and last are of two.
    begin_ns = np.where(transfers.unsynchronised, transfers.taken_ns, transfers.publish_ns)
    latency = transfers.last_ns - begin_ns
    longest = np.full(count, NONE, np.int64)
    np.maximum.at(longest, names.hop, latency)
    return np.where(longest != NONE, longest, latency.max(initial=0))


def _fates(
    model: Model, reading: Ends, pairs: Pairs, rows: _Rows, of: tuple[Ints, Ints]
) -> tuple[Ints, Ints]:
    """The fate of each row, and since when its reader was silent; the first rule that applies."""
    longest, process_end_ns = of[0][rows.pair], of[1]
    reader = pairs.reader[rows.pair]
    process_ns = process_end_ns[reading.process[reader]]
    end_ns = _end_of_traffic(model)[model.host_clocks.of_process[reading.process[reader]]]
    later = rows.following != NONE
    never = rows.last == NONE
    due_ns = np.where(later, pick(rows.taken_ns, rows.following), rows.published_ns + longest)
    quiet = (process_ns < rows.published_ns + longest) & (end_ns - process_ns > longest)
    rules = [
        ("received", rows.taken_ns != NONE),
        ("overwritten", _displaced(model, reading, rows, reader)),
        ("ambiguous take", _doubtful(model, reading, rows, reader, due_ns)),
        ("tracer lost events", touched(model.losses, rows.published_ns, due_ns)),
        *_on_the_way(model, reading, rows, reader),
        ("in flight", ~never & (end_ns - rows.published_ns <= longest)),
        ("reader never took anything", never),
        ("process ended", quiet),
    ]
    fate = np.select(
        [holds for _, holds in rules],
        [NUMBER[cause] for cause, _ in rules],
        NUMBER["reader went silent"],
    ).astype(np.int64)
    since_ns = np.full(len(fate), NONE, np.int64)
    silent, ended = fate == NUMBER["reader went silent"], fate == NUMBER["process ended"]
    since_ns[silent] = pick(rows.taken_ns, rows.last)[silent]
    since_ns[ended] = process_ns[ended]
    return fate, since_ns


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
        np.maximum.at(end_ns, clock[thread], ns)
    return end_ns


def _displaced(model: Model, reading: Ends, rows: _Rows, reader: Ints) -> Flags:
    """Tell which messages a ring buffer of the reader overwrote."""
    publication, subscription = model.matches.overwritten
    return _among((publication, subscription), (rows.publication, pick(reading.entity, reader)))


def _doubtful(model: Model, reading: Ends, rows: _Rows, reader: Ints, due_ns: Ints) -> Flags:
    """Tell of which messages a take of the reader may be that was matched to none.

    One without a stamp may be of any such take from its publish to when it would be taken.
    """
    takes, matches = model.takes, model.matches
    taken, publication = matches.doubtful
    found = _among((publication, reading.of[taken]), (rows.publication, reader))
    unmatched = np.ones(len(takes), bool)
    unmatched[matches.take] = False
    unmatched &= ~takes.duplicate & (takes.rmw_take_ns != NONE)
    stamp = model.publications.source_timestamp[rows.publication]
    sent = model.publications.rmw_publish_ns[rows.publication] != NONE
    timed = np.flatnonzero(sent & (stamp == NONE) & ~found)
    for one in np.unique(reader[timed]):
        own = timed[reader[timed] == one]
        at_ns = takes.rmw_take_ns[unmatched & (reading.of == one)]
        found[own] = touched((at_ns, at_ns), rows.published_ns[own], due_ns[own])
    return found


def _among(known: tuple[Ints, Ints], asked: tuple[Ints, Ints]) -> Flags:
    """Tell which pairs of numbers are among the known ones."""
    width = max(known[1].max(initial=0), asked[1].max(initial=0)) + 2
    keys = [first * width + second + 1 for first, second in (known, asked)]
    return np.isin(keys[1], keys[0])


def _on_the_way(model: Model, reading: Ends, rows: _Rows, reader: Ints) -> list[tuple[str, Flags]]:
    """What the middleware tells of messages that are missing between others.

    Where its events are there, the reader's process was told of the sample (and its queue lost it),
    or not; a sample that was sent more than once to one place was asked for again.
    """
    of, told = model.facts.told()
    later = rows.following != NONE
    sample = pick(model.middleware.writes.sample, rows.publication)
    process = reading.process[reader]
    seen = later & (sample != NONE) & model.facts.told_of(process)
    arrived = seen & _among((of[of != NONE], told[of != NONE]), (sample, process))
    again = seen & np.isin(sample, model.facts.sent_again())
    return [
        ("overwritten", arrived),
        ("resend given up", again),
        ("lost on the way", seen),
        ("lost on the way or overwritten", later),
    ]
