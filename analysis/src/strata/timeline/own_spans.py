# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The message's own part of a timeline: its layers as spans on lanes, and arrows between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from strata.schema.confidence import UNSYNCHRONISED
from strata.schema.layers import BETWEEN_HOSTS, CALLBACK, HOLD, SUSPENDED, WITH_EXECUTOR_WAIT
from strata.schema.rows import NONE
from strata.timeline import labels as words
from strata.timeline.columns import Kept, RowById, RowsOf
from strata.timeline.labels import KINDS, LANES, Labels
from strata.timeline.lanes import EXECUTOR, PUBLISHER, Lanes
from strata.timeline.pieces import Piece
from strata.timeline.route import Route
from strata.timeline.spans import Arrow, Span
from strata.timeline.work import ThreadKey, thread_keys

_BETWEEN_HOSTS = frozenset(layer.name for layer in BETWEEN_HOSTS)
_WAITING = frozenset(layer.name for layer in WITH_EXECUTOR_WAIT)


class Wait(NamedTuple):
    """When a message waited for its executor, whose thread has a lane."""

    lane: int
    message: int
    begin_ns: int
    end_ns: int


@dataclass(frozen=True)
class Own:
    """The own part of a timeline."""

    lanes: Lanes
    spans: list[Span] = field(default_factory=list)
    arrows: list[Arrow] = field(default_factory=list)
    waits: list[Wait] = field(default_factory=list)


class Ends:
    """Who published, took and ran the callback of each message: threads and executions.

    Of tables that lack the row, the thread is known by its node alone.
    """

    def __init__(
        self, messages: Kept, publications: Kept, takes: Kept, instances: Kept, labels: Labels
    ) -> None:
        self._messages, self._labels = messages, labels
        self._publications, self._takes = publications, takes
        self._instances = instances
        self._of_execution = RowsOf(instances.rows["execution_id"])
        self._row_of_instance = RowById(instances.rows["instance_id"])
        self._of_publication, self._of_take, self._of_instance = (
            thread_keys(table.rows) for table in (publications, takes, instances)
        )

    def publisher(self, message: int) -> ThreadKey:
        """Return the thread that published a message."""
        row = self._messages.number("publication_id", message)
        if row >= len(self._publications):
            return self._labels.sender(message), NONE, NONE
        return self._of_publication(row)

    def publishing(self, message: int) -> int:
        """Return the execution (row) that published a message; `NONE` for none, or unknown."""
        row = self._messages.number("publication_id", message)
        if row >= len(self._publications):
            return NONE
        return self._row_of_instance.row(self._publications.number("instance_id", row))

    def taker(self, message: int) -> ThreadKey:
        """Return the thread that took a message."""
        row = self._messages.number("take_id", message)
        if row >= len(self._takes):
            return self._labels.reader(message), NONE, NONE
        return self._of_take(row)

    def execution(self, message: int) -> int:
        """Return the execution (row) that a message started; `NONE` for none, or unknown."""
        row = self._messages.number("take_id", message)
        if row >= len(self._takes):
            return NONE
        return self._row_of_instance.row(self._takes.number("instance_id", row))

    def pieces(self, message: int) -> list[tuple[int, int, int]]:
        """Return the pieces of the execution that a message started: begin, until and row.

        One but for a coroutine that was suspended; none where no execution is known.
        """
        row = self.execution(message)
        if row == NONE:
            return []
        value = self._instances.number
        rows = self._of_execution.of(value("execution_id", row))
        return sorted((value("start_ns", one), value("until_ns", one), one) for one in rows)

    def runner_at(self, message: int, begin_ns: int) -> ThreadKey:
        """Return the thread that ran the piece of a message's callback that began at an instant."""
        for start_ns, until_ns, row in self.pieces(message):
            if start_ns <= begin_ns < until_ns:
                return self._of_instance(row)
        return self.runner(message)

    def runner(self, message: int) -> ThreadKey:
        """Return the thread that ran the callback of a message; that took it where none did."""
        row = self.execution(message)
        return self.taker(message) if row == NONE else self._of_instance(row)


class OwnSpans:
    """Makes the own part of timelines."""

    def __init__(self, messages: Kept, ends: Ends, labels: Labels) -> None:
        self._messages, self._ends, self._labels = messages, ends, labels

    def of(self, route: Route, pieces: Sequence[Piece], lanes: Lanes) -> Own:
        """Return the own part of the timeline of a route, whose pieces are given in order."""
        own = Own(lanes)
        of_hop: dict[int, list[Piece]] = {}
        for piece in pieces:
            of_hop.setdefault(piece.hop, []).append(piece)
        for hop, message in enumerate(route.messages):
            following = route.messages[hop + 1] if hop + 1 < len(route.messages) else NONE
            self._hop(own, message, following, of_hop.get(hop, []))
        return own

    def _hop(self, own: Own, message: int, following: int, pieces: Sequence[Piece]) -> None:
        lane_of = self._lanes(own.lanes, message, following, pieces)
        suspended = any(piece.layer is SUSPENDED for piece in pieces)
        apart = self._messages.text("confidence", message) == UNSYNCHRONISED
        own.spans.extend(
            Span(
                self._resumed(own.lanes, message, piece)
                if suspended and piece.layer in (CALLBACK, HOLD)
                else lane_of[LANES[piece.layer.name]],
                piece.begin_ns,
                piece.end_ns,
                KINDS[piece.layer.name],
                self._labels.of(piece.layer, message, following),
                own=True,
                layer=piece.layer.name,
                hop=piece.hop,
                message_id=message,
                placed=piece.placed,
                unsynchronised=apart and piece.layer.name in _BETWEEN_HOSTS,
            )
            for piece in pieces
        )
        sender, taker = lane_of[words.SENDER], lane_of[words.TAKER]
        waits = [piece for piece in pieces if piece.layer.name in _WAITING]
        if waits:
            own.waits.append(Wait(taker, message, waits[0].begin_ns, waits[-1].end_ns))
        publish_ns, topic = (
            self._messages.number("publish_ns", message),
            self._labels.topic(message),
        )
        own.arrows.append(Arrow(message, topic, sender, publish_ns, taker, self._taken_ns(message)))

    def _lanes(
        self, lanes: Lanes, message: int, following: int, pieces: Sequence[Piece]
    ) -> Mapping[str, int]:
        """Return the lanes of a hop; those that were not met before are in the order of its way."""
        out: dict[str, int] = {}
        if any(LANES[piece.layer.name] == words.SOURCE for piece in pieces):
            out[words.SOURCE] = lanes.sensor(self._labels.source(message))
        reader, taker = self._labels.reader(message), self._ends.taker(message)
        out[words.SENDER] = self._publisher(lanes, message)
        out[words.BETWEEN] = lanes.between(out[words.SENDER], taker, self._labels.topic(message))
        out[words.TAKER] = lanes.thread(taker, EXECUTOR, reader)
        out[words.RUNNER] = lanes.thread(self._ends.runner(message), EXECUTOR, reader)
        out[words.FOLLOWING] = out[words.RUNNER]
        if following != NONE:
            out[words.FOLLOWING] = self._publisher(lanes, following)
        return out

    def _resumed(self, lanes: Lanes, message: int, piece: Piece) -> int:
        """Return the lane of a piece of a coroutine, which may go on on another thread."""
        thread = self._ends.runner_at(message, piece.begin_ns)
        return lanes.thread(thread, EXECUTOR, self._labels.reader(message))

    def _publisher(self, lanes: Lanes, message: int) -> int:
        thread = self._ends.publisher(message)
        if self._ends.publishing(message) != NONE:
            return lanes.thread(thread, EXECUTOR, self._labels.sender(message))
        return lanes.thread(thread, PUBLISHER, self._labels.topic(message))

    def _taken_ns(self, message: int) -> int:
        of = ("rmw_take_ns", "dequeue_ns", "picked_ns", "callback_start_ns", "publish_ns")
        known = (self._messages.number(name, message) for name in of)
        return next(ns for ns in known if ns != NONE)
