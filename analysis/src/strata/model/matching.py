# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Which publication each take took.

A message's source timestamp is set once by its publisher and travels with it, so a take belongs to
the publication with the same topic and the same source timestamp, to the nanosecond; one
publication may be taken by any number of subscriptions. Two publications of one topic with one
timestamp cannot be told apart: their takes are ambiguous and stay unmatched.

Where a topic is unknown (its init event was not recorded), the timestamp alone decides, and the
match says that it is inferred.

Where the middleware's own events name the sample (GUID of the writer and sequence number) on both
sides, they must agree with the timestamp; a take on which they contradict each other is ambiguous.
They decide where the timestamps cannot: equal stamps, or publications that carry none.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from strata.model.columns import NONE, Ints, filled
from strata.model.dds.middleware import Middleware
from strata.model.entities import Entities
from strata.model.traffic import Publications, Takes
from strata.schema.quality import Ledger

EXACT, INFERRED, IDENTITY, RING_BUFFER = range(4)
METHODS = ("topic+timestamp", "timestamp", "guid+sequence", "ring buffer")
"""What decided a match, by its number in `Matches.method`."""

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Matches:
    """One row a matched take; `method` is a row of `METHODS`.

    `enqueue_ns` is when an intra-process message was stored in its ring buffer, `NONE` for others.
    """

    publication: Ints
    take: Ints
    method: Ints
    enqueue_ns: Ints
    ambiguous_count: int
    unmatched_take_count: int
    untaken_publication_count: int


def match(
    publications: Publications,
    takes: Takes,
    entities: Entities,
    middleware: Middleware,
    ledger: Ledger,
) -> Matches:
    """Match takes to publications; every take without a match is counted by its cause."""
    found, method, ambiguous = _by_timestamp(publications, takes, entities)
    by_sample = _by_sample(middleware.writes.sample, middleware.reads.sample)
    named = by_sample != NONE
    # Two rules that contradict each other: something is wrong, and no match is better than one.
    written, read = middleware.writes.sample, middleware.reads.sample
    own = np.where(found != NONE, written[found], NONE) if len(written) else found
    odd = (found != NONE) & (read != NONE) & (own != NONE) & (own != read)
    odd |= named & (found != NONE) & (found != by_sample)
    ledger.add("contradictory_matches", int(odd.sum()))
    resolved = named & (found == NONE)
    found = np.where(odd, NONE, np.where(resolved, by_sample, found))
    method = np.where(resolved, IDENTITY, method)
    ambiguous = (ambiguous & ~resolved) | odd
    return _counted(publications, takes, found, method, ambiguous, ledger)


def _counted(
    publications: Publications,
    takes: Takes,
    found: Ints,
    method: Ints,
    ambiguous: Flags,
    ledger: Ledger,
) -> Matches:
    matched = np.flatnonzero(found != NONE).astype(np.int64)
    publication = found[matched]
    ordered = takes.rmw_take_ns[matched] >= publications.rmw_publish_ns[publication]
    untaken = len(publications) - len(np.unique(publication))
    unmatched = len(takes) - len(matched) - int(ambiguous.sum())
    ledger.add("ambiguous_matches", int(ambiguous.sum()))
    ledger.add("unmatched_takes", unmatched)
    ledger.add("out_of_order_matches", int((~ordered).sum()))
    ledger.add("inferred_matches", int((method[matched] == INFERRED).sum()))
    return Matches(
        publication[ordered],
        matched[ordered],
        method[matched][ordered],
        np.full(int(ordered.sum()), NONE, np.int64),
        int(ambiguous.sum()),
        unmatched + int((~ordered).sum()),
        untaken,
    )


def _by_timestamp(
    publications: Publications, takes: Takes, entities: Entities
) -> tuple[Ints, Ints, Flags]:
    """For each take: its publication or `NONE`, the method, and whether several would fit."""
    pub_topic, take_topic = _topics(publications, takes, entities)
    by_topic, ambiguous = _lookup(
        _frame(pub_topic, publications.source_timestamp, pub_topic != NONE),
        _frame(take_topic, takes.source_timestamp, take_topic != NONE),
        ["topic", "stamp"],
        len(takes),
    )
    # Only a pair with an unknown side may be matched without its topic.
    open_take = (by_topic == NONE) & ~ambiguous
    known_take = take_topic != NONE
    to_any, twice = _lookup(
        _frame(pub_topic, publications.source_timestamp, np.ones(len(publications), bool)),
        _frame(take_topic, takes.source_timestamp, open_take & ~known_take),
        ["stamp"],
        len(takes),
    )
    to_unknown, twice_unknown = _lookup(
        _frame(pub_topic, publications.source_timestamp, pub_topic == NONE),
        _frame(take_topic, takes.source_timestamp, open_take & known_take),
        ["stamp"],
        len(takes),
    )
    inferred = np.where(to_any != NONE, to_any, to_unknown)
    found = np.where(by_topic != NONE, by_topic, inferred)
    method = np.where(by_topic != NONE, EXACT, INFERRED)
    return found, method, ambiguous | twice | twice_unknown


def _by_sample(written: Ints, read: Ints) -> Ints:
    """For each take: the one publication of its sample, or `NONE`."""
    publications = pd.DataFrame({"sample": written, "publication": np.arange(len(written))})
    publications = publications[publications["sample"] != NONE]
    single = publications[~publications.duplicated("sample", keep=False)]
    found = pd.DataFrame({"sample": read}).merge(single, on="sample", how="left")["publication"]
    return filled(found)


def _topics(publications: Publications, takes: Takes, entities: Entities) -> tuple[Ints, Ints]:
    """Dense topic numbers of both sides; `NONE` where the topic is unknown."""
    names = np.concatenate([entities.publishers.topic, entities.subscriptions.topic])
    codes = pd.factorize(names)[0].astype(np.int64)
    of_publisher = codes[: len(entities.publishers)]
    of_subscription = codes[len(entities.publishers) :]
    return (
        _rows(of_publisher, publications.publisher),
        _rows(of_subscription, takes.subscription),
    )


def _rows(values: Ints, rows: Ints) -> Ints:
    if not len(values):
        return np.full(len(rows), NONE, np.int64)
    return np.where(rows != NONE, values[rows], NONE)


def _frame(topic: Ints, stamp: Ints, wanted: Flags) -> pd.DataFrame:
    frame = pd.DataFrame({"topic": topic, "stamp": stamp, "row": np.arange(len(topic))})
    return frame[wanted & (stamp > 0)]


def _lookup(
    publications: pd.DataFrame, takes: pd.DataFrame, key: list[str], size: int
) -> tuple[Ints, Flags]:
    """For each of `size` takes: its publication or `NONE`, and whether several would fit.

    The frames hold the rows that take part; `row` is their number among all.
    """
    several = publications.duplicated(key, keep=False)
    single = takes.merge(publications[~several], on=key, suffixes=("", "_publication"))
    found = np.full(size, NONE, np.int64)
    found[single["row"].to_numpy()] = single["row_publication"].to_numpy()
    twice = takes.merge(publications.loc[several, key].drop_duplicates(), on=key)
    ambiguous = np.zeros(size, bool)
    ambiguous[twice["row"].to_numpy()] = True
    return found, ambiguous
