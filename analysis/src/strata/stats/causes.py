# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Causes of latency: every layer of a message with its place, and what can be distinguished of it.

Executor wait is split by what the taking thread ran meanwhile: one cause a callback, and the rest
is the executor itself. A message that waits for the callback which it is for waits behind earlier
messages: the callback is its own queue ("behind itself, ..."). Dds receive is split into the wait
for what had to be sent again, and the rest. Stored says what the node waited for. Where the trace
has kernel events, the time in which a layer's thread was blocked or preempted is split off it
(strata.stats.scheduling). What is only estimated splits nothing: beside each cause it is told how
much of it a thread waited for a CPU by samples, and for how much no thread of the reader ran.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from strata.engine.groups import sums
from strata.schema.confidence import UNSYNCHRONISED
from strata.schema.layers import (
    BETWEEN_HOSTS,
    DDS_RECEIVE,
    STORED,
    TRANSPORT,
    WITH_EXECUTOR_WAIT,
)
from strata.schema.rows import NONE, Coded, Flags, Ints, Rows, taken
from strata.stats.grouped import distinct, joined, paired, recoded
from strata.stats.layer_places import LayerPlaces
from strata.stats.places import takes_of
from strata.stats.scheduling import (
    CpuWaits,
    HeldUp,
    next_messages,
    thread_messages,
    waited_for_cpu,
)

_WAITING = tuple(layer.name for layer in WITH_EXECUTOR_WAIT)

ITSELF = "behind itself, "
"""What a message waited behind that waited for earlier ones in its own callback."""

OTHERS = "other callbacks"
"""What a message in a backlog waited behind, beside the callbacks that ran longest."""


@dataclass(frozen=True)
class Evidence:
    """What tells where the time of segments was spent.

    `messages` and `blockers` are the tables `messages` and `executor_blockers`. `callbacks`
    describes each callback by its id, `awaited` says what came when it began (null: not known).
    `held_up` and `cpu_waits` are of strata.stats.scheduling; null where nothing is known.
    """

    places: LayerPlaces
    messages: Rows
    blockers: Rows
    callbacks: Coded
    awaited: Coded | None = None
    held_up: HeldUp | None = None
    cpu_waits: CpuWaits | None = None


@dataclass(frozen=True)
class Causes:
    """Causes in columns; the rows of an instance add up to its latency.

    `chain` and `instance` are ids, `message` is a row of `messages`. Of `duration_ns`, a thread
    waited for a CPU for `cpu_wait_ns`, and no thread of the reader ran for `silent_ns`.
    """

    chain: Ints
    instance: Ints
    message: Ints
    layer: Coded
    where: Coded
    duration_ns: Ints
    cpu_wait_ns: Ints
    silent_ns: Ints
    unsynchronised: Flags

    def __len__(self) -> int:
        return len(self.duration_ns)


@dataclass
class _Columns:
    """Causes while they are made; `layer` and `place` are numbers."""

    chain: Ints
    instance: Ints
    message: Ints
    layer: Ints
    place: Ints
    duration_ns: Ints
    cpu_wait_ns: Ints
    silent_ns: Ints
    unsynchronised: Flags

    def split(self, rows: Ints, place: Ints, duration_ns: Ints, *, alone: bool = True) -> _Columns:
        """Take parts off some rows and return them; `alone` without the rows' estimates."""
        if len(rows):
            self.duration_ns = self.duration_ns - sums(rows, duration_ns, len(self.duration_ns))
        nothing = np.broadcast_to(np.int64(0), len(rows))
        return _Columns(
            self.chain[rows],
            self.instance[rows],
            self.message[rows],
            self.layer[rows],
            place,
            duration_ns,
            nothing if alone else taken(self.cpu_wait_ns, rows),
            nothing if alone else taken(self.silent_ns, rows),
            taken(self.unsynchronised, rows),
        )


def find_causes(segments: Rows, evidence: Evidence) -> Causes:
    """Return segments with their place; what waits for something of its own is split off.

    `segments` are rows of the table `chain_segments`, whole instances in its order.
    """
    layers, messages = segments.words("layer"), evidence.messages
    message, duration_ns = segments["message_id"], segments["duration_ns"]
    whole = _Columns(
        segments["chain_id"],
        segments["chain_instance_id"],
        message,
        layers.codes,
        _places(segments, evidence),
        duration_ns,
        np.broadcast_to(np.int64(0), len(segments)),
        _silent_ns(layers, duration_ns, taken(messages["reader_silent_ns"], message)),
        between_hosts(layers, message, messages),
    )
    parts = [_behind(whole, layers, evidence), _resent(whole, layers, evidence)]
    if evidence.cpu_waits is not None:
        waited = waited_for_cpu(segments, evidence.cpu_waits)
        whole.cpu_wait_ns = np.minimum(waited, whole.duration_ns)
    if evidence.held_up is not None and len(evidence.held_up.message):
        parts.append(_held_up(whole, segments, evidence.held_up, evidence.places))
    return _joined([whole, *parts], layers.words, evidence.places)


def _silent_ns(layers: Coded, duration_ns: Ints, silent_ns: Ints) -> Ints:
    """For how long of each layer its reader was silent: none of one that ends before it begins."""
    if not silent_ns.any():
        return np.broadcast_to(np.int64(0), len(layers))
    within_ns = np.maximum(np.minimum(duration_ns, silent_ns), 0)
    return np.where(layers.are(TRANSPORT.name), within_ns, 0)


def between_hosts(layers: Coded, message: Ints, messages: Rows) -> Flags:
    """Return which layers lie between hosts whose clocks are not synchronised."""
    apart = messages.words("confidence").are(UNSYNCHRONISED)
    if not apart.any():
        return np.broadcast_to(np.False_, len(layers))
    return np.asarray(layers.are(*(layer.name for layer in BETWEEN_HOSTS)) & apart[message], bool)


def _places(segments: Rows, evidence: Evidence) -> Ints:
    layers, message, places = segments.words("layer"), segments["message_id"], evidence.places
    place = np.full(len(segments), NONE, np.int64)
    used = np.bincount(layers.codes, minlength=len(layers.words))
    for code in np.flatnonzero(used).tolist():
        rows = np.flatnonzero(layers.codes == code)
        place[rows] = places.at(layers.words[code], message[rows])
    stored = np.flatnonzero(layers.are(STORED.name))
    if evidence.awaited is not None and len(stored):
        following = next_messages(segments, stored)
        began = np.append(evidence.messages["publisher_callback_id"], NONE)[following]
        until = np.append(evidence.awaited.codes, NONE)[began]
        place[stored] = _said_after(place[stored], until, evidence.awaited, places)
    return place


def _said_after(place: Ints, code: Ints, column: Coded, places: LayerPlaces) -> Ints:
    """Return places with the words of a column after them; null words add nothing."""
    words = places.words.texts()

    def make(at: int, text: int) -> int:
        return at if text == NONE else places.words.number(words[at] + column.words[text])

    return paired(place, code, make)


def _behind(whole: _Columns, layers: Coded, evidence: Evidence) -> _Columns:
    """Split off what messages waited behind while they waited for their executor."""
    blockers, words = evidence.blockers, evidence.places.words
    waiting = np.flatnonzero(layers.are(*_WAITING))
    rows, of = joined(blockers["message_id"], whole.message[waiting])
    of = waiting[of]
    callback = blockers["callback_id"][rows]
    own = evidence.messages["callback_id"][whole.message[of]]
    itself = (own == callback) & (callback != NONE)
    take = blockers.words("work").are("take")[rows]
    keys, number = distinct(
        ((callback + 1) * 2 + take) * 2 + itself, 4 * (int(callback.max(initial=0)) + 2)
    )
    place = np.asarray([words.number(_blocker(key, evidence)) for key in keys.tolist()], np.int64)
    return whole.split(of, place[number], blockers["duration_ns"][rows])


def _blocker(key: int, evidence: Evidence) -> str:
    """Return the place of a wait behind a callback or the takes for it."""
    rest, itself = divmod(key, 2)
    callback, take = divmod(rest, 2)
    known = 0 < callback <= len(evidence.callbacks)
    described = evidence.callbacks.at(callback - 1) if known else None
    if described is None:
        described = OTHERS
    elif take:
        described = takes_of(described)
    return (ITSELF if itself else "behind ") + described


def _resent(whole: _Columns, layers: Coded, evidence: Evidence) -> _Columns:
    """Split off what of dds receive waited for fragments that were sent again."""
    resend_ns = evidence.messages["resend_ns"]
    received = np.flatnonzero(layers.are(DDS_RECEIVE.name))
    rows = received[resend_ns[whole.message[received]] != NONE]
    topic, words = evidence.messages.words("topic"), evidence.places.words
    named = [words.number(f"resends of {name}") for name in topic.words] if len(rows) else []
    message = whole.message[rows]
    place = np.asarray([*named, NONE], np.int64)[topic.codes[message]]
    return whole.split(rows, place, resend_ns[message])


def _held_up(whole: _Columns, segments: Rows, held_up: HeldUp, places: LayerPlaces) -> _Columns:
    """Split off what held the threads of layers up; a part's place is its words and the cause's."""
    layers = segments.words("layer")
    count = len(layers.words)
    of_parts = recoded(held_up.layer, layers.words)
    parts = np.flatnonzero(of_parts != NONE)
    keys = held_up.message[parts] * count + of_parts[parts]
    rows, of = joined(keys, thread_messages(segments) * count + layers.codes)
    rows = parts[rows]
    words = places.words.texts()

    def make(at: int, part: int) -> int:
        return places.words.number(f"{held_up.part.words[part]} in {words[at]}")

    place = paired(whole.place[of], held_up.part.codes[rows], make)
    return whole.split(of, place, held_up.duration_ns[rows], alone=False)


def _joined(parts: list[_Columns], layers: tuple[str, ...], places: LayerPlaces) -> Causes:
    there = [part for part in parts if len(part.duration_ns)] or parts[:1]
    columns = {field.name: _concatenated(there, field.name) for field in fields(_Columns)}
    layer, place = columns.pop("layer"), columns.pop("place")
    return Causes(layer=Coded(layer, layers), where=places.words.column(place), **columns)


def _concatenated(parts: list[_Columns], name: str) -> Any:
    columns = [getattr(part, name) for part in parts]
    if len(columns) == 1:
        return columns[0]
    if all(column.strides == (0,) and column[0] == columns[0][0] for column in columns):
        return np.broadcast_to(columns[0][0], sum(map(len, columns)))
    return np.concatenate(columns)
