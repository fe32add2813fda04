# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The hops of chosen chain instances, the ids of their traces, and where messages join.

An id follows from what the instance is: its hosts, its chain, and the times of its messages. So it
does not depend on what else was chosen, and different instances never share one in a backend.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from strata.export.chosen import Chosen
from strata.schema.rows import Ints

_TRACE_BYTES, _SPAN_BYTES = 16, 8


@dataclass(frozen=True)
class Hop:
    """One hop of an instance: its number, its message (a row of `messages`), and its layers.

    `layers` has the name and the ns of each, in the order of the chain.
    """

    number: int
    message: int
    layers: tuple[tuple[str, int], ...]

    @property
    def duration_ns(self) -> int:
        """The sum of its layers; negative between hosts whose clocks are not synchronised."""
        return sum(ns for _, ns in self.layers)


class Paths:
    """The hops of the chosen instances, by the row of an instance among the chosen."""

    def __init__(self, chosen: Chosen) -> None:
        self.instances = chosen.rows("chain_instances")
        self._segments = segments = chosen.rows("chain_segments")
        self._layer = segments.words("layer")
        of, hop = segments["chain_instance_id"], segments["hop"]
        first = np.ones(len(segments), bool)
        first[1:] = (of[1:] != of[:-1]) | (hop[1:] != hop[:-1])
        begins = np.flatnonzero(first)
        self._hop_bounds = np.r_[begins, len(segments)]
        self._messages = segments["message_id"][begins]
        own = np.searchsorted(of[begins], self.instances["chain_instance_id"])
        self._bounds = np.r_[own, len(begins)]
        self.trace_ids = list(self._trace_ids(chosen))
        self._joins = _Joins(chosen, self._messages, self._bounds)

    def hops(self, row: int) -> list[Hop]:
        """Return the hops of an instance, first hop first."""
        found = []
        for number, at in enumerate(range(int(self._bounds[row]), int(self._bounds[row + 1]))):
            own = slice(int(self._hop_bounds[at]), int(self._hop_bounds[at + 1]))
            layers = zip(
                [self._layer.words[code] for code in self._layer.codes[own].tolist()],
                self._segments["duration_ns"][own].tolist(),
                strict=True,
            )
            found.append(Hop(number, int(self._messages[at]), tuple(layers)))
        return found

    def joining(self, hops: list[Hop], number: int) -> Iterator[tuple[int, int, int]]:
        """Yield other messages that a hop's message was made from, where they were chosen.

        Of each: the message, the row of an instance that has it before this hop's message, and the
        number of its hop there.
        """
        before = hops[number - 1].message if number else None
        for parent, row, hop in self._joins.of(hops[number].message):
            if parent != before:
                yield parent, row, hop

    def _trace_ids(self, chosen: Chosen) -> Iterator[bytes]:
        analysis = chosen.analysis
        chains, messages = analysis.rows("chains"), analysis.rows("messages")
        name, nodes = chains.words("name"), chains.words("nodes")
        hosts = " ".join(sorted({text or "" for text in analysis.rows("processes").texts("host")}))
        times = np.stack([messages["publish_ns"], messages["begin_ns"] + messages["latency_ns"]], 1)
        of_hops = np.ascontiguousarray(times[self._messages], dtype="<i8")
        for row, chain in enumerate(self.instances["chain_id"].tolist()):
            what = f"{hosts}\n{name.at(chain)}\n{nodes.at(chain)}\n".encode()
            own = of_hops[self._bounds[row] : self._bounds[row + 1]]
            yield hashlib.blake2b(what + own.tobytes(), digest_size=_TRACE_BYTES).digest()


class _Joins:
    """By message that was made from several: those, and an instance over each of them."""

    def __init__(self, chosen: Chosen, messages: Ints, bounds: Ints) -> None:
        links = chosen.analysis.rows("links")
        children, counts = np.unique(links["child_id"], return_counts=True)
        several = np.isin(links["child_id"], children[counts > 1])
        child, parent = links["child_id"][several], links["parent_id"][several]
        base = len(chosen.analysis.rows("messages")) + 1
        # A step is two messages that follow each other in an instance.
        last = np.zeros(len(messages), bool)
        last[bounds[1:][bounds[1:] > bounds[:-1]] - 1] = True
        at = np.flatnonzero(~last)
        steps, first = np.unique(messages[at] * base + messages[at + 1], return_index=True)
        wanted = parent * base + child
        found = np.searchsorted(steps, wanted)
        there = found < len(steps)
        there[there] = steps[found[there]] == wanted[there]
        where = at[first[found[there]]]
        row = np.searchsorted(bounds, where, side="right") - 1
        order = np.argsort(child[there], kind="stable")
        self._child = child[there][order]
        self._rows = np.stack([parent[there], row, where - bounds[row]], 1)[order]

    def of(self, message: int) -> list[tuple[int, int, int]]:
        """Return the parents of a message: each with a row of instances and the hop there."""
        begin, end = np.searchsorted(self._child, [message, message + 1])
        return [(int(one), int(row), int(hop)) for one, row, hop in self._rows[begin:end]]


def span_id(trace_id: bytes, *place: int) -> bytes:
    """Return the id of a span of a trace: of the chain, of a hop, or of a layer of a hop."""
    key = trace_id + b"".join(b"/%d" % number for number in place)
    return hashlib.blake2b(key, digest_size=_SPAN_BYTES).digest()
