# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""How a latency was cut into layers, and the finest cut that two sides have in common.

A *part* is a layer as one way of cutting knows it. Each covers some of the stretches between
checkpoints. Two parts of one way of cutting never share time; of two ways they may: `middleware` of
a trace without the middleware's events is what another trace tells apart as serialize, dds write
and so on. Such parts are put together on both sides, until no part of one side shares time with
another part of the other. What is put together has the sum of its parts, so that nothing is lost.

A part that less than one in a hundred messages of either side has (a message whose notification was
lost, a late joiner) puts nothing together: it stands for itself, with its count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from strata.schema.layer import JOINED, Layer
from strata.schema.layers import (
    BY_NAME,
    CALLBACK,
    DDS_LAYERS,
    EXECUTOR_WAIT,
    EXECUTOR_WAIT_TAKE,
    HISTORY,
    HOP_LAYERS,
    LINK_HOLD,
    MIDDLEWARE,
    STORED,
    WAKE_UP,
)

_RARE = 0.01
"""Share of a side's messages below which a part does not put others together."""

_WITHIN = frozenset(layer.name for layer in DDS_LAYERS)
"""What `middleware` stands for where the reader's notification was recorded."""
_TO_PICK = _WITHIN | {WAKE_UP.name, EXECUTOR_WAIT.name}
"""What stock events divide into `middleware` and `executor wait`."""
_STOCK_REST = (EXECUTOR_WAIT.name, EXECUTOR_WAIT_TAKE.name)
_STOCK = (MIDDLEWARE.name, *_STOCK_REST)

_ORDER = [layer.name for layer in (*HOP_LAYERS, STORED, LINK_HOLD)]


@dataclass(frozen=True, order=True)
class Part:
    """A layer as it was cut; `place` tells apart what a chain has at several nodes.

    `notified`: the time at which the reader was told is known. Without it the layers before the
    pick are told apart by what the executor did (docs/method.md).
    """

    layer: str
    notified: bool = True
    place: str = ""

    @property
    def covers(self) -> frozenset[str]:
        """The stretches that it may hold time of."""
        stretches: set[str] = set()
        for name in self.layer.split(JOINED):
            if name == MIDDLEWARE.name:
                stretches |= _WITHIN if self.notified else _TO_PICK
            elif name == EXECUTOR_WAIT.name and not self.notified:
                stretches |= _TO_PICK
            else:
                stretches.add(name)
                if name in BY_NAME:
                    stretches.update(layer.name for layer in BY_NAME[name].holds)
        return frozenset(stretches)

    def shares_time_with(self, other: Part) -> bool:
        """Tell whether an instant may be in this part by one way of cutting, in `other` by another.

        The executor's waiting and its rest, by stock events, are never the same instant.
        """
        if self.place != other.place:
            return False
        ways = {self, other}
        if {part.notified for part in ways} == {False} and len(ways) == 2:
            layers = {part.layer for part in ways}
            if MIDDLEWARE.name in layers and layers & set(_STOCK_REST):
                return False
        return bool(self.covers & other.covers)


def part_of(layer: Layer, *, notified: bool, place: str = "") -> Part:
    """Return the part of a layer in messages of which the notification is known, or is not."""
    return Part(layer.name, notified or layer.name not in _STOCK, place)


@dataclass(frozen=True)
class Cut:
    """One row of a comparison: the parts that it is made of, and what it is called."""

    layer: str
    place: str
    parts: frozenset[Part]


def common_cut(
    first: Mapping[Part, int], second: Mapping[Part, int], totals: tuple[int, int]
) -> list[Cut]:
    """Return the finest cut that two sides have in common, in the order of the layers.

    The sides give, for each part, how many of their `totals` messages have it.
    """
    every = sorted({*first, *second})
    frequent = [
        part
        for part in every
        if any(
            side.get(part, 0) >= max(_RARE * total, 1)
            for side, total in zip((first, second), totals, strict=True)
        )
    ]
    group = {part: frozenset({part}) for part in every}
    for one, other in combinations(frequent, 2):
        if one.shares_time_with(other):
            whole = group[one] | group[other]
            group |= dict.fromkeys(whole, whole)
    cuts = [
        Cut(_name(sorted(parts)), min(parts).place, parts)
        for parts in dict.fromkeys(group.values())
    ]
    return sorted(cuts, key=_place_in_order)


def _name(parts: Sequence[Part]) -> str:
    if len({part.layer for part in parts}) == 1:
        return parts[0].layer
    stretches = frozenset().union(*(part.covers for part in parts))
    if stretches >= _WITHIN:
        merged = {HISTORY.name, WAKE_UP.name} if stretches >= _TO_PICK else {HISTORY.name}
        stretches = stretches - _WITHIN - merged | {MIDDLEWARE.name}
    return JOINED.join(sorted(stretches, key=_rank))


def _rank(layer: str) -> int:
    return _ORDER.index(layer) if layer in _ORDER else _ORDER.index(CALLBACK.name)


def _place_in_order(cut: Cut) -> tuple[int, str, str]:
    return min(_rank(name) for name in cut.layer.split(JOINED)), cut.layer, cut.place
