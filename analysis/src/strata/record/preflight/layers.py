# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Which layers the hooks that bind can tell apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from strata.record.preflight.binding import MISSING, PARTLY, UNUSED, Binding
from strata.record.preflight.hooks import NATIVE

# The layers of the DDS way of a message, and between each two the events that part them: any does.
LAYERS = ("serialize", "dds write", "transport", "dds receive", "wake-up", "take")
PARTED_BY = (
    ("serialize_end",),
    ("send_begin",),
    ("receive",),
    ("reader_notify",),
    ("wait_end", "take_begin"),
)

# The same of Cyclone DDS over iceoryx: the value goes into shared memory without a call of the
# hooks for serializations, and nothing through a socket. The reader's history is seen first.
PARTED_BY_OVER_ICEORYX = ((), (), ("reader_history_add",), *PARTED_BY[3:])


@dataclass(frozen=True)
class Parting:
    """Whether two neighbouring layers can be told apart.

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
            names[-1] += f" + {parting.after}"
    return names


def merged_without(binding: Binding, found: Sequence[Parting]) -> list[str]:
    """Name the layers that merge because a hook does not bind; none while others part them."""
    return [
        f"{parting.before} + {parting.after}"
        for parting in found
        if not parting.parted and set(parting.events) & set(binding.events_lost)
    ]
