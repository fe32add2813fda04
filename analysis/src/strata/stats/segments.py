# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The table `chain_segments`, the largest of all: made of those instances that are asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from strata.schema import tables
from strata.schema.layer import Layer
from strata.schema.rows import NONE, Coded, Flags, Ints, Rows
from strata.stats._grouped import Groups
from strata.stats.chain_steps import LAYERS, Steps

Positions = Mapping[tuple[int, Layer], Ints]
"""The place of each layer of each hop in the order of every chain."""


class Segments:
    """The layers of every instance of every chain; see the table `chain_segments`."""

    def __init__(self, count: int, make: Callable[[Flags | None], Rows]) -> None:
        """Take how many instances there are, and what makes the rows of those that are flagged."""
        self._count, self._make = count, make
        self._all: Rows | None = None

    @classmethod
    def of_steps(cls, steps: Steps, positions: Positions) -> Segments:
        """Return the segments of all instances of steps."""
        return cls(len(steps), lambda chosen: _segments(steps, positions, chosen))

    @classmethod
    def of_rows(cls, rows: Rows) -> Segments:
        """Return segments that are known: the table `chain_segments`, in the order of its key."""
        instance = rows["chain_instance_id"]
        count = int(instance.max(initial=NONE)) + 1
        return cls(count, lambda chosen: rows if chosen is None else rows.take(chosen[instance]))

    def all(self) -> Rows:
        """Return the whole table."""
        if self._all is None:
            self._all = self._make(None)
        return self._all

    def of(self, instances: Ints) -> Rows:
        """Return the rows of some instances, in the order of the table."""
        chosen = np.zeros(self._count, bool)
        chosen[instances] = True
        return self._make(chosen)


def _segments(steps: Steps, positions: Positions, chosen: Flags | None) -> Rows:
    number = {layer: at for at, layer in enumerate(LAYERS)}
    parts: list[list[Ints]] = []
    for part in steps.layers(chosen):
        there = np.flatnonzero(part.duration_ns != NONE)
        if len(there):
            instance = part.instance[there]
            position = positions[part.hop, part.layer][steps.chain[instance]]
            hop, layer = (np.full(len(there), of) for of in (part.hop, number[part.layer]))
            rows = [instance, position, hop, layer, part.message[there], part.duration_ns[there]]
            parts.append(rows)
    if not parts:
        return Rows.none(tables.CHAIN_SEGMENTS)
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    # The layers of an instance follow each other in order.
    order = Groups(columns[0], len(steps)).rows
    instance, position, hop, layer, message, duration_ns = (of[order] for of in columns)
    return Rows(
        tables.CHAIN_SEGMENTS,
        {
            "chain_instance_id": instance,
            "chain_id": steps.chain[instance],
            "position": position,
            "hop": hop,
            "message_id": steps.messages["message_id"][message],
            "layer": Coded(layer, tuple(item.name for item in LAYERS)),
            "duration_ns": duration_ns,
        },
    )
