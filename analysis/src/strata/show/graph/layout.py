# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A layered layout: boxes in columns from left to right, links along the flow of messages.

The steps are those of Sugiyama, Tagawa and Toda, "Methods for visual understanding of hierarchical
system structures" (1981): break cycles, assign columns, order each column so that few links cross,
place the boxes. Links that span several columns bend at a point in each of them. Within a column
the places are the least-squares fit to the neighbours' places that keeps order and distance, which
is an isotonic regression. The result depends on the input alone, also on its order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from scipy.optimize import isotonic_regression

_SWEEPS = 12
_ROW_GAP = 12.0
_BEND_HEIGHT = 6.0
"""Height kept free for a link that passes through a column."""


@dataclass(frozen=True)
class Box:
    """A rectangle to place; `width` and `height` in pixels."""

    key: str
    width: float
    height: float


@dataclass(frozen=True)
class Link:
    """A link from one box to another, by key; `label` is the width in pixels of its text."""

    source: str
    target: str
    label: float = 0.0


@dataclass(frozen=True)
class Layout:
    """Places in pixels: the left upper corner of each box, and the points of each link in order.

    A link from a box to itself has no points. A link against the flow goes from right to left.
    """

    width: float
    height: float
    places: dict[str, tuple[float, float]]
    routes: list[list[tuple[float, float]]]


@dataclass
class _Item:
    """A box, or the bend of a long link, in a column."""

    height: float
    width: float
    before: list[int] = field(default_factory=list)
    after: list[int] = field(default_factory=list)


class _Columns:
    """Items by column, in order from top to bottom."""

    def __init__(self, boxes: Sequence[Box], links: Sequence[Link]) -> None:
        self.items = [_Item(box.height, box.width) for box in boxes]
        number = {box.key: at for at, box in enumerate(boxes)}
        pairs = [(number[link.source], number[link.target]) for link in links]
        self.turned = _against_the_flow(len(boxes), pairs)
        flow = [(b, a) if t else (a, b) for (a, b), t in zip(pairs, self.turned, strict=True)]
        self.column = _assign(len(boxes), flow)
        self.chains = [self._chain(a, b) for a, b in flow]
        count = max(self.column, default=-1) + 1
        self.order: list[list[int]] = [[] for _ in range(count)]
        for item in self._by_neighbours():
            self.order[self.column[item]].append(item)

    def _chain(self, source: int, target: int) -> list[int]:
        """Insert a bend into each column between two boxes; return the items of the link."""
        if source == target:
            return []
        chain = [source]
        for column in range(self.column[source] + 1, self.column[target]):
            self.items.append(_Item(_BEND_HEIGHT, 0.0))
            self.column.append(column)
            chain.append(len(self.items) - 1)
        chain.append(target)
        for a, b in pairwise(chain):
            self.items[a].after.append(b)
            self.items[b].before.append(a)
        return chain

    def _by_neighbours(self) -> list[int]:
        """Return the items so that what is linked lies together: depth first."""
        seen: dict[int, None] = {}
        first = sorted(range(len(self.items)), key=lambda item: (self.column[item], item))
        for root in first:
            stack = [root]
            while stack:
                item = stack.pop()
                if item not in seen:
                    seen[item] = None
                    stack += reversed(self.items[item].after)
        return list(seen)


def lay_out(boxes: Sequence[Box], links: Sequence[Link], *, gap: float = 44.0) -> Layout:
    """Place boxes with `gap` pixels between columns at least; more where labels need it.

    Every link's ends must be keys of `boxes`, which must be unique.
    """
    if not boxes:
        return Layout(0.0, 0.0, {}, [[] for _ in links])
    columns = _Columns(boxes, links)
    _reduce_crossings(columns)
    middle = _middles(columns)
    left, width = _lefts(columns, links, gap)
    top = min(middle[at] - item.height / 2 for at, item in enumerate(columns.items))
    middle = [value - top for value in middle]
    height = max(middle[at] + item.height / 2 for at, item in enumerate(columns.items))
    places = {
        box.key: (left[columns.column[at]], middle[at] - box.height / 2)
        for at, box in enumerate(boxes)
    }
    widths = [max((columns.items[i].width for i in own), default=0.0) for own in columns.order]
    routes = [
        _route(columns, chain, middle, left, widths, turned=turned)
        for chain, turned in zip(columns.chains, columns.turned, strict=True)
    ]
    return Layout(width, height, places, routes)


def _against_the_flow(count: int, pairs: Sequence[tuple[int, int]]) -> list[bool]:
    """Tell which links close a cycle: those to a box that a depth-first search has not left yet."""
    after: list[list[int]] = [[] for _ in range(count)]
    into = [0] * count
    for a, b in pairs:
        if a != b:
            after[a].append(b)
            into[b] += 1
    open_, left_ = set[int](), set[int]()
    closing = set[tuple[int, int]]()
    roots = sorted(range(count), key=lambda box: (into[box] > 0, box))
    for root in roots:
        stack: list[tuple[int, int]] = [(root, 0)] if root not in left_ else []
        while stack:
            box, at = stack.pop()
            open_.add(box)
            if at < len(after[box]):
                stack.append((box, at + 1))
                follow = after[box][at]
                if follow in open_:
                    closing.add((box, follow))
                elif follow not in left_:
                    stack.append((follow, 0))
            else:
                open_.discard(box)
                left_.add(box)
    return [pair in closing for pair in pairs]


def _assign(count: int, flow: Iterable[tuple[int, int]]) -> list[int]:
    """Return the column of each box: one after the last of those before it.

    A box with nothing before it stands directly before the first that follows it.
    """
    before: list[set[int]] = [set() for _ in range(count)]
    after: list[set[int]] = [set() for _ in range(count)]
    for a, b in flow:
        if a != b:
            before[b].add(a)
            after[a].add(b)
    column = [0] * count
    waiting = [len(own) for own in before]
    ready = [box for box in range(count) if not waiting[box]]
    for box in ready:
        for follow in sorted(after[box]):
            column[follow] = max(column[follow], column[box] + 1)
            waiting[follow] -= 1
            if not waiting[follow]:
                ready.append(follow)
    for box in range(count):
        if not before[box] and after[box]:
            column[box] = min(column[follow] for follow in after[box]) - 1
    return column


def _reduce_crossings(columns: _Columns) -> None:
    """Order each column by the mean place of its neighbours, to and fro; keep the best order."""
    best, fewest = [list(own) for own in columns.order], _crossings(columns)
    for sweep in range(_SWEEPS):
        forward = sweep % 2 == 0
        for at in range(len(columns.order)) if forward else reversed(range(len(columns.order))):
            own = columns.order[at]
            place = _places(columns.order)
            score = {
                item: _mean(
                    [
                        place[other]
                        for other in (
                            columns.items[item].before if forward else columns.items[item].after
                        )
                    ],
                    place[item],
                )
                for item in own
            }
            columns.order[at] = sorted(own, key=score.__getitem__)
        crossings = _crossings(columns)
        if crossings < fewest:
            best, fewest = [list(own) for own in columns.order], crossings
    columns.order = best


def _places(order: Sequence[Sequence[int]]) -> dict[int, float]:
    """Return the place of each item in its column, from 0 to 1."""
    return {item: (at + 0.5) / len(own) for own in order for at, item in enumerate(own)}


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _crossings(columns: _Columns) -> int:
    """Count the pairs of links that cross between two neighbouring columns."""
    total = 0
    place = {item: at for own in columns.order for at, item in enumerate(own)}
    for own in columns.order:
        ends = np.array(
            [(place[a], place[b]) for a in own for b in columns.items[a].after], dtype=np.int64
        ).reshape(-1, 2)
        first, second = ends[:, 0], ends[:, 1]
        crossed = (first[:, None] < first) & (second[:, None] > second)
        total += int(crossed.sum())
    return total


def _middles(columns: _Columns) -> list[float]:
    """Return the middle of each item, near those of its neighbours."""
    middle = [0.0] * len(columns.items)
    for own in columns.order:
        for item, value in zip(own, np.cumsum(_steps(columns, own)), strict=True):
            middle[item] = float(value)
    for sweep in range(2 * _SWEEPS):
        forward = sweep % 2 == 0
        for own in columns.order if forward else reversed(columns.order):
            if not own:
                continue
            wanted = [_wanted(columns.items[item], middle, item) for item in own]
            steps = np.cumsum(_steps(columns, own))
            fitted = isotonic_regression(np.array(wanted) - steps).x + steps
            for item, value in zip(own, fitted, strict=True):
                middle[item] = float(value)
    return middle


def _wanted(item: _Item, middle: Sequence[float], own: int) -> float:
    return _mean([middle[other] for other in (*item.before, *item.after)], middle[own])


def _steps(columns: _Columns, own: Sequence[int]) -> list[float]:
    """Return the least distance of each item's middle from the one above; 0 of the first."""
    heights = [columns.items[item].height for item in own]
    between = [(a + b) / 2 + _ROW_GAP for a, b in pairwise(heights)]
    return [0.0, *between] if own else []


def _lefts(columns: _Columns, links: Sequence[Link], gap: float) -> tuple[list[float], float]:
    """Return where each column begins, and the width of all."""
    label = [0.0] * len(columns.order)
    for link, chain in zip(links, columns.chains, strict=True):
        if len(chain) > 1:
            at = columns.column[chain[-2]]
            label[at] = max(label[at], link.label)
    left, lefts = 0.0, []
    for own, text in zip(columns.order, label, strict=True):
        lefts.append(left)
        left += max((columns.items[item].width for item in own), default=0.0)
        left += max(gap, text + 28)
    last = max((columns.items[item].width for item in columns.order[-1]), default=0.0)
    return lefts, lefts[-1] + last


def _route(
    columns: _Columns,
    chain: Sequence[int],
    middle: Sequence[float],
    left: Sequence[float],
    widths: Sequence[float],
    *,
    turned: bool,
) -> list[tuple[float, float]]:
    points: list[tuple[float, float]] = []
    for at, item in enumerate(chain):
        column = columns.column[item]
        begin, y = left[column], middle[item]
        if at == 0:
            points.append((begin + columns.items[item].width, y))
        elif at == len(chain) - 1:
            points.append((begin, y))
        else:
            points += [(begin, y), (begin + widths[column], y)]
    return points[::-1] if turned else points
