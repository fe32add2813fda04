# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What the kernel's scheduler did with each thread: intervals of running, preempted and blocked.

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
* A switch from idle that is missing (another thread leaves the CPU next, and was woken meanwhile)
  is put at that wake: a CPU that idles goes to a woken thread at once. Inferred, counted; early by
  the time of leaving idle, some ten microseconds.
* An *in* after which the CPU's next switch names another thread, or that the thread's next switch
  contradicts (another *in*, or an *out* on another CPU), and an *out* that another *out* follows:
  events were lost, the state is unknown up to the thread's next switch (from its wake on, where it
  was blocked and one was seen). Counted by CPU.
* Before its first switch: running when that is an *out*; else blocked up to a wake, and unknown
  where there was none; from the first event of the host's scheduler on. After its last event a
  state goes on to the last event of the host's scheduler.

Each instant between those two ends is in one interval of a thread that has events at all.

Threads are told by the ids of the initial pid namespace. Where the kernel events carry the contexts
vpid and vtid (lttng-modules), these say which thread of the model is meant; else vtid and kernel id
are taken to be the same, which is wrong in a pid namespace. A thread emits events only while it
runs: one that the scheduler's events say did so mostly while it did not run is another, and left
out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from strata.model.columns import NONE, Ints, Processes
from strata.model.search import GroupedSearch
from strata.model.timeline import Timeline
from strata.schema.kernel_events import (
    SCHED_SWITCH,
    SCHED_WAKEUP,
    SCHED_WAKEUP_NEW,
    SCHED_WAKING,
)
from strata.schema.quality import Ledger

Flags = npt.NDArray[np.bool_]

_ASLEEP = 0xFF
"""States of sleep, stop and death; older and newer kernels mark preemption by higher bits."""
IDLE = 0


class State(IntEnum):
    """What a thread does."""

    RUNNING = 0
    PREEMPTED = 1
    BLOCKED = 2
    UNKNOWN = 3


class _Event(IntEnum):
    """Kinds of events of a thread, in causal order at one instant."""

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

    def without(self, threads: Ints) -> Intervals:
        """Return the intervals of all other threads."""
        kept = ~np.isin(self.thread, threads)
        columns = (self.thread, self.start_ns, self.end_ns, self.state, self.cpu)
        return Intervals(*(column[kept] for column in columns))


@dataclass(frozen=True)
class Occupancy:
    """Which thread had each CPU when; `cpu` is a dense number over all hosts, `NONE` is unknown.

    `tid` is the kernel's, `IDLE` for none; by CPU and time.
    """

    cpu: Ints
    start_ns: Ints
    end_ns: Ints
    tid: Ints
    name: Ints


@dataclass(frozen=True)
class Scheduling:
    """The scheduler's doings with the threads of the model; `names` are of `Occupancy.name`.

    Threads of `intervals` are dense numbers of the model's processes.
    """

    intervals: Intervals
    occupancy: Occupancy
    names: npt.NDArray[np.object_]

    @property
    def known(self) -> bool:
        """Tell whether the trace says anything of the scheduler."""
        return len(self.occupancy.cpu) > 0


@dataclass(frozen=True)
class _Switches:
    """Rows of sched_switch by (cpu, time); `cpu` is a number over all hosts, `host` its host's.

    `broken`: the CPU's next switch names another thread than the one that got it here.
    """

    host: Ints
    cpu: Ints
    ns: Ints
    prev_tid: Ints
    prev_name: Ints
    runnable: Flags
    next_tid: Ints
    broken: Flags


@dataclass(frozen=True)
class _ThreadEvents:
    """Events of threads by (thread, time); `cpu` is where, of a wake the CPU that it waits for."""

    thread: Ints
    ns: Ints
    kind: Ints
    cpu: Ints


def find_scheduling(
    tables: Mapping[str, pa.Table], processes: Processes, timeline: Timeline, ledger: Ledger
) -> Scheduling:
    """Return what the scheduler did with the model's threads; nothing without sched_switch.

    `timeline` tells when each thread certainly ran.
    """
    table = tables.get(SCHED_SWITCH)
    if table is None or not len(table):
        return _nothing()
    hosts = {host: number for number, host in enumerate(dict.fromkeys(processes.host))}
    names = _Names()
    wakes = _Wakes.of(tables, hosts)
    switches, inferred = _with_inferred(_switches(table, hosts, names), wakes)
    occupancy = _occupancy(switches)
    ledger.add("inferred_switches", inferred)
    ledger.add("missing_switches", int(switches.broken.sum()))
    thread_of = _Threads(tables, processes, hosts)
    events = _thread_events(switches, wakes, thread_of)
    first, last = _extent(switches, wakes, len(hosts))
    intervals = _intervals(events, first, last, thread_of.host)
    wrong = _out_of_step(intervals, timeline)
    intervals = intervals.without(wrong)
    active = np.unique(timeline.thread)
    active = active[np.isin(thread_of.host[active], np.unique(switches.host))]
    missing = np.setdiff1d(active, np.unique(intervals.thread))
    ledger.add("threads_without_kernel_events", len(missing))
    return Scheduling(intervals, occupancy, names.array)


def _nothing() -> Scheduling:
    empty = np.empty(0, np.int64)
    return Scheduling(Intervals(*[empty] * 5), Occupancy(*[empty] * 5), np.empty(0, object))


class _Names:
    """Numbers for names of threads."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def numbers(self, column: pa.ChunkedArray) -> Ints:
        """Return the number of each row's name."""
        encoded = pc.fill_null(column.cast(pa.string()), "").combine_chunks().dictionary_encode()
        distinct = [
            self._numbers.setdefault(str(name), len(self._numbers))
            for name in encoded.dictionary.to_pylist()
        ]
        return np.asarray(np.array(distinct, np.int64)[encoded.indices.to_numpy()], np.int64)

    @property
    def array(self) -> npt.NDArray[np.object_]:
        return np.array(list(self._numbers), object)


def _ints(table: pa.Table, column: str) -> Ints:
    if column not in table.column_names:
        return np.full(len(table), NONE, np.int64)
    values = pc.fill_null(table[column].cast(pa.int64()), NONE)
    return np.asarray(values.to_numpy(), np.int64)


def _host_numbers(table: pa.Table, hosts: dict[str, int]) -> Ints:
    """Return the number of each row's host; hosts without processes of the model get new ones."""
    encoded = table["host"].cast(pa.string()).combine_chunks().dictionary_encode()
    known = [hosts.setdefault(str(host), len(hosts)) for host in encoded.dictionary.to_pylist()]
    return np.asarray(np.array(known, np.int64)[encoded.indices.to_numpy()], np.int64)


_CPUS = 1 << 20
"""More than any host has: makes one number of host and CPU."""
_TIDS = 1 << 32
"""The same, of host and thread."""


def _switches(table: pa.Table, hosts: dict[str, int], names: _Names) -> _Switches:
    host = _host_numbers(table, hosts)
    cpu = host * _CPUS + _ints(table, "cpu_id")
    ns = _ints(table, "timestamp")
    # Events of one CPU are in order: a stable sort keeps those of one timestamp so.
    order = np.lexsort((np.arange(len(ns)), ns, cpu))
    columns = (
        host,
        cpu,
        ns,
        _ints(table, "prev_tid"),
        names.numbers(table["prev_comm"]),
        _ints(table, "prev_state"),
        _ints(table, "next_tid"),
    )
    host, cpu, ns, prev_tid, prev_name, state, next_tid = (item[order] for item in columns)
    broken = np.zeros(len(ns), bool)
    broken[:-1] = (cpu[1:] == cpu[:-1]) & (next_tid[:-1] != prev_tid[1:])
    runnable = (state & _ASLEEP) == 0
    return _Switches(host, cpu, ns, prev_tid, prev_name, runnable, next_tid, broken)


@dataclass(frozen=True)
class _Wakes:
    """Rows of the events that wake a thread; `cpu` is the one that it will wait for."""

    host: Ints
    tid: Ints
    ns: Ints
    cpu: Ints

    @classmethod
    def of(cls, tables: Mapping[str, pa.Table], hosts: dict[str, int]) -> _Wakes:
        names = (SCHED_WAKING, SCHED_WAKEUP, SCHED_WAKEUP_NEW)
        parts = [_wakes(tables[name], hosts) for name in names if name in tables]
        if not parts:
            return cls(*[np.empty(0, np.int64)] * 4)
        return cls(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _wakes(table: pa.Table, hosts: dict[str, int]) -> tuple[Ints, Ints, Ints, Ints]:
    host, target = _host_numbers(table, hosts), _ints(table, "target_cpu")
    cpu = np.where(target >= 0, host * _CPUS + target, NONE)
    return host, _ints(table, "tid"), _ints(table, "timestamp"), cpu


def _with_inferred(switches: _Switches, wakes: _Wakes) -> tuple[_Switches, int]:
    """Put in the switches from idle that are missing, and tell how many."""
    at = np.flatnonzero(switches.broken & (switches.next_tid == IDLE))
    search = GroupedSearch(wakes.host * _TIDS + wakes.tid, wakes.ns)
    thread = switches.host[at] * _TIDS + switches.prev_tid[at + 1]
    place = search.position(thread, switches.ns[at + 1], after_equal=True) - 1
    known = place >= search.begin(thread)
    at, place = at[known], place[known]
    woken_ns = wakes.ns[search.order[place]]
    meanwhile = woken_ns > switches.ns[at]
    at, woken_ns = at[meanwhile], woken_ns[meanwhile]
    broken = switches.broken.copy()
    broken[at] = False
    new = (
        switches.host[at],
        switches.cpu[at],
        woken_ns,
        np.full(len(at), IDLE, np.int64),
        np.full(len(at), NONE, np.int64),
        np.ones(len(at), bool),
        switches.prev_tid[at + 1],
        np.zeros(len(at), bool),
    )
    old = (
        switches.host,
        switches.cpu,
        switches.ns,
        switches.prev_tid,
        switches.prev_name,
        switches.runnable,
        switches.next_tid,
        broken,
    )
    order = np.argsort(np.concatenate([np.arange(len(broken)), at + 0.5]), kind="stable")
    columns = (np.concatenate(pair)[order] for pair in zip(old, new, strict=True))
    return _Switches(*columns), len(at)


def _occupancy(switches: _Switches) -> Occupancy:
    """From each switch to the next of its CPU; unknown where that one says another thread ran."""
    at = np.flatnonzero(switches.cpu[1:] == switches.cpu[:-1])
    return Occupancy(
        switches.cpu[at],
        switches.ns[at],
        switches.ns[at + 1],
        np.where(switches.broken[at], NONE, switches.next_tid[at]),
        # By the name under which it left: it may change it while it runs.
        switches.prev_name[at + 1],
    )


class _Threads:
    """Which threads of the model a kernel thread id stands for; `host` is of each model thread."""

    def __init__(
        self, tables: Mapping[str, pa.Table], processes: Processes, hosts: dict[str, int]
    ) -> None:
        of_process = np.array([hosts[name] for name in processes.host], np.int64)
        self.host: Ints = (
            of_process[processes.thread_process] if len(of_process) else np.empty(0, np.int64)
        )
        vtid = processes.thread_vtid
        vpid = processes.vpid[processes.thread_process]
        model = pd.DataFrame(
            {"host": self.host, "vpid": vpid, "vtid": vtid, "thread": np.arange(len(vtid))}
        )
        told = _told(tables[SCHED_SWITCH], hosts)
        by_context = model.merge(told, on=["host", "vpid", "vtid"])[["host", "tid", "thread"]]
        # Without contexts, a vtid is the kernel's id unless it is in a pid namespace.
        bare = model[~model["host"].isin(told["host"])].rename(columns={"vtid": "tid"})
        pairs = pd.concat([by_context, bare[["host", "tid", "thread"]]], ignore_index=True)
        self._pairs = pairs.astype("int64")

    def expand(self, host: Ints, tid: Ints) -> tuple[Ints, Ints]:
        """Return rows and model threads, for the rows whose kernel id is one of the model's.

        A kernel id that several threads had one after the other gives a row for each.
        """
        asked = pd.DataFrame({"host": host, "tid": tid, "row": np.arange(len(tid))})
        found = asked.merge(self._pairs, on=["host", "tid"])
        return found["row"].to_numpy(np.int64), found["thread"].to_numpy(np.int64)


def _told(table: pa.Table, hosts: dict[str, int]) -> pd.DataFrame:
    """Kernel ids, with the vpid and vtid that contexts tell of the thread that leaves its CPU."""
    frame = pd.DataFrame(
        {
            "host": _host_numbers(table, hosts),
            "vpid": _ints(table, "vpid"),
            "vtid": _ints(table, "vtid"),
            "tid": _ints(table, "prev_tid"),
        }
    )
    return frame[(frame["vtid"] != NONE) & (frame["vpid"] != NONE)].drop_duplicates()


def _thread_events(switches: _Switches, wakes: _Wakes, threads: _Threads) -> _ThreadEvents:
    out = np.where(switches.runnable, _Event.OUT_RUNNABLE, _Event.OUT_BLOCKED).astype(np.int64)
    into = np.where(switches.broken, _Event.IN_BROKEN, _Event.IN).astype(np.int64)
    wake = np.full(len(wakes.ns), _Event.WAKE, np.int64)
    parts = [
        (switches.host, switches.prev_tid, switches.ns, out, switches.cpu),
        (switches.host, switches.next_tid, switches.ns, into, switches.cpu),
        (wakes.host, wakes.tid, wakes.ns, wake, wakes.cpu),
    ]
    host, tid, ns, kind, cpu = (np.concatenate(column) for column in zip(*parts, strict=True))
    row, thread = threads.expand(host, tid)
    order = np.lexsort((kind[row], ns[row], thread))
    row, thread = row[order], thread[order]
    return _ThreadEvents(thread, ns[row], kind[row], cpu[row])


def _extent(switches: _Switches, wakes: _Wakes, hosts: int) -> tuple[Ints, Ints]:
    """First and last instant that the scheduler's events of each host tell of."""
    last = np.full(hosts, NONE, np.int64)
    first = np.full(hosts, np.iinfo(np.int64).max, np.int64)
    for events in (switches, wakes):
        np.maximum.at(last, events.host, events.ns)
        np.minimum.at(first, events.host, events.ns)
    return first, last


def _intervals(events: _ThreadEvents, first: Ints, last: Ints, host: Ints) -> Intervals:
    """Run the state machine of the module's text over whole columns."""
    if not len(events.thread):
        return _nothing().intervals
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


def _switch_at_or_before(events: _ThreadEvents) -> Ints:
    place = np.where(events.kind == _Event.WAKE, NONE, np.arange(len(events.kind)))
    found = np.maximum.accumulate(place)
    same = events.thread[np.maximum(found, 0)] == events.thread
    return np.where((found != NONE) & same, found, NONE)


def _switch_at_or_after(events: _ThreadEvents) -> Ints:
    count = len(events.kind)
    place = np.where(events.kind == _Event.WAKE, count, np.arange(count))
    found = np.minimum.accumulate(place[::-1])[::-1]
    same = events.thread[np.minimum(found, count - 1)] == events.thread
    return np.where((found != count) & same, found, NONE)


def _is_out(kind: Ints) -> Flags:
    return np.isin(kind, (_Event.OUT_RUNNABLE, _Event.OUT_BLOCKED))


def _before_the_first(events: _ThreadEvents, at: Ints) -> tuple[Ints, Ints]:
    """State and CPU of threads before their first events, which are at `at`."""
    switch = _switch_at_or_after(events)[at]
    ran = (switch != NONE) & _is_out(events.kind[np.maximum(switch, 0)])
    state = np.where(events.kind[at] == _Event.WAKE, State.BLOCKED, State.UNKNOWN)
    cpu = np.where(ran, events.cpu[np.maximum(switch, 0)], NONE)
    return np.where(ran, State.RUNNING, state).astype(np.int64), cpu


def _states(events: _ThreadEvents) -> tuple[Ints, Ints]:
    """State and CPU after each event: its last switch decides, a wake only modifies."""
    kind, cpu = events.kind, events.cpu
    switch, following = _switch_at_or_before(events), _switch_at_or_after(events)
    decided = np.where(switch != NONE, kind[np.maximum(switch, 0)], NONE)
    first_is_out = (following != NONE) & _is_out(kind[np.maximum(following, 0)])
    state = np.full(len(kind), State.UNKNOWN, np.int64)
    state[decided == _Event.IN] = State.RUNNING
    state[decided == _Event.OUT_RUNNABLE] = State.PREEMPTED
    state[decided == _Event.OUT_BLOCKED] = State.BLOCKED
    where = np.where(switch != NONE, cpu[np.maximum(switch, 0)], NONE)
    is_wake = kind == _Event.WAKE
    started = is_wake & (decided == NONE) & first_is_out
    state[started] = State.RUNNING
    where[started] = cpu[following[started]]
    woken = is_wake & ((decided == _Event.OUT_BLOCKED) | ((decided == NONE) & ~first_is_out))
    state[woken] = State.PREEMPTED
    where[woken] = cpu[woken]
    _woken_on_the_way_out(events, state, where)
    _contradicted(events, switch, state)
    where[(state == State.BLOCKED) | (state == State.UNKNOWN)] = NONE
    return state, where


def _woken_on_the_way_out(events: _ThreadEvents, state: Ints, where: Ints) -> None:
    """Blocked that an *in* follows at once, after a wake during the run before: preempted."""
    kind, thread = events.kind, events.thread
    beside = thread[1:] == thread[:-1]
    follows = np.r_[(kind[1:] >= _Event.IN) & beside, False]
    after_wake = np.r_[False, (kind[:-1] == _Event.WAKE) & beside]
    race = (kind == _Event.OUT_BLOCKED) & follows & after_wake
    state[race] = State.PREEMPTED
    where[race] = events.cpu[race]


def _contradicted(events: _ThreadEvents, switch: Ints, state: Ints) -> None:
    """Make unknown what a thread's next switch shows to be wrong."""
    at = np.flatnonzero(events.kind != _Event.WAKE)
    out = _is_out(events.kind[at])
    same = events.thread[at[1:]] == events.thread[at[:-1]]
    moved = ~out[:-1] & (events.cpu[at[:-1]] != events.cpu[at[1:]])
    wrong = np.zeros(len(events.kind), bool)
    wrong[at[:-1]] = same & ((out[:-1] == out[1:]) | moved)
    kind = events.kind
    woken_next = (kind[1:] == _Event.WAKE) & (events.thread[1:] == events.thread[:-1])
    certain = (kind == _Event.OUT_BLOCKED) & np.r_[woken_next, False]
    state[(switch != NONE) & wrong[np.maximum(switch, 0)] & ~certain] = State.UNKNOWN


def _out_of_step(intervals: Intervals, timeline: Timeline) -> Ints:
    """Threads that emitted more events while they did not run, it seems, than while they did."""
    if not len(intervals.thread):
        return np.empty(0, np.int64)
    search = GroupedSearch(intervals.thread, intervals.start_ns)
    place = search.position(timeline.thread, timeline.ns, after_equal=True) - 1
    row = search.order[np.maximum(place, 0)]
    known = (place >= search.begin(timeline.thread)) & (timeline.ns < intervals.end_ns[row])
    thread, state = timeline.thread[known], intervals.state[row[known]]
    size = int(timeline.thread.max(initial=0)) + 1
    asleep = (state == State.PREEMPTED) | (state == State.BLOCKED)
    at_rest = np.bincount(thread[asleep], minlength=size)
    at_work = np.bincount(thread[state == State.RUNNING], minlength=size)
    return np.flatnonzero(at_rest > at_work).astype(np.int64)
