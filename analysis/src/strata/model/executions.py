# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Executions of callbacks and waits of executors: intervals on a thread.

The engine pairs their events (native/model/executions.hpp).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from strata.engine._model import ThreadIntervals
from strata.engine.groups import values_at
from strata.engine.tables import EngineTables
from strata.model.columns import NONE, Ints
from strata.model.entities import Callbacks
from strata.model.numbers import Numbers, positions
from strata.model.when_asked import when_asked
from strata.schema.rows import are_all, nulls, row_numbers


@dataclass(frozen=True)
class Executions:
    """Executions of callbacks by thread and time; `end_ns` is `NONE` for one that never ended.

    `until` bounds an execution for asking what ran inside it: the position of its end, or for one
    without, of the next executor event or callback of its thread, or of its first event after
    others were lost. `until_ns` is when that was, or when the first was lost.

    A coroutine callback of rclpy has one row a piece that ran. `first` and `last` are the rows of
    the pieces of one execution, `finished_ns` the end of the whole, `paused_ns` how long it was
    suspended before the row's own piece; `resumed` marks pieces that go on with an execution,
    `previous` is the piece before or `NONE`. Of all others first and last are the row itself.
    """

    start: Ints
    until: Ints
    start_ns: Ints
    end_ns: Ints
    until_ns: Ints
    thread: Ints
    callback: Ints
    intra_process: Ints
    depth: Ints
    first: Ints
    last: Ints
    previous: Ints
    resumed: npt.NDArray[np.bool_]
    finished_ns: Ints
    paused_ns: Ints
    count: int

    def __len__(self) -> int:
        return self.count

    @property
    def suspended_ns(self) -> Ints:
        """How long the execution of each row was suspended in all."""
        return self._of_whole(self.paused_ns)

    @property
    def over_ns(self) -> Ints:
        """Until when the execution of each row is known to have gone on, suspensions included."""
        return self._of_whole(self.until_ns)

    def _of_whole(self, values: Ints) -> Ints:
        last = self.last
        return values if are_all(last, len(values)) else values_at(values, last)

    def innermost(self, at: Ints) -> Ints:
        """Return the innermost piece around each position; `NONE` outside of all."""
        best = np.full(len(at), NONE, np.int64)
        best_start = np.full(len(at), NONE, np.int64)
        for rows in self._disjoint():
            place = np.searchsorted(self.start[rows], at, side="left") - 1
            row = rows[np.maximum(place, 0)]
            inside = (place >= 0) & (self.until[row] > at) & (self.start[row] > best_start)
            best = np.where(inside, row, best)
            best_start = np.where(inside, self.start[row], best_start)
        return best

    def _disjoint(self) -> Iterator[Ints]:
        """Rows of which no two overlap, in order: those of one depth, unless they do not nest."""
        for level in np.unique(self.depth):
            rows = np.flatnonzero(self.depth == level)
            while len(rows):
                over = np.zeros(len(rows), bool)
                over[1:] = self.start[rows[1:]] < np.maximum.accumulate(self.until[rows])[:-1]
                yield rows[~over]
                rows = rows[over]


@dataclass(frozen=True)
class Waits:
    """Intervals in which a thread waited for work.

    `of_threads` has those of each thread; the columns have one row a wait, by thread and time.
    """

    of_threads: ThreadIntervals

    @cached_property
    def _columns(self) -> tuple[Ints, Ints, Ints]:
        return self.of_threads.columns()

    @property
    def thread(self) -> Ints:
        """The thread of each wait."""
        return self._columns[0]

    @property
    def start_ns(self) -> Ints:
        """When each wait began."""
        return self._columns[1]

    @property
    def end_ns(self) -> Ints:
        """When each wait ended."""
        return self._columns[2]


def callback_rows(tables: EngineTables, callbacks: Callbacks) -> Ints:
    """The model's row of each of the engine's callbacks; one more for null."""
    known = {
        key: row
        for row, key in enumerate(
            zip(
                callbacks.process.tolist(),
                callbacks.address.tolist(),
                callbacks.begin_ns.tolist(),
                range(len(callbacks.address)),
                strict=True,
            )
        )
    }
    order = sorted(known)
    own = list(
        zip(
            tables.ints("callbacks", "process").tolist(),
            tables.ints("callbacks", "address").tolist(),
            tables.ints("callbacks", "begin_ns").tolist(),
            range(tables.size("callbacks")),
            strict=True,
        )
    )
    out = np.full(len(own) + 1, NONE, np.int64)
    for mine, theirs in zip(sorted(own), order, strict=True):
        out[mine[3]] = known[theirs]
    return out


def find_executions(tables: EngineTables, numbers: Numbers, callback_of: Ints) -> Executions:
    """Return executions; `callback_of` is the model's row of each of the engine's callbacks."""
    size = tables.size("executions")
    whole = not tables.size("execution_pieces")

    def column(name: str) -> Callable[[], Ints]:
        return lambda: numbers.executions.of(tables.narrow("executions", name))

    def of_pieces(name: str, others: npt.NDArray[np.integer]) -> Ints:
        values = others.astype(np.int64)
        values[tables.rows["execution_pieces"]["piece"]] = tables.rows["execution_pieces"][name]
        return numbers.executions.of(values)

    def piece(name: str) -> Callable[[], Ints]:
        if whole:
            return lambda: row_numbers(size)
        return lambda: numbers.executions.numbers_of(of_pieces(name, row_numbers(size)))

    def position(name: str) -> Callable[[], Ints]:
        return lambda: positions(column("thread")(), column(name)())

    def intra_process() -> Ints:
        intra = column("is_intra_process")()
        return np.where(intra == 2, NONE, intra)

    def paused() -> Ints:
        none = np.broadcast_to(np.int64(0), size)
        return none if whole else of_pieces("paused_ns", none)

    def previous() -> Ints:
        if whole:
            return nulls(size)
        return numbers.executions.numbers_of(of_pieces("previous", nulls(size)))

    def finished() -> Ints:
        return of_pieces("finished_ns", tables.rows["executions"]["end_ns"])

    times = ("start_ns", "end_ns", "until_ns")
    return when_asked(
        Executions,
        {
            **{name: column(name) for name in (*times, "thread", "depth")},
            "start": position("start_at"),
            "until": position("until_at"),
            "callback": lambda: values_at(callback_of, column("callback")()),
            "intra_process": intra_process,
            "first": piece("first"),
            "last": piece("last"),
            "finished_ns": "end_ns" if whole else finished,
            "paused_ns": paused,
            "count": lambda: size,
            "previous": previous,
            "resumed": lambda: numbers.executions.flags(
                tables.rows["executions"]["is_resumed"] == 1
            ),
        },
    )


def find_waits(tables: EngineTables) -> Waits:
    """Return the waits of executors' threads."""
    return Waits(tables.engine.waits(tables.thread_order))
