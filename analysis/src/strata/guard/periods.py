# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The time between two publications of one publisher, also while the next one is missing.

A publication is overdue from the instant at which its bound has passed since the one before, and
counts in the window of that instant: whether it comes later or never, it is told once. That cannot
be said of the second one that is seen of a publisher: many publish once only. It counts when it
comes.

Where events were lost between two publications, there may have been others: nothing is said.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase

import numpy as np

from strata.comparison.runs import HOP, Subject
from strata.engine.windows import Windows, touched
from strata.guard.conditions import Measure
from strata.guard.durations import held
from strata.guard.load import NODE, When
from strata.guard.measured import Values, within
from strata.guard.occurrence import Fault, bound_text
from strata.live.judged import Seen
from strata.live.windows import Window
from strata.model.entities import UNKNOWN, take
from strata.model.naming import node_labels
from strata.schema.events import INTERNAL_TOPICS
from strata.schema.rows import NONE, Flags, Ints
from strata.stats.partition import partition
from strata.units import format_ns

MOST_PUBLISHERS = 10_000
"""Beyond, those that published last the longest ago are forgotten."""

_Key = tuple[str, int, int, str]
"""Host, vpid, handle and topic of a publisher."""


@dataclass(frozen=True)
class _Last:
    """When a publisher published last, and whether it did so before that."""

    at_ns: int
    several: bool
    topic: str
    node: str


@dataclass(frozen=True)
class Published:
    """When one publisher published, in order, the last time before the window included.

    Gaps between two are as many less one; `sure` tells of which of them all events are there, and
    of the time after the last one. `several`: it had published before the first of these. `gone`:
    the publisher does not exist any more.
    """

    topic: str
    node: str
    at_ns: Ints
    sure: Flags
    several: bool
    gone: bool

    @property
    def name(self) -> str:
        """What it is called."""
        return f"{self.topic} ({self.node})"


class Publishers:
    """Remembers when publishers published last, from one window to the next."""

    def __init__(self, most: int = MOST_PUBLISHERS) -> None:
        self._most = most
        self._last: dict[_Key, _Last] = {}
        self._until_ns = NONE
        self._unsure_ns = NONE

    def look(self, seen: Seen) -> list[Published]:
        """Return what was published, up to the end of the window's trace."""
        window, last = seen.window, dict(self._last)
        losses = _unseen(seen, self._until_ns)
        found = []
        for key, node, begin_ns, gone, at_ns in _publications(seen):
            before = last.get(key)
            if before is not None and before.at_ns < begin_ns:
                # Another publisher, at the address of one that is gone.
                before = None
            if before is not None:
                at_ns = np.append(before.at_ns, at_ns[at_ns > before.at_ns])
            several = before is not None and before.several
            sure = self._sure(at_ns, losses, window)
            found.append(Published(key[3], node, at_ns, sure, several, gone))
            until = int(np.searchsorted(at_ns, window.until_ns, side="right"))
            if until:
                again = several or until > 1
                self._last[key] = _Last(int(at_ns[until - 1]), again, key[3], node)
            last.pop(key, None)
        for one in last.values():
            # It is not in the window's trace any more.
            at_ns = np.array([one.at_ns], np.int64)
            sure = self._sure(at_ns, losses, window)
            found.append(Published(one.topic, one.node, at_ns, sure, one.several, gone=False))
        self._until_ns = window.until_ns
        unsure_ns = min(window.until_ns, int(losses[1].max(initial=NONE)))
        self._unsure_ns = max(self._unsure_ns, unsure_ns)
        self._forget()
        return found

    def _sure(self, at_ns: Ints, losses: Windows, window: Window) -> Flags:
        """Tell of the time after each publication whether all events of it are there."""
        ends_ns = np.append(at_ns[1:], max(window.until_ns, int(at_ns[-1])))
        return np.asarray(~touched(losses, at_ns, ends_ns) & (at_ns >= self._unsure_ns))

    def _forget(self) -> None:
        if len(self._last) > self._most:
            newest = sorted(self._last, key=lambda key: self._last[key].at_ns)[-self._most :]
            self._last = {key: self._last[key] for key in newest}


def uneven(
    when: When, measure: Measure, published: list[Published], window: Window
) -> Iterator[Fault]:
    """Yield where a condition on periods holds."""
    for one in published:
        if not _is_matched(when, one):
            continue
        if measure.statistic == "max" and measure.limit in (">", ">="):
            yield from _overdue(measure, one, window)
            continue
        at_ns = one.at_ns
        own = one.sure[:-1] & within(window, at_ns[1:])
        values = Values(Subject(HOP, one.topic, one.node), "", np.diff(at_ns), at_ns[1:]).take(own)
        took = "was {} after the one before"
        yield from held(measure, values, one.name, f"a publication on {one.name}", took)


def _overdue(measure: Measure, one: Published, window: Window) -> Iterator[Fault]:
    bound_ns = int(measure.bound)
    over_ns = bound_ns + (measure.limit == ">")
    gaps = np.diff(one.at_ns)
    at_ns = one.at_ns[:-1] + over_ns
    if not one.several:
        at_ns[:1] = one.at_ns[1:2]
    own = np.flatnonzero(one.sure[:-1] & (gaps >= over_ns) & within(window, at_ns))
    bound = bound_text(measure)
    if len(own):
        row = own[gaps[own].argmax()]
        took = format_ns(int(gaps[row]))
        text = f"a publication on {one.name} was {took} after the one before, {bound}"
        yield Fault(one.name, int(at_ns[row]), text, float(gaps[row]))
    last_ns = int(one.at_ns[-1])
    due_ns = last_ns + over_ns
    again = one.several or len(one.at_ns) > 1
    if again and not one.gone and one.sure[-1] and window.since_ns < due_ns <= window.until_ns:
        missing_ns = window.until_ns - last_ns
        text = f"nothing was published on {one.name} for {format_ns(missing_ns)} yet, {bound}"
        yield Fault(one.name, due_ns, text, float(missing_ns))


def _is_matched(when: When, one: Published) -> bool:
    name = one.node if when.kind == NODE else one.topic
    internal = one.topic in INTERNAL_TOPICS and when.pattern != one.topic
    return not internal and fnmatchcase(name, when.pattern)


def _publications(seen: Seen) -> Iterator[tuple[_Key, str, int, bool, Ints]]:
    """Yield each known publisher that published: key, node, begin, whether it is gone, times.

    The begin is `NONE` where it was there before the trace.
    """
    model = seen.model
    publications, publishers = model.publications, model.entities.publishers
    processes = model.processes
    nodes = take(node_labels(model.entities.nodes, processes), publishers.node, UNKNOWN)
    known = np.flatnonzero(publications.publisher != NONE)
    at_ns = publications.begin_ns[known]
    of_publisher = publications.publisher[known]
    rows = seen.made["publishers"]
    there = model.was_there(publishers, np.arange(len(rows)))
    begins_ns = np.where(there, NONE, rows["begin_ns"])
    for row, own in partition(of_publisher):
        key = (
            str(rows.words("host").at(row)),
            int(rows["vpid"][row]),
            int(rows["handle"][row]),
            str(rows.words("topic").at(row)),
        )
        gone = bool(rows.there("end_ns")[row])
        yield key, str(nodes[row]), int(begins_ns[row]), gone, np.sort(at_ns[own])


def _unseen(seen: Seen, since_ns: int) -> Windows:
    """Return when events were lost, as far as no window before has told."""
    window = seen.window
    begins, ends = seen.model.losses
    if window.unseen_ns:
        begins = np.append(begins, window.since_ns)
        ends = np.append(ends, window.since_ns + window.unseen_ns)
    own = ends > since_ns
    return np.maximum(begins[own], since_ns), ends[own]
