# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""When each layer of a route was: its durations laid out in time, one after the other.

Layers telescope: each begins where the one before ended, so that their durations alone say when.
Some consist of several stretches between which others lie: *dds write* before and after
*serialize*; *executor wait* and the time in which the executor waited for work (*wake-up*, or
*middleware*); a coroutine's *callback* or *hold* (its part before the publish) and *suspended*. Of
these, stretches are laid out by what is known to have run; where that does not say it, they are
*placed*: how long they are together is exact, where each lies is not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from strata.schema.layer import Layer
from strata.schema.layers import (
    CALLBACK,
    DDS_WRITE,
    EXECUTOR_WAIT,
    EXECUTOR_WAIT_TAKE,
    HOLD,
    LINK_HOLD,
    MIDDLEWARE,
    SERIALIZE,
    STORED,
    SUSPENDED,
    TRANSFER_LAYERS,
    WAKE_UP,
    transfer_layers,
)
from strata.schema.rows import NONE, Ints
from strata.timeline.columns import Kept
from strata.timeline.route import Route

Interval = tuple[int, int]

_MOST = 64
"""A wait in more stretches than this is shown as what it adds up to."""

_MUCH = 0.05
"""Stretches of which less than this part of a wait may lie elsewhere count as known."""


@dataclass(frozen=True)
class Piece:
    """One stretch of a layer of a hop.

    `message` is the row of `messages` of that hop; of *link hold*, of the message that was
    published at its end, as in `chain_segments`.
    """

    hop: int
    message: int
    layer: Layer
    begin_ns: int
    end_ns: int
    placed: bool = False


@dataclass(frozen=True)
class Ran:
    """What is known of threads: functions of a row of `messages`.

    `busy` returns in order when the taking thread was at work within an interval, `execution` the
    stretches in which the message's callback ran, one for each piece of a coroutine.
    """

    busy: Callable[[int, int, int], tuple[Ints, Ints]]
    execution: Callable[[int], Sequence[Interval]]


class Pieces:
    """Lays the layers of routes out in time."""

    def __init__(self, messages: Kept, links: Kept, ran: Ran) -> None:
        self._messages, self._links, self._ran = messages, links, ran
        # Most layers are in no message of a trace.
        self._used = {
            layer.name: messages.rows[layer.column]
            for layer in (*TRANSFER_LAYERS, CALLBACK, SUSPENDED)
            if messages.rows.there(layer.column).any()
        }
        self._first, self._later = (
            [
                (layer, self._used[layer.name])
                for layer in transfer_layers(hop)
                if layer.name in self._used
            ]
            for hop in (0, 1)
        )

    def of(self, route: Route) -> Iterator[Piece]:
        """Yield the pieces of a route in order, without gap or overlap; none is of no length."""
        cursor = self._messages.number("begin_ns", route.messages[0])
        for hop, message in enumerate(route.messages):
            parts = [*self._transfer(hop, message, cursor)]
            cursor = parts[-1][2] if parts else cursor
            if hop == len(route.links):
                parts += self._callback(message, cursor)
            else:
                parts += self._linked(message, route.links[hop], cursor)
            cursor = parts[-1][2] if parts else cursor
            for layer, begin_ns, end_ns, placed in parts:
                if begin_ns != end_ns:
                    of = route.messages[hop + (layer is LINK_HOLD)]
                    yield Piece(hop, of, layer, begin_ns, end_ns, placed)

    def _value(self, layer: Layer, message: int) -> int:
        values = self._used.get(layer.name)
        return NONE if values is None else int(values[message])

    def _transfer(self, hop: int, message: int, cursor: int) -> Iterator[_Part]:
        left = {
            layer.name: (layer, ns)
            for layer, values in (self._later if hop else self._first)
            if (ns := int(values[message])) != NONE
        }
        idle = WAKE_UP if WAKE_UP.name in left else MIDDLEWARE
        busy = EXECUTOR_WAIT if EXECUTOR_WAIT.name in left else EXECUTOR_WAIT_TAKE
        both = all(left.get(layer.name, (layer, 0))[1] > 0 for layer in (idle, busy))
        while left:
            layer, ns = next(iter(left.values()))
            if layer is SERIALIZE:
                parts = [*self._serialized(message, cursor, left)]
            elif layer is idle and both:
                _, busy_ns = left.pop(busy.name)
                parts = self._waits(message, cursor, (idle, ns), (busy, busy_ns))
            else:
                parts = [(layer, cursor, cursor + ns, False)]
            left.pop(layer.name, None)
            yield from parts
            cursor = parts[-1][2]

    def _serialized(
        self, message: int, cursor: int, left: dict[str, tuple[Layer, int]]
    ) -> Iterator[_Part]:
        """Yield serialize, and before it what of the layer after it came to pass first."""
        _, ns = left.pop(SERIALIZE.name)
        begin_ns = self._messages.number("serialize_begin_ns", message)
        writing = next((one for one in left.values() if one[0].has(DDS_WRITE)), None)
        before_ns = begin_ns - cursor
        if writing is not None and 0 < before_ns <= writing[1]:
            left[writing[0].name] = (writing[0], writing[1] - before_ns)
            yield writing[0], cursor, begin_ns, False
            cursor = begin_ns
        yield SERIALIZE, cursor, cursor + ns, cursor != begin_ns

    def _waits(
        self, message: int, begin_ns: int, idle: tuple[Layer, int], busy: tuple[Layer, int]
    ) -> list[_Part]:
        """Lay out a wait of which the executor was idle for a part, and busy for the rest."""
        end_ns = begin_ns + idle[1] + busy[1]
        window = begin_ns, end_ns
        work = self._ran.busy(message, *window)
        ready_ns = self._messages.number("ready_ns", message)
        known = _busy_stretches(work, ready_ns, window)
        if _length(known) > busy[1] or len(known) > _MOST:
            # What ran is not all of this executor, or too much of it to be drawn.
            known = _busy_stretches((work[0][:0], work[1][:0]), ready_ns, window)
        if _length(known) > busy[1]:
            known = []
        stretches, placed = _filled(known, busy[1] - _length(known), window)
        return [
            (busy[0] if is_busy else idle[0], begin, end, placed)
            for is_busy, begin, end in _alternating(stretches, (begin_ns, end_ns))
        ]

    def _callback(self, message: int, cursor: int) -> list[_Part]:
        """The end of a route: all of the callback."""
        callback, suspended = (self._value(layer, message) for layer in (CALLBACK, SUSPENDED))
        return self._run(message, cursor, (CALLBACK, callback), suspended)

    def _linked(self, message: int, link: int, cursor: int) -> list[_Part]:
        """What led from a message's callback to the next publish."""
        of = {
            name: self._links.number(name, link)
            for name in ("suspended_ns", "callback_ns", "stored_ns", "hold_ns")
        }
        if self._links.text("kind", link) == "callback":
            return self._run(message, cursor, (HOLD, of["hold_ns"]), of["suspended_ns"])
        parts = self._run(message, cursor, (CALLBACK, of["callback_ns"]), of["suspended_ns"])
        for layer, ns in ((STORED, of["stored_ns"]), (LINK_HOLD, of["hold_ns"])):
            if ns != NONE:
                begin_ns = parts[-1][2] if parts else cursor
                parts.append((layer, begin_ns, begin_ns + ns, False))
        return parts

    def _run(
        self, message: int, begin_ns: int, run: tuple[Layer, int], suspended_ns: int
    ) -> list[_Part]:
        """Lay out a callback, or its part before a publish, and where it was suspended."""
        layer, ran_ns = run
        if suspended_ns in (NONE, 0):
            return [] if ran_ns == NONE else [(layer, begin_ns, begin_ns + ran_ns, False)]
        ran_ns = max(ran_ns, 0)
        end_ns = begin_ns + suspended_ns + ran_ns
        known = [
            (max(begin, begin_ns), min(end, end_ns))
            for begin, end in self._ran.execution(message)
            if begin < end_ns and end > begin_ns
        ]
        placed = sum(end - begin for begin, end in known) != ran_ns
        if placed:
            known = [(begin_ns, begin_ns + ran_ns)]
        return [
            (layer if is_run else SUSPENDED, begin, end, placed)
            for is_run, begin, end in _alternating(known, (begin_ns, end_ns))
        ]


_Part = tuple[Layer, int, int, bool]
"""A layer, its begin and end, and whether it is placed."""


def _busy_stretches(work: tuple[Ints, Ints], ready_ns: int, window: Interval) -> list[Interval]:
    """Return when a thread was at work in a window; it was from its last wait's end on."""
    begin, end = (np.clip(column, *window) for column in work)
    stretches = [one for one in zip(begin.tolist(), end.tolist(), strict=True) if one[0] < one[1]]
    if window[0] <= ready_ns < window[1]:
        stretches = [(begin, min(end, ready_ns)) for begin, end in stretches if begin < ready_ns]
        stretches.append((ready_ns, window[1]))
    return _merged(stretches)


def _merged(stretches: Sequence[Interval]) -> list[Interval]:
    out: list[Interval] = []
    for begin, end in stretches:
        if out and begin <= out[-1][1]:
            out[-1] = (out[-1][0], max(end, out[-1][1]))
        else:
            out.append((begin, end))
    return out


def _filled(
    known: Sequence[Interval], more_ns: int, window: Interval
) -> tuple[list[Interval], bool]:
    """Make stretches longer by so much in all, each at its end: what a thread does after work.

    Tell also whether that is a guess: where it moves much, and so do the gaps that are left.
    """
    if not more_ns:
        return list(known), False
    begins = [*(begin for begin, _ in known[1:]), window[1]]
    out, left_ns = [], more_ns
    for (begin, end), following in zip(known, begins, strict=bool(known)):
        filled_ns = min(left_ns, following - end)
        left_ns -= filled_ns
        out.append((begin, end + filled_ns))
    if left_ns:
        # Before the first stretch: from the window's begin on.
        out.insert(0, (window[0], window[0] + left_ns))
    whole_ns = window[1] - window[0]
    return _merged(out), min(more_ns, whole_ns - _length(out)) > _MUCH * whole_ns


def _length(stretches: Sequence[Interval]) -> int:
    return sum(end - begin for begin, end in stretches)


def _alternating(
    stretches: Sequence[Interval], window: Interval
) -> Iterator[tuple[bool, int, int]]:
    """Yield stretches (true) and what lies between them (false), of a window without gap."""
    at = window[0]
    for begin, end in stretches:
        if begin > at:
            yield False, at, begin
        if end > begin:
            yield True, begin, end
        at = max(at, end)
    if at < window[1]:
        yield False, at, window[1]
