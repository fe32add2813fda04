# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Chains: hops linked through callbacks.

A message that is published while the callback of another message runs, on the same thread, was
caused by it: the other is its *parent*, and the time from that callback's start to the publish is
the *hold*. A chain is the row of hops from a message without a parent to one without children.
Messages that went the same way, hop by hop, are instances of one chain.

A way that stops where others of its kind go on (the message was dropped, filtered, lost, or the
trace ended) is no chain of its own; it is counted as truncated. A message that comes to a hop for
the second time (a cycle) begins a new chain.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from strata.layers.transfers import Transfers
from strata.model.build import Model
from strata.model.columns import NONE, Ints
from strata.schema.quality import Ledger


@dataclass(frozen=True)
class Links:
    """For every message: the message whose callback published it, and the hold; or `NONE`."""

    parent: Ints
    hold_ns: Ints


@dataclass(frozen=True)
class Chain:
    """One way of hops; `messages` has one row an instance and one column a hop."""

    hops: tuple[int, ...]
    messages: Ints


def link_messages(model: Model, transfers: Transfers) -> Links:
    """Link every message to the one whose callback published it."""
    message_of = np.full(len(model.executions), NONE, np.int64)
    ran = transfers.execution != NONE
    message_of[transfers.execution[ran]] = np.flatnonzero(ran)
    source = model.publications.execution[transfers.publication]
    parent = np.full(len(transfers), NONE, np.int64)
    inside = source != NONE
    parent[inside] = message_of[source[inside]]
    linked = parent != NONE
    hold = np.full(len(transfers), NONE, np.int64)
    hold[linked] = transfers.publish_ns[linked] - transfers.callback_start_ns[parent[linked]]
    return Links(parent, hold)


def find_chains(hop: Ints, links: Links, reportable: set[int], ledger: Ledger) -> list[Chain]:
    """Return the chains, the longest and busiest first.

    `hop` numbers the hop of each message. A chain of one hop is returned only when its hop is in
    `reportable`.
    """
    ways, way = _ways(hop, links.parent)
    has_child = np.zeros(len(hop), bool)
    # A child that began a new chain (a cycle) does not carry its parent's on.
    carried = np.asarray([len(item) > 1 for item in ways], bool)
    continued = (links.parent != NONE) & carried[way] if len(way) else np.zeros(0, bool)
    has_child[links.parent[continued]] = True
    leaves = np.flatnonzero(~has_child)
    leaf_ways = np.unique(way[leaves])
    prefixes = {ways[w][:k] for w in leaf_ways for k in range(1, len(ways[w]))}
    chains = []
    for number in leaf_ways:
        ends = leaves[way[leaves] == number].astype(np.int64)
        hops = ways[number]
        if hops in prefixes:
            ledger.add("truncated_chains", len(ends))
        elif len(hops) > 1 or hops[0] in reportable:
            chains.append(Chain(hops, _ancestors(ends, links.parent, len(hops))))
    return sorted(chains, key=lambda chain: (-len(chain.hops), -len(chain.messages), chain.hops))


def _ways(hop: Ints, parent: Ints) -> tuple[list[tuple[int, ...]], Ints]:
    """The distinct ways, and which one each message went; level by level from the roots."""
    ways: list[tuple[int, ...]] = []
    known: dict[tuple[int, ...], int] = {}
    way = np.full(len(hop), NONE, np.int64)
    order = np.argsort(parent, kind="stable")
    sorted_parent = parent[order]
    level = np.flatnonzero(parent == NONE)
    while len(level):
        above = np.where(parent[level] == NONE, NONE, way[parent[level]])
        pairs, inverse = np.unique(np.stack([above, hop[level]]), axis=1, return_inverse=True)
        numbers = np.empty(pairs.shape[1], np.int64)
        for index, (before, step) in enumerate(pairs.T):
            prefix = ways[before] if before != NONE else ()
            path = (int(step),) if int(step) in prefix else (*prefix, int(step))
            if path not in known:
                known[path] = len(ways)
                ways.append(path)
            numbers[index] = known[path]
        way[level] = numbers[inverse.reshape(-1)]
        first = np.searchsorted(sorted_parent, level, side="left")
        count = np.searchsorted(sorted_parent, level, side="right") - first
        offset = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
        level = order[np.repeat(first, count) + offset]
    return ways, way


def _ancestors(ends: Ints, parent: Ints, length: int) -> Ints:
    """One row an end: the messages of its way, first hop first."""
    columns = [ends]
    for _ in range(length - 1):
        columns.append(parent[columns[-1]])
    return np.stack(columns[::-1], axis=1)
