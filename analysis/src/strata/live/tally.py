# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What was seen of a recording since it is watched, and within the last seconds.

Its size is bounded by the number of chains and hops, not by time.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field

from strata.analysis import SystemVerdict
from strata.live.judged import Chain, ChainSeen, ExecutorSeen, Hop, Judged
from strata.live.quantile_sketch import QuantileSketch
from strata.schema.fates import WENT_SILENT

RECENT_NS = 10_000_000_000
"""What "the last seconds" are."""
MOST_NAMES = 2000
"""Chains, hops and topics that are kept apart; further ones are counted together."""
OTHERS = "(others)"
SILENT_FOR_NS = 60_000_000_000
"""For so long a reader that receives nothing any more has losses."""


@dataclass
class ChainTally:
    """Latency of a chain and the time in each of its layers, over some windows."""

    latency: QuantileSketch = field(default_factory=QuantileSketch)
    layers_ns: Counter[str] = field(default_factory=Counter)

    def add(self, seen: ChainSeen) -> None:
        """Count the messages of a window."""
        self.latency.add(seen.latency_ns)
        self.layers_ns.update(seen.layers_ns)

    def merge(self, other: ChainTally) -> None:
        """Count what another tally has counted."""
        self.latency.merge(other.latency)
        self.layers_ns.update(other.layers_ns)


@dataclass
class HopTally:
    """Messages of a hop that were received, and lost, by cause."""

    received: int = 0
    lost: Counter[str] = field(default_factory=Counter)

    def merge(self, other: HopTally) -> None:
        """Count what another tally has counted."""
        self.received += other.received
        self.lost.update(other.lost)


@dataclass
class Counts:
    """What was counted in some windows; `span_ns` is their length."""

    span_ns: int = 0
    published: Counter[str] = field(default_factory=Counter)
    taken: int = 0
    matched: int = 0
    chains: dict[Chain, ChainTally] = field(default_factory=dict)
    hops: dict[Hop, HopTally] = field(default_factory=dict)

    @classmethod
    def of(cls, judged: Judged) -> Counts:
        """Return what was counted in one window."""
        window, published = judged.window, Counter(judged.published)
        counts = cls(window.span_ns, published, judged.taken, judged.matched)
        for chain, seen in judged.chains.items():
            counts.chains[chain] = tally = ChainTally()
            tally.add(seen)
        for hop, of_hop in judged.hops.items():
            counts.hops[hop] = HopTally(of_hop.received, Counter(of_hop.lost))
        return counts

    @property
    def lost(self) -> int:
        """How many messages were lost."""
        return sum(sum(hop.lost.values()) for hop in self.hops.values())

    def merge(self, other: Counts) -> None:
        """Count what was counted in other windows."""
        self.span_ns += other.span_ns
        self.taken += other.taken
        self.matched += other.matched
        for topic, count in other.published.items():
            known = topic in self.published or len(self.published) < MOST_NAMES
            self.published[topic if known else OTHERS] += count
        for chain, of_chain in other.chains.items():
            known = chain in self.chains or len(self.chains) < MOST_NAMES
            place = chain if known else (OTHERS, OTHERS)
            self.chains.setdefault(place, ChainTally()).merge(of_chain)
        for hop, of_hop in other.hops.items():
            known = hop in self.hops or len(self.hops) < MOST_NAMES
            of = hop if known else (OTHERS, OTHERS, OTHERS)
            self.hops.setdefault(of, HopTally()).merge(of_hop)


class Tally:
    """Counts since the begin, and of the windows of the last `RECENT_NS`.

    `executors`, `system` and `events_per_s` are of the last window, with what it looks back at.
    `discarded` is how many events the recording lost until now, `unseen_ns` the time of which
    events were overwritten before they were read; `unread` counts windows that could not be read.
    """

    def __init__(self) -> None:
        self.total = Counts()
        self.windows = 0
        self.unread = 0
        self.until_ns: int | None = None
        self.discarded = 0
        self.unseen_ns = 0
        self.events_per_s = 0.0
        self.executors: tuple[ExecutorSeen, ...] = ()
        self.system = SystemVerdict()
        self._recent: deque[tuple[int, Counts]] = deque()
        self._heard_ns: dict[Hop, int] = {}

    def add(self, judged: Judged) -> None:
        """Count a window."""
        counts = Counts.of(judged)
        self._count_silent(judged, counts)
        self.total.merge(counts)
        window = judged.window
        self._recent.append((window.until_ns, counts))
        while self._recent[0][0] <= window.until_ns - RECENT_NS:
            self._recent.popleft()
        self.windows += 1
        self.until_ns = window.until_ns
        self.discarded = window.discarded
        self.unseen_ns += window.unseen_ns
        self.events_per_s = judged.events * 1e9 / judged.traced_ns if judged.traced_ns else 0.0
        self.executors, self.system = judged.executors, judged.system

    def recent(self) -> Counts:
        """Return what was counted in the last seconds."""
        counts = Counts()
        for _, one in self._recent:
            counts.merge(one)
        return counts

    def _count_silent(self, judged: Judged, counts: Counts) -> None:
        """Count as lost what was sent to readers that received a while ago, and nothing any more.

        In a window alone such a reader cannot be told from one that was not found yet. After
        `SILENT_FOR_NS` it is taken for gone, as when somebody looked at a topic for a moment.
        """
        until_ns = judged.window.until_ns
        self._heard_ns = {
            hop: heard_ns
            for hop, heard_ns in self._heard_ns.items()
            if until_ns - heard_ns <= SILENT_FOR_NS
        } | dict.fromkeys(judged.heard, until_ns)
        for hop in self._heard_ns:
            sent = judged.sent.get(hop[:2], 0)
            if sent and hop not in judged.heard and hop not in counts.hops:
                counts.hops[hop] = HopTally(lost=Counter({WENT_SILENT: sent}))
