# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Timelines of single messages in the page: of the slowest of each chain, and of a sample of all.

The document that the scripts read (assets/timeline_data.js) has texts and lanes once, and times in
ns after the first publish of each message.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np

from strata.show.html import theme
from strata.show.html.analysis.messages import SLOWEST, ChainMessages
from strata.timeline.spans import Arrow, Lane, LayerScheduling, Span, Timeline
from strata.timeline.timelines import Timelines

if TYPE_CHECKING:
    from strata.analysis import Analysis

_SAMPLED = 20
"""So many messages of a chain, evenly spaced by quantile of latency, have a timeline."""
_OF_CAUSE = 2
"""So many messages of each of a chain's largest causes."""
MOST_BYTES = 3_000_000
"""All timelines of a page together, as JSON; the slowest messages of each chain come first."""
_MOST_OTHER = 60
"""Spans of other work of one timeline, the longest; the page says how many are left out."""
_NONE = -1


@dataclass
class TimelineDocument:
    """Timelines while they are written; `left_out` counts those for which there was no space."""

    texts: dict[str, int] = field(default_factory=dict)
    lanes: dict[tuple[Any, ...], int] = field(default_factory=dict)
    of: dict[str, dict[str, Any]] = field(default_factory=dict)
    slugs: dict[str, str] = field(default_factory=dict)
    left_out: int = 0

    def add(self, key: str, timeline: Timeline) -> int:
        """Add a timeline; return about how many bytes it takes."""
        before = sum(map(len, self.texts))
        self.of[key] = item = {
            "latency": timeline.latency_ns,
            "window": [
                timeline.window_begin_ns - timeline.begin_ns,
                timeline.window_end_ns - timeline.begin_ns,
            ],
            "lanes": [self._lane(lane) for lane in timeline.lanes],
            "spans": [self._span(span, timeline.begin_ns) for span in timeline.spans],
            "arrows": [self._arrow(arrow, timeline.begin_ns) for arrow in timeline.arrows],
            "behind": [[self._text(one.label), one.duration_ns] for one in timeline.behind],
            "scheduling": [self._scheduling(one) for one in timeline.scheduling],
            "left_out": timeline.left_out,
            "left_out_ns": timeline.left_out_ns,
        }
        return len(_compact(item)) + sum(map(len, self.texts)) - before

    def document(self) -> dict[str, Any]:
        """Return what the scripts read."""
        return {
            "texts": list(self.texts),
            "lanes": [list(lane) for lane in self.lanes],
            "slugs": self.slugs,
            "of": self.of,
            "left_out": self.left_out,
        }

    def _text(self, text: str | None) -> int:
        return _NONE if text is None else self.texts.setdefault(text, len(self.texts))

    def _lane(self, lane: Lane) -> int:
        texts = [self._text(text) for text in (lane.kind, lane.role, lane.host, lane.process)]
        key = (*texts, lane.vpid, lane.vtid, self._text(lane.name))
        return self.lanes.setdefault(key, len(self.lanes))

    def _span(self, span: Span, begin_ns: int) -> list[int | None]:
        if span.layer is not None:
            self.slugs.setdefault(span.layer, theme.paint(span.layer).slug)
        flags = span.placed + 2 * span.unsynchronised + 4 * span.unfinished
        return [
            span.lane,
            span.begin_ns - begin_ns,
            span.duration_ns,
            self._text(span.kind),
            self._text(span.label),
            self._text(span.layer) if span.own else _NONE,
            span.hop,
            flags,
            *([span.waited_ns] if span.waited_ns else []),
        ]

    def _arrow(self, arrow: Arrow, begin_ns: int) -> list[int]:
        return [
            arrow.message_id,
            self._text(arrow.topic),
            arrow.from_lane,
            arrow.from_ns - begin_ns,
            arrow.to_lane,
            arrow.to_ns - begin_ns,
        ]

    def _scheduling(self, one: LayerScheduling) -> list[Any]:
        by = [[self._text(who.comm or "an unknown thread"), who.duration_ns] for who in one.by]
        times = one.running_ns, one.preempted_ns, one.blocked_ns, one.cpu_wait_ns
        return [one.hop, self._text(one.layer), *times, by]


def embedded_timelines(analysis: Analysis, chains: Sequence[ChainMessages]) -> TimelineDocument:
    """Return the timelines of chosen messages of each chain, `MOST_BYTES` at most in all.

    The key of one is "CHAIN:MESSAGE": a message may end several chains that begin apart.
    """
    found = TimelineDocument()
    if not chains:
        return found
    timelines = Timelines(analysis, most_other=_MOST_OTHER)
    space = MOST_BYTES
    for chain, row in _in_turn(chains):
        if space <= 0:
            found.left_out += 1
            continue
        instance = int(chain.instances["chain_instance_id"][row])
        message = int(chain.instances["message_id"][row])
        space -= found.add(f"{chain.chain_id}:{message}", timelines.of_instance(instance))
    return found


def _in_turn(chains: Sequence[ChainMessages]) -> Iterator[tuple[ChainMessages, int]]:
    """Yield a message of each chain, then the next of each, the slowest first."""
    for rows in zip_longest(*map(_chosen, chains)):
        for chain, row in zip(chains, rows, strict=True):
            if row is not None:
                yield chain, row


def _chosen(chain: ChainMessages) -> list[int]:
    """Return rows of a chain's messages: the slowest, those at quantiles, some of each cause."""
    latency = chain.instances["latency_ns"]
    order = np.argsort(latency, kind="stable")
    quantiles = np.linspace(0, len(order) - 1, min(_SAMPLED, len(order))).round().astype(np.int64)
    causes = np.array(chain.document["cause"], np.int64)
    of_causes = [order[causes[order] == cause][::-1][:_OF_CAUSE] for cause in np.unique(causes)]
    parts = [order[::-1][:SLOWEST], order[quantiles], *of_causes]
    return list(dict.fromkeys(int(row) for part in parts for row in part))


def _compact(item: Any) -> str:
    return json.dumps(item, separators=(",", ":"))
