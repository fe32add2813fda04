# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Statistics and blame of what threads did within layers, where the trace has kernel events.

A layer of `chain_segments` is about one message; only hold is recorded with the message that was
published in it, which is the next one of its chain's instance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from strata.engine.groups import sums
from strata.schema import tables
from strata.schema.layers import EXECUTOR_WAIT, HOLD, OF_ONE_THREAD, WAKE_UP
from strata.schema.rows import NONE, Coded, Floats, Ints, Rows, Values
from strata.stats.grouped import (
    Ordered,
    counts,
    distinct,
    first_rows,
    found,
    joined,
    paired,
    ranks,
    recoded,
)
from strata.stats.segments import Segments

STATES = ("running", "preempted", "blocked", "unknown")

_BLAMED = tuple(layer.name for layer in OF_ONE_THREAD)
# A thread that waits for work is blocked by definition: that is what wake-up is. What blocks the
# callbacks that a message waits behind is in their own rows.
_NOT_BLOCKED = (WAKE_UP.name, EXECUTOR_WAIT.name)
_WORTH_NS = 50_000
"""Shorter waits of a message's layer are within what the estimate may be off."""
_ALMOST_ALL = 0.9
"""Part of a preemption from which on it is one thread's alone."""
_BLOCKED = "blocked"
_UNKNOWN, _IDLE = "preempted", "leaving idle"


@dataclass(frozen=True)
class HeldUp:
    """What held the threads of layers up, in words, for how long; `message` is as in `hold`."""

    message: Ints
    layer: Coded
    part: Coded
    duration_ns: Ints


@dataclass(frozen=True)
class CpuWaits:
    """For how long about the threads of layers waited for a CPU; `message` is as in `hold`."""

    message: Ints
    layer: Coded
    about_ns: Ints


def thread_messages(segments: Rows) -> Ints:
    """Return the message under which `layer_scheduling` has each segment; `NONE` for none."""
    held = np.flatnonzero(segments.words("layer").are(HOLD.name))
    if not len(held):
        return segments["message_id"]
    out = segments["message_id"].copy()
    out[held] = next_messages(segments, held)
    return out


def next_messages(segments: Rows, chosen: Ints) -> Ints:
    """Return, for the chosen segments, the message of the next hop of their instance, or `NONE`."""
    hop, message = segments["hop"], segments["message_id"]
    keys = segments["chain_instance_id"] * (int(hop.max(initial=0)) + 2) + hop
    return found(keys, message, keys[chosen] + 1, NONE)


def estimated_waits(scheduling: Rows, cpu_waits: Rows) -> CpuWaits:
    """Return waits for a CPU by samples, of 50 us or more.

    Only of layers that kernel events (`scheduling`) do not tell of.
    """
    layers, message = cpu_waits.words("layer"), cpu_waits["message_id"]
    count = len(layers.words) + 1
    of_events = scheduling["message_id"] * count + recoded(scheduling.words("layer"), layers.words)
    known = np.isin(message * count + layers.codes, of_events)
    rows = np.flatnonzero(~known & (cpu_waits["about_ns"] >= _WORTH_NS))
    return CpuWaits(message[rows], layers.take(rows), cpu_waits["about_ns"][rows])


def waited_for_cpu(segments: Rows, waits: CpuWaits) -> Ints:
    """Return for how long about the thread of each segment waited for a CPU, ns; 0 for unknown."""
    if not len(waits.message):
        return np.zeros(len(segments), np.int64)
    layers = segments.words("layer")
    count = len(layers.words)
    of_waits = recoded(waits.layer, layers.words)
    rows = np.flatnonzero(of_waits != NONE)
    keys = waits.message[rows] * count + of_waits[rows]
    return found(keys, waits.about_ns[rows], thread_messages(segments) * count + layers.codes, 0)


def held_up_by(scheduling: Rows, preemptions: Rows) -> HeldUp:
    """Return what held threads up; `scheduling` is `layer_scheduling`."""
    layers = scheduling.words("layer")
    asleep = layers.are(*(name for name in _BLAMED if name not in _NOT_BLOCKED))
    blocked = np.flatnonzero(asleep & (scheduling["blocked_ns"] > 0))
    longest, part, whole_ns = _by_the_longest(preemptions)
    words = (*part.words, _BLOCKED)
    taken = preemptions.words("layer")
    both = Coded.of([*layers.words, *taken.words])
    return HeldUp(
        np.concatenate([scheduling["message_id"][blocked], preemptions["message_id"][longest]]),
        Coded(
            np.concatenate(
                [
                    recoded(layers.take(blocked), both.words),
                    recoded(taken.take(longest), both.words),
                ]
            ),
            both.words,
        ),
        Coded(np.concatenate([np.full(len(blocked), len(part.words)), part.codes]), words),
        np.concatenate([scheduling["blocked_ns"][blocked], whole_ns]),
    )


def _by_the_longest(preemptions: Rows) -> tuple[Ints, Coded, Ints]:
    """Add up who preempted the thread of each layer; who ran longest meanwhile is named.

    Return the rows of those that ran longest, what they are called, and the sums.
    """
    layers = preemptions.words("layer")
    blamed = np.flatnonzero(layers.are(*_BLAMED))
    ns, tid = preemptions["duration_ns"][blamed], preemptions["tid"][blamed]
    count = len(layers.words) + 1
    keys = preemptions["message_id"][blamed] * count + layers.codes[blamed]
    bound = int(keys.max(initial=0)) + 1
    places, number = distinct(keys, bound)
    order = np.argsort(-ns, kind="stable")
    longest = order[first_rows(number[order], len(places))]
    whole_ns = sums(number, ns, len(places))
    alone = (ns[longest] >= _ALMOST_ALL * whole_ns) | (tid[longest] <= 0)
    names = preemptors(preemptions.take(blamed[longest]))
    others = Coded.of(f"{word} and others" for word in names.words)
    words = (*names.words, *others.words)
    codes = np.where(alone, names.codes, names.codes + len(names.words))
    return blamed[longest], Coded(codes, words), whole_ns


def preemptors(preemptions: Rows) -> Coded:
    """Say who had the CPU: "preempted by stress-ng (1234)", "leaving idle"."""
    comm, tid = preemptions.words("comm"), preemptions["tid"]
    words: dict[str, int] = {}

    def make(name: int, number: int) -> int:
        word = f"preempted by {comm.words[name]} ({number})"
        if number <= 0:
            word = _IDLE if number == 0 else _UNKNOWN
        return words.setdefault(word, len(words))

    return Coded(paired(comm.codes, tid, make), tuple(words))


def scheduling_table(
    chain_segments: Segments, layers: Rows, scheduling: Rows, preemptions: Rows
) -> Rows:
    """Return the table `chain_scheduling`; `layers` is `chain_layers`."""
    if not len(scheduling) or not len(layers):
        return Rows.none(tables.SCHEDULING_STATS)
    segments = chain_segments.all()
    of_layer = segments.words("layer")
    message = thread_messages(segments)
    keys = _keys(scheduling, of_layer.words)
    known, of = joined(keys, message * (len(of_layer.words) + 1) + of_layer.codes)
    positions = int(max(segments["position"].max(), layers["position"].max(initial=0))) + 1
    place = segments["chain_id"][of] * positions + segments["position"][of]
    # Only layers that the table of layers has; it has all that there are.
    of_places = layers["chain_id"] * positions + layers["position"]
    places, number = distinct(place, int(place.max(initial=0)) + 1)
    row = found(of_places, np.arange(len(layers), dtype=np.int64), places, NONE)
    size = counts(number, len(places))
    columns: dict[str, Values] = {"count": size}
    for state in STATES:
        values = scheduling[f"{state}_ns"][known]
        columns[f"{state}_mean_ns"] = sums(number, values, len(places)) / size
        columns[f"{state}_p99_ns"] = _quantile(Ordered(number, values, len(places)), 0.99)
    who = _who(number, of_layer, of, message, preemptions, len(places))
    columns["preempted_by"], columns["preempted_by_ns"] = who
    order = np.argsort(row, kind="stable")
    order = order[row[order] != NONE]
    named = {name: layers[name][row[order]] for name in ("chain_id", "position", "hop")}
    texts = {name: layers.words(name).take(row[order]) for name in ("layer", "where")}
    taken = {
        name: values.take(order) if isinstance(values, Coded) else values[order]
        for name, values in columns.items()
    }
    return Rows(tables.SCHEDULING_STATS, {**named, **texts, **taken})


def _keys(rows: Rows, words: tuple[str, ...]) -> Ints:
    """Number message and layer of rows by the numbers of words; `NONE` where it has no number."""
    layer = recoded(rows.words("layer"), words)
    return np.where(layer != NONE, rows["message_id"] * (len(words) + 1) + layer, NONE)


def _quantile(ordered: Ordered, fraction: float) -> Floats:
    """Return a quantile of each group, none of which is empty, rounded as published results are."""
    place = fraction * (ordered.sizes - 1)
    below = place.astype(np.int64)
    low, high = ordered.at(below), ordered.at(below + 1)
    return np.asarray(low + (high - low) * (place - below), np.float64)


def _who(
    number: Ints, layers: Coded, of: Ints, message: Ints, preemptions: Rows, count: int
) -> tuple[Coded, Ints]:
    """Return who preempted longest and for how long, by place of the chain; null for nobody."""
    names = preemptors(preemptions)
    keys = _keys(preemptions, layers.words)
    taken, at = joined(keys, (message * (len(layers.words) + 1) + layers.codes)[of])
    words = max(len(names.words), 1)
    pairs, pair = distinct(number[at] * words + names.codes[taken], count * words)
    ns = sums(pair, preemptions["duration_ns"][taken], len(pairs))
    place, name = np.divmod(pairs, words)
    # Of equals the first in the alphabet.
    order = np.lexsort((ranks(names.words)[name] if len(name) else name, -ns, place))
    longest = order[np.unique(place[order], return_index=True)[1]]
    who, whole_ns = np.full(count, NONE, np.int64), np.full(count, NONE, np.int64)
    who[place[longest]], whole_ns[place[longest]] = name[longest], ns[longest]
    return Coded(who, names.words), whole_ns
