# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What of a chain's latency stands out, and by which rule; on a healthy system nothing does.

Something is always the largest part, so that alone says nothing. A cause stands out

* in the *typical* messages, when it takes longer there than a healthy hop needs for its layer
  (`allowance`) and is a share of the latency that is worth naming (MIN_SHARE); or when its
  layer, over all hops, takes longer than as many healthy hops and more than half of the latency;
* between *modes*, when what makes a mode slower than the one before is mostly this cause, by more
  than the allowance;
* in the *outliers* (strata.stats.groups), when it is the largest part of most of them and they are
  MIN_OUTLIERS at least: a few slow messages among hundreds are the machine's.

The allowances were read off relay chains that nobody disturbed, over Fast DDS and Cyclone DDS, in
C++ and in rclpy (whose hops are the slowest), on machines with other load: about three times the
median of the slowest.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from strata.schema.layer import JOINED
from strata.schema.layers import BY_NAME, MIDDLEWARE
from strata.stats.places import base_place

Row = Mapping[Any, Any]

WORKING_NS = 350_000
"""What a healthy hop needs of a layer in which a thread runs: publishing, writing, taking, callback
and hold. A callback of Python that makes a message and publishes it needs 250 to 300 us on a CPU
that slept before (5 Hz)."""
WAITING_NS = 500_000
"""And of one that ends when another thread has woken up, or an executor has come round."""
MERGED_NS = 850_000
"""And of several layers that were not told apart, together."""
MIN_SHARE = 0.15
"""Of the latency: a smaller share of the typical messages is not named as what stands out."""
MOST = 0.5
"""Of the latency, or of what parts two modes."""
MIN_OUTLIERS = 5
OUTLIERS_OF_ONE_CAUSE = 2 / 3
"""Of the outliers: so many have the cause as their largest."""

TYPICAL, SPREAD, MODES, OUTLIERS = "typical", "all hops", "modes", "outliers"
BACKLOG, LOSS = "backlog", "loss"

_WAITING = {layer.name for layer in BY_NAME.values() if layer.waits}


@cache
def allowance(layer: str) -> int:
    """Return what a healthy hop may need for a layer, in ns."""
    if MIDDLEWARE.name in layer:
        return MERGED_NS
    parts = [WAITING_NS if part in _WAITING else WORKING_NS for part in layer.split(JOINED)]
    return min(sum(parts), MERGED_NS)


@dataclass(frozen=True)
class Standing:
    """What stands out of the causes of one chain; null is nothing.

    `typical` is a row of `blame`; `spread` tells that it stands out only with its layer at the
    other hops. `outlying` is the row that most outliers have as their largest.
    """

    typical: Row | None
    spread: bool
    outlying: Row | None
    modes: bool

    @property
    def reasons(self) -> tuple[str, ...]:
        """The rules by which something stands out, in words."""
        found = (
            (TYPICAL, self.typical is not None and not self.spread),
            (SPREAD, self.typical is not None and self.spread),
            (MODES, self.modes),
            (OUTLIERS, self.outlying is not None),
        )
        return tuple(name for name, there in found if there)


def what_stands_out(
    causes: Sequence[Row], modes: Sequence[Row], hop_count: int, outliers: int
) -> Standing:
    """Judge one chain: its rows of `blame` and `modes`, and how many outliers it has."""
    # Between hosts without a common clock nobody knows how long it took.
    known = [row for row in causes if not row["unsynchronised"]]
    of_places = _summed(known, _place)
    single = _largest([row for row in known if _is_long(row, of_places[_place(row)])])
    spread = None
    if single is None:
        of_layers = _summed(known, _layer)
        spread = _largest([row for row in known if _fills(row, of_layers[_layer(row)], hop_count)])
    return Standing(
        single or spread,
        single is None and spread is not None,
        _of_outliers(causes, outliers),
        any(_parts(mode, hop_count) for mode in modes),
    )


def _largest(rows: Sequence[Row]) -> Row | None:
    return max(rows, key=lambda row: float(row["share_p50"]), default=None)


def _layer(row: Row) -> Hashable:
    return str(row["layer"])


def _place(row: Row) -> Hashable:
    """Where it is, with all that its layer is split into there: running, preempted, blocked."""
    return row["layer"], base_place(row["where"])


@dataclass
class _Sum:
    """Of several causes of the typical messages."""

    ns: float = 0.0
    share: float = 0.0


def _summed(causes: Sequence[Row], key: Callable[[Row], Hashable]) -> dict[Hashable, _Sum]:
    found: dict[Hashable, _Sum] = {}
    for row in causes:
        own = found.setdefault(key(row), _Sum())
        own.ns += row["typical_ns"]
        own.share += row["share_p50"]
    return found


def _is_long(row: Row, there: _Sum) -> bool:
    return bool(there.ns > allowance(row["layer"]) and there.share >= MIN_SHARE)


def _fills(row: Row, of_layer: _Sum, hop_count: int) -> bool:
    long = of_layer.ns > hop_count * allowance(row["layer"])
    return bool(long and of_layer.share >= MOST)


def _of_outliers(causes: Sequence[Row], outliers: int) -> Row | None:
    if outliers < MIN_OUTLIERS:
        return None
    most = max(causes, key=lambda row: int(row["outliers"]))
    whole = most["outliers"] >= OUTLIERS_OF_ONE_CAUSE * outliers
    return most if whole and not most["unsynchronised"] else None


def _parts(mode: Row, hop_count: int) -> bool:
    """Return whether a mode's cause, at one place or over all hops, makes it worth naming."""
    if not isinstance(mode["layer"], str):
        return False
    allowed = allowance(mode["layer"])
    single = mode["cause_share"] >= MOST and mode["slower_ns"] * mode["cause_share"] > allowed
    whole = mode["slower_ns"] * mode["layer_share"]
    return bool(single or (mode["layer_share"] >= MOST and whole > hop_count * allowed))
