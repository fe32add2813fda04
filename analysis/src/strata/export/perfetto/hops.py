# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A group of tracks for each hop: its messages, each with its layers, and its counters."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from strata.export.chosen import Chosen
from strata.export.perfetto.lanes import Lanes, Slice
from strata.export.perfetto.layers import OFFSET, kept, layer_slices
from strata.export.perfetto.packets import Details, PacketWriter
from strata.export.perfetto.tracks import Tracks
from strata.schema.confidence import UNSYNCHRONISED
from strata.schema.rows import NONE, Ints
from strata.timeline import Timelines


class HopSlices:
    """Writes the messages of hops; `groups` has the track of each hop that was written."""

    def __init__(
        self, chosen: Chosen, packets: PacketWriter, tracks: Tracks, timelines: Timelines
    ) -> None:
        self._packets, self._tracks, self._timelines = packets, tracks, timelines
        self._hops = chosen.analysis.rows("hops")
        self._messages, self._rows = chosen.analysis.rows("messages"), chosen.messages
        self.groups: dict[int, int] = {}

    def write(self) -> None:
        """Write every hop that has a chosen message, in the order of the table."""
        hop, begin = self._messages["hop_id"][self._rows], self._messages["begin_ns"][self._rows]
        latency = self._messages["latency_ns"][self._rows]
        rows = self._rows[np.lexsort((-latency, begin, hop))]
        numbers, first = np.unique(self._messages["hop_id"][rows], return_index=True)
        if not len(rows):
            return
        root = self._tracks.group(
            "Hops", "One group for each topic from a publishing to a taking node.", rank=2
        )
        for number, own in zip(numbers.tolist(), np.split(rows, first[1:]), strict=True):
            self._hop(root, number, own)

    def _hop(self, root: int, number: int, rows: Ints) -> None:
        hop = self._hops.record(number)
        name = f"{hop['topic']}: {hop['publisher_node']} -> {hop['subscription_node']}"
        words = (
            f"Messages of {hop['topic']} from {hop['publisher_node']} to "
            f"{hop['subscription_node']}: {hop['count']} taken, {hop['lost']} lost in the whole "
            "trace. Each slice is a message from its publish to the end of its callback; the "
            "slices inside it are its layers, which add up to it."
        )
        group = self.groups[number] = self._tracks.group(name, words, parent=root, rank=number)
        Lanes(self._packets, lambda _: self._lane(group, number), nested=False).write(
            self._slices(rows, hop["topic"])
        )

    def _lane(self, group: int, number: int) -> int:
        return self._tracks.lane("messages", "Messages and their layers.", group, f"hop {number}")

    def _slices(self, rows: Ints, topic: str) -> Iterator[Slice]:
        table = self._messages
        for row in rows.tolist():
            begin, latency = int(table["begin_ns"][row]), int(table["latency_ns"][row])
            end = begin + max(latency, 0)
            apart = table.words("confidence").at(row) == UNSYNCHRONISED
            size = int(table["size"][row])
            notes = {
                "message_id": row,
                "topic": topic,
                "bytes": None if size == NONE else size,
                "transport": table.words("transport").at(row),
                "latency_ns": latency,
                "clocks": OFFSET if apart else None,
            }
            inside = tuple(layer_slices(self._timelines.pieces_of_message(row), (begin, end)))
            yield Slice(begin, end, topic, "message", Details(kept(notes)), inside)
