# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Which hops and chains of several traces are shown, and in which order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from string import ascii_uppercase

from strata.errors import SelectionError
from strata.nearest import did_you_mean, nearest_first
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


def require_hops(selection: Selection, traces: Sequence[TraceHops]) -> None:
    """Raise SelectionError where patterns match no hop, naming the topics or nodes that there are.

    Without patterns, and where there is no hop at all, nothing is wrong with them.
    """
    ways = Selection(everything=selection.everything).hops(traces)
    if not (selection.topics or selection.nodes) or not ways or selection.hops(traces):
        return
    topics = list(dict.fromkeys(way.name for way in ways))
    nodes = list(dict.fromkeys(node for way in ways for node in way.nodes))
    for patterns, option, what, known in (
        (selection.topics, "--topic", "topic", topics),
        (selection.nodes, "--node", "node", nodes),
    ):
        if patterns and not any(fnmatchcase(name, one) for name in known for one in patterns):
            pattern = patterns[0]
            raise SelectionError(
                f"Cannot show hops: {option} {pattern} matches none of the {len(known)} {what}s "
                f"with hops.{did_you_mean(pattern, known)} There are: "
                f"{nearest_first(pattern, known)}."
            )
    raise SelectionError(
        f"Cannot show hops: none of the {len(ways)} hops matches both --topic "
        f"{', '.join(selection.topics)} and --node {', '.join(selection.nodes)}. Leave one out."
    )
