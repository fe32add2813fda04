# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The states of threads from the scheduler's events: a state machine over whole columns.

A thread has the events *in* (a CPU goes to it: sched_switch, next_tid), *out* (the CPU is taken
from it: prev_tid; *runnable* when prev_state says that it could go on) and *wake* (sched_waking,
sched_wakeup, sched_wakeup_new). What follows an event, until the next:

    event          after          the thread is then
    in             anything       running
    out, runnable  running        preempted: it could run, and has no CPU
    out, else      running        blocked: it waits for something
    wake           blocked        preempted
    wake           running        running
    wake           preempted      preempted

* *Blocked* that no wake ends: where a wake came while the thread still ran, on its way out, it went
  back to the queue at once: preempted. Else it counts as blocked up to the *in*.
* A switch from idle that is missing (another thread leaves the CPU next, and was woken between
  the two) is put at that wake: a CPU that idles goes to a woken thread at once. Inferred, counted;
  early by the time of leaving idle, some ten microseconds.
* An *in* after which the CPU's next switch names another thread, or that the thread's next switch
  contradicts (another *in*, or an *out* on another CPU), and an *out* that another *out* follows:
  events were lost, the state is unknown up to the thread's next switch (from its wake on, where it
  was blocked and one was seen). Counted by CPU.
* Before its first switch: running when that is an *out*; else blocked up to a wake, and unknown
  where there was none; from the first event of the host's scheduler on. After its last event a
  state goes on to the last event of the host's scheduler.

Each instant between those two ends is in one interval of a thread that has events at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from strata.model.columns import NONE, Ints

Flags = npt.NDArray[np.bool_]


class State(IntEnum):
    """What a thread does."""

    RUNNING = 0
    PREEMPTED = 1
    BLOCKED = 2
    UNKNOWN = 3


class Event(IntEnum):
    """Kinds of events of a thread, in causal order at one instant; the last two are equal in it."""

    OUT_RUNNABLE = 0
    OUT_BLOCKED = 1
    WAKE = 2
    IN = 3
    IN_BROKEN = 4


@dataclass(frozen=True)
class Intervals:
    """Intervals of threads, by thread and time; those of a thread leave no gap.

    `cpu` is where it ran, or in whose queue it was; `NONE` when blocked or not known.
    """

    thread: Ints
    start_ns: Ints
    end_ns: Ints
    state: Ints
    cpu: Ints


@dataclass(frozen=True)
class ThreadEvents:
    """Events of threads by (thread, time); `cpu` is where, of a wake the CPU that it waits for."""

    thread: Ints
    ns: Ints
    kind: Ints
    cpu: Ints


def thread_intervals(events: ThreadEvents, first: Ints, last: Ints, host: Ints) -> Intervals:
    """Run the state machine of the module's text over whole columns."""
    if not len(events.thread):
        none = np.empty(0, np.int64)
        return Intervals(none, none, none, none, none)
    state, cpu = _states(events)
    begins = np.r_[True, events.thread[1:] != events.thread[:-1]]
    until = np.where(np.r_[begins[1:], True], last[host[events.thread]], np.r_[events.ns[1:], 0])
    at = np.flatnonzero(begins)
    before, cpu_before = _before_the_first(events, at)
    thread = np.concatenate([events.thread[at], events.thread])
    start = np.concatenate([first[host[events.thread[at]]], events.ns])
    end = np.concatenate([events.ns[at], until])
    states = np.concatenate([before, state])
    cpus = np.concatenate([cpu_before, cpu])
    kept = end > start
    order = np.lexsort((start[kept], thread[kept]))
    return Intervals(*(column[kept][order] for column in (thread, start, end, states, cpus)))


def _switch_at_or_before(events: ThreadEvents) -> Ints:
    place = np.where(events.kind == Event.WAKE, NONE, np.arange(len(events.kind)))
    found = np.maximum.accumulate(place)
    same = events.thread[np.maximum(found, 0)] == events.thread
    return np.where((found != NONE) & same, found, NONE)


def _switch_at_or_after(events: ThreadEvents) -> Ints:
    count = len(events.kind)
    place = np.where(events.kind == Event.WAKE, count, np.arange(count))
    found = np.minimum.accumulate(place[::-1])[::-1]
    same = events.thread[np.minimum(found, count - 1)] == events.thread
    return np.where((found != count) & same, found, NONE)


def _is_out(kind: Ints) -> Flags:
    return np.isin(kind, (Event.OUT_RUNNABLE, Event.OUT_BLOCKED))


def _before_the_first(events: ThreadEvents, at: Ints) -> tuple[Ints, Ints]:
    """State and CPU of threads before their first events, which are at `at`."""
    switch = _switch_at_or_after(events)[at]
    ran = (switch != NONE) & _is_out(events.kind[np.maximum(switch, 0)])
    state = np.where(events.kind[at] == Event.WAKE, State.BLOCKED, State.UNKNOWN)
    cpu = np.where(ran, events.cpu[np.maximum(switch, 0)], NONE)
    return np.where(ran, State.RUNNING, state).astype(np.int64), cpu


def _states(events: ThreadEvents) -> tuple[Ints, Ints]:
    """State and CPU after each event: its last switch decides, a wake only modifies."""
    kind, cpu = events.kind, events.cpu
    switch, following = _switch_at_or_before(events), _switch_at_or_after(events)
    decided = np.where(switch != NONE, kind[np.maximum(switch, 0)], NONE)
    first_is_out = (following != NONE) & _is_out(kind[np.maximum(following, 0)])
    state = np.full(len(kind), State.UNKNOWN, np.int64)
    state[decided == Event.IN] = State.RUNNING
    state[decided == Event.OUT_RUNNABLE] = State.PREEMPTED
    state[decided == Event.OUT_BLOCKED] = State.BLOCKED
    where = np.where(switch != NONE, cpu[np.maximum(switch, 0)], NONE)
    is_wake = kind == Event.WAKE
    started = is_wake & (decided == NONE) & first_is_out
    state[started] = State.RUNNING
    where[started] = cpu[following[started]]
    woken = is_wake & ((decided == Event.OUT_BLOCKED) | ((decided == NONE) & ~first_is_out))
    state[woken] = State.PREEMPTED
    where[woken] = cpu[woken]
    _woken_on_the_way_out(events, state, where)
    _contradicted(events, switch, state)
    where[(state == State.BLOCKED) | (state == State.UNKNOWN)] = NONE
    return state, where


def _woken_on_the_way_out(events: ThreadEvents, state: Ints, where: Ints) -> None:
    """Blocked that an *in* follows at once, after a wake during the run before: preempted."""
    kind, thread = events.kind, events.thread
    beside = thread[1:] == thread[:-1]
    follows = np.r_[(kind[1:] >= Event.IN) & beside, False]
    after_wake = np.r_[False, (kind[:-1] == Event.WAKE) & beside]
    race = (kind == Event.OUT_BLOCKED) & follows & after_wake
    state[race] = State.PREEMPTED
    where[race] = events.cpu[race]


def _contradicted(events: ThreadEvents, switch: Ints, state: Ints) -> None:
    """Make unknown what a thread's next switch shows to be wrong."""
    at = np.flatnonzero(events.kind != Event.WAKE)
    out = _is_out(events.kind[at])
    same = events.thread[at[1:]] == events.thread[at[:-1]]
    moved = ~out[:-1] & (events.cpu[at[:-1]] != events.cpu[at[1:]])
    wrong = np.zeros(len(events.kind), bool)
    wrong[at[:-1]] = same & ((out[:-1] == out[1:]) | moved)
    kind = events.kind
    woken_next = (kind[1:] == Event.WAKE) & (events.thread[1:] == events.thread[:-1])
    certain = (kind == Event.OUT_BLOCKED) & np.r_[woken_next, False]
    state[(switch != NONE) & wrong[np.maximum(switch, 0)] & ~certain] = State.UNKNOWN
