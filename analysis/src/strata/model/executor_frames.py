# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The executors and what each of their threads did, as declared tables.

From the first to the last event of its executor or callbacks each instant of a thread is one of

* *executing*: inside an outermost callback; one that has no end, as strata.model.last_seen says;
* *waiting*: from wait_for_work to get_next_ready, outside of callbacks; a wait that is still open
  when the trace ends goes on to the last event of the host, and so does the thread's time. A thread
  that executes and never looks for work itself (of the pool of rclpy's MultiThreadedExecutor) waits
  for what it is handed: from the end of one thing to the next;
* *mutex*, of multi-threaded executors: before a get_next_ready that ends no wait, back to the event
  before it. rclcpp looks for work with its executor's mutex held, so this is the wait for the
  mutex: another thread has it while it waits for work;
* *ready*: the rest. The thread had come back with work: it takes messages, picks what is next. Of a
  program that spins now and then, what it does between two spins is here too. As far as these are
  spin_some or spin_all it is known, as *outside*: both begin with a wait of no time (rclcpp's
  executor.cpp), so the thread was elsewhere from the event before that.

The same is told of the *traffic* of an executor: from the publish of the first message of the
application that its threads took (on a host with another clock: from its pick) to the end of the
callback of the last. An executor that took no message, and requests of services, has the traffic of
these: from the take of the first to the end of the callback of the last.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from strata.engine._model import ThreadIntervals, find_distinct
from strata.engine.groups import lower, raise_to, values_at
from strata.model.build import Model
from strata.model.columns import NONE, Ints
from strata.model.cpu_use import thread_cpu_use
from strata.model.entities import take
from strata.model.facts import ExecutorTimes, Intervals
from strata.model.frames import place
from strata.model.last_seen import ran_until
from strata.model.search import column_at, known_or, pick
from strata.schema import tables
from strata.schema.events import INTERNAL_TOPICS
from strata.schema.rows import Coded, Rows, row_numbers, rows_where

SINGLE, MULTI, SILENT = "single-threaded", "multi-threaded", "without events"


def executors_rows(model: Model) -> Rows:
    """Return the table `executors`."""
    executors = model.executors
    kind = np.where(executors.threads > 1, MULTI, SINGLE)
    executor, callback = _ran(model)
    return Rows(
        tables.EXECUTORS,
        {
            "executor_id": np.arange(len(executors)),
            **place(model, executors.process),
            "kind": np.where(executors.told, kind, SILENT),
            "threads": executors.threads,
            "nodes": Coded.of(_nodes(model, executor, callback)),
            "callbacks": np.bincount(executor, minlength=len(executors)),
        },
    )


def _ran(model: Model) -> tuple[Ints, Ints]:
    """Return which callbacks each executor ran: each pair once, in the order of their begin."""
    executions = model.executions
    known = executions.callback != NONE
    executor = model.executors.of_thread[executions.thread[known]]
    callback = executions.callback[known]
    pairs = executor * len(model.entities.callbacks.address) + callback
    first = np.sort(find_distinct(pairs)[1])
    return executor[first], callback[first]


def _nodes(model: Model, executor: Ints, callback: Ints) -> list[str]:
    """Return the names of the nodes whose callbacks each executor ran, joined."""
    names = take(model.entities.nodes.name, model.entities.callbacks.node[callback], None)
    out: list[dict[str, None]] = [{} for _ in range(len(model.executors))]
    for number, name in zip(executor.tolist(), names, strict=True):
        if name is not None:
            out[number][name] = None
    return [", ".join(found) for found in out]


def executor_threads_rows(model: Model, within: tuple[int, int] | None = None) -> Rows:
    """Return the table `executor_threads`: a row a thread that is in an executor.

    `within`: only what was done between these instants, ns since the epoch; null: all.
    """
    executors, processes = model.executors, model.processes
    threads = np.flatnonzero(executors.of_thread != NONE)
    executions, count = model.executions, len(executors.of_thread)
    until_ns = ran_until(model)
    times = model.facts.executor_times()
    did = _done(model, times, until_ns)
    begin_ns, end_ns = _spans(model, times, threads, until_ns, did.waiting)
    outer = executions.depth == 1
    if within is not None:
        begin_ns = np.clip(begin_ns, *within)
        end_ns = np.clip(end_ns, begin_ns, within[1])
        outer &= (executions.start_ns > within[0]) & (executions.start_ns <= within[1])
    runs = np.bincount(executions.thread[outer], minlength=count)
    told = executors.told[executors.of_thread[threads]]
    several = told & (executors.threads[executors.of_thread[threads]] > 1)
    spans = None if within is None else _of_threads(count, threads, begin_ns, end_ns)
    executing, waiting, outside = (
        _total(parts, spans)[threads] for parts in (did.executing, did.waiting, did.outside)
    )
    mutex = np.where(several, _total(did.mutex, spans)[threads], 0)
    ready = end_ns - begin_ns - executing - waiting - mutex
    return Rows(
        tables.EXECUTOR_THREADS,
        {
            "executor_id": executors.of_thread[threads],
            **place(model, processes.thread_process[threads]),
            "vtid": processes.thread_vtid[threads],
            "begin_ns": begin_ns,
            "end_ns": end_ns,
            "executions": runs[threads],
            "executing_ns": executing,
            "waiting_ns": np.where(told, waiting, NONE),
            "mutex_ns": np.where(several, mutex, NONE),
            "ready_ns": np.where(told, ready, NONE),
            "outside_ns": np.where(told, outside, NONE),
            **_in_traffic(model, did, threads, (begin_ns, end_ns), until_ns),
            **thread_cpu_use(model, threads, begin_ns, end_ns).columns,
        },
    )


Parts = tuple[Intervals | ThreadIntervals, ...]
"""Intervals of which no two overlap on one thread."""


@dataclass(frozen=True)
class _Done:
    """What threads did; `mutex` is of multi-threaded executors only, `outside` part of ready."""

    executing: Parts
    waiting: Parts
    mutex: Parts
    outside: Parts


def _total(parts: Parts, spans: tuple[Ints, Ints] | None = None) -> Ints:
    """Return the sum of each thread; `spans`: of what lies between two instants of it."""
    if spans is not None:
        return _total_within(parts, *spans)
    return np.asarray(sum(part.total() for part in parts), np.int64)


def _of_threads(count: int, threads: Ints, begin_ns: Ints, end_ns: Ints) -> tuple[Ints, Ints]:
    """Return the bounds of some of `count` threads; of the others nothing."""
    begins, ends = np.zeros(count, np.int64), np.zeros(count, np.int64)
    begins[threads], ends[threads] = begin_ns, end_ns
    return begins, ends


def _total_within(parts: Parts, begin_ns: Ints, end_ns: Ints) -> Ints:
    return np.asarray(sum(part.total_within(begin_ns, end_ns) for part in parts), np.int64)


def _done(model: Model, times: ExecutorTimes, until_ns: Ints) -> _Done:
    executions = model.executions
    outer = rows_where(executions.depth == 1)
    thread, start_ns = column_at(executions.thread, outer), column_at(executions.start_ns, outer)
    executing = Intervals(
        len(model.executors.of_thread), thread, start_ns, column_at(until_ns, outer)
    )
    # One that spins waits inside of a callback.
    waiting = model.waits.of_threads.outside(
        thread, start_ns, column_at(executions.until_ns, outer)
    )
    return _Done((executing,), (waiting, times.open, times.handed), (times.looks,), (times.spins,))


def _in_traffic(
    model: Model, did: _Done, threads: Ints, spans: tuple[Ints, Ints], until_ns: Ints
) -> dict[str, Ints]:
    """The columns of what each thread did in the traffic of its executor."""
    executors, count = model.executors, len(model.executors.of_thread)
    first_ns, last_ns = _traffic(model, until_ns)
    own = executors.of_thread[threads]
    some = first_ns[own] <= last_ns[own]
    begin_ns = np.maximum(np.where(some, first_ns[own], 0), spans[0])
    end_ns = np.maximum(np.minimum(np.where(some, last_ns[own], 0), spans[1]), begin_ns)
    bounds = _of_threads(count, threads, begin_ns, end_ns)
    executing, waiting, mutex, outside = (
        _total_within(parts, *bounds)[threads]
        for parts in (did.executing, did.waiting, did.mutex, did.outside)
    )
    told = some & executors.told[own]
    idle = waiting + outside + np.where(executors.threads[own] > 1, mutex, 0)
    return {
        "traffic_begin_ns": np.where(some, begin_ns, NONE),
        "traffic_end_ns": np.where(some, end_ns, NONE),
        "traffic_executing_ns": np.where(some, executing, NONE),
        "traffic_waiting_ns": np.where(told, waiting, NONE),
        "traffic_idle_ns": np.where(told, idle, NONE),
    }


def _traffic(model: Model, until_ns: Ints) -> tuple[Ints, Ints]:
    """When each executor's first message was published, and the last one's callback had ended."""
    matches, takes, executors = model.matches, model.takes, model.executors
    topics = np.append(model.entities.publishers.topic, [""])
    publisher = column_at(model.publications.publisher, matches.publication)
    executor = values_at(executors.of_thread, column_at(takes.thread, matches.take))
    internal = np.isin(topics, [*INTERNAL_TOPICS])
    own = np.flatnonzero(~internal[publisher] & (executor != NONE))
    if len(own) == len(matches.take):
        own = row_numbers(len(own))
    taken, executor = column_at(matches.take, own), column_at(executor, own)
    picked_ns, taken_ns = column_at(takes.picked_ns, taken), column_at(takes.taken_ns, taken)
    begin_ns = known_or(picked_ns, taken_ns)
    sent_ns = column_at(model.publications.begin_ns, column_at(matches.publication, own))
    begin_ns = np.where(model.unsynchronised[own], begin_ns, np.minimum(sent_ns, begin_ns))
    ended = pick(until_ns, pick(model.executions.last, column_at(takes.execution, taken)))
    first_ns = np.full(len(executors), np.iinfo(np.int64).max)
    last_ns = np.full(len(executors), NONE, np.int64)
    lower(first_ns, executor, begin_ns)
    raise_to(last_ns, executor, np.maximum(taken_ns, ended))
    _add_requests(model, until_ns, first_ns, last_ns)
    return first_ns, last_ns


def _add_requests(model: Model, until_ns: Ints, first_ns: Ints, last_ns: Ints) -> None:
    """Put in the traffic of executors that took requests and no message."""
    exchange = model.service_traffic.exchange
    taken, without = exchange.taken_requests, first_ns > last_ns
    executor = values_at(model.executors.of_thread, taken.thread)
    own = np.flatnonzero(executor != NONE)
    own = own[without[executor[own]]]
    lower(first_ns, executor[own], taken.ns[own])
    raise_to(last_ns, executor[own], taken.ns[own])
    raise_to(last_ns, executor[own], pick(until_ns, exchange.execution[own]))


def _spans(
    model: Model, times: ExecutorTimes, threads: Ints, until_ns: Ints, waiting: Parts
) -> tuple[Ints, Ints]:
    """From when to when each thread was seen at work or waiting.

    Its first and last event; a wait may have begun before the first, and a callback that has no end
    may have run on after the last.
    """
    count = len(model.executors.of_thread)
    executions, waits = model.executions, model.waits
    begin_ns, end_ns = np.full(count, np.iinfo(np.int64).max), np.zeros(count, np.int64)
    begin_ns[times.threads], end_ns[times.threads] = times.first_ns, times.last_ns
    first_ns = waits.of_threads.first()
    np.minimum(begin_ns, first_ns, out=begin_ns, where=first_ns != NONE)
    raise_to(end_ns, executions.thread, until_ns)
    for part in waiting:
        np.maximum(end_ns, part.last(), out=end_ns)
    return begin_ns[threads], end_ns[threads]
