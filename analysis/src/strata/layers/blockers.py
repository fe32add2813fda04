# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Which callbacks and takes a message waited behind, and for how long each.

A *take* is work of the executor, too: from when it picked a message until the callback begins, with
what lies in between, as the deserialization of an image. Where the pick was not recorded, it is
from the take's begin within the middleware, else from rmw_take.

A message may have waited behind two rows of callbacks (strata.layers.waiting): those of its own
callback group on other threads, and those of the thread that took it. Each row is a *lane* of
executions that do not overlap, with what each counts; of the second only the time that is neither
idle nor behind the first. So the durations never exceed the executor wait of the message.

A message in a backlog waits behind many executions of few callbacks: of those that lie wholly
within its wait, the sums of each callback are differences of running totals; of a thread with many
callbacks, those that ran longest are distinguished.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from strata.engine import _model as engine
from strata.layers.transfers import Transfers
from strata.model.build import Model
from strata.model.columns import NONE, Ints
from strata.model.search import column_at
from strata.schema.rows import rows_where


@dataclass(frozen=True)
class Blockers:
    """What ran while messages waited: rows are (message, callback, work), in that order.

    `callback` is `NONE` for work beside that of their thread that ran longest; `take` is 1 where a
    message was taken for the callback, 0 where it ran.
    """

    message: Ints
    callback: Ints
    take: Ints
    duration_ns: Ints


def find_blockers(model: Model, transfers: Transfers) -> Blockers:
    """Return the callbacks that ran before messages that waited were picked.

    From the instant at which the reader was notified; where it was not recorded, from rmw_publish
    (of intra-process messages, from the enqueue). Only outermost executions: what runs inside one
    is part of it, but for the time in which the thread waited for work in there.
    """
    waiting, executions, groups = transfers.waiting, model.executions, model.groups
    messages = (
        column_at(model.takes.thread, transfers.take),
        waiting.lane,
        waiting.group,
        transfers.waiting_from_ns,
        transfers.waiting_until_ns,
    )
    outer = rows_where(executions.depth == 1)
    work = (
        column_at(executions.thread, outer),
        column_at(executions.start_ns, outer),
        column_at(executions.until_ns, outer),
        column_at(executions.callback, outer),
        column_at(_took_ns(model), outer),
    )
    runs = (
        groups.group,
        groups.start_ns,
        groups.until_ns,
        executions.callback[groups.row],
    )
    clocks = model.clocks
    message, callback, is_take, duration_ns = engine.find_blockers(
        messages, work, runs, clocks.waits, clocks.running, clocks.both
    )
    return Blockers(message, callback, is_take, duration_ns)


def _took_ns(model: Model) -> Ints:
    """Since when the thread took what each execution was started for; or `NONE`."""
    takes = model.takes
    began_ns = np.where(takes.picked_ns != NONE, takes.picked_ns, model.middleware.reads.begin_ns)
    began_ns = np.where(began_ns != NONE, began_ns, takes.taken_ns)
    took = np.flatnonzero(takes.execution != NONE)
    out = np.full(len(model.executions), NONE, np.int64)
    out[takes.execution[took]] = began_ns[took]
    return out
