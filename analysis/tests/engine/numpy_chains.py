# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Ways of messages by NumPy, as strata.layers.chains has them: the oracle of the engine's."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from strata.layers.chains import Chain, Ways
from strata.layers.links import Links
from strata.model.columns import NONE, Ints
from strata.model.search import runs, spread
from strata.schema.quality import Finding, Findings

Flags = npt.NDArray[np.bool_]

_ROWS_A_MESSAGE = 32
"""Ways through one message on the average, beyond which no more are followed."""
_BITS = 62
"""Hops of cycles that are looked at at once, one bit each."""


def find_ways(
    hop: Ints,
    links: Links,
    *,
    headless: Flags | None = None,
    allowed: Flags | None = None,
) -> tuple[Ways, Findings]:
    """Follow every message from those without a cause, level by level.

    `hop` numbers the hop of each message, `NONE` for messages that take no part. `headless` marks
    messages whose cause is missing, `allowed` the links that are followed: all without it.
    """
    followed = _followed(hop, links, allowed)
    parent = links.parent[followed]
    root = hop != NONE
    root[links.child[followed]] = False
    message = np.flatnonzero(root).astype(np.int64)
    none = np.full(len(message), NONE, np.int64)
    cut = np.zeros(len(message), bool) if headless is None else headless[message]
    tree = _Tree()
    way = tree.extend(none, hop[message])
    levels = [(message, none, none, way, cut)]
    begin, limit = 0, _ROWS_A_MESSAGE * len(hop)
    capped, unfollowed = np.empty(0, np.int64), 0
    while len(message):
        first, count = runs(parent, message)
        if begin + len(message) + int(count.sum()) > limit:
            unfollowed = int(count.sum())
            capped = begin + np.flatnonzero(count)
            break
        place, owner = spread(first, count)
        link, previous = followed[place], begin + owner
        begin += len(message)
        way = tree.extend(way[owner], hop[links.child[link]])
        message, cut = links.child[link], cut[owner]
        levels.append((message, previous, link, way, cut))
    every, previous, link, way = (
        np.concatenate(parts).astype(np.int64)
        for parts in zip(*(level[:-1] for level in levels), strict=True)
    )
    ended = np.ones(len(every), bool)
    ended[previous[previous != NONE]] = False
    beyond = np.zeros(len(every), bool)
    beyond[capped] = True
    in_the_middle = np.concatenate([level[-1] for level in levels])
    ways = Ways(every, previous, link, way, tree.hops, ended, beyond, in_the_middle)
    return ways, Findings(Finding("unfollowed_links", unfollowed))


def _followed(hop: Ints, links: Links, allowed: Flags | None) -> Ints:
    """Return the links that are followed, by parent."""
    taking_part = (hop[links.child] != NONE) & (hop[links.parent] != NONE)
    followed = np.flatnonzero(taking_part if allowed is None else taking_part & allowed)
    followed = followed[~_closing(hop, links, followed)]
    return followed[np.argsort(links.parent[followed], kind="stable")].astype(np.int64)


class _Tree:
    """The distinct ways: each is a way before it and one more hop."""

    def __init__(self) -> None:
        self.hops: list[tuple[int, ...]] = []
        self._known: dict[tuple[int, ...], int] = {}

    def extend(self, before: Ints, hop: Ints) -> Ints:
        """Return the number of each way that goes on to a hop; `before` is `NONE` at the begin."""
        width = int(hop.max(initial=0)) + 1
        keys, inverse = np.unique((before + 1) * width + hop, return_inverse=True)
        numbers = np.empty(len(keys), np.int64)
        for index, key in enumerate(keys.tolist()):
            prefix = self.hops[key // width - 1] if key >= width else ()
            way = (*prefix, key % width)
            numbers[index] = self._known.setdefault(way, len(self.hops))
            if numbers[index] == len(self.hops):
                self.hops.append(way)
        return numbers[inverse]


def _closing(hop: Ints, links: Links, followed: Ints) -> Flags:
    """Which of the followed links close a cycle of hops that messages really go round."""
    child, parent = hop[links.child[followed]], hop[links.parent[followed]]
    width = int(hop.max(initial=0)) + 1
    keys = np.unique(parent * width + child)
    edges = [(int(key) // width, int(key) % width) for key in keys]
    back = _back_edges(edges)
    if not back or not _comes_back(hop, links, followed, _on_cycles(edges)):
        return np.zeros(len(followed), bool)
    return np.isin(parent * width + child, [begin * width + end for begin, end in back])


def _back_edges(edges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Edges to a hop that is on the way already, depth first from hops that nothing leads to."""
    after: dict[int, list[int]] = {}
    for begin, end in edges:
        after.setdefault(begin, []).append(end)
    reached = {end for begin, end in edges if begin != end}
    back: list[tuple[int, int]] = []
    done: set[int] = set()
    for start in sorted(after, key=lambda hop: (hop in reached, hop)):
        path, stack = {start: None}, [(start, iter(after[start]))]
        if start in done:
            continue
        while stack:
            at, rest = stack[-1]
            step = next(rest, None)
            if step is None:
                done.add(at)
                path.pop(at)
                stack.pop()
            elif step in path:
                back.append((at, step))
            elif step not in done:
                path[step] = None
                stack.append((step, iter(after.get(step, []))))
    return back


def _on_cycles(edges: list[tuple[int, int]]) -> list[int]:
    """Hops of all cycles, and those between two: what has no edge in or out is left out."""
    count = 0
    while len(edges) != count:
        count = len(edges)
        begins, ends = {begin for begin, _ in edges}, {end for _, end in edges}
        edges = [(begin, end) for begin, end in edges if begin in ends and end in begins]
    return sorted({hop for edge in edges for hop in edge})


def _comes_back(hop: Ints, links: Links, followed: Ints, cyclic: list[int]) -> bool:
    """Tell whether any message comes back to one of the `cyclic` hops, by whichever cause."""
    number = np.full(int(hop.max(initial=0)) + 2, NONE, np.int64)
    number[cyclic] = np.arange(len(cyclic))
    of_message = number[hop]
    inside = (of_message[links.child[followed]] != NONE) & (
        of_message[links.parent[followed]] != NONE
    )
    child, parent = links.child[followed[inside]], links.parent[followed[inside]]
    for first in range(0, len(cyclic), _BITS):
        of_bits = (of_message >= first) & (of_message < first + _BITS)
        own = np.where(of_bits, 1 << ((of_message - first) % _BITS), 0)
        if _meets_itself(own, child, parent, len(cyclic)):
            return True
    return False


def _meets_itself(own: Ints, child: Ints, parent: Ints, steps: int) -> bool:
    """Tell whether a message has the bit of one that it was made from, over up to `steps` links.

    `own` has one bit a message; the links are by child.
    """
    first = np.flatnonzero(np.append(True, child[1:] != child[:-1]))
    before = np.zeros(len(own), np.int64)
    for _ in range(steps):
        bits = np.bitwise_or.reduceat((own | before)[parent], first)
        if (bits & own[child[first]]).any():
            return True
        if (bits == before[child[first]]).all():
            break
        before[child[first]] = bits
    return False


def collect(ways: Ways, rows: Ints, hops: tuple[int, ...], *, once: bool = False) -> Chain:
    """Collect the instances that end at rows; `once` drops those that are there twice."""
    ends, messages, links = rows, [ways.message[rows]], [ways.link[rows]]
    for _ in range(len(hops) - 1):
        rows = ways.previous[rows]
        messages.append(ways.message[rows])
        links.append(ways.link[rows])
    found, between = np.stack(messages[::-1], axis=1), np.stack(links[::-1], axis=1)[:, 1:]
    if once:
        kept = ~pd.DataFrame(found).duplicated().to_numpy()
        found, between = found[kept], between[kept]
    order = np.argsort(found[:, -1], kind="stable")
    cut_short = 0 if once else int(ways.capped[ends].sum())
    return Chain(hops, found[order], between[order], cut_short)
