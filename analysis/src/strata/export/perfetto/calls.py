# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A group of tracks for each service and action: its calls or goals, with their layers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from strata.export.chosen import Chosen
from strata.export.perfetto.lanes import Lanes, Slice
from strata.export.perfetto.layers import OFFSET, kept
from strata.export.perfetto.packets import Details, PacketWriter, Value
from strata.export.perfetto.tracks import Tracks
from strata.schema.action_phases import ACTION_PHASES
from strata.schema.confidence import UNSYNCHRONISED
from strata.schema.layer import Layer
from strata.schema.rows import Ints, Rows
from strata.schema.service_layers import SERVICE_LAYERS

STRETCHES = (
    "This layer is all the time in which the thread that takes was in one state; its stretches may "
    "lie in turn with those of the layer beside it."
)


@dataclass(frozen=True)
class _Kind:
    """What calls of services and goals of actions differ in."""

    title: str
    words: str
    table: str
    of: str
    server: str
    category: str
    layers: Sequence[Layer]
    rank: int


_KINDS = (
    _Kind(
        "Services",
        "One group for each service and node that calls it.",
        "service_calls",
        "service",
        "service_node",
        "call",
        SERVICE_LAYERS,
        3,
    ),
    _Kind(
        "Actions",
        "One group for each action and node that sends it goals.",
        "action_goals",
        "action",
        "server_node",
        "goal",
        ACTION_PHASES,
        4,
    ),
)


class CallSlices:
    """Writes calls of services and goals of actions that were under way in the chosen time."""

    def __init__(self, chosen: Chosen, packets: PacketWriter, tracks: Tracks) -> None:
        self._chosen, self._packets, self._tracks = chosen, packets, tracks

    def write(self) -> None:
        """Write every service and action that has a chosen call or goal, in order of its number."""
        for kind in _KINDS:
            table = self._chosen.analysis.rows(kind.table)
            begin, latency = table["begin_ns"], np.maximum(table["latency_ns"], 0)
            rows = np.flatnonzero(self._chosen.overlapping(begin, begin + latency))
            if not len(rows):
                continue
            root = self._tracks.group(kind.title, kind.words, rank=kind.rank)
            number = table[f"{kind.of}_id"]
            rows = rows[np.lexsort((-latency[rows], begin[rows], number[rows]))]
            _, first = np.unique(number[rows], return_index=True)
            for own in np.split(rows, first[1:]):
                self._group(kind, root, table, own)

    def _group(self, kind: _Kind, root: int, table: Rows, rows: Ints) -> None:
        one = table.record(int(rows[0]))
        number, name, client = one[f"{kind.of}_id"], one[kind.of], one["client_node"]
        words = (
            f"{kind.category.capitalize()}s of the {kind.of} {name} by {client}. Each slice is a "
            f"{kind.category} from its request to its last event; the slices inside it are its "
            "layers, which add up to it."
        )
        group = self._tracks.group(f"{name}: {client}", words, parent=root, rank=number)

        def lane(_: int) -> int:
            label = f"{kind.category}s"
            return self._tracks.lane(label, words, group, f"{kind.of} {number}")

        slices = self._slices(kind, table, rows)
        Lanes(self._packets, lane, nested=False).write(slices)

    def _slices(self, kind: _Kind, table: Rows, rows: Ints) -> Iterator[Slice]:
        key = "call_id" if kind.of == "service" else "goal_id"
        for row in rows.tolist():
            record = table.record(row)
            begin, latency = record["begin_ns"], record["latency_ns"]
            end = begin + max(latency, 0)
            apart = record["confidence"] == UNSYNCHRONISED
            notes: dict[str, Value | None] = {
                key: record[key],
                "client": record["client_node"],
                "server": record[kind.server],
                "complete": bool(record["complete"]),
                "matched by": record["method"],
                "latency_ns": latency,
                "clocks": OFFSET if apart else None,
            }
            inside = tuple(_layers(kind, record, begin, end))
            yield Slice(begin, end, record[kind.of], kind.category, Details(kept(notes)), inside)


def _layers(kind: _Kind, record: dict[str, int | None], begin: int, end: int) -> Iterator[Slice]:
    """Yield the layers that a call has, one after the other, cut to its window."""
    cursor = begin
    for layer in kind.layers:
        duration = record[layer.column]
        if not duration:
            continue
        until = min(max(cursor + duration, cursor), end)
        notes: dict[str, Value] = {"layer": layer.name, "meaning": layer.doc}
        if "the time in which" in layer.doc:
            notes["placed"] = STRETCHES
        if until - cursor != duration:
            notes["duration_ns"], notes["clocks"] = duration, OFFSET
        yield Slice(cursor, until, layer.name, f"{kind.of} layer", Details(notes))
        cursor = until
