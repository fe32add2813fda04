# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Takes of loaned messages, of which the middleware emits no rmw_take.

On the taking thread: [execute] -> take_begin -> take_end -> [callback_start]. A DDS take that took
something, and that no event of a take follows (rmw, rcl and rclcpp emit none), is of the
subscription that was picked just before; where none was, of that whose callback starts just after.
When both are known they are one. None reaches over a time in which events were lost, and none is
looked for in a trace without any rmw_take.

Without events of the middleware there is nothing of such a take but its callback: these are
counted.
"""

from __future__ import annotations

import numpy as np

from strata.model.columns import NONE, EventColumns, Ints
from strata.model.entities import Entities
from strata.model.executions import Executions
from strata.model.search import pick
from strata.model.timeline import EVENT_OF, Kind, Timeline
from strata.model.windows import Windows, touched
from strata.schema.quality import Ledger
from strata.schema.rclpy_events import RCLPY_IDS

_TAKES = (
    Kind.RMW_TAKE,
    Kind.TAKE_REQUEST,
    Kind.TAKE_RESPONSE,
    Kind.RCL_TAKE,
    Kind.RCLCPP_TAKE,
    Kind.DEQUEUE,
)
_WORK = (Kind.CALLBACK_START, Kind.CALLBACK_END, Kind.WAIT, Kind.READY, Kind.EXECUTE)
_STEPS = (*_TAKES, *_WORK)


def find_loaned_takes(
    events: EventColumns,
    timeline: Timeline,
    entities: Entities,
    executions: Executions,
    losses: Windows,
) -> tuple[Ints, Ints]:
    """Return the take_end of each take of a loaned message, ascending, and its subscription."""
    none = np.empty(0, np.int64)
    if not events.count(EVENT_OF[Kind.RMW_TAKE]):
        return none, none
    at = timeline.positions(Kind.TAKE_END)
    name, row = EVENT_OF[Kind.TAKE_END], timeline.row[at]
    some = (events.ints(name, "taken")[row] > 0) & (events.ints(name, "source_timestamp")[row] > 0)
    at = at[some]
    after = timeline.after(at, Kind.TAKE_BEGIN, *_STEPS)
    alone = np.isin(_kind(timeline, after), _WORK)
    at, after = at[alone], after[alone]
    before = timeline.before(at, *_STEPS)
    since = np.where(before != NONE, before, at)
    whole = ~touched(losses, timeline.ns[since], timeline.ns[after])
    picked = _picked(events, timeline, entities, before)
    started = _started(entities, executions, after)
    one = (picked == NONE) | (started == NONE) | (picked == started)
    subscription = np.where(picked != NONE, picked, started)
    own = whole & one & (subscription != NONE)
    return at[own], subscription[own]


def count_unseen_takes(
    events: EventColumns,
    timeline: Timeline,
    entities: Entities,
    executions: Executions,
    taken: Ints,
    losses: Windows,
    ledger: Ledger,
) -> None:
    """Count subscriptions' callbacks that no event of a take comes before.

    `taken` are the executions that the known takes started.
    """
    if not events.count(EVENT_OF[Kind.RMW_TAKE]):
        return
    subscription = pick(entities.callbacks.subscription, executions.callback)
    own = (subscription != NONE) & (executions.intra_process == 0)
    # rclpy borrows no messages: what starts without a take goes on with a suspended callback.
    address = pick(entities.callbacks.address, executions.callback)
    own &= ~executions.resumed & (address < RCLPY_IDS.start)
    own[taken[taken != NONE]] = False
    start = executions.start[own]
    before = timeline.before(start, *_STEPS)
    unseen = np.isin(_kind(timeline, before), _WORK)
    unseen &= ~touched(losses, timeline.ns_at(before), timeline.ns[start])
    ledger.add("unseen_takes", int(unseen.sum()))


def _kind(timeline: Timeline, at: Ints) -> Ints:
    return pick(timeline.kind.astype(np.int64), at)


def _picked(events: EventColumns, timeline: Timeline, entities: Entities, at: Ints) -> Ints:
    """The subscription that an executor picked at each position; `NONE` for anything else."""
    out = np.full(len(at), NONE, np.int64)
    execute = _kind(timeline, at) == Kind.EXECUTE
    own = at[execute]
    handle = events.ints(EVENT_OF[Kind.EXECUTE], "handle")[timeline.row[own]]
    process = events.processes.thread_process[timeline.thread[own]]
    out[execute] = entities.subscriptions.by_handle.find(process, handle, timeline.ns[own])
    return out


def _started(entities: Entities, executions: Executions, at: Ints) -> Ints:
    """The subscription whose callback starts at each position; `NONE` for anything else."""
    row = np.searchsorted(executions.start, at)
    known = row < len(executions)
    known[known] = executions.start[row[known]] == at[known]
    row = np.where(known, row, NONE)
    within = pick(executions.intra_process, row) == 1
    callback = pick(executions.callback, np.where(within, NONE, row))
    return pick(entities.callbacks.subscription, callback)
