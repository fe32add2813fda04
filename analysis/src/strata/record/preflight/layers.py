# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Which layers the hooks that bind can distinguish."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from strata.record.preflight.binding import MISSING, PARTLY, UNUSED, Binding
from strata.record.preflight.hooks import NATIVE
from strata.schema.layer import JOINED
from strata.schema.layers import BASIC_LAYERS, TAKE

# The layers of the DDS way of a message, and between each two the events that part them: any does.
_PARTED = [
    (layer.name, layer.end) for layer in BASIC_LAYERS if layer.end is not None and layer.end.hooks
]
LAYERS = (*(name for name, _ in _PARTED), TAKE.name)
PARTED_BY = tuple(end.hooks for _, end in _PARTED)

PARTED_BY_OVER_ICEORYX = tuple(
    end.hooks if end.over_iceoryx is None else end.over_iceoryx for _, end in _PARTED
)
"""The same of Cyclone DDS over iceoryx: the reader's history is seen first."""


@dataclass(frozen=True)
class Parting:
    """Whether two neighbouring layers can be distinguished.

    `gaps` says what binds not or only partly although they can: for calls of that kind they cannot.
    """

    before: str
    after: str
    events: tuple[str, ...]
    parted: bool
    gaps: tuple[str, ...]


def partings(
    bindings: Sequence[Binding], parted_by: Sequence[tuple[str, ...]] = PARTED_BY
) -> list[Parting]:
    """Tell for each two neighbours whether an event between them (`parted_by`) is emitted."""
    of_ros = [binding for binding in bindings if binding.caller != NATIVE]
    return [
        _parting(before, after, events, of_ros)
        for before, after, events in zip(LAYERS[:-1], LAYERS[1:], parted_by, strict=True)
    ]


def _parting(
    before: str, after: str, events: tuple[str, ...], bindings: Sequence[Binding]
) -> Parting:
    emitting = [b for b in bindings if b.status != UNUSED and set(events) & set(b.events)]
    parted = any(binding.status != MISSING for binding in emitting)
    gaps = [b.what for b in emitting if b.status in (MISSING, PARTLY)]
    whole = {event for b in emitting if b.status not in (MISSING, PARTLY) for event in b.events}
    # Events of which any one suffices make no gap; functions of the same event do.
    if len(events) > 1 and whole & set(events):
        gaps = []
    return Parting(before, after, events, parted, tuple(gaps))


def told_apart(found: Sequence[Parting]) -> list[str]:
    """Name the layers as results will: those that are not parted are joined by `+`."""
    names = [LAYERS[0]]
    for parting in found:
        if parting.parted:
            names.append(parting.after)
        else:
            names[-1] += f"{JOINED}{parting.after}"
    return names


def merged_without(binding: Binding, found: Sequence[Parting]) -> list[str]:
    """Name the layers that merge because a hook does not bind; none while others part them."""
    return [
        f"{parting.before}{JOINED}{parting.after}"
        for parting in found
        if not parting.parted and set(parting.events) & set(binding.events_lost)
    ]
