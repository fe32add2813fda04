# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Which publication each take took.

A message's source timestamp is set once by its publisher and travels with it, so a take belongs to
the publication with the same topic and the same source timestamp, to the nanosecond; one
publication may be taken by any number of subscriptions. Two publications of one topic with one
timestamp cannot be told apart: their takes are ambiguous and stay unmatched.

Where a topic is unknown (its init event was not recorded), it may be any: the timestamp alone
decides, and the match says that it is inferred.

Where the middleware's own events name the sample (GUID of the writer and sequence number) on both
sides, they must agree with the timestamp; a take on which they contradict each other is ambiguous.
They decide where the timestamps cannot: equal stamps, or publications that carry none.

What is left of the takes of publications without a stamp (Iron and older) is inferred from the
times of publishing; see strata.model.inferred.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from strata.model.columns import NONE, Ints
from strata.model.dds.middleware import Middleware
from strata.model.hosts import HostClocks
from strata.model.inferred import Inferred
from strata.model.search import pick, runs, spread
from strata.model.topics import Topics
from strata.model.traffic import Publications, Takes
from strata.schema.quality import Ledger

EXACT, INFERRED, IDENTITY, RING_BUFFER, PUBLISH_TIME, RING_BUFFER_LOSSES = range(6)
METHODS = (
    "topic+timestamp",
    "timestamp",
    "guid+sequence",
    "ring buffer",
    "publish time",
    "ring buffer, with losses",
)
"""What decided a match, by its number in `Matches.method`."""

CONFIDENCES = ("exact", "inferred")
"""How sure a match is, by its number in `Matches.confidence`."""

_CONFIDENCE_OF = np.array([0, 1, 0, 0, 1, 1], np.int64)

Flags = npt.NDArray[np.bool_]


Pairs = tuple[Ints, Ints]
"""Rows of two tables that belong together; see `Matches`."""

_NO_PAIRS: Pairs = (np.empty(0, np.int64), np.empty(0, np.int64))


@dataclass(frozen=True)
class Matches:
    """One row a matched take; `method` is a row of `METHODS`.

    `enqueue_ns` is when an intra-process message was stored in its ring buffer, `NONE` for others.
    `doubtful` are takes without a match of which a publication is known that they may be of, each
    with one such publication; `overwritten` are publications that a full ring buffer lost, each
    with the subscription of the buffer.
    """

    publication: Ints
    take: Ints
    method: Ints
    enqueue_ns: Ints
    ambiguous_count: int
    unmatched_take_count: int
    doubtful: Pairs = _NO_PAIRS
    overwritten: Pairs = _NO_PAIRS

    @property
    def confidence(self) -> Ints:
        """Rows of `CONFIDENCES`; the method alone decides."""
        return confidence_of(self.method)


def confidence_of(method: Ints) -> Ints:
    """Return rows of `CONFIDENCES` for rows of `METHODS`."""
    return _CONFIDENCE_OF[method]


def match(
    publications: Publications,
    takes: Takes,
    topics: Topics,
    middleware: Middleware,
    ledger: Ledger,
    inferred: Inferred | None = None,
    clocks: HostClocks | None = None,
) -> Matches:
    """Match takes to publications; every take without a match is counted by its cause.

    `inferred` is asked for what nothing exact decides. A take before its publication is refused,
    unless `clocks` says that their times are not comparable.
    """
    found, method, ambiguous, candidates = _by_timestamp(
        topics.of_publication,
        publications.source_timestamp,
        topics.of_take,
        takes.source_timestamp,
    )
    written, read = middleware.writes.sample, middleware.reads.sample
    by_sample = _by_sample(written, read)
    named = by_sample != NONE
    # Two rules that contradict each other: something is wrong, and no match is better than one.
    own = pick(written, found)
    odd = (found != NONE) & (read != NONE) & (own != NONE) & (own != read)
    odd |= named & (found != NONE) & (found != by_sample)
    candidates = _pairs(candidates, *(_candidates(odd, of) for of in (found, by_sample)))
    ledger.add_each("contradictory_matches", topics.takers[odd], takes.rmw_take_ns[odd])
    resolved = named & (found == NONE)
    found = np.where(odd, NONE, np.where(resolved, by_sample, found))
    method = np.where(resolved, IDENTITY, method)
    ambiguous = (ambiguous & ~resolved) | odd
    if inferred is not None:
        open_take = (found == NONE) & ~ambiguous
        timed, undecided = _by_publish_time(inferred, open_take, found, takes.source_timestamp)
        found = np.where(timed != NONE, timed, found)
        method = np.where(timed != NONE, PUBLISH_TIME, method)
        at_ns = takes.rmw_take_ns[undecided]
        ledger.add_each("undecided_publish_times", topics.takers[undecided], at_ns)
        ambiguous = ambiguous | undecided
    still = ambiguous[candidates[0]]
    matches = _counted(publications, takes, found, method, ambiguous, clocks)
    _tell(matches, takes, topics, ambiguous, found, method, ledger)
    return replace(matches, doubtful=(candidates[0][still], candidates[1][still]))


def _candidates(odd: Flags, publication: Ints) -> Pairs:
    take = np.flatnonzero(odd & (publication != NONE)).astype(np.int64)
    return take, publication[take]


def _pairs(first: Pairs, *others: Pairs) -> Pairs:
    one, other = (np.concatenate(columns) for columns in zip(first, *others, strict=True))
    return one, other


def _counted(
    publications: Publications,
    takes: Takes,
    found: Ints,
    method: Ints,
    ambiguous: Flags,
    clocks: HostClocks | None,
) -> Matches:
    matched = np.flatnonzero(found != NONE).astype(np.int64)
    publication, by = found[matched], method[matched]
    ordered = takes.rmw_take_ns[matched] >= publications.rmw_publish_ns[publication]
    if clocks is not None:
        ordered |= clocks.differ(publications.thread[publication], takes.thread[matched])
    unmatched = len(takes) - len(matched) - int(ambiguous.sum())
    return Matches(
        publication[ordered],
        matched[ordered],
        by[ordered],
        np.full(int(ordered.sum()), NONE, np.int64),
        int(ambiguous.sum()),
        unmatched + int((~ordered).sum()),
    )


def _tell(
    matches: Matches,
    takes: Takes,
    topics: Topics,
    ambiguous: Flags,
    found: Ints,
    method: Ints,
    ledger: Ledger,
) -> None:
    """Count takes that were not matched, or not exactly, with their subscriptions and times."""
    matched = found != NONE
    ordered = np.zeros(len(takes), bool)
    ordered[matches.take] = True
    for code, rows in (
        ("ambiguous_matches", ambiguous),
        ("unmatched_takes", ~matched & ~ambiguous),
        ("out_of_order_matches", matched & ~ordered),
        ("inferred_matches", matched & (method == INFERRED)),
        ("matches_by_publish_time", matched & (method == PUBLISH_TIME)),
    ):
        ledger.add_each(code, topics.takers[rows], takes.rmw_take_ns[rows])


def _by_timestamp(
    pub_topic: Ints, pub_stamp: Ints, take_topic: Ints, take_stamp: Ints
) -> tuple[Ints, Ints, Flags, Pairs]:
    """For each take: its publication or `NONE`, the method, and whether several would fit.

    A publication fits when it has the take's stamp and its topic is not another. Where several do,
    all are returned, each with the take.
    """
    found = np.full(len(take_stamp), NONE, np.int64)
    ambiguous = np.zeros(len(take_stamp), bool)
    # Publications are almost in order of their stamps, which makes a stable sort cheap.
    stamped = np.flatnonzero(pub_stamp > 0)
    order = stamped[np.argsort(pub_stamp[stamped], kind="stable")]
    first, count = runs(pub_stamp[order], take_stamp)
    count[take_stamp <= 0] = 0

    one = np.flatnonzero(count == 1)
    fitting = order[first[one]]
    same = _compatible(pub_topic[fitting], take_topic[one])
    found[one[same]] = fitting[same]

    several = np.flatnonzero(count > 1)
    place, owner = spread(first[several], count[several])
    take, fitting = several[owner], order[place]
    same = _compatible(pub_topic[fitting], take_topic[take])
    take, fitting = take[same], fitting[same]
    fits = np.bincount(take, minlength=len(found))
    single = fits[take] == 1
    found[take[single]] = fitting[single]
    ambiguous |= fits > 1
    candidates = (take[~single], fitting[~single])

    known = (take_topic != NONE) & (pick(pub_topic, found) != NONE)
    return found, np.where(known, EXACT, INFERRED).astype(np.int64), ambiguous, candidates


def _compatible(one: Ints, other: Ints) -> Flags:
    """Tell whether topics are equal, or one is not known."""
    return np.asarray((one == other) | (one == NONE) | (other == NONE))


def _by_sample(written: Ints, read: Ints) -> Ints:
    """For each take: the one publication of its sample, or `NONE`."""
    size = max(written.max(initial=NONE), read.max(initial=NONE)) + 1
    publication_of = np.full(size, NONE, np.int64)
    rows = np.flatnonzero(written != NONE)
    publication_of[written[rows]] = rows
    publication_of[np.bincount(written[rows], minlength=size) != 1] = NONE
    return pick(publication_of, read)


def _by_publish_time(
    inferred: Inferred, open_take: Flags, found: Ints, stamp: Ints
) -> tuple[Ints, Flags]:
    """What is inferred for open takes, and which of them several publications may have made.

    A publication has one stamp: it is not inferred for another than that which it surely has.
    """
    timed = np.where(open_take, inferred.publication, NONE)
    undecided = open_take & inferred.ambiguous
    sure = found != NONE
    if sure.any():
        has = np.full(int(max(found.max(), timed.max())) + 1, NONE, np.int64)
        has[found[sure]] = stamp[sure]
        own = pick(has, timed)
        odd = (own != NONE) & (own != stamp)
        timed, undecided = np.where(odd, NONE, timed), undecided | odd
    return timed, undecided
