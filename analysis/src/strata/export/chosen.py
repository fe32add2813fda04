# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Which part of an analysis is exported: a chain, a stretch of time, the slowest messages.

Every format asks here, so that the same options choose the same messages in each of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from strata.analysis import Analysis
from strata.export.written import MAX_BYTES
from strata.schema.rows import NONE, Flags, Ints, Rows, first_known

MARGIN = 0.05
"""Part of a slowest message's latency that is shown of its threads before and after it."""


@dataclass(frozen=True)
class Choice:
    """What a user chose; null where nothing was.

    `chains` are `chain_id`s. Messages are chosen that were published from `begin_ns` until before
    `end_ns` (both ns since the epoch); of a chain, whose first message was. `slowest` leaves so
    many of each chosen chain, the slowest. `max_bytes` bounds the size of what is written.
    """

    chains: tuple[int, ...] | None = None
    begin_ns: int | None = None
    end_ns: int | None = None
    slowest: int | None = None
    max_bytes: int = MAX_BYTES

    @property
    def is_everything(self) -> bool:
        """Nothing was chosen, so everything is exported."""
        return (self.chains, self.begin_ns, self.end_ns, self.slowest) == (None,) * 4


class Chosen:
    """The part of an analysis that was chosen.

    Of what happens once (messages, publications, executions ...) only the chosen rows are there;
    entities and statistics are always those of the whole trace.
    """

    def __init__(self, analysis: Analysis, choice: Choice | None = None) -> None:
        """Take an analysis; its tables are read when they are needed."""
        self.analysis = analysis
        self.choice = choice if choice is not None else Choice()

    @property
    def begin_ns(self) -> int:
        """Begin of the time that was chosen; without one, the first event of the trace."""
        chosen = self.choice.begin_ns
        return self.analysis.trace.begin_ns if chosen is None else chosen

    @property
    def end_ns(self) -> int:
        """End of the time that was chosen, excluded; without one, after the trace's last event."""
        chosen = self.choice.end_ns
        return self.analysis.trace.end_ns + 1 if chosen is None else chosen

    @cached_property
    def instances(self) -> Ints:
        """Rows of `chain_instances` that were chosen, ascending."""
        rows = self.analysis.rows("chain_instances")
        begin, chain, choice = rows["begin_ns"], rows["chain_id"], self.choice
        wanted = (begin >= self.begin_ns) & (begin < self.end_ns)
        if choice.is_everything:
            wanted = np.ones(len(rows), bool)
        if choice.chains is not None:
            wanted &= np.isin(chain, choice.chains)
        if choice.slowest is not None:
            wanted &= self._among_slowest(wanted, chain, rows["latency_ns"], choice.slowest)
        return np.flatnonzero(wanted)

    @staticmethod
    def _among_slowest(wanted: Flags, chain: Ints, latency_ns: Ints, most: int) -> Flags:
        """Return which wanted rows are among the `most` slowest of their chain."""
        own = np.flatnonzero(wanted)
        ordered = own[np.lexsort((own, -latency_ns[own], chain[own]))]
        of = chain[ordered]
        first = np.r_[True, of[1:] != of[:-1]] if len(of) else np.zeros(0, bool)
        began = np.maximum.accumulate(np.where(first, np.arange(len(of)), 0))
        out = np.zeros(len(wanted), bool)
        out[ordered[np.arange(len(of)) - began < most]] = True
        return out

    @cached_property
    def segments(self) -> Ints:
        """Rows of `chain_segments` of the chosen instances, ascending."""
        rows = self.analysis.rows("chain_segments")
        return self._rows_with(rows["chain_instance_id"], self.instances, "chain_instances")

    @cached_property
    def messages(self) -> Ints:
        """Rows of `messages` that were chosen, ascending: their `message_id` is their row.

        With a chain or the slowest chosen, they are those along the chosen instances; otherwise all
        that were published in the chosen time, also those of no chain.
        """
        if self.choice.chains is None and self.choice.slowest is None:
            publish = self.analysis.rows("messages")["publish_ns"]
            if self.choice.is_everything:
                return np.arange(len(publish))
            return np.flatnonzero((publish >= self.begin_ns) & (publish < self.end_ns))
        along = self.analysis.rows("chain_segments")["message_id"][self.segments]
        return np.unique(along[along != NONE])

    @cached_property
    def intervals(self) -> Ints:
        """Times of which threads, executors and counters are shown: shape (n, 2), ns since the
        epoch, begin included and end excluded, ascending and apart from each other.

        One interval, the chosen time; with the slowest chosen, those of these messages with a
        margin.
        """
        if self.choice.slowest is None:
            return np.array([[self.begin_ns, self.end_ns]], np.int64)
        rows = self.analysis.rows("chain_instances").take(self.instances)
        margin = (rows["latency_ns"] * MARGIN).astype(np.int64)
        begin, end = rows["begin_ns"] - margin, rows["end_ns"] + margin + 1
        order = np.argsort(begin, kind="stable")
        begin, end = begin[order], np.maximum.accumulate(end[order])
        if not len(begin):
            return np.zeros((0, 2), np.int64)
        apart = np.r_[True, begin[1:] > end[:-1]]
        last = np.r_[np.flatnonzero(apart)[1:] - 1, len(begin) - 1]
        return np.stack([begin[apart], end[last]], axis=1)

    def overlapping(self, begin_ns: Ints, end_ns: Ints) -> Flags:
        """Return which spans [begin, end] overlap the chosen intervals; an instant has both equal.

        A span whose end is null (-1) lasts until the end of the trace.
        """
        if self.choice.is_everything:
            return np.ones(len(begin_ns), bool)
        until = np.where(end_ns == NONE, self.analysis.trace.end_ns, end_ns)
        spans = self.intervals
        if not len(spans):
            return np.zeros(len(begin_ns), bool)
        # The first interval that ends after the span begins is the only one to compare with.
        at = np.searchsorted(spans[:, 1], begin_ns, side="right")
        known = at < len(spans)
        return np.asarray(known & (spans[np.minimum(at, len(spans) - 1), 0] <= until))

    @property
    def by_message(self) -> bool:
        """Messages were chosen by their chain or latency, not by time alone."""
        return self.choice.chains is not None or self.choice.slowest is not None

    def during(self, ns: Ints) -> Flags:
        """Return which times (ns since the epoch) lie in the chosen intervals, null in none."""
        return np.asarray(self.overlapping(ns, ns) & (ns != NONE))

    @cached_property
    def publications(self) -> Flags:
        """Which rows of `publications` were chosen: those of chosen messages, and in a chosen time
        those that nobody took."""
        rows = self.analysis.rows("publications")
        return self._of_messages("publication_id", rows, ("client_ns", "rmw_publish_ns"))

    @cached_property
    def takes(self) -> Flags:
        """Which rows of `takes` were chosen: those of chosen messages, and in a chosen time those
        whose publication is unknown."""
        rows = self.analysis.rows("takes")
        return self._of_messages("take_id", rows, ("dequeue_ns", "rmw_take_ns"))

    @cached_property
    def frames(self) -> Flags:
        """Which rows of `driver_frames` were chosen: those of chosen messages, and in a chosen
        time those of which no message was made."""
        rows = self.analysis.rows("driver_frames")
        return self._of_messages("frame_id", rows, ("read_ns", "ready_ns", "arrival_ns"))

    def _of_messages(self, key: str, rows: Rows, times: tuple[str, ...]) -> Flags:
        of = self.analysis.rows("messages")[key]
        flags = np.isin(rows[key], of[self.messages])
        if not self.by_message:
            ns = first_known(*(rows[name] for name in times))
            flags |= self.during(ns) & ~np.isin(rows[key], of)
        return flags

    @cached_property
    def executions(self) -> Flags:
        """Which rows of `callback_instances` were chosen: those that chosen messages started, those
        that published them, and in a chosen time those that started in it."""
        rows = self.analysis.rows("callback_instances")
        messages = self.analysis.rows("messages").take(self.messages)
        around = [
            self.analysis.rows(table)["instance_id"][messages[column]]
            for table, column in (("takes", "take_id"), ("publications", "publication_id"))
        ]
        flags = np.isin(rows["instance_id"], np.concatenate(around))
        return flags if self.by_message else flags | self.during(rows["start_ns"])

    @cached_property
    def calls(self) -> Flags:
        """Which rows of `service_calls` were chosen: those that chosen executions made or served,
        or, where only a time was chosen, those that began in it."""
        rows = self.analysis.rows("service_calls")
        if not self.by_message:
            return self.during(rows["begin_ns"])
        return self._executed(rows["caller_instance_id"]) | self._executed(rows["instance_id"])

    def _executed(self, instance: Ints) -> Flags:
        chosen = self.analysis.rows("callback_instances")["instance_id"][self.executions]
        return np.asarray(np.isin(instance, chosen))

    def _wanted(self, name: str, rows: Rows) -> Flags | None:
        """Return which rows of a table were chosen; null for one that is exported whole."""
        match name:
            case "publications":
                return self.publications
            case "takes":
                return self.takes
            case "driver_frames":
                return self.frames
            case "callback_instances":
                return self.executions
            case "timer_fires":
                return self._executed(rows["instance_id"])
            case "service_calls":
                return self.calls
            case "action_goals":
                return np.asarray(self.calls[rows["goal_call_id"]])
            case "action_feedback":
                return np.asarray(self.publications[rows["publication_id"]])
            case "links":
                ends = [np.isin(rows[one], self.messages) for one in ("child_id", "parent_id")]
                return ends[0] & ends[1]
            case _:
                return None

    def rows(self, name: str) -> Rows:
        """Return a declared table, and of what happens once only the chosen rows.

        These tables are `messages` and all with a `message_id` or a `chain_instance_id`, and those
        of publications, takes, executions, timer fires, calls, goals, feedback, links and frames.
        Raises KeyError for a table that is not declared.
        """
        rows = self.analysis.rows(name)
        if self.choice.is_everything:
            return rows
        wanted = self._wanted(name, rows)
        if wanted is not None:
            return rows.take(np.flatnonzero(wanted))
        if "chain_instance_id" in rows:
            column = rows["chain_instance_id"]
            return rows.take(self._rows_with(column, self.instances, "chain_instances"))
        if "message_id" in rows:
            return rows.take(self._rows_with(rows["message_id"], self.messages, "messages"))
        return rows

    def _rows_with(self, column: Ints, chosen: Ints, of: str) -> Ints:
        known = np.zeros(len(self.analysis.rows(of)) + 1, bool)
        known[chosen] = True
        # Null is -1, which is the last of `known`: never chosen.
        return np.flatnonzero(known[column])
