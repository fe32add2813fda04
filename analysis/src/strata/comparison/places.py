# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Where the difference of a latency is: layer by layer and hop by hop, so that it adds up.

The median of a sum is not the sum of the medians, so that differences of the layers' medians do not
add up to that of the latency's. Means do. So the messages about the median of each side are taken
(those of strata.stats.groups: from the 40th to the 60th percentile), and the mean time that they
spent in each layer of each hop is compared: these differences add up to the difference of the mean
latencies of these messages. The same is done with the slowest 1 %.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from strata.comparison.parts import Part, common_cut
from strata.comparison.runs import GroupTimes, Stop, Subject, together
from strata.comparison.sides import Side
from strata.schema.layers import CALLBACK, HOLD, STORED

_ALL = 0.8
"""Share of a change from which one place is said to be where it is."""
_NAMED = 3
_AGAINST = 0.1
"""Share of a change, in the other direction, from which a layer is named."""
_IN_CALLBACK = (CALLBACK.name, HOLD.name, STORED.name)


@dataclass(frozen=True)
class PlacedTime:
    """A layer at one hop: the mean ns that the messages of a group spent there, in A and in B.

    What a side does not have it spent 0 ns in.
    """

    layer: str
    hop: int
    stop: Stop
    a_ns: float
    b_ns: float

    @property
    def difference_ns(self) -> float:
        """B less A."""
        return self.b_ns - self.a_ns


@dataclass(frozen=True)
class Split:
    """The mean latency of a group's messages in A and B, cut into layers of hops.

    The differences of `places`, in the order of hops and layers, add up to that of the means.
    `counts` are how many messages the group has on each side.
    """

    group: str
    a_ns: float
    b_ns: float
    counts: tuple[int, int]
    places: tuple[PlacedTime, ...]

    @property
    def difference_ns(self) -> float:
        """B less A."""
        return self.b_ns - self.a_ns


@dataclass(frozen=True)
class Cause:
    """A part of a change: a layer at one hop or, of the same layer, at several.

    `share` is of the change: more than 1 where something else goes the other way.
    """

    layer: str
    stops: tuple[Stop, ...]
    ns: float
    share: float


def split(a: Side, b: Side, subject: Subject, group: str) -> Split | None:
    """Cut the difference of a group's messages; null where a side does not have them cut."""
    own = [_of_side(side, subject, group) for side in (a, b)]
    if not all(one.count and one.parts for one in own):
        return None
    first, second = own
    of_a, of_b = ({part: count for part, (_, count) in one.parts.items()} for one in own)
    stops = next(one.stops for one in a.measured(subject) if one.stops)
    places = []
    for cut in common_cut(of_a, of_b, (first.count, second.count)):
        a_ns, b_ns = (_mean(one, cut.parts) for one in own)
        hop = int(cut.place)
        places.append(PlacedTime(cut.layer, hop, stops[hop], a_ns, b_ns))
    places.sort(key=lambda place: place.hop)
    return Split(
        group,
        first.sum_ns / first.count,
        second.sum_ns / second.count,
        (first.count, second.count),
        tuple(places),
    )


def causes_of(found: Split) -> tuple[Cause, ...]:
    """Name where most of a change is: one place, one layer over several hops, or the largest few.

    Empty where nothing changed.
    """
    whole = found.difference_ns
    if not whole:
        return ()
    singles = [_cause([place], whole) for place in found.places]
    merged = _by_layer(found)
    for candidates in (singles, merged):
        most = max(candidates, key=lambda cause: cause.share)
        if most.share >= _ALL:
            return (most,)
    named: list[Cause] = []
    for cause in sorted(merged, key=lambda cause: -cause.share)[:_NAMED]:
        # One place that has nearly all of its layer's is named by itself.
        alike = [one for one in singles if _named_alike(one.layer, cause.layer)]
        single = max(alike, key=lambda one: one.share)
        named.append(single if single.share >= _ALL * cause.share else cause)
        if sum(one.share for one in named) >= _ALL:
            break
    return tuple(cause for cause in named if cause.share > 0)


def against(found: Split) -> Cause | None:
    """Return the layer that changed the most in the other direction; null for none worth naming."""
    whole = found.difference_ns
    if not whole or not found.places:
        return None
    least = min(_by_layer(found), key=lambda cause: cause.share)
    return least if least.share <= -_AGAINST else None


def _named_alike(layer: str, other: str) -> bool:
    return layer == other or (is_in_callback(layer) and is_in_callback(other))


def is_in_callback(layer: str) -> bool:
    """Tell whether a layer's time is spent in the callback itself."""
    return layer in _IN_CALLBACK


def _of_side(side: Side, subject: Subject, group: str) -> GroupTimes:
    return together([one.groups[group] for one in side.measured(subject) if group in one.groups])


def _mean(group: GroupTimes, parts: frozenset[Part]) -> float:
    own: Mapping[Part, tuple[int, int]] = group.parts
    return sum(own[part][0] for part in parts if part in own) / group.count


def _by_layer(found: Split) -> list[Cause]:
    """Put each layer's hops together, and what is spent in callbacks."""
    layers: dict[str, list[PlacedTime]] = {}
    for place in found.places:
        name = CALLBACK.name if is_in_callback(place.layer) else place.layer
        layers.setdefault(name, []).append(place)
    return [_cause(own, found.difference_ns) for own in layers.values()]


def _cause(places: Sequence[PlacedTime], whole: float) -> Cause:
    ns = sum(place.difference_ns for place in places)
    layer = places[0].layer
    # A place that changed in the other direction, or hardly, is not where it is.
    least = 0.05 * abs(ns)
    stops = tuple(
        p.stop for p in places if p.difference_ns * ns > 0 and abs(p.difference_ns) > least
    )
    return Cause(layer, stops or (places[0].stop,), ns, ns / whole)
