# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The executors and what each of their threads did, as declared tables.

From the first to the last event of its executor or callbacks each instant of a thread is one of

* *executing*: inside an outermost callback;
* *waiting*: from wait_for_work to get_next_ready, outside of callbacks; a wait that is still open
  when the trace ends goes on to the last event of the host, and so does the thread's time;
* *mutex*, of multi-threaded executors: before a get_next_ready that ends no wait, back to the event
  before it. rclcpp looks for work with its executor's mutex held, so this is the wait for the
  mutex: another thread has it while it waits for work;
* *ready*: the rest. The thread had come back with work: it takes messages, picks what is next. Of a
  program that spins now and then, what it does between two spins is here too. As far as these are
  spin_some or spin_all it is known, as *outside*: both begin with a wait of no time (rclcpp's
  executor.cpp), so the thread was elsewhere from the event before that.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from strata.model.build import Model
from strata.model.columns import NONE, Ints
from strata.model.entities import take
from strata.model.executions import Waits, open_waits
from strata.model.frames import nullable
from strata.model.search import GroupedSearch, sums
from strata.model.timeline import EVENT_OF, Kind
from strata.schema import tables

SINGLE, MULTI, SILENT = "single-threaded", "multi-threaded", "without events"


def executors_frame(model: Model) -> pd.DataFrame:
    """Return the table `executors`."""
    executors, processes = model.executors, model.events.processes
    kind = np.where(executors.threads > 1, MULTI, SINGLE)
    ran = _ran(model)
    callbacks = np.bincount(ran["executor"], minlength=len(executors))
    return tables.EXECUTORS.frame(
        pd.DataFrame(
            {
                "executor_id": np.arange(len(executors)),
                "host": np.asarray(processes.host, object)[executors.process],
                "vpid": processes.vpid[executors.process],
                "kind": np.where(executors.told, kind, SILENT),
                "threads": executors.threads,
                "nodes": _nodes(model, ran),
                "callbacks": callbacks,
            }
        )
    )


def _ran(model: Model) -> pd.DataFrame:
    """Which callbacks each executor ran: a row a pair."""
    executions = model.executions
    frame = pd.DataFrame(
        {
            "executor": model.executors.of_thread[executions.thread],
            "callback": executions.callback,
        }
    )
    return frame[frame["callback"] != NONE].drop_duplicates()


def _nodes(model: Model, ran: pd.DataFrame) -> list[str]:
    """Names of the nodes whose callbacks each executor ran, joined."""
    node = model.entities.callbacks.node[ran["callback"]]
    names = take(model.entities.nodes.name, node, None)
    named = ran.assign(name=names).dropna(subset=["name"])[["executor", "name"]].drop_duplicates()
    joined = named.groupby("executor")["name"].agg(", ".join)
    return [str(joined.get(row, "")) for row in range(len(model.executors))]


def executor_threads_frame(model: Model) -> pd.DataFrame:
    """Return the table `executor_threads`: a row a thread that is in an executor."""
    executors, processes = model.executors, model.events.processes
    threads = np.flatnonzero(executors.of_thread != NONE)
    executions, count = model.executions, len(executors.of_thread)
    last = open_waits(model.timeline, _host_ends(model, count), model.losses)
    begin_ns, end_ns = _spans(model, threads, count)
    end_ns = np.maximum(end_ns, _latest(last, count)[threads])
    outer = executions.depth == 1
    executing = sums(
        executions.thread[outer], (executions.until_ns - executions.start_ns)[outer], count
    )
    runs = np.bincount(executions.thread[outer], minlength=count)
    waits = model.waits
    outside = ~_inside(model)
    waiting = sums(waits.thread[outside], (waits.end_ns - waits.start_ns)[outside], count)
    waiting += sums(last.thread, last.end_ns - last.start_ns, count)
    told = executors.told[executors.of_thread[threads]]
    several = told & (executors.threads[executors.of_thread[threads]] > 1)
    mutex = np.where(several, _mutex(model, count)[threads], 0)
    ready = end_ns - begin_ns - executing[threads] - waiting[threads] - mutex
    return tables.EXECUTOR_THREADS.frame(
        pd.DataFrame(
            {
                "executor_id": executors.of_thread[threads],
                "host": np.asarray(processes.host, object)[processes.thread_process[threads]],
                "vpid": processes.vpid[processes.thread_process[threads]],
                "vtid": processes.thread_vtid[threads],
                "begin_ns": begin_ns,
                "end_ns": end_ns,
                "executions": runs[threads],
                "executing_ns": executing[threads],
                "waiting_ns": nullable(np.where(told, waiting[threads], NONE)),
                "mutex_ns": nullable(np.where(several, mutex, NONE)),
                "ready_ns": nullable(np.where(told, ready, NONE)),
                "outside_ns": nullable(np.where(told, _outside(model, count)[threads], NONE)),
            }
        )
    )


def _spans(model: Model, threads: Ints, count: int) -> tuple[Ints, Ints]:
    """From when to when each thread was seen at work or waiting.

    Its first and last event; a wait may have begun before the first, and a callback that has no end
    may have run on after the last. The timeline is in order of thread and time.
    """
    at = model.timeline.positions(
        Kind.WAIT,
        Kind.READY,
        Kind.EXECUTE,
        Kind.CALLBACK_START,
        Kind.CALLBACK_END,
        Kind.WAIT_BEGIN,
        Kind.WAIT_END,
    )
    of_thread, ns = model.timeline.thread[at], model.timeline.ns[at]
    first = np.searchsorted(of_thread, threads, side="left")
    last = np.searchsorted(of_thread, threads, side="right") - 1
    executions, waits = model.executions, model.waits
    begin_ns, end_ns = np.full(count, np.iinfo(np.int64).max), np.zeros(count, np.int64)
    np.minimum.at(begin_ns, waits.thread, waits.start_ns)
    np.maximum.at(end_ns, executions.thread, executions.until_ns)
    return np.minimum(ns[first], begin_ns[threads]), np.maximum(ns[last], end_ns[threads])


def _host_ends(model: Model, count: int) -> Ints:
    """The last event of each thread's host, or when its process was another one already."""
    timeline, processes = model.timeline, model.events.processes
    host = np.unique(processes.host, return_inverse=True)[1][processes.thread_process]
    last = np.zeros(int(host.max(initial=0)) + 1, np.int64)
    np.maximum.at(last, host[timeline.thread], timeline.ns)
    ended = processes.end_ns[processes.thread_process]
    out = last[host]
    return np.where(ended != NONE, np.minimum(ended, out), out)[:count]


def _latest(waits: Waits, count: int) -> Ints:
    out = np.zeros(count, np.int64)
    np.maximum.at(out, waits.thread, waits.end_ns)
    return out


def _mutex(model: Model, count: int) -> Ints:
    """Sum of each thread's time before looks for work that end no wait, outside of callbacks."""
    timeline = model.timeline
    at = timeline.positions(
        Kind.WAIT, Kind.READY, Kind.EXECUTE, Kind.CALLBACK_START, Kind.CALLBACK_END
    )
    kind, thread, ns = timeline.kind[at], timeline.thread[at], timeline.ns[at]
    look = (kind[1:] == Kind.READY) & (kind[:-1] != Kind.WAIT) & (thread[1:] == thread[:-1])
    look &= model.executions.enclosing(at[1:]) == NONE
    return sums(thread[1:][look], (ns[1:] - ns[:-1])[look], count)


def _outside(model: Model, count: int) -> Ints:
    """Sum of each thread's time before waits of no time, outside of callbacks."""
    timeline = model.timeline
    at = timeline.positions(
        Kind.WAIT, Kind.READY, Kind.EXECUTE, Kind.CALLBACK_START, Kind.CALLBACK_END
    )
    kind, thread, ns = timeline.kind[at], timeline.thread[at], timeline.ns[at]
    timeout = model.events.ints(EVENT_OF[Kind.WAIT], "timeout")
    begins = kind == Kind.WAIT
    begins[begins] = timeout[timeline.row[at[begins]]] == 0
    # Before a callback's start its take lies, and before its end the callback.
    spun = begins[1:] & (kind[:-1] != Kind.CALLBACK_START) & (kind[:-1] != Kind.EXECUTE)
    spun &= (thread[1:] == thread[:-1]) & (model.executions.enclosing(at[1:]) == NONE)
    return sums(thread[1:][spun], (ns[1:] - ns[:-1])[spun], count)


def _inside(model: Model) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Tell which waits lie inside a callback (one that spins)."""
    executions, waits = model.executions, model.waits
    outer = np.flatnonzero(executions.depth == 1)
    search = GroupedSearch(executions.thread[outer], executions.start_ns[outer])
    place = search.position(waits.thread, waits.start_ns, after_equal=True)
    known = place > search.begin(waits.thread)
    if not len(outer):
        return known
    until = executions.until_ns[outer[search.order[np.maximum(place - 1, 0)]]]
    return np.asarray(known & (until > waits.start_ns))
