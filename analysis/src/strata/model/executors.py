# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Executors: no event names them, what ran where tells.

An *executor* is a set of threads of one process: those with executor events that ran the same
callback belong to one, as a node is in one executor at a time. Threads that ran callbacks without
any executor event (EventsExecutor, pools of rclpy) are put together by the same rule, and said to
be without events.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from strata.engine._model import find_distinct
from strata.engine.groups import lower, raise_to, values_at
from strata.engine.tables import EngineTables
from strata.model.columns import NONE, Ints, Processes
from strata.model.entities import Callbacks
from strata.model.executions import Executions, Waits


@dataclass(frozen=True)
class Executors:
    """One row an executor.

    `process`: dense process. `threads`: how many. `of_thread` has
    one row a thread and `of_callback` one a callback: rows of executors; `NONE` for a thread or
    callback in none. `told`: it has executor events, or waits.
    """

    process: Ints
    threads: Ints
    told: np.ndarray[tuple[int], np.dtype[np.bool_]]
    of_thread: Ints
    of_callback: Ints

    def __len__(self) -> int:
        return len(self.process)

    def lane(self, thread: Ints) -> Ints:
        """Return what waits of threads are added up in: their executor, or else the thread."""
        return values_at(self.lanes, thread) if len(self.of_thread) else thread

    @property
    def lanes(self) -> Ints:
        """What waits of each thread are added up in."""
        alone = len(self) + np.arange(len(self.of_thread))
        return np.where(self.of_thread != NONE, self.of_thread, alone)


def find_executors(
    tables: EngineTables,
    processes: Processes,
    executions: Executions,
    waits: Waits,
    callbacks: Callbacks,
) -> Executors:
    """Group threads by what they ran. A callback is of the executor that ran it last."""
    count = len(processes.thread_process)
    told = np.zeros(count, bool)
    thread = tables.ints("executor_threads", "thread")
    told[thread[tables.rows["executor_threads"]["has_executor"] == 1]] = True
    told[waits.of_threads.count() > 0] = True
    pairs = _ran(executions, len(callbacks.address))
    label = _labels(pairs, told, count)
    distinct, number = np.unique(label[label != NONE], return_inverse=True)
    of_thread = np.full(count, NONE, np.int64)
    of_thread[label != NONE] = number
    of_callback = np.full(len(callbacks.address), NONE, np.int64)
    thread, callback = pairs
    of_callback[callback] = of_thread[thread]
    threads = np.bincount(number, minlength=len(distinct)).astype(np.int64)
    return Executors(
        processes.thread_process[distinct],
        threads,
        told[distinct],
        of_thread,
        of_callback,
    )


def _ran(executions: Executions, callbacks: int) -> tuple[Ints, Ints]:
    """The threads and the callbacks that they ran, each pair once, in the order of their last."""
    thread, callback = executions.thread, executions.callback
    width = callbacks + 1
    keys, _, number = find_distinct(thread * width + callback)
    last = np.zeros(len(keys), np.int64)
    raise_to(last, number, np.arange(len(thread), dtype=np.int64))
    keys = keys[np.argsort(last, kind="stable")]
    ran = keys % width != callbacks
    return keys[ran] // width, keys[ran] % width


def _labels(pairs: tuple[Ints, Ints], told: np.ndarray, count: int) -> Ints:
    """The least thread of each thread's executor; `NONE` for threads that are in none."""
    thread, ran = pairs
    # A thread with executor events and one without never share an executor's name.
    callback = np.unique(ran * 2 + told[thread], return_inverse=True)[1]
    label = np.where(told, np.arange(count), NONE).astype(np.int64)
    label[thread] = thread
    while len(thread):
        least = np.full(callback.max() + 1, count, np.int64)
        lower(least, callback, label[thread])
        after = label.copy()
        lower(after, thread, least[callback])
        if (after == label).all():
            break
        label = after
    return label
