# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The share of messages that hops lost, and readers that went silent.

In a window alone a reader that went silent cannot be told from one that the publisher has not found
yet, or whose process ended long ago: which hops received before is remembered from one window to
the next. What a reader that was not heard of lately does not take is no loss.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from strata.comparison.amounts import subject_text
from strata.comparison.gates.judge import is_matched
from strata.comparison.runs import HOP, Subject
from strata.guard.conditions import COMPARISONS, Measure
from strata.guard.load import When
from strata.guard.occurrence import Fault, bound_text
from strata.live.judged import Hop, Judged, Seen
from strata.live.tally import SILENT_FOR_NS
from strata.model.entities import UNKNOWN, take
from strata.model.naming import node_labels
from strata.schema.fates import FATES, LOST, NUMBER, RECEIVED, WENT_SILENT
from strata.units import format_count, format_share

MOST_HOPS = 10_000
"""Beyond, those that received last the longest ago are forgotten."""

_UNSEEN = [fate.cause for fate in FATES if fate.unseen]


@dataclass(frozen=True)
class HopLosses:
    """Messages of a hop that were received and lost, these by cause; when the first was published.

    `first_ns` is null where none was lost.
    """

    hop: Hop
    received: int
    lost: Counter[str]
    first_ns: int | None

    def of_a_silent_reader(self) -> HopLosses:
        """Return it with one cause for what the window alone has several for."""
        lost = Counter({WENT_SILENT: self.lost.total()})
        return replace(self, lost=+lost)

    def of_nobody(self) -> HopLosses:
        """Return it without what its reader did not live to take, or never began to."""
        lost = Counter({cause: n for cause, n in self.lost.items() if cause not in _UNSEEN})
        return replace(self, lost=lost, first_ns=self.first_ns if lost else None)


class Readers:
    """Remembers which hops received messages, from one window to the next."""

    def __init__(self, most: int = MOST_HOPS) -> None:
        self._most = most
        self._heard_ns: dict[Hop, int] = {}

    def look(self, seen: Seen, judged: Judged) -> list[HopLosses]:
        """Return what was received and lost in a window, on all hops that had messages."""
        until_ns = judged.window.until_ns
        silent = {
            hop
            for hop, heard_ns in self._heard_ns.items()
            if until_ns - heard_ns <= SILENT_FOR_NS and hop not in judged.heard
        }
        found = {one.hop: _by_hearing(one, judged, silent) for one in _lost(seen)}
        for hop in sorted(silent - found.keys()):
            sent = judged.sent.get(hop[:2], 0)
            if sent:
                found[hop] = HopLosses(hop, 0, Counter({WENT_SILENT: sent}), _first_sent(seen, hop))
        self._heard_ns |= dict.fromkeys(judged.heard, until_ns)
        if len(self._heard_ns) > self._most:
            newest = sorted(self._heard_ns, key=self._heard_ns.__getitem__)[-self._most :]
            self._heard_ns = {hop: self._heard_ns[hop] for hop in newest}
        return [*found.values()]


def lossy(when: When, measure: Measure, hops: list[HopLosses]) -> Iterator[Fault]:
    """Yield the hops that lost more than a share of their messages."""
    for one in hops:
        topic, publisher, subscription = one.hop
        subject = Subject(HOP, topic, f"{publisher} -> {subscription}")
        lost = one.lost.total()
        every = one.received + lost
        if one.first_ns is None or not is_matched(subject, HOP, when.pattern):
            continue
        share = lost / every
        if COMPARISONS[measure.limit or ">"](share, measure.bound):
            name = f"{HOP} {subject_text(subject)}"
            causes = ", ".join(one.lost)
            text = f"{name} lost {lost:,} of {format_count(every, 'message', 'messages')}"
            text = f"{text} ({format_share(share)}: {causes}), {bound_text(measure)}"
            yield Fault(name, one.first_ns, text, share)


def _by_hearing(one: HopLosses, judged: Judged, silent: set[Hop]) -> HopLosses:
    if one.hop in judged.heard:
        return one
    return one.of_a_silent_reader() if one.hop in silent else one.of_nobody()


def _lost(seen: Seen) -> Iterator[HopLosses]:
    """Yield the hops that had messages whose losses are counted in a window."""
    found = seen.deliveries
    since_ns, until_ns = seen.window.lost_ns
    own = (found.published_ns > since_ns) & (found.published_ns <= until_ns)
    hop, fate, published_ns = found.hop[own], found.fate[own], found.published_ns[own]
    counts = np.zeros((len(found.hops), len(FATES)), np.int64)
    np.add.at(counts, (hop, fate), 1)
    lost = np.array([one.outcome == LOST for one in FATES])
    far = np.iinfo(np.int64).max
    first_ns = np.full(len(found.hops), far)
    np.minimum.at(first_ns, hop[lost[fate]], published_ns[lost[fate]])
    for row in np.flatnonzero(counts.any(axis=1)).tolist():
        causes = Counter({FATES[at].cause: int(counts[row, at]) for at in np.flatnonzero(lost)})
        at_ns = int(first_ns[row])
        received = int(counts[row, NUMBER[RECEIVED]])
        yield HopLosses(found.hops[row], received, +causes, None if at_ns == far else at_ns)


def _first_sent(seen: Seen, hop: Hop) -> int:
    """Return when the first message was published, of those that a window counts, for a hop."""
    model = seen.model
    publications, publishers = model.publications, model.entities.publishers
    nodes = take(node_labels(model.entities.nodes, model.processes), publishers.node, UNKNOWN)
    names = zip(publishers.topic, nodes, strict=True)
    rows = np.array([row for row, name in enumerate(names) if name == hop[:2]], np.int64)
    since_ns, until_ns = seen.window.lost_ns
    begin_ns = publications.begin_ns
    own = (begin_ns > since_ns) & (begin_ns <= until_ns)
    return int(begin_ns[own & np.isin(publications.publisher, rows)].min())
