# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What took how long in a window: chains, hops, services and callbacks, or a layer of them.

The values are those of gates (strata.comparison.runs), but of what ended in the window only. Into
which layers they are cut is told by the window's whole trace, so that it does not change with the
few messages of a window.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from strata.comparison.gates.judge import cuts_named, is_matched
from strata.comparison.parts import Part, common_cut, part_of
from strata.comparison.runs import CALLBACK, CHAIN, HOP, SERVICE, Measured, Subject
from strata.comparison.sides import TRANSFER
from strata.guard.load import When
from strata.live.judged import Seen
from strata.live.windows import Window
from strata.schema.layers import BY_NAME, HOLD, LINK_HOLD, STORED
from strata.schema.rows import NONE, Coded, Flags, Ints, Rows
from strata.stats.callbacks import UNKNOWN, executions_of
from strata.stats.partition import partition
from strata.stats.transfers import End, Transfers, counted, layers_of

_HELD = (HOLD.name, STORED.name, LINK_HOLD.name)


@dataclass(frozen=True)
class Values:
    """Durations in ns, and when each ended in ns since the epoch: one row each.

    `place` is the node where a layer is; empty where it is of all, and of what is no layer.
    """

    subject: Subject
    place: str
    ns: Ints
    end_ns: Ints

    def take(self, rows: Ints | Flags) -> Values:
        """Return some rows."""
        return Values(self.subject, self.place, self.ns[rows], self.end_ns[rows])


@dataclass(frozen=True)
class _Whole:
    """All of one subject in the window's trace; `parts` cuts it."""

    values: Values
    parts: Callable[[], dict[Part, Ints]]


def within(window: Window, at_ns: Ints) -> Flags:
    """Tell which instants are in the part of a window that counts."""
    return np.asarray((at_ns > window.since_ns) & (at_ns <= window.until_ns))


def callback_subjects(objects: Rows) -> list[Subject]:
    """Return what each row of `callback_objects` is called."""
    columns = (objects.texts(name) for name in ("symbol", "trigger", "node"))
    return [
        Subject(
            CALLBACK,
            # An address is no name: it differs from run to run.
            symbol or "(unregistered)",
            (f"[{trigger}] " if trigger else "") + (f"({node})" if node else UNKNOWN),
        )
        for symbol, trigger, node in zip(*columns, strict=True)
    ]


class WindowValues:
    """Gives what conditions are held against; each table is gone through once."""

    def __init__(self, seen: Seen) -> None:
        self._window, self._made = seen.window, seen.made
        self._by_kind = {
            CHAIN: self._chains,
            HOP: self._hops,
            SERVICE: self._services,
            CALLBACK: self._callbacks,
        }
        self._wholes: dict[str, list[_Whole]] = {}

    def of(self, when: When) -> Iterator[Values]:
        """Yield what ended in the window of each subject; without those of which nothing did."""
        subject, name = when.condition.subject, when.kind
        name = TRANSFER if subject == TRANSFER else name
        if name not in self._wholes:
            make = self._transfers if name == TRANSFER else self._by_kind[name]
            self._wholes[name] = list(make())
        for whole in self._wholes[name]:
            if not is_matched(whole.values.subject, when.kind, when.pattern):
                continue
            plain = when.whole or subject == TRANSFER
            for values in [whole.values] if plain else _layers(whole, subject):
                own = within(self._window, values.end_ns)
                if own.any():
                    yield values.take(own)

    def _chains(self) -> Iterator[_Whole]:
        chains, instances = self._made["chains"], self._made["chain_instances"]
        names = zip(chains.texts("name"), chains.texts("nodes"), strict=True)
        subjects = [Subject(CHAIN, name, nodes) for name, nodes in names]
        ended = _reached(self._made["messages"], End.END)[instances["message_id"]]
        own = np.flatnonzero(ended)
        for subject, numbers in _by_subject(subjects, instances["chain_id"][own]):
            rows = own[numbers]
            values = Values(subject, "", instances["latency_ns"][rows], instances["end_ns"][rows])

            def parts(subject: Subject = subject, rows: Ints = rows) -> dict[Part, Ints]:
                return self._chain_parts(subject, rows)

            yield _Whole(values, parts)

    def _hops(self) -> Iterator[_Whole]:
        return self._messages(End.END)

    def _transfers(self) -> Iterator[_Whole]:
        return self._messages(End.START)

    def _messages(self, until: End) -> Iterator[_Whole]:
        transfers, messages = self._transfers_of_messages, self._made["messages"]
        latency_ns = transfers.latency_ns(until)
        own = np.flatnonzero(_reached(messages, until))
        names = ("topic", "publisher_node", "subscription_node")
        topic, publisher, subscription = (messages.words(name) for name in names)
        for _, numbers in partition(transfers.hop_id[own]):
            rows, first = own[numbers], int(own[numbers[0]])
            where = f"{publisher.at(first)} -> {subscription.at(first)}"
            subject = Subject(HOP, str(topic.at(first)), where)
            ns = latency_ns[rows]

            def parts(rows: Ints = rows) -> dict[Part, Ints]:
                return _hop_parts(transfers, rows)

            yield _Whole(Values(subject, "", ns, transfers.begin_ns[rows] + ns), parts)

    def _services(self) -> Iterator[_Whole]:
        calls, services = self._made["service_calls"], self._made["services"]
        columns = (services.texts(name) for name in ("service", "client_node", "service_node"))
        names = zip(*columns, strict=True)
        subjects = [Subject(SERVICE, name, f"{client} -> {of}") for name, client, of in names]
        done = np.flatnonzero(calls["complete"] & ~calls["further"])
        ns, end_ns = calls["latency_ns"][done], (calls["begin_ns"] + calls["latency_ns"])[done]
        for subject, rows in _by_subject(subjects, calls["service_id"][done]):
            yield _Whole(Values(subject, "", ns[rows], end_ns[rows]), dict)

    def _callbacks(self) -> Iterator[_Whole]:
        runs, ran_ns = executions_of(self._made["callback_instances"])
        done = np.flatnonzero(ran_ns != NONE)
        ns, end_ns = ran_ns[done], runs["finished_ns"][done]
        subjects = callback_subjects(self._made["callback_objects"])
        for subject, rows in _by_subject(subjects, runs["callback_id"][done]):
            yield _Whole(Values(subject, "", ns[rows], end_ns[rows]), dict)

    @cached_property
    def _transfers_of_messages(self) -> Transfers:
        return Transfers(self._made["messages"])

    @cached_property
    def _segments(self) -> tuple[Rows, Coded, Flags]:
        """Segments of chains, the layer of each, and whether its reader's notification is known."""
        segments = self._made["chain_segments"]
        told = self._transfers_of_messages.notified[segments["message_id"]]
        return segments, segments.words("layer"), told

    def _chain_parts(self, subject: Subject, rows: Ints) -> dict[Part, Ints]:
        """Add up each layer over the hops; what a node held a message for stays the node's own."""
        segments, layers, told = self._segments
        nodes = subject.where.split(" -> ")
        place = np.full(len(self._made["chain_instances"]), NONE, np.int64)
        place[rows] = np.arange(len(rows))
        at = place[segments["chain_instance_id"]]
        own = np.flatnonzero(at != NONE)
        hop, notified, layer = segments["hop"][own], told[own], layers.codes[own]
        parts: dict[Part, Ints] = {}
        keys = (layer * (len(nodes) + 1) + hop) * 2 + notified
        for key, numbers in partition(keys):
            named, known = divmod(key, 2)
            name = layers.words[named // (len(nodes) + 1)]
            node = nodes[named % (len(nodes) + 1) + 1] if name in _HELD else ""
            part = part_of(BY_NAME[name], notified=bool(known), place=node)
            ns = parts.setdefault(part, np.full(len(rows), NONE, np.int64))
            found = own[numbers]
            ns[at[found]] = np.maximum(ns[at[found]], 0) + segments["duration_ns"][found]
        return parts


def _layers(whole: _Whole, layer: str) -> Iterator[Values]:
    """Yield a layer of a subject, at each node that has it, of the messages that have it."""
    values, parts = whole.values, whole.parts()
    counts = Measured(values.ns, parts).counts()
    total = len(values.ns)
    for cut in cuts_named(layer, common_cut(counts, counts, (total, total))):
        own = [parts[part] for part in sorted(cut.parts)]
        there = np.any([ns != NONE for ns in own], axis=0)
        ns = sum(np.maximum(ns, 0) for ns in own)
        yield Values(values.subject, cut.place, np.asarray(ns), values.end_ns).take(there)


def _hop_parts(transfers: Transfers, rows: Ints) -> dict[Part, Ints]:
    notified = transfers.notified[rows]
    parts: dict[Part, Ints] = {}
    for layer, ns in layers_of(transfers, rows):
        for told in (True, False):
            own = np.where(notified == told, ns, NONE)
            if (own != NONE).any():
                part = part_of(layer, notified=told)
                before = parts.get(part)
                parts[part] = own if before is None else np.maximum(before, own)
    return parts


def _reached(messages: Rows, until: End) -> Flags:
    """Flag the messages that statistics are over, but of hops where none got that far yet.

    The trace of a window ends while callbacks run; what has none at all has no callback events.
    """
    begun = np.zeros(int(messages["hop_id"].max(initial=NONE)) + 1, bool)
    begun[messages["hop_id"][messages.there("callback_start_ns")]] = True
    there = messages.there(f"{until.value}_ns")
    return np.asarray(counted(messages, until) & (there | ~begun[messages["hop_id"]]))


def _by_subject(subjects: list[Subject], ids: Ints) -> Iterator[tuple[Subject, Ints]]:
    """Yield each subject and the rows of its ids: several may have one name."""
    number = {subject: at for at, subject in enumerate(dict.fromkeys(subjects))}
    named = list(number)
    of_id = np.array([number[subject] for subject in subjects], np.int64)
    for at, rows in partition(of_id[ids]):
        yield named[at], rows
