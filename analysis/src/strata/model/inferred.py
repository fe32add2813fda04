# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Publications without a stamp (Iron and older), found by the time at which they were published.

A take says when its message was stamped. The stamp was taken by the publishing thread between its
rmw_publish and its next event, by another clock; `strata.model.calibration` finds the offset of the
two. A publication of the take's topic fits when the stamp may lie there for some offset within the
bounds. A take is matched when exactly one fits.

Nor is it later than half way to the next publication of the same publisher: a thread that emits
nothing but publications has no other event that bounds it, and with windows that touch each other
any offset would fit.

A thread whose events were lost seems to publish for long. So the stamp must also be as near to
rmw_publish as is usual for that publisher (`_USUAL` times its median, and `_USUAL_NS`).

The offset is carried over from where it is known. It may have been set in between: nothing is
matched at times at which it answers less than half of the questions.

One publication has one stamp: where several stamps claim one, none gets it, but the only one that
fits for every offset within the bounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from strata.lazy import pandas as pd
from strata.model.calibration import BIN, SLEW, Offset, Pairs, bins, calibrate
from strata.model.columns import NONE, EventColumns, Ints
from strata.model.rows import joined, picked
from strata.model.search import GroupedSearch, pick, runs, spread
from strata.model.timeline import Kind, Timeline
from strata.model.topics import Topics
from strata.model.traffic import Publications, Takes

Flags = npt.NDArray[np.bool_]

_FASTEST_NS = 20_000_000
"""Of the messages of a bin that are taken on their publisher's host, one at least is as fast."""

_BACK_NS = 5_000_000
"""How far the clock may be set back within a bin without being lost."""

_LONGEST_NS = 20_000_000
"""No stamp is later after its rmw_publish."""

_TOGETHER = 1 << 16
"""Pairs of a stamp and a publication that are in memory at once, where 50 stamps have fewer."""

_MARGIN_NS = 5_000
_USUAL, _USUAL_NS = 8, 50_000
_WITHIN_WRITE = frozenset(
    {
        Kind.WRITE_BEGIN,
        Kind.SERIALIZE_BEGIN,
        Kind.SERIALIZE_END,
        Kind.WRITER_HISTORY_ADD,
        Kind.SEND_BEGIN,
        Kind.SEND_END,
    }
)


@dataclass(frozen=True)
class Inferred:
    """One row a take: its publication or `NONE`, and whether several may be it."""

    publication: Ints
    ambiguous: Flags


@dataclass(frozen=True)
class _Candidates:
    """Publications without a stamp, of known topics, and until when each may have got its stamp."""

    row: Ints
    topic: Ints
    host: Ints
    publisher: Ints
    publish_ns: Ints
    until_ns: Ints


@dataclass(frozen=True)
class _Questions:
    """Stamps that were taken, each once a topic; `of_take` tells whose; `NONE` for no question.

    `fastest_ns` is the greatest (stamp - take) of takes on each of the hosts (columns).
    """

    topic: Ints
    stamp: Ints
    of_take: Ints
    fastest_ns: Ints


def infer(
    events: EventColumns,
    timeline: Timeline,
    publications: Publications,
    takes: Takes,
    topics: Topics,
) -> Inferred | None:
    """Find the publications of takes by time; None when all publications carry a stamp."""
    if not ((publications.source_timestamp <= 0) & (topics.of_publication != NONE)).any():
        return None
    hosts = pd.factorize(np.asarray(events.processes.host, object))[0].astype(np.int64)
    of_thread = hosts[events.processes.thread_process]
    candidates = _candidates(timeline, publications, topics.of_publication, of_thread)
    questions = _questions(publications, takes, topics.of_take, of_thread, candidates)
    fitting = []
    for host in np.unique(candidates.host):
        own = picked(candidates, candidates.host == host)
        by_topic = GroupedSearch(own.topic, own.publish_ns)
        known = _stamped(timeline, publications, of_thread, host)
        rows = _asked_here(candidates, questions, host)
        offset, asked = _offset(own, by_topic, questions, rows, known, host)
        if len(offset.stamp):
            fits = _fitting(own, by_topic, questions, offset)
            fitting.append(_answering(fits, questions, asked))
    if not fitting:
        return Inferred(np.full(len(takes), NONE, np.int64), np.zeros(len(takes), bool))
    question, row, sure = (np.concatenate(part) for part in zip(*fitting, strict=True))
    return _decided(questions, question, row, sure)


def _candidates(
    timeline: Timeline, publications: Publications, topic: Ints, of_thread: Ints
) -> _Candidates:
    row = np.flatnonzero((publications.source_timestamp <= 0) & (topic != NONE)).astype(np.int64)
    at = publications.position[row]
    after = timeline.after(at, *(kind for kind in Kind if kind not in _WITHIN_WRITE))
    publish_ns = publications.rmw_publish_ns[row]
    longest = publish_ns + _LONGEST_NS
    until = np.where(after != NONE, np.minimum(timeline.ns_at(after), longest), longest)
    publisher = publications.publisher[row]
    return _Candidates(
        row,
        topic[row],
        of_thread[publications.thread[row]],
        publisher,
        publish_ns,
        np.minimum(until, _half_way(publisher, publish_ns)),
    )


def _half_way(publisher: Ints, publish_ns: Ints) -> Ints:
    """Half way from each publication to the next of its publisher; far away after the last."""
    order = np.lexsort((publish_ns, publisher))
    out = np.full(len(order), np.iinfo(np.int64).max, np.int64)
    same = publisher[order[1:]] == publisher[order[:-1]]
    first, second = order[:-1][same], order[1:][same]
    out[first] = publish_ns[first] + (publish_ns[second] - publish_ns[first]) // 2
    return out


def _questions(
    publications: Publications,
    takes: Takes,
    topic: Ints,
    of_thread: Ints,
    candidates: _Candidates,
) -> _Questions:
    stamped = np.sort(publications.source_timestamp[publications.source_timestamp > 0])
    asked = np.isin(topic, candidates.topic) & (runs(stamped, takes.source_timestamp)[1] == 0)
    rows = np.flatnonzero(asked)
    frame = pd.DataFrame({"topic": topic[rows], "stamp": takes.source_timestamp[rows]})
    number = frame.groupby(["topic", "stamp"], sort=False).ngroup().to_numpy(np.int64)
    first = np.flatnonzero(~frame.duplicated().to_numpy())
    of_take = np.full(len(takes), NONE, np.int64)
    of_take[rows] = number
    fastest = np.full((len(first), int(of_thread.max(initial=0)) + 1), np.iinfo(np.int64).min)
    age = takes.source_timestamp[rows] - takes.rmw_take_ns[rows]
    np.maximum.at(fastest, (number, of_thread[takes.thread[rows]]), age)
    return _Questions(topic[rows][first], takes.source_timestamp[rows][first], of_take, fastest)


def _stamped(timeline: Timeline, publications: Publications, of_thread: Ints, host: int) -> Pairs:
    """Pairs that are sure: publications of the host that tell their stamp.

    Such a stamp was taken before its rmw_publish and after the thread's event before that.
    """
    own = (publications.source_timestamp > 0) & (of_thread[publications.thread] == host)
    rows = np.flatnonzero(own).astype(np.int64)
    at = publications.position[rows]
    # At the very first position the last is looked at, and is no event before.
    known = (at > 0) & (timeline.thread[at - 1] == timeline.thread[at])
    rows, previous = rows[known], at[known] - 1
    stamp, publish_ns = publications.source_timestamp[rows], publications.rmw_publish_ns[rows]
    return Pairs(
        -1 - rows,
        np.full(len(rows), NONE, np.int64),
        stamp,
        publish_ns,
        stamp - publish_ns,
        stamp - timeline.ns[previous],
        np.ones(len(rows), bool),
    )


def _asked_here(every: _Candidates, questions: _Questions, host: int) -> Ints:
    """Questions of topics that are published on a host alone, in order of their stamps."""
    here = every.host == host
    foreign = np.unique(every.topic[~here])
    rows = np.flatnonzero(
        np.isin(questions.topic, every.topic[here]) & ~np.isin(questions.topic, foreign)
    ).astype(np.int64)
    return rows[np.argsort(questions.stamp[rows], kind="stable")]


def _offset(
    own: _Candidates,
    by_topic: GroupedSearch,
    questions: _Questions,
    rows: Ints,
    known: Pairs,
    host: int,
) -> tuple[Offset, Ints]:
    """The offset of a host's clocks, and the questions that only its publications may answer."""
    least = _least_offset(questions, rows, host)
    stamp = questions.stamp[rows]
    # Publications that a stamp may be of, for any offset from the least to the slowest.
    first, count = _reach(
        by_topic, questions.topic[rows], stamp - least - _FASTEST_NS - _BACK_NS, stamp - least
    )
    found, asked = [], [np.empty(0, np.int64)]
    for part in _parts(count):
        place, owner = spread(first[part], count[part])
        pairs = _pairs(own, by_topic.order[place], questions, rows[part][owner])
        near = pairs.high >= least[part][owner]
        near &= pairs.low <= least[part][owner] + _FASTEST_NS + _BACK_NS
        sure = picked(known, _within(known.stamp, stamp, part))
        found.append(calibrate(joined(picked(pairs, near), sure), _FASTEST_NS + _BACK_NS))
        asked.append(np.asarray(pd.unique(pairs.question[near]), np.int64))
    return joined(*found), np.concatenate(asked)


def _pairs(own: _Candidates, row: Ints, questions: _Questions, question: Ints) -> Pairs:
    """Pair questions with candidates that may be what they ask for."""
    stamp = questions.stamp[question]
    return Pairs(
        question,
        questions.topic[question],
        stamp,
        own.publish_ns[row],
        stamp - own.until_ns[row],
        stamp - own.publish_ns[row],
        np.zeros(len(row), bool),
    )


def _parts(count: Ints) -> list[slice]:
    """Divide questions into parts of whole bins that have few pairs; `count` is those of each.

    One part at least, which may be empty.
    """
    if not len(count):
        return [slice(0, 0)]
    begins = np.flatnonzero(np.diff(bins(len(count)), prepend=-1))
    before = np.cumsum(np.add.reduceat(count, begins)) // _TOGETHER
    first = begins[np.flatnonzero(np.diff(before, prepend=-1))].tolist()
    return [slice(*part) for part in pairwise([*first, len(count)])]


def _within(known: Ints, stamp: Ints, part: slice) -> Flags:
    """Tell which stamps lie in a part of others; what lies beyond them is of the outermost."""
    begins = part.start == 0 or known >= stamp[part.start]
    ends = part.stop == len(stamp) or known < stamp[part.stop]
    return np.broadcast_to(np.asarray(begins & ends, bool), known.shape)


def _least_offset(questions: _Questions, rows: Ints, host: int) -> Ints:
    """The least offset near each question: no message is taken before it is stamped.

    Of takes on the publisher's host; where a bin has none, of all hosts, whose clocks may differ by
    as much as the fastest message takes.
    """
    least = np.iinfo(np.int64).min
    if not len(rows):
        return np.empty(0, np.int64)
    own = questions.fastest_ns[rows, host]
    any_host = questions.fastest_ns[rows].max(axis=1) - _FASTEST_NS
    begins = np.arange(0, len(rows), BIN)
    of_row = np.arange(len(rows)) // BIN
    stamp = questions.stamp[rows]
    lasts = stamp[np.append(begins[1:], len(rows)) - 1] - stamp[begins]
    best = np.maximum.reduceat(own, begins)
    best = np.where(best != least, best, np.maximum.reduceat(any_host, begins))
    slew = (lasts * SLEW).astype(np.int64)
    return np.asarray((best - slew - _BACK_NS)[of_row])


def _reach(by_topic: GroupedSearch, topic: Ints, least: Ints, most: Ints) -> tuple[Ints, Ints]:
    """Candidates of topics whose stamps may lie in ranges: first place in the order, and count."""
    first = by_topic.position(topic, least - _LONGEST_NS, after_equal=False)
    return first, np.maximum(by_topic.position(topic, most, after_equal=True) - first, 0)


def _fitting(
    own: _Candidates, by_topic: GroupedSearch, questions: _Questions, offset: Offset
) -> tuple[Ints, Ints, Flags]:
    """Which publications fit which questions, and whether they do for every possible offset."""
    rows = np.flatnonzero(np.isin(questions.topic, own.topic)).astype(np.int64)
    stamp = questions.stamp[rows]
    low, high = offset.bounds(stamp)
    earliest, latest = stamp - high - _MARGIN_NS, stamp - low + _MARGIN_NS
    first, count = _reach(by_topic, questions.topic[rows], earliest, latest)
    found = []
    for part in _parts(count):
        place, owner = spread(first[part], count[part])
        row, owner = by_topic.order[place], owner + part.start
        fits = (own.publish_ns[row] <= latest[owner]) & (own.until_ns[row] >= earliest[owner])
        found.append((row[fits], owner[fits]))
    row, owner = (np.concatenate(column) for column in zip(*found, strict=True))
    least, most = earliest[owner], latest[owner]
    publish_ns = own.publish_ns[row]
    until_ns = np.minimum(own.until_ns[row], publish_ns + _usual(own, row, least, most))
    fits = until_ns >= least
    sure = (publish_ns - _MARGIN_NS <= least) & (until_ns + _MARGIN_NS >= most)
    return rows[owner[fits]], own.row[row[fits]], sure[fits]


def _answering(
    fitting: tuple[Ints, Ints, Flags], questions: _Questions, asked: Ints
) -> tuple[Ints, Ints, Flags]:
    """Leave out what fits at times at which most of the questions asked have no answer.

    They are in order of stamp. Without any the offset is known from publications with stamps.
    """
    if not len(asked):
        return fitting
    of_bin = bins(len(asked))
    answered = np.bincount(of_bin, np.isin(asked, fitting[0]))
    holds = 2 * answered >= np.bincount(of_bin)
    place = np.searchsorted(questions.stamp[asked], questions.stamp[fitting[0]])
    kept = holds[of_bin[place.clip(max=len(asked) - 1)]]
    question, row, sure = (part[kept] for part in fitting)
    return question, row, sure


def _usual(own: _Candidates, row: Ints, least: Ints, most: Ints) -> Ints:
    """How long after rmw_publish a stamp may be, for the publisher of each row, which all fit."""
    taken = np.maximum((least + most) // 2 - own.publish_ns[row], 0)
    after = pd.Series(taken).groupby(own.publisher[row]).median()
    usual = np.full(int(own.publisher.max(initial=0)) + 1, _USUAL_NS, np.int64)
    usual[after.index.to_numpy(np.int64)] += (_USUAL * after).to_numpy(np.int64)
    return usual[own.publisher[row]]


def _decided(questions: _Questions, question: Ints, row: Ints, sure: Flags) -> Inferred:
    size = len(questions.stamp)
    fits = np.bincount(question, minlength=size)
    one = fits[question] == 1
    claim, claimed, certain = question[one], row[one], sure[one]
    most = int(claimed.max(initial=-1)) + 1
    claims = np.bincount(claimed, minlength=most)
    certainly = np.bincount(claimed[certain], minlength=most)
    holds = (claims[claimed] == 1) | (certain & (certainly[claimed] == 1))
    answer = np.full(size, NONE, np.int64)
    answer[claim[holds]] = claimed[holds]
    undecided = fits > 1
    undecided[claim[~holds]] = True
    publication = pick(answer, questions.of_take)
    asked = questions.of_take != NONE
    ambiguous = np.zeros(len(asked), bool)
    ambiguous[asked] = undecided[questions.of_take[asked]]
    return Inferred(publication, ambiguous)
