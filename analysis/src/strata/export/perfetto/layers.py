# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The layers of a message as slices one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from strata.export.perfetto.lanes import Slice
from strata.export.perfetto.packets import Details, Value
from strata.schema.layers import BY_NAME
from strata.timeline.pieces import Piece

PLACED = "The trace shows how long the stretches of this layer are together, not where each lies."
OFFSET = (
    "The two hosts' clocks are not synchronised: duration_ns is what the clocks show, and the "
    "drawn slice may be shorter."
)


def layer_slices(
    pieces: Iterable[Piece], window: tuple[int, int], *, correlation: int | None = None
) -> Iterator[Slice]:
    """Yield the pieces of one message as slices that lie in its window, in order and apart.

    A piece can end before it begins only between hosts whose clocks are not synchronised: then
    what is drawn is cut, and the annotation `duration_ns` has the layer's value.
    """
    cursor = window[0]
    for piece in pieces:
        begin = min(max(cursor, piece.begin_ns), window[1])
        end = min(max(begin, piece.end_ns), window[1])
        cursor = end
        notes: dict[str, Value] = {
            "layer": piece.layer.name,
            "message_id": piece.message,
            "meaning": BY_NAME[piece.layer.name].doc,
        }
        if piece.placed:
            notes["placed"] = PLACED
        if (begin, end) != (piece.begin_ns, piece.end_ns):
            notes["duration_ns"] = piece.end_ns - piece.begin_ns
            notes["clocks"] = OFFSET
        details = Details(notes, correlation=correlation)
        yield Slice(begin, end, piece.layer.name, "layer", details)


def kept(notes: Mapping[str, Value | None]) -> dict[str, Value]:
    """Return the annotations that have a value."""
    return {name: value for name, value in notes.items() if value is not None}
