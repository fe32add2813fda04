# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Which hops and chains of several traces are shown, and in which order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from string import ascii_uppercase

from strata.schema.events import INTERNAL_TOPICS
from strata.stats.hop_distributions import TraceHops, Way


@dataclass(frozen=True)
class Selection:
    """Hops of topics and nodes that match any of the shell patterns; no pattern matches all.

    Internal topics are shown with `everything`, or when a pattern is their very name.
    """

    topics: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    everything: bool = False

    def hops(self, traces: Sequence[TraceHops]) -> list[Way]:
        """Return the hops that any trace has, in the order of the first that has them."""
        ways = dict.fromkeys(way for trace in traces for way in trace.hops)
        return [way for way in ways if self._matches(way, [way.name])]

    def chains(self, traces: Sequence[TraceHops]) -> list[Way]:
        """Return the chains that any trace has and that lead over a hop that is shown."""
        ways = dict.fromkeys(way for trace in traces for way in trace.chains)
        return [way for way in ways if self._matches(way, way.name.split(" -> "))]

    def hidden(self, traces: Sequence[TraceHops]) -> int:
        """Return how many hops of internal topics are left out only for being that."""
        more = Selection(self.topics, self.nodes, everything=True)
        return len(more.hops(traces)) - len(self.hops(traces))

    def _matches(self, way: Way, topics: list[str]) -> bool:
        named = not self.topics or any(
            fnmatchcase(topic, pattern) for topic in topics for pattern in self.topics
        )
        owned = not self.nodes or any(
            fnmatchcase(node, pattern) for node in way.nodes for pattern in self.nodes
        )
        shown = (
            self.everything
            or any(topic not in INTERNAL_TOPICS for topic in topics)
            or any(topic in self.topics for topic in topics)
        )
        return named and owned and shown


def letter(at: int) -> str:
    """Return what stands for a trace: A, B ... Z, A1, B1 ..."""
    turn, place = divmod(at, len(ascii_uppercase))
    return f"{ascii_uppercase[place]}{turn or ''}"
