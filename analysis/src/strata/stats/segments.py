# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The table `chain_segments`, the largest of all: made of those instances that are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

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

    def __init__(
        self,
        count: int,
        make: Callable[[Flags | None], Rows],
        parts: Callable[[], Iterator[Rows]] | None = None,
    ) -> None:
        """Take how many instances there are, and what makes the rows of those that are flagged.

        `parts` makes the rows of all a few at a time; without it they are made at once.
        """
        self._count, self._make, self._parts = count, make, parts
        self._all: Rows | None = None

    @classmethod
    def of_steps(cls, steps: Steps, positions: Positions) -> Segments:
        """Return the segments of all instances of steps."""
        return cls(
            len(steps),
            lambda chosen: _segments(steps, positions, chosen),
            lambda: (_rows(steps, part) for part in _parts(steps, positions, None)),
        )

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

    def parts(self) -> Iterator[Rows]:
        """Yield the rows of the whole table in parts, in any order: those of one layer of a hop.

        Only one part is in memory at a time, unless the whole table is there.
        """
        return iter([self.all()]) if self._all is not None or self._parts is None else self._parts()

    def of(self, instances: Ints) -> Rows:
        """Return the rows of some instances, in the order of the table."""
        chosen = np.zeros(self._count, bool)
        chosen[instances] = True
        return self._make(chosen)


_Part = Sequence[Ints]
"""Columns: instance, position, hop, number of the layer, row of `messages`, duration."""


def _parts(steps: Steps, positions: Positions, chosen: Flags | None) -> Iterator[_Part]:
    number = {layer: at for at, layer in enumerate(LAYERS)}
    for part in steps.layers(chosen):
        there = np.flatnonzero(part.duration_ns != NONE)
        if len(there):
            instance = part.instance[there]
            position = positions[part.hop, part.layer][steps.chain[instance]]
            hop, layer = (np.full(len(there), of) for of in (part.hop, number[part.layer]))
            yield instance, position, hop, layer, part.message[there], part.duration_ns[there]


def _segments(steps: Steps, positions: Positions, chosen: Flags | None) -> Rows:
    parts = list(_parts(steps, positions, chosen))
    if not parts:
        return Rows.none(tables.CHAIN_SEGMENTS)
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    # The layers of an instance follow each other in order.
    order = Groups(columns[0], len(steps)).rows
    return _rows(steps, [of[order] for of in columns])


def _rows(steps: Steps, columns: _Part) -> Rows:
    instance, position, hop, layer, message, duration_ns = columns
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
