# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Rules of messages that stay within their process."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from strata.model.columns import NONE, Ints
from strata.model.event_uses.cases import EARLIER, LOST, Case, Rule
from strata.model.event_uses.evidence import Evidence
from strata.model.joins import Flags
from strata.model.search import Lifetimes, pick
from strata.model.timeline import EVENT_OF, Kind
from strata.model.windows import touched

_ENQUEUE, _DEQUEUE = EVENT_OF[Kind.ENQUEUE], EVENT_OF[Kind.DEQUEUE]
_MADE, _GIVEN = "ros2:rclcpp_construct_ring_buffer", "ros2:rclcpp_buffer_to_ipb"
_CLEAR = "ros2:rclcpp_ring_buffer_clear"


@dataclass(frozen=True)
class _Slots:
    """What came next into the slot of each enqueue, and before in that of each dequeue.

    Rows of the enqueues' table, then of the dequeues'; `NONE` where nothing did.
    """

    after_enqueue: Ints
    before_dequeue: Ints


def _slots(evidence: Evidence) -> _Slots:
    events, passages = evidence.events, evidence.model.passages
    names = (_ENQUEUE, _DEQUEUE)
    count = events.count(_ENQUEUE)
    row = np.arange(count + events.count(_DEQUEUE))
    ns = np.concatenate([events.timestamps(name) for name in names])
    slot = np.concatenate([events.ints(name, "index") for name in names])
    buffer = np.concatenate([passages.buffer, passages.source])
    order = np.lexsort((row >= count, ns, slot, buffer))
    same = (buffer[order][1:] == buffer[order][:-1]) & (slot[order][1:] == slot[order][:-1])
    before = np.full(len(row), NONE, np.int64)
    after = before.copy()
    after[order[:-1][same]] = order[1:][same]
    before[order[1:][same]] = order[:-1][same]
    return _Slots(after[:count], before[count:])


def _times(evidence: Evidence) -> Ints:
    return np.concatenate([evidence.events.timestamps(name) for name in (_ENQUEUE, _DEQUEUE)])


def _enqueues(evidence: Evidence) -> list[Case]:
    events, passages = evidence.events, evidence.model.passages
    ns, process = events.timestamps(_ENQUEUE), events.process(_ENQUEUE)
    after, count = _slots(evidence).after_enqueue, events.count(_ENQUEUE)
    after_ns = pick(_times(evidence), after)
    paired = np.zeros(count, bool)
    paired[passages.enqueue] = True
    known = passages.subscription != NONE
    stored = passages.stored & (known | evidence.older(process) | evidence.lost_before(ns))
    again = (after != NONE) & (after < count)
    told = again & (pick(events.ints(_ENQUEUE, "overwritten"), np.where(again, after, NONE)) == 1)
    cleared = _cleared(evidence, ns, after_ns)
    until = np.where(after != NONE, after_ns, np.iinfo(np.int64).max)
    return [
        Case(True, "a message was stored", stored & paired),
        Case(True, "a message was stored that another one overwrote", stored & told),
        Case(True, "a message was stored that was cleared away", stored & cleared),
        Case(
            True,
            "a message was stored that was left at the end",
            stored & (after == NONE) & _youngest(evidence, ns),
        ),
        Case(False, "a publisher's own buffer (transient local)", _publishers_own(evidence)),
        Case(
            False,
            LOST,
            touched(evidence.model.losses, ns, until)
            | (~passages.stored & evidence.lost_before(ns)),
        ),
    ]


def _youngest(evidence: Evidence, ns: Ints) -> Flags:
    """Which enqueues are younger than all that was taken out of their buffer."""
    passages = evidence.model.passages
    buffers, buffer = np.unique(passages.buffer, return_inverse=True)
    latest = np.full(len(buffers), NONE, np.int64)
    np.maximum.at(latest, buffer[passages.enqueue], ns[passages.enqueue])
    return np.asarray(ns > latest[buffer], bool)


def _cleared(evidence: Evidence, ns: Ints, after_ns: Ints) -> Flags:
    """Which enqueues' buffers were cleared before anything else came into their slot."""
    events = evidence.events
    cleared_ns = events.timestamps(_CLEAR)
    lives = Lifetimes(events.process(_CLEAR), events.ints(_CLEAR, "buffer"), cleared_ns)
    next_ = lives.first_after(events.process(_ENQUEUE), events.ints(_ENQUEUE, "buffer"), ns)
    when = pick(cleared_ns, next_)
    return np.asarray((next_ != NONE) & ((after_ns == NONE) | (when <= after_ns)), bool)


def _publishers_own(evidence: Evidence) -> Flags:
    """Which enqueues are into a buffer that was given on, but to no subscription."""
    events = evidence.events
    given = Lifetimes(
        events.process(_GIVEN), events.ints(_GIVEN, "buffer"), events.timestamps(_GIVEN)
    )
    found = given.find(
        events.process(_ENQUEUE), events.ints(_ENQUEUE, "buffer"), events.timestamps(_ENQUEUE)
    )
    return np.asarray(~evidence.model.passages.stored & (found != NONE), bool)


def _dequeues(evidence: Evidence) -> list[Case]:
    events, passages = evidence.events, evidence.model.passages
    ns, process = events.timestamps(_DEQUEUE), events.process(_DEQUEUE)
    before = _slots(evidence).before_dequeue
    paired = np.zeros(len(ns), bool)
    paired[passages.dequeue] = True
    older, lost = evidence.older(process), evidence.lost_before(ns)
    known = passages.taker != NONE
    since = np.where(before != NONE, pick(_times(evidence), before), 0)
    return [
        Case(True, "a take", paired & (known | older | lost)),
        Case(
            True,
            f"a take: {LOST}",
            touched(evidence.model.losses, since, ns) | (~known & lost),
        ),
        Case(True, f"a take: {EARLIER}", (before == NONE) & older),
    ]


def _clears(evidence: Evidence) -> list[Case]:
    events = evidence.events
    process, ns = events.process(_CLEAR), events.timestamps(_CLEAR)
    made = Lifetimes(events.process(_MADE), events.ints(_MADE, "buffer"), events.timestamps(_MADE))
    known = made.find(process, events.ints(_CLEAR, "buffer"), ns) != NONE
    return [
        Case(
            False,
            "what was cleared is never dequeued",
            known | evidence.older(process) | evidence.lost_before(ns),
        )
    ]


RING_BUFFER_RULES: dict[str, Rule] = {
    _ENQUEUE: _enqueues,
    _DEQUEUE: _dequeues,
    _CLEAR: _clears,
}
