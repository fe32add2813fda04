# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What fills executors: callbacks and takes, by how long they ran, and how busy the threads were.

Only outermost callbacks: what runs inside one (it spins) is part of it. A callback that never ended
counts until its thread did something else, or until its process was last seen
(strata.model.last_seen): an executor that hangs in it is full of it.

How busy it is, is judged over its traffic: of an executor that is idle for most of the trace, and
full while messages come, the whole trace would say little.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise

import numpy as np

from strata.engine._model import find_distinct
from strata.engine.groups import is_ascending, lower, ordered_by, raise_to, sums
from strata.schema import tables
from strata.schema.rows import NONE, Coded, Flags, Floats, Ints, Rows, at_rows, rows_where
from strata.stats.grouped import counts, distinct, found, joined
from strata.verdict.threads import ThreadNumbers

_CALLBACK, _TAKE = _WORK = ("callback", "take")
_ROWS = 1 << 16
"""So many rows are looked at at once."""


@dataclass(frozen=True)
class BusyShares:
    """What the threads of executors did, as fractions of their time; a row an executor id.

    `span_ns` is of the whole trace. `executing`, `waiting` and `busy` are of `traffic_ns`: from the
    first message that the executor took to the end of the last one's callback; without messages of
    the whole trace. `busy` is all but waiting for work or for the executor's mutex, and but
    `outside` (between two calls of spin_some or spin_all, of `span_ns`). NaN where waits were not
    recorded, and of no time.
    """

    executor_id: Ints
    threads: Ints
    span_ns: Floats
    traffic_ns: Floats
    executing: Floats
    waiting: Floats
    outside: Floats
    busy: Floats

    def of(self, name: str) -> Mapping[int, float]:
        """Return a column by executor id."""
        values: Floats = getattr(self, name)
        return dict(zip(self.executor_id.tolist(), values.tolist(), strict=True))


def busy_shares(threads: Rows) -> BusyShares:
    """Return what the threads of each executor did; `threads` is the table `executor_threads`."""
    ids = threads["executor_id"]
    executors, number = distinct(ids, int(ids.max(initial=0)) + 1)
    count = len(executors)

    def total(values: Ints) -> Floats:
        return sums(number, values, count).astype(np.float64)

    span_ns = threads["end_ns"] - threads["begin_ns"]
    waiting_ns = threads["waiting_ns"]
    outside_ns = _known(threads["outside_ns"])
    idle_ns = np.where(
        waiting_ns == NONE, NONE, waiting_ns + _known(threads["mutex_ns"]) + outside_ns
    )
    none = threads["traffic_begin_ns"] == NONE
    traffic_ns = np.where(none, span_ns, threads["traffic_end_ns"] - threads["traffic_begin_ns"])
    executing_ns = np.where(none, threads["executing_ns"], threads["traffic_executing_ns"])
    waited_ns = np.where(none, waiting_ns, threads["traffic_waiting_ns"])
    idle_ns = np.where(none, idle_ns, threads["traffic_idle_ns"])
    known = counts(number[waited_ns == NONE], count) == 0
    span, traffic = total(span_ns), total(traffic_ns)
    return BusyShares(
        executors,
        counts(number, count),
        span,
        traffic,
        _share(total(_known(executing_ns)), traffic),
        np.where(known, _share(total(_known(waited_ns)), traffic), np.nan),
        _share(total(outside_ns), span),
        1.0 - np.where(known, _share(total(_known(idle_ns)), traffic), np.nan),
    )


def _known(values: Ints) -> Ints:
    """Return values with 0 for null."""
    return np.where(values == NONE, 0, values)


def _share(part: Floats, whole: Floats) -> Floats:
    share = np.full(len(part), np.nan)
    np.divide(part, whole, out=share, where=whole > 0)
    return share


@dataclass(frozen=True)
class _Ran:
    """Callbacks and takes of executors: when each ran, and whether it never ended."""

    executor: Ints
    callback: Ints
    work: Ints
    start_ns: Ints
    until_ns: Ints
    unfinished: Flags

    def pieces(self) -> Iterator[_Ran]:
        """Go over the rows piece by piece: what is made of each then stays small."""
        names = [item.name for item in fields(self)]
        for begin in range(0, len(self.executor), _ROWS):
            own = slice(begin, begin + _ROWS)
            yield _Ran(*(getattr(self, name)[own] for name in names))

    def works(self, size: int) -> Ints:
        """Return a number for what each did: executor * size + callback, twice, and `work`."""
        return (self.executor * size + self.callback) * 2 + self.work


def executor_load(
    messages: Rows,
    executor_of: Ints,
    instances: Rows,
    objects: Rows,
    threads: Rows,
    blockers: Rows,
) -> Rows:
    """Return the table `executor_load`.

    `executor_of` is the executor of each of `messages` (strata.verdict.threads); the others are
    the tables `callback_instances`, `callback_objects`, `executor_threads` and
    `executor_blockers`.
    """
    ran = _callbacks(instances, threads)
    takes = _takes(messages, executor_of, ran)
    parts = [*ran.pieces(), *takes.pieces()]
    highest = max((int(part.callback.max()) for part in parts), default=0)
    size = max(len(objects), highest + 1) + 1
    pairs, count, duration, traffic, unfinished = _sums(parts, threads, size)
    waited_ns = _waited(blockers, executor_of, pairs, size)
    rest, of_work = np.divmod(pairs, 2)
    of_executor, of_callback = np.divmod(rest, size)
    shares = busy_shares(threads)
    at = np.searchsorted(shares.executor_id, of_executor)
    order = np.lexsort((of_callback, -duration, of_executor))
    row = found(objects["callback_id"], np.arange(len(objects)), of_callback, NONE)
    return Rows(
        tables.EXECUTOR_LOAD,
        {
            "executor_id": of_executor[order],
            "rank": _ranks(of_executor[order]),
            "work": Coded(of_work[order], _WORK),
            "callback_id": of_callback[order],
            "node": _of_rows(objects.words("node"), row[order]),
            "trigger": _of_rows(objects.words("trigger"), row[order]),
            "count": count[order],
            "duration_ns": duration[order],
            "share": (duration / np.maximum(shares.span_ns[at], 1))[order],
            "traffic_ns": traffic[order],
            "traffic_share": (traffic / np.maximum(shares.traffic_ns[at], 1))[order],
            "unfinished": unfinished[order],
            "waited_ns": waited_ns[order],
        },
    )


def _of_rows(column: Coded, rows: Ints) -> Coded:
    return Coded(np.append(column.codes, NONE)[rows], column.words)


def _ranks(executor: Ints) -> Ints:
    """Return the place of each row in its executor, from 1; executors come one after the other."""
    first = np.searchsorted(executor, executor, side="left")
    return np.arange(len(executor)) - first + 1


def _measured(parts: _Ran, threads: Rows) -> tuple[Ints, Ints, Ints]:
    """Return how long each ran, how much of it lies in its executor's traffic, and no end (1)."""
    ids = threads["executor_id"]
    count = max(int(ids.max(initial=0)), int(parts.executor.max(initial=0))) + 1
    far = np.iinfo(np.int64).max
    there = threads.there("traffic_begin_ns")
    begin, end = np.full(count, far), np.full(count, NONE)
    lower(begin, ids[there], threads["traffic_begin_ns"][there])
    raise_to(end, ids[there], threads["traffic_end_ns"][there])
    inside = np.minimum(parts.until_ns, end[parts.executor])
    inside = inside - np.maximum(parts.start_ns, np.minimum(begin[parts.executor], far))
    none = begin[parts.executor] == far
    traffic_ns = np.where(none, 0, np.maximum(inside, 0))
    return parts.until_ns - parts.start_ns, traffic_ns, parts.unfinished.astype(np.int64)


def _sums(parts: Sequence[_Ran], threads: Rows, size: int) -> list[Ints]:
    """Return the different works, ascending, how often each ran, and sums of what was measured."""
    columns: list[list[Ints]] = [[np.empty(0, np.int64)] for _ in range(5)]
    for part in parts:
        works, _, number = find_distinct(part.works(size))
        count = len(works)
        measured = (sums(number, values, count) for values in _measured(part, threads))
        found = (works, counts(number, count), *measured)
        for column, values in zip(columns, found, strict=True):
            column.append(values)
    works, *rest = (np.concatenate(column) for column in columns)
    pairs, number = np.unique(works, return_inverse=True)
    return [pairs, *(sums(number, values, len(pairs)) for values in rest)]


def _callbacks(instances: Rows, threads: Rows) -> _Ran:
    """Return what ran on the threads of executors, but for what ran inside of another."""
    numbers = ThreadNumbers(threads)
    thread = numbers.of(instances)
    start_ns, until_ns = instances["start_ns"], instances["until_ns"]
    rows = rows_where(thread != NONE)
    rows = rows[_by_thread(at_rows(thread, rows), at_rows(start_ns, rows), len(numbers))]
    inside = _inside(thread[rows], start_ns[rows], until_ns[rows])
    # In the order of the table, which is that of time.
    there = np.zeros(len(instances), bool)
    there[rows[~inside]] = True
    rows = rows_where(there)
    return _Ran(
        threads["executor_id"][numbers.first[at_rows(thread, rows)]],
        at_rows(instances["callback_id"], rows),
        np.full(len(rows), _WORK.index(_CALLBACK)),
        at_rows(start_ns, rows),
        at_rows(until_ns, rows),
        at_rows(instances["end_ns"], rows) == NONE,
    )


def _takes(messages: Rows, executor_of: Ints, ran: _Ran) -> _Ran:
    """Takes of messages from picked (else taken) to the start of their callback, one in `ran`."""
    start_ns, callback = messages["callback_start_ns"], messages["callback_id"]
    rows = rows_where((executor_of != NONE) & (callback != NONE) & (start_ns != NONE))
    taken_ns = at_rows(messages["rmw_take_ns"], rows)
    taken_ns = np.where(taken_ns == NONE, at_rows(messages["dequeue_ns"], rows), taken_ns)
    picked_ns = at_rows(messages["picked_ns"], rows)
    began_ns = np.where(picked_ns == NONE, taken_ns, picked_ns)
    executor, callback, start_ns = (
        at_rows(column, rows) for column in (executor_of, callback, start_ns)
    )
    own = rows_where(_have_run(ran, executor, callback, start_ns))
    return _Ran(
        at_rows(executor, own),
        at_rows(callback, own),
        np.full(len(own), _WORK.index(_TAKE)),
        at_rows(began_ns, own),
        at_rows(start_ns, own),
        np.zeros(len(own), bool),
    )


def _have_run(ran: _Ran, executor: Ints, callback: Ints, start_ns: Ints) -> Flags:
    """Return which callbacks of executors are in `ran`, by when they began."""
    if not len(ran.start_ns):
        return np.zeros(len(start_ns), bool)
    at = np.minimum(np.searchsorted(ran.start_ns, start_ns), len(ran.start_ns) - 1)
    at_once = ran.start_ns[at] == start_ns
    own: Flags = at_once & (ran.executor[at] == executor) & (ran.callback[at] == callback)
    # Others that begin at one instant are distinguished by what ran.
    rows = np.flatnonzero(at_once & ~own)
    at, of = joined(ran.start_ns, start_ns[rows])
    same = (ran.executor[at] == executor[rows][of]) & (ran.callback[at] == callback[rows][of])
    own[rows] = counts(of[same], len(rows)) > 0
    return own


def _by_thread(thread: Ints, start_ns: Ints, count: int) -> Ints:
    """Return rows by thread (of `count`), in order of time within each."""
    if is_ascending(start_ns):
        return ordered_by(thread, count)
    order = np.argsort(start_ns, kind="stable")
    return order[ordered_by(thread[order], count)]


def _inside(thread: Ints, start_ns: Ints, until_ns: Ints) -> Flags:
    """Flag what began before another of its thread had ended; rows are in order of `_by_thread`."""
    inside = np.zeros(len(thread), bool)
    bounds = np.flatnonzero(np.diff(thread, prepend=NONE, append=NONE))
    for begin, end in pairwise(bounds.tolist()):
        latest_ns = np.maximum.accumulate(until_ns[begin:end])
        inside[begin + 1 : end] = latest_ns[:-1] > start_ns[begin + 1 : end]
    return inside


def _waited(blockers: Rows, executor_of: Ints, pairs: Ints, size: int) -> Ints:
    """Return how long messages waited behind each callback or take of their executor.

    `pairs` number these: executor * size + callback, twice, and what kind of work.
    """
    executor = executor_of[blockers["message_id"]]
    callback, work = blockers["callback_id"], blockers.words("work").are(_TAKE)
    rows = np.flatnonzero((executor != NONE) & (callback != NONE) & (callback < size))
    if not len(rows) or not len(pairs):
        return np.zeros(len(pairs), np.int64)
    keys = (executor[rows] * size + callback[rows]) * 2 + work[rows]
    at = np.minimum(np.searchsorted(pairs, keys), len(pairs) - 1)
    there = pairs[at] == keys
    return sums(at[there], blockers["duration_ns"][rows][there], len(pairs))
