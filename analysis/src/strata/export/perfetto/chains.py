# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Chains: one slice for each message, its hops inside it, and their layers inside these."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

import numpy as np

from strata.export.chosen import Chosen
from strata.export.perfetto.lanes import Lanes, Slice
from strata.export.perfetto.layers import OFFSET, kept, layer_slices
from strata.export.perfetto.packets import Details, PacketWriter
from strata.export.perfetto.tracks import Tracks
from strata.schema.rows import Ints
from strata.timeline import Timelines


class ChainSlices:
    """Writes the chosen messages of chains."""

    def __init__(
        self, chosen: Chosen, packets: PacketWriter, tracks: Tracks, timelines: Timelines
    ) -> None:
        self._packets, self._tracks, self._timelines = packets, tracks, timelines
        self._chains = chosen.analysis.rows("chains")
        self._instances, self._rows = chosen.analysis.rows("chain_instances"), chosen.instances
        self._topics = chosen.analysis.rows("messages").words("topic")

    def write(self) -> None:
        """Write every chain that has a chosen message, in the order of the table."""
        if not len(self._rows):
            return
        root = self._tracks.group("Chains", "One track for each chain of topics.", rank=1)
        table = self._instances
        chain, begin = table["chain_id"][self._rows], table["begin_ns"][self._rows]
        rows = self._rows[np.lexsort((-table["latency_ns"][self._rows], begin, chain))]
        numbers, first = np.unique(table["chain_id"][rows], return_index=True)
        for number, own in zip(numbers.tolist(), np.split(rows, first[1:]), strict=True):
            self._chain(root, number, own)

    def _chain(self, root: int, number: int, rows: Ints) -> None:
        chain = self._chains.record(number)
        words = (
            f"Messages along {chain['name']} over the nodes {chain['nodes']}: "
            f"{chain['count']} in the whole trace. Each slice lasts from the first publish to the "
            "end of the last callback; inside it are its hops, and in these their layers. All "
            "slices of one message have one colour."
        )

        def lane(_: int) -> int:
            return self._tracks.lane(chain["name"], words, root, f"chain {number}")

        Lanes(self._packets, lane, nested=False).write(self._slices(rows, chain["name"]))

    def _slices(self, rows: Ints, name: str) -> Iterator[Slice]:
        table = self._instances
        for row in rows.tolist():
            begin, latency = int(table["begin_ns"][row]), int(table["latency_ns"][row])
            window = begin, begin + max(latency, 0)
            notes = {
                "chain": name,
                "chain_instance_id": row,
                "message_id": int(table["message_id"][row]),
                "latency_ns": latency,
                "start_up": True if table["start_up"][row] else None,
                "clocks": OFFSET if table["unsynchronised"][row] else None,
            }
            details = Details(kept(notes), correlation=row + 1)
            yield Slice(*window, name, "chain", details, tuple(self._hops(row, window)))

    def _hops(self, row: int, window: tuple[int, int]) -> Iterator[Slice]:
        pieces = self._timelines.pieces_of_instance(row)
        for hop, own in groupby(pieces, lambda piece: piece.hop):
            pieces_of_hop = [*own]
            inside = tuple(layer_slices(pieces_of_hop, window, correlation=row + 1))
            window = inside[-1].end_ns, window[1]
            message = pieces_of_hop[0].message
            notes = {"topic": self._topics.at(message), "hop": hop, "message_id": message}
            details = Details(kept(notes), correlation=row + 1)
            yield Slice(
                inside[0].begin_ns,
                inside[-1].end_ns,
                self._topics.at(message) or "(unknown)",
                "hop",
                details,
                inside,
            )
