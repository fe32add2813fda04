# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Slices of threads: waits for work, takes, callbacks, and the publishes in them, with flows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from strata.export.chosen import Chosen
from strata.export.perfetto.executor_waits import executor_waits
from strata.export.perfetto.lanes import Lanes, Slice
from strata.export.perfetto.layers import kept
from strata.export.perfetto.packets import Details, PacketWriter, Value
from strata.export.perfetto.processes import ProcessTracks, ThreadKey
from strata.export.perfetto.tracks import Tracks
from strata.schema.rows import NONE, Flags, Ints, Rows
from strata.stats.callbacks import describe
from strata.symbols import shorten_place
from strata.timeline.work import thread_keys
from strata.verdict.threads import ThreadNumbers

WAIT = "wait for work"
"""Name of the slices in which a thread of an executor had nothing to run."""

OVERLAPPING = "overlapping"
"""Name of a further track of a thread, for what does not nest with the rest."""


@dataclass(frozen=True)
class _Slices:
    """Slices of one kind as columns, in any order: a slice is made when it is written.

    `threads` are numbers in `keys`.
    """

    keys: Sequence[ThreadKey]
    threads: Ints
    begin_ns: Ints
    end_ns: Ints
    made: Callable[[int], Slice]
    """Makes a slice from its place in the columns."""


class ThreadSlices:
    """Writes what each thread did while something chosen was on its way."""

    def __init__(
        self, chosen: Chosen, packets: PacketWriter, tracks: Tracks, processes: ProcessTracks
    ) -> None:
        self._chosen, self._packets, self._tracks = chosen, packets, tracks
        self._processes = processes
        table = chosen.analysis.rows
        self._messages = table("messages")
        self._takes, self._publications = table("takes"), table("publications")
        self._of_publication, self._of_take = self._flows()
        executing = table("executor_threads")
        key = thread_keys(executing)
        # The last wait of a thread that then ended is not in its time.
        self._until = {key(row): int(executing["end_ns"][row]) for row in range(len(executing))}

    def _flows(self) -> tuple[dict[int, list[int]], dict[int, int]]:
        """Return the chosen messages (a flow each) of each publication and of each take.

        A message that was taken before it was published, by clocks that are not synchronised, has
        no flow: a flow leads forward in time.
        """
        messages = self._messages
        published, taken = _publish_times(self._publications), _take_times(self._takes)
        of_publication: dict[int, list[int]] = defaultdict(list)
        of_take: dict[int, int] = {}
        for row in self._chosen.messages.tolist():
            publication = int(messages["publication_id"][row])
            take = int(messages["take_id"][row])
            if published[0][publication] <= taken[0][take]:
                of_publication[publication].append(row)
                of_take[take] = row
        return of_publication, of_take

    def write(self) -> None:
        """Write all threads, one after the other."""
        kinds = [self._publishes(), self._taken(), self._callbacks(), self._waits()]
        keys = sorted({key for kind in kinds for key in kind.keys})
        number = {key: at for at, key in enumerate(keys)}
        numbers = [np.array([number[key] for key in kind.keys], np.int64) for kind in kinds]
        thread = np.concatenate(
            [own[kind.threads] for own, kind in zip(numbers, kinds, strict=True)]
        )
        sizes = [len(kind.threads) for kind in kinds]
        of_kind = np.repeat(np.arange(len(kinds)), sizes)
        place = np.concatenate([np.arange(size) for size in sizes])
        begin_ns = np.concatenate([kind.begin_ns for kind in kinds])
        end_ns = np.concatenate([kind.end_ns for kind in kinds])
        # Of equal begins the longest first, as lanes take them.
        order = np.lexsort((-end_ns, begin_ns, thread))
        edges = np.searchsorted(thread[order], np.arange(len(keys) + 1))
        for at, key in enumerate(keys):
            own = order[edges[at] : edges[at + 1]]
            if not len(own):
                continue
            places = zip(of_kind[own].tolist(), place[own].tolist(), strict=True)
            track = self._processes.thread(key)
            self._thread(track, (kinds[kind].made(row) for kind, row in places))

    def _thread(self, track: int, slices: Iterator[Slice]) -> None:
        Lanes(self._packets, lambda at: self._lane(track, at), nested=True).write(slices)

    def _lane(self, thread: int, at: int) -> int:
        if at == 0:
            return thread
        words = "Work that overlaps other work of this thread, such as a suspended coroutine."
        return self._tracks.lane(OVERLAPPING, words, thread, OVERLAPPING)

    def _rows(self, begin: Ints, end: Ints, wanted: Flags | None = None) -> Ints:
        shown = self._chosen.overlapping(begin, end)
        if wanted is not None:
            shown |= wanted
        return np.flatnonzero(shown)

    @staticmethod
    def _slices(
        table: Rows,
        rows: Ints,
        begin: Ints,
        end: Ints,
        named: Callable[[int], tuple[str, str, Details]],
    ) -> _Slices:
        """Return slices of a table's rows; `named` gives a row's name, category and details."""
        begin, end = begin[rows], end[rows]

        def made(at: int) -> Slice:
            return Slice(int(begin[at]), int(end[at]), *named(int(rows[at])))

        numbers, key = ThreadNumbers(table), thread_keys(table)
        keys = [key(row) for row in numbers.first.tolist()]
        return _Slices(keys, numbers.of_rows[rows], begin, end, made)

    def _callbacks(self) -> _Slices:
        rows, objects = self._chosen.analysis.rows("callback_instances"), self._objects()
        begin, end = rows["start_ns"], rows["until_ns"]
        ended, resumed = rows.there("end_ns"), rows["is_resumed"]

        def named(row: int) -> tuple[str, str, Details]:
            callback = int(rows["callback_id"][row])
            name, kind = objects.get(callback, ("(unknown)", "unknown"))
            notes: dict[str, Value | None] = {
                "instance_id": int(rows["instance_id"][row]),
                "kind": kind,
                "resumed": True if resumed[row] == 1 else None,
                "unfinished": None if ended[row] else "No end of this callback was recorded.",
            }
            return name, "callback", Details(kept(notes))

        return self._slices(rows, self._rows(begin, end), begin, end, named)

    def _waits(self) -> _Slices:
        details = Details({"waits for": "messages, timers, services or other work of its executor"})
        keys: list[ThreadKey] = []
        begins, ends = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        for thread, begin, end in executor_waits(self._chosen.analysis):
            end = np.minimum(end, self._until.get(thread, 0))
            own = begin < end
            begin, end = begin[own], end[own]
            rows = self._rows(begin, end)
            keys.append(thread)
            begins.append(begin[rows])
            ends.append(end[rows])
        threads = np.repeat(np.arange(len(keys)), [len(own) for own in begins[1:]])
        begin, end = np.concatenate(begins), np.concatenate(ends)

        def made(at: int) -> Slice:
            return Slice(int(begin[at]), int(end[at]), WAIT, "wait", details)

        return _Slices(keys, threads, begin, end, made)

    def _objects(self) -> dict[int, tuple[str, str]]:
        return {
            row["callback_id"]: (shorten_place(describe(row)), row["kind"])
            for row in self._chosen.analysis.rows("callback_objects").records()
        }

    def _publishes(self) -> _Slices:
        rows, topics = self._publications, _topics(self._chosen.analysis.rows("publishers"))
        begin, end = _publish_times(rows)

        def named(row: int) -> tuple[str, str, Details]:
            flows = self._of_publication.get(row, [])
            topic = topics.get(int(rows["publisher_id"][row])) or self._topic(flows)
            notes = kept({"topic": topic, "publication_id": row, "messages": len(flows)})
            details = Details(notes, flows=[one + 1 for one in flows])
            return f"publish {topic or '(unknown)'}", "publish", details

        shown = self._rows(begin, end, _are(len(rows), self._of_publication))
        return self._slices(rows, shown, begin, end, named)

    def _taken(self) -> _Slices:
        rows, topics = self._takes, _topics(self._chosen.analysis.rows("subscriptions"))
        begin, end = _take_times(rows)

        def named(row: int) -> tuple[str, str, Details]:
            message = self._of_take.get(row)
            flows = [] if message is None else [message]
            topic = topics.get(int(rows["subscription_id"][row])) or self._topic(flows)
            notes = {
                "topic": topic,
                "take_id": row,
                "message_id": message,
                "duplicate": True if rows["duplicate"][row] == 1 else None,
            }
            details = Details(kept(notes), ended_flows=[one + 1 for one in flows])
            return f"take {topic or '(unknown)'}", "take", details

        shown = self._rows(begin, end, _are(len(rows), self._of_take))
        return self._slices(rows, shown, begin, end, named)

    def _topic(self, messages: list[int]) -> str | None:
        return self._messages.words("topic").at(messages[0]) if messages else None


def _topics(rows: Rows) -> dict[int, str | None]:
    key = f"{rows.table.name[:-1]}_id"
    return {row[key]: row["topic"] for row in rows.records()}


def _are(count: int, rows: dict[int, list[int]] | dict[int, int]) -> Flags:
    out = np.zeros(count, bool)
    out[list(rows)] = True
    return out


def _publish_times(rows: Rows) -> tuple[Ints, Ints]:
    """Return begin and end of publishes: from the client library's call to the middleware's."""
    client, rmw = rows["client_ns"], rows["rmw_publish_ns"]
    begin = np.where(client != NONE, client, rmw)
    return begin, np.maximum(begin, rmw)


def _take_times(rows: Rows) -> tuple[Ints, Ints]:
    """Return begin and end of takes: from the executor's pick until the message was taken."""
    picked, rmw, dequeued = rows["picked_ns"], rows["rmw_take_ns"], rows["dequeue_ns"]
    end = np.maximum(np.maximum(picked, rmw), dequeued)
    begin = np.where(picked != NONE, picked, np.where(dequeued != NONE, dequeued, rmw))
    return begin, end
