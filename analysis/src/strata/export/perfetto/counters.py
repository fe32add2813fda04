# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Counters: messages that wait to be taken, losses, waits for a CPU, and load of executors."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from strata.export.chosen import Chosen
from strata.export.perfetto.packets import PacketWriter
from strata.export.perfetto.processes import ProcessTracks
from strata.export.perfetto.tracks import Tracks
from strata.schema.rows import NONE, Flags, Ints, first_known
from strata.verdict.threads import ThreadNumbers

WINDOW_NS = 100_000_000
"""The load of an executor's thread is shown over windows of this length."""


class Counters:
    """Writes the counters of hops and threads in the chosen time."""

    def __init__(
        self,
        chosen: Chosen,
        packets: PacketWriter,
        tracks: Tracks,
        processes: ProcessTracks,
        groups: dict[int, int],
    ) -> None:
        """Take the tracks of the hops that are shown, by their `hop_id`."""
        self._chosen, self._packets, self._tracks = chosen, packets, tracks
        self._processes, self._groups = processes, groups

    def write(self) -> None:
        """Write all counters."""
        self._waiting()
        self._losses()
        self._cpu_waits()
        self._load()

    def _waiting(self) -> None:
        """Messages of a hop that were published and not yet taken."""
        table = self._chosen.analysis.rows("messages")
        taken = first_known(
            *(table[name] for name in ("dequeue_ns", "rmw_take_ns", "picked_ns", "publish_ns"))
        )
        publish, hop = table["publish_ns"], table["hop_id"]
        # Between clocks that are not synchronised a message may be taken before its publish.
        taken = np.maximum(taken, publish)
        for number, group in self._groups.items():
            own = hop == number
            ns = np.concatenate([publish[own], taken[own]])
            change = np.repeat([1, -1], int(own.sum()))
            ns, depth = _running(ns, change)
            words = (
                "Messages that were published and that the node has not taken yet: in transit, or "
                "in the reader's queue. Messages that were lost are not counted."
            )
            track = self._tracks.counter("waiting to be taken", words, group, "messages")
            self._values(track, ns, depth, between=0)

    def _losses(self) -> None:
        """Messages lost so far, at the times that the table has: the last of each cause."""
        steps: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for row in self._chosen.analysis.rows("hop_losses").records():
            if row["outcome"] == "lost" and row["hop_id"] in self._groups:
                steps[row["hop_id"]].append((row["end_ns"], row["count"]))
        for number, own in steps.items():
            ns, total = _running(*np.array(sorted(own), np.int64).T)
            words = (
                "Messages lost so far. All that one cause lost are added when the last of them "
                "was published."
            )
            track = self._tracks.counter("lost", words, self._groups[number], "messages", rank=2)
            self._values(track, ns, total)

    def _cpu_waits(self) -> None:
        """How long the threads of each message waited for a CPU."""
        analysis = self._chosen.analysis
        messages = analysis.rows("messages")
        waited = np.full(len(messages), NONE, np.int64)
        for name, column in (("layer_cpu_waits", "about_ns"), ("layer_scheduling", "preempted_ns")):
            rows = analysis.rows(name)
            ids, amount = rows["message_id"], rows[column].astype(np.int64)
            # Kernel events, the second, are exact: they replace what samples estimate.
            waited[ids] = 0
            np.add.at(waited, ids, amount)
        chosen = self._chosen.messages
        chosen = chosen[waited[chosen] != NONE]
        words = (
            "How long the threads of a message had to wait for a CPU although they could run, at "
            "the start of the message: from kernel events, or estimated from samples."
        )
        for number, group in self._groups.items():
            own = chosen[messages["hop_id"][chosen] == number]
            if len(own):
                own = own[np.argsort(messages["begin_ns"][own], kind="stable")]
                track = self._tracks.counter("waited for a CPU", words, group, "ns", rank=3)
                for ns, value in zip(
                    messages["begin_ns"][own].tolist(), waited[own].tolist(), strict=True
                ):
                    self._packets.value(track, ns, value)

    def _load(self) -> None:
        """Share of each window in which an executor's thread ran callbacks."""
        rows = self._chosen.analysis.rows("callback_instances")
        threads = self._chosen.analysis.rows("executor_threads")
        number = ThreadNumbers(threads).of(rows)
        order = np.argsort(number, kind="stable")
        sorted_ = number[order]
        words = (
            f"Share of each {WINDOW_NS // 1_000_000} ms in which the thread ran callbacks, in "
            "percent: at 100 % what arrives has to wait."
        )
        firsts = ThreadNumbers(threads).first
        for at, row in enumerate(firsts.tolist()):
            own = order[np.searchsorted(sorted_, at) : np.searchsorted(sorted_, at + 1)]
            thread = threads.record(row)
            edges = np.arange(thread["begin_ns"], thread["end_ns"] + WINDOW_NS, WINDOW_NS)
            edges = edges[self._chosen.overlapping(edges, edges + WINDOW_NS)]
            if not len(own) or not len(edges):
                continue
            share = busy_shares(rows["start_ns"][own], rows["until_ns"][own], edges)
            parent = self._processes.thread((thread["host"], thread["vpid"], thread["vtid"]))
            track = self._tracks.counter("busy", words, parent, "%")
            until = edges + WINDOW_NS
            for at, (ns, value) in enumerate(zip(edges.tolist(), share.tolist(), strict=True)):
                self._packets.value(track, ns, float(value))
                if at + 1 == len(edges) or edges[at + 1] != until[at]:
                    self._packets.value(track, int(until[at]), 0.0)

    def _values(self, track: int, ns: Ints, values: Ints, between: int | None = None) -> None:
        """Write the values that a count takes from 0 on at these times, ascending.

        Each chosen interval begins with the value that the count has then. After it the count has
        the value `between`; null leaves the last one.
        """
        if self._chosen.choice.is_everything:
            # Times of a host whose clock is not synchronised may lie before the first event.
            if len(ns) and ns[0] > self._chosen.begin_ns:
                self._packets.value(track, self._chosen.begin_ns, 0)
            for at, value in zip(ns.tolist(), values.tolist(), strict=True):
                self._packets.value(track, at, value)
            return
        for begin, end in self._chosen.intervals.tolist():
            first, last = np.searchsorted(ns, [begin, end])
            if first == len(ns) or ns[first] != begin:
                self._packets.value(track, begin, int(values[first - 1]) if first else 0)
            for at, value in zip(ns[first:last].tolist(), values[first:last].tolist(), strict=True):
                self._packets.value(track, at, value)
            if between is not None:
                self._packets.value(track, end, between)


def busy_shares(begin: Ints, end: Ints, edges: Ints) -> Ints:
    """Return in percent how much of each window [edge, edge + WINDOW_NS) spans cover.

    Spans may be nested or overlap; covered twice counts once.
    """
    order = np.argsort(begin, kind="stable")
    begin, reached = begin[order], np.maximum.accumulate(end[order])
    begin = np.maximum(begin, np.concatenate([begin[:1], reached[:-1]]))
    length = np.maximum(reached - begin, 0)
    total = np.concatenate([[0], np.cumsum(length)])

    def until(ns: Ints) -> Ints:
        at = np.searchsorted(begin, ns, side="right")
        last = np.maximum(at - 1, 0)
        inside = np.minimum(np.maximum(ns - begin[last], 0), length[last])
        return np.where(at > 0, total[last] + inside, 0)

    return np.asarray((until(edges + WINDOW_NS) - until(edges)) * 100 / WINDOW_NS)


def _running(ns: Ints, change: Ints) -> tuple[Ints, Ints]:
    """Return the distinct times in order, and the sum of all changes until each, included."""
    order = np.argsort(ns, kind="stable")
    ns, total = ns[order], np.cumsum(change[order])
    last: Flags = np.r_[ns[1:] != ns[:-1], True] if len(ns) else np.zeros(0, bool)
    return ns[last], total[last]
