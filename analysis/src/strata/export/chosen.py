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
from strata.schema.rows import NONE, Flags, Ints, Rows

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

    Rows of single messages are those that were chosen; statistics are always of the whole trace.
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

    def rows(self, name: str) -> Rows:
        """Return a declared table, of single messages and chain instances only the chosen rows.

        Raises KeyError for a table that is not declared.
        """
        rows = self.analysis.rows(name)
        if self.choice.is_everything:
            return rows
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
