# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The rows of an analysis as events of a CTF trace.

An event is at the time where its row begins; the field `end_ns` is where it ends, and `duration_ns`
how long it is. Durations are those of the tables.

A layer can consist of several stretches (strata.timeline.pieces): the events `strata:layer` and
`strata:chain_layer` have one for each layer, with the sum, as the tables do; `strata:piece` and
`strata:chain_piece` have one for each stretch, to be drawn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from heapq import heappop, heappush

import numpy as np

from strata.export.chosen import Chosen
from strata.export.trace_compass.ctf import Event, EventClass
from strata.schema.checkpoints import Thread
from strata.schema.layers import BY_NAME, HOP_LAYERS
from strata.schema.rows import NONE, Ints
from strata.schema.rows import Rows as TableRows
from strata.timeline import Timelines
from strata.timeline.pieces import Piece

_UNKNOWN = "(unknown)"
_LENGTH = ("duration_ns", "end_ns")
_HOP_TEXTS = ("topic", "publisher", "subscription")
_MESSAGE = ("message_id", "hop_id")
_INSTANCE = ("chain_instance_id", "chain_id")
_THREAD = ("vpid", "vtid")

CLASSES = {
    "messages": EventClass(
        "strata:message",
        (*_MESSAGE, "lane", *_LENGTH, "publisher_vpid", "publisher_vtid", *_THREAD),
        ("name", *_HOP_TEXTS),
    ),
    "layers": EventClass(
        "strata:layer", (*_MESSAGE, *_LENGTH, *_THREAD), ("name", "layer", *_HOP_TEXTS)
    ),
    "pieces": EventClass(
        "strata:piece", (*_MESSAGE, "lane", *_LENGTH, "placed"), ("name", "layer", *_HOP_TEXTS)
    ),
    "chains": EventClass(
        "strata:chain", (*_INSTANCE, "message_id", "lane", *_LENGTH, "start_up"), ("name", "nodes")
    ),
    "chain_layers": EventClass(
        "strata:chain_layer",
        (*_INSTANCE, "position", "hop", "message_id", *_LENGTH),
        ("name", "layer", "topic", "chain"),
    ),
    "chain_pieces": EventClass(
        "strata:chain_piece",
        (*_INSTANCE, "hop", "message_id", "lane", *_LENGTH, "placed"),
        ("name", "layer", "topic", "chain"),
    ),
}
"""The events, by the name of the stream file that holds them.

`vpid` and `vtid` of a layer are the thread that it belongs to, -1 where it belongs to several or to
one that is not known. `lane` is a row of the drawing on which nothing overlaps, from 0. `name` is
what Trace Compass groups and labels by: the hop or chain, of a layer with the layer, of a piece of
a chain with its place along the chain.
"""

Named = tuple[int, str]
"""The hop of a layer, and the layer's name."""


class Rows:
    """Makes events of what was chosen."""

    def __init__(self, chosen: Chosen) -> None:
        """Take what was chosen; its tables are read now."""
        analysis = chosen.analysis
        self._timelines = Timelines(analysis)
        self._messages, self._chosen_messages = analysis.rows("messages"), chosen.messages
        self._instances, self._chosen_instances = analysis.rows("chain_instances"), chosen.instances
        self._segments, self._chosen_segments = analysis.rows("chain_segments"), chosen.segments
        self._chains = analysis.rows("chains")
        self._chain_names = chain_names(self._chains)
        self._texts = [
            self._messages.words(name) for name in ("topic", "publisher_node", "subscription_node")
        ]
        publications, takes = analysis.rows("publications"), analysis.rows("takes")
        self._publisher, self._taker = (
            (rows["vpid"][self._messages[key]], rows["vtid"][self._messages[key]])
            for rows, key in ((publications, "publication_id"), (takes, "take_id"))
        )

    def streams(self) -> Iterator[tuple[str, Iterable[Event]]]:
        """Yield the events of each stream file with its name, in any order."""
        yield "messages", self._message_events()
        yield "layers", self._layer_events()
        yield "pieces", self._piece_events()
        yield "chains", self._chain_events()
        yield "chain_layers", self._chain_layer_events()
        yield "chain_pieces", self._chain_piece_events()

    def _hop_texts(self, row: int) -> tuple[str, str, str]:
        topic, publisher, subscription = (words.at(row) or _UNKNOWN for words in self._texts)
        return topic, publisher, subscription

    def _message_events(self) -> Iterator[Event]:
        table, one = self._messages, CLASSES["messages"]
        rows = self._chosen_messages
        begin, latency, hop = table["begin_ns"], table["latency_ns"], table["hop_id"]
        self._message_lanes = lanes(hop[rows], begin[rows], latency[rows])
        for row, lane in zip(rows.tolist(), self._message_lanes.tolist(), strict=True):
            first, ns = int(begin[row]), int(latency[row])
            threads = (int(of[row]) for of in (*self._publisher, *self._taker))
            numbers = (row, int(hop[row]), lane, ns, first + max(ns, 0), *threads)
            texts = self._hop_texts(row)
            yield first, one.payload(numbers, (hop_name(*texts), *texts))

    def _layer_events(self) -> Iterator[Event]:
        one, hop = CLASSES["layers"], self._messages["hop_id"]
        columns = [(layer, self._messages[layer.column]) for layer in HOP_LAYERS]
        there = [(layer.name, column) for layer, column in columns if (column != NONE).any()]
        begin = self._messages["begin_ns"]
        for row in self._chosen_messages.tolist():
            own = [((0, name), int(column[row])) for name, column in there if column[row] != NONE]
            pieces = self._timelines.pieces_of_message(row)
            texts = self._hop_texts(row)
            for (_, name), ns, first in _begun(own, pieces, int(begin[row])):
                numbers = (row, int(hop[row]), ns, first + max(ns, 0), *self._thread(name, row))
                yield first, one.payload(numbers, (f"{hop_name(*texts)}, {name}", name, *texts))

    def _thread(self, layer: str, row: int) -> tuple[int, int]:
        thread = BY_NAME[layer].thread
        if thread is Thread.PUBLISHER:
            return int(self._publisher[0][row]), int(self._publisher[1][row])
        if thread in (Thread.TAKER, Thread.RUNNER):
            return int(self._taker[0][row]), int(self._taker[1][row])
        return NONE, NONE

    def _piece_events(self) -> Iterator[Event]:
        one, hop = CLASSES["pieces"], self._messages["hop_id"]
        both = zip(self._chosen_messages.tolist(), self._message_lanes.tolist(), strict=True)
        for row, lane in both:
            texts = self._hop_texts(row)
            for piece in self._timelines.pieces_of_message(row):
                numbers = (row, int(hop[row]), lane, *_length(piece), piece.placed)
                named = hop_name(*texts), piece.layer.name
                yield piece.begin_ns, one.payload(numbers, (*named, *texts))

    def _chain_events(self) -> Iterator[Event]:
        table, one = self._instances, CLASSES["chains"]
        rows = self._chosen_instances
        begin, latency, chain = table["begin_ns"], table["latency_ns"], table["chain_id"]
        self._chain_lanes = lanes(chain[rows], begin[rows], latency[rows])
        nodes = self._chains.words("nodes")
        for row, lane in zip(rows.tolist(), self._chain_lanes.tolist(), strict=True):
            of, first, ns = int(chain[row]), int(begin[row]), int(latency[row])
            length = ns, first + max(ns, 0)
            start_up = int(table["start_up"][row])
            numbers = (row, of, int(table["message_id"][row]), lane, *length, start_up)
            yield first, one.payload(numbers, (self._chain_names[of], nodes.at(of) or ""))

    def _chain_layer_events(self) -> Iterator[Event]:
        table, one = self._segments, CLASSES["chain_layers"]
        topics, layers = self._texts[0], table.words("layer")
        rows = self._chosen_segments
        for own in _runs(rows, table["chain_instance_id"][rows]):
            instance = int(table["chain_instance_id"][own[0]])
            durations = [
                ((int(table["hop"][row]), layers.at(row) or ""), int(table["duration_ns"][row]))
                for row in own
            ]
            pieces = self._timelines.pieces_of_instance(instance)
            begun = _begun(durations, pieces, int(self._instances["begin_ns"][instance]))
            for row, ((hop, layer), ns, first) in zip(own, begun, strict=True):
                chain, message = int(table["chain_id"][row]), int(table["message_id"][row])
                length = ns, first + max(ns, 0)
                numbers = (instance, chain, int(table["position"][row]), hop, message, *length)
                along = self._chain_names[chain]
                name = f"{along}, hop {hop + 1}, {layer}"
                texts = (name, layer, topics.at(message) or _UNKNOWN, along)
                yield first, one.payload(numbers, texts)

    def _chain_piece_events(self) -> Iterator[Event]:
        table, one, topics = self._instances, CLASSES["chain_pieces"], self._texts[0]
        both = zip(self._chosen_instances.tolist(), self._chain_lanes.tolist(), strict=True)
        for row, lane in both:
            chain = int(table["chain_id"][row])
            for piece in self._timelines.pieces_of_instance(row):
                length = _length(piece)
                numbers = (row, chain, piece.hop, piece.message, lane, *length, piece.placed)
                topic = topics.at(piece.message) or _UNKNOWN
                name = f"{piece.hop + 1} {topic}"
                texts = (name, piece.layer.name, topic, self._chain_names[chain])
                yield piece.begin_ns, one.payload(numbers, texts)


def hop_name(topic: str, publisher: str, subscription: str) -> str:
    """Return how a hop is called in Trace Compass."""
    return f"{topic}: {publisher} -> {subscription}"


def chain_names(chains: TableRows) -> list[str]:
    """Return how each row of `chains` is called; where several have its topics, with its nodes."""
    names = [name or "" for name in chains.texts("name")]
    counts = Counter(names)
    return [
        name if counts[name] == 1 else f"{name} over {nodes}"
        for name, nodes in zip(names, chains.texts("nodes"), strict=True)
    ]


def _length(piece: Piece) -> tuple[int, int]:
    """Return how long a piece is, and where its drawing ends: not before it begins."""
    return piece.end_ns - piece.begin_ns, max(piece.begin_ns, piece.end_ns)


def _begun(
    durations: Iterable[tuple[Named, int]], pieces: Iterable[Piece], begin_ns: int
) -> Iterator[tuple[Named, int, int]]:
    """Yield each layer with its duration and where its first piece begins.

    A layer of no length has no piece: it is where the layer before it ended.
    """
    first, last = dict[Named, int](), dict[Named, int]()
    for piece in pieces:
        of = piece.hop, piece.layer.name
        first.setdefault(of, piece.begin_ns)
        last[of] = piece.end_ns
    cursor = begin_ns
    for of, ns in durations:
        yield of, ns, first.get(of, cursor)
        cursor = last.get(of, cursor)


def _runs(rows: Ints, keys: Ints) -> Iterator[list[int]]:
    """Yield neighbouring rows that have the same key."""
    ends = np.flatnonzero(np.diff(keys)) + 1
    for own in np.split(rows, ends):
        if len(own):
            yield own.tolist()


def lanes(group: Ints, begin_ns: Ints, length_ns: Ints) -> Ints:
    """Give each span the lowest lane of its group in which nothing overlaps it, from 0.

    Arrays of one shape (n,), as is the result; times in ns. Spans that only touch do not overlap.
    """
    out = np.zeros(len(group), np.int64)
    free, busy, count = dict[int, list[int]](), dict[int, list[tuple[int, int]]](), dict[int, int]()
    for at in np.lexsort((-length_ns, begin_ns)).tolist():
        of, begin = int(group[at]), int(begin_ns[at])
        idle, used = free.setdefault(of, []), busy.setdefault(of, [])
        while used and used[0][0] <= begin:
            heappush(idle, heappop(used)[1])
        if idle:
            lane = heappop(idle)
        else:
            lane = count.get(of, 0)
            count[of] = lane + 1
        heappush(used, (begin + max(int(length_ns[at]), 0), lane))
        out[at] = lane
    return out
