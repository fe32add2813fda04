# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The layers of every matched message.

    publish    rmw_publish          reader notified  picked  rmw_take  cb_start    cb_end
       |client    |     middleware      |wake-up,      | take  | client  | callback |
       |publish   |(layers/middleware)  |executor wait |       | take    |          |
                  P                     N              E
    taking thread: ===cb X====|..wait......|==cb Y=====|

From the instant at which the message was ready for its reader (N) to the pick (E), time is divided
by what the thread that took it was doing at every instant:

* waiting for work (wait_for_work to get_next_ready): it had not come back yet -> *wake-up*;
* anything else -> *executor wait*: what it ran meanwhile is in `executor_blockers`.

Stock events do not show N. Then the same rule divides the time from rmw_publish (P): while the
thread waited for work nothing was ready for it, so the message was still with the middleware or on
the wire -> *middleware*; while it did anything else, it could not have taken the message however
early it came -> *executor wait*.

Where the thread has no waits in the trace (other executors, pool threads), the two are one merged
layer. All sums are exact: each instant of a message belongs to one layer.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from strata.layers.middleware import Passage, cut_middleware
from strata.model.build import Model
from strata.model.columns import NONE, Ints
from strata.model.executions import Executions, Waits
from strata.model.search import GroupedSearch
from strata.schema import layers as names
from strata.schema.quality import Ledger

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Transfers:
    """Checkpoints of the matched messages, in order of take; `NONE` is null.

    `durations` holds one array a layer column (strata.schema.layers), `NONE` where the layer is not
    in the row. `publication` and `take` are rows of the model's.
    """

    publication: Ints
    take: Ints
    method: Ints
    execution: Ints
    publish_ns: Ints
    rmw_publish_ns: Ints
    ready_ns: Ints
    picked_ns: Ints
    rmw_take_ns: Ints
    callback_start_ns: Ints
    callback_end_ns: Ints
    passage: Passage
    durations: dict[str, Ints]

    def __len__(self) -> int:
        return len(self.take)

    @property
    def latency_ns(self) -> Ints:
        """From publish to the last checkpoint."""
        return self.last_ns - self.publish_ns

    @property
    def last_ns(self) -> Ints:
        """The last checkpoint of each row."""
        return np.maximum(
            np.maximum(self.rmw_take_ns, self.callback_start_ns), self.callback_end_ns
        )


class WaitClock:
    """How long each thread had been waiting for work by a given instant."""

    def __init__(self, waits: Waits) -> None:
        self._search = GroupedSearch(waits.thread, waits.start_ns)
        self._start = waits.start_ns[self._search.order]
        self._end = waits.end_ns[self._search.order]
        total = np.cumsum(self._end - self._start)
        self._before = np.concatenate([[0], total]).astype(np.int64)

    def known(self, thread: Ints) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Tell for each thread whether any wait of it was recorded."""
        return self._search.begin(thread) < self._search.end(thread)

    def waited(self, thread: Ints, at_ns: Ints) -> Ints:
        """Return ns of waiting up to an instant, since a fixed one; use differences only."""
        begun = self._search.position(thread, at_ns, after_equal=True)
        if not len(self._end):
            return np.zeros(len(at_ns), np.int64)
        # The last wait that began may go on beyond the instant: take off what lies after it.
        own = begun > self._search.begin(thread)
        beyond = self._end[np.maximum(begun - 1, 0)] - at_ns
        return self._before[begun] - np.where(own, np.maximum(beyond, 0), 0)

    def last_return(self, thread: Ints, at_ns: Ints) -> Ints:
        """Return when the thread last came back from a wait, up to an instant; or `NONE`."""
        begun = self._search.position(thread, at_ns, after_equal=True)
        first = self._search.begin(thread)
        if not len(self._end):
            return np.full(len(at_ns), NONE, np.int64)
        ended = self._end[np.maximum(begun - 1, 0)] <= at_ns
        last = np.where(ended, begun - 1, begun - 2)
        return np.where(last >= first, self._end[np.maximum(last, 0)], NONE)


@dataclass(frozen=True)
class _Rest:
    """Checkpoints beside those of the middleware; `waiting` is ns, from `begin_ns` to the pick."""

    client_ns: Ints
    rmw_publish_ns: Ints
    begin_ns: Ints
    notified: Flags
    picked_ns: Ints
    rmw_take_ns: Ints
    start_ns: Ints
    end_ns: Ints
    waiting: Ints
    split: Flags


def cut_layers(model: Model, ledger: Ledger) -> Transfers:
    """Cut every matched message at its checkpoints; count in `ledger` what could not be cut."""
    passage = cut_middleware(model, ledger)
    publication, take = model.matches.publication, model.matches.take
    clock, thread = WaitClock(model.waits), model.takes.thread[take]
    rest = _rest(model, passage, clock)
    until = np.where(rest.picked_ns != NONE, rest.picked_ns, rest.rmw_take_ns)
    ready_ns = clock.last_return(thread, until)
    return Transfers(
        publication,
        take,
        model.matches.method,
        model.takes.execution[take],
        np.where(rest.client_ns != NONE, rest.client_ns, rest.rmw_publish_ns),
        rest.rmw_publish_ns,
        np.where(rest.split & (ready_ns >= rest.begin_ns), ready_ns, NONE),
        rest.picked_ns,
        rest.rmw_take_ns,
        rest.start_ns,
        rest.end_ns,
        passage,
        _durations(rest, passage),
    )


def _rest(model: Model, passage: Passage, clock: WaitClock) -> _Rest:
    publications, takes = model.publications, model.takes
    publication, take = model.matches.publication, model.matches.take
    rmw_publish_ns = publications.rmw_publish_ns[publication]
    notified = passage.notified_ns != NONE
    begin_ns = np.where(notified, passage.notified_ns, rmw_publish_ns)
    picked_ns, rmw_take_ns = takes.picked_ns[take], takes.rmw_take_ns[take]
    # Picked before it could be: the entity was ready for an older message of a full queue.
    picked_ns = np.where(picked_ns >= begin_ns, picked_ns, NONE)
    until = np.where(picked_ns != NONE, picked_ns, rmw_take_ns)
    thread, execution = takes.thread[take], takes.execution[take]
    ran = execution != NONE
    start_ns = np.full(len(take), NONE, np.int64)
    end_ns = np.full(len(take), NONE, np.int64)
    start_ns[ran] = model.executions.start_ns[execution[ran]]
    end_ns[ran] = model.executions.end_ns[execution[ran]]
    return _Rest(
        publications.client_ns[publication],
        rmw_publish_ns,
        begin_ns,
        notified,
        picked_ns,
        rmw_take_ns,
        start_ns,
        end_ns,
        clock.waited(thread, until) - clock.waited(thread, begin_ns),
        clock.known(thread),
    )


def _durations(rest: _Rest, passage: Passage) -> dict[str, Ints]:
    picked = rest.picked_ns != NONE
    until_picked = rest.picked_ns - rest.begin_ns
    until_take = rest.rmw_take_ns - rest.begin_ns
    ran, ended = rest.start_ns != NONE, rest.end_ns != NONE
    split, told = rest.split, rest.notified
    layers = [
        (names.CLIENT_PUBLISH, rest.client_ns != NONE, rest.rmw_publish_ns - rest.client_ns),
        (names.WAKE_UP, split & told, rest.waiting),
        (names.EXECUTOR_WAIT, split & picked, until_picked - rest.waiting),
        (names.WAKE_UP_EXECUTOR_WAIT, ~split & told & picked, until_picked),
        (names.MIDDLEWARE_EXECUTOR_WAIT, ~split & ~told & picked, until_picked),
        (names.TAKE, picked, rest.rmw_take_ns - rest.picked_ns),
        (names.EXECUTOR_WAIT_TAKE, split & ~picked, until_take - rest.waiting),
        (names.WAKE_UP_EXECUTOR_WAIT_TAKE, ~split & told & ~picked, until_take),
        (names.MIDDLEWARE_EXECUTOR_WAIT_TAKE, ~split & ~told & ~picked, until_take),
        (names.CLIENT_TAKE, ran, rest.start_ns - rest.rmw_take_ns),
        (names.CALLBACK, ran & ended, rest.end_ns - rest.start_ns),
    ]
    durations = {layer.column: np.where(there, ns, NONE) for layer, there, ns in layers}
    durations |= passage.durations
    stock = names.MIDDLEWARE.column
    durations[stock] = np.where(split & ~told, rest.waiting, durations[stock])
    return durations


@dataclass(frozen=True)
class Blockers:
    """What ran on the taking thread while messages waited: rows are (message, callback)."""

    message: Ints
    callback: Ints
    duration_ns: Ints


def find_blockers(model: Model, transfers: Transfers) -> Blockers:
    """Return the callbacks that ran on the taking thread before messages that waited were picked.

    From the instant at which the reader was notified; where it was not recorded, from rmw_publish.

    Only outermost executions: what runs inside one is part of it, but for the time in which the
    thread waited for work in there (a callback that spins), which is middleware's. Durations of one
    callback are added up for each message; they never exceed its executor wait.
    """
    clock = WaitClock(model.waits)
    executions = model.executions
    thread = model.takes.thread[transfers.take]
    notified_ns = transfers.passage.notified_ns
    begin = np.where(notified_ns != NONE, notified_ns, transfers.rmw_publish_ns)
    end = np.where(transfers.picked_ns != NONE, transfers.picked_ns, transfers.rmw_take_ns)
    outer = np.flatnonzero(executions.depth == 1)
    started = GroupedSearch(executions.thread[outer], executions.start_ns[outer])
    ended = GroupedSearch(executions.thread[outer], executions.until_ns[outer])
    # Outermost executions of a thread do not overlap: both searches share one order.
    first = ended.position(thread, begin, after_equal=True)
    last = started.position(thread, end, after_equal=False)
    count = np.maximum(last - first, 0)
    message = np.repeat(np.arange(len(transfers), dtype=np.int64), count)
    offset = np.arange(len(message)) - np.repeat(np.cumsum(count) - count, count)
    row = outer[started.order[np.repeat(first, count) + offset]]
    from_ns = np.maximum(executions.start_ns[row], begin[message])
    to_ns = np.minimum(executions.until_ns[row], end[message])
    on = thread[message]
    overlap = to_ns - from_ns - (clock.waited(on, to_ns) - clock.waited(on, from_ns))
    return _added_up(executions, message, row, overlap)


def _added_up(executions: Executions, message: Ints, row: Ints, overlap: Ints) -> Blockers:
    callback = executions.callback[row]
    pairs, inverse = np.unique(np.stack([message, callback]), axis=1, return_inverse=True)
    total = np.zeros(pairs.shape[1], np.int64)
    np.add.at(total, inverse.reshape(-1), overlap)
    return Blockers(pairs[0], pairs[1], total)
