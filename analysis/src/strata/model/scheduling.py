# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What the kernel's scheduler did with each thread: intervals of running, preempted and blocked.

The state machine is in strata.model.thread_states.

Threads are told by the ids of the initial pid namespace. Where the kernel events carry the contexts
vpid and vtid (lttng-modules), these say which thread of the model is meant; else vtid and kernel id
are taken to be the same, which is wrong in a pid namespace. A thread emits events only while it
runs: one that the scheduler's events say did so mostly while it did not run (of its first `EMITTED`
since then) is another, and left out. Of several kernel threads that have the ids of one, the one
that ran at most of these events is meant.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from strata.lazy import arrow_compute as pc
from strata.lazy import pandas as pd
from strata.lazy import pyarrow as pa
from strata.model.columns import NONE, EventColumns, Ints, Processes
from strata.model.rows import picked
from strata.model.search import GroupedSearch, runs, spread
from strata.model.thread_states import Event, Intervals, State, ThreadEvents, thread_intervals
from strata.schema.event import Phase
from strata.schema.events import CATALOGUE
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
EMITTED = 1024
"""So many events of a thread tell whether it is the one that the kernel's events are of."""


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

    Threads of `intervals` are dense numbers of the model's processes. `woken`: there are events of
    waking, so that a thread that is blocked can be told from one that waits for a CPU. `known`: a
    CPU was switched twice, so that the trace says something of the scheduler.
    """

    intervals: Intervals
    occupancy: Occupancy
    names: npt.NDArray[np.object_]
    woken: bool = True
    known: bool = False


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


def find_scheduling(
    tables: Mapping[str, pa.Table], traced: EventColumns, ledger: Ledger
) -> Scheduling:
    """Return what the scheduler did with the model's threads; nothing without sched_switch.

    The events that were `traced` tell when each thread certainly ran.
    """
    table = tables.get(SCHED_SWITCH)
    if table is None or not len(table):
        return _nothing()
    processes = traced.processes
    hosts = {host: number for number, host in enumerate(dict.fromkeys(processes.host))}
    names = _Names()
    wakes = _Wakes.of(tables, hosts)
    switches, inferred = _with_inferred(_switches(table, hosts, names), wakes)
    occupancy = _occupancy(switches)
    ledger.add("inferred_switches", inferred)
    ledger.add("missing_switches", int(switches.broken.sum()))
    threads = _Threads(tables, processes, hosts)
    events = _thread_events(switches, wakes, threads)
    first, last = _extent(switches, wakes, len(hosts))
    thread, ns = _emitted(traced)
    pairs = thread_intervals(events, first, last, threads.host[threads.of_pair])
    since = ns >= first[threads.host[thread]]
    intervals = _of_threads(pairs, threads.of_pair, *_first_of_each(thread[since], ns[since]))
    active = np.unique(thread)
    active = active[np.isin(threads.host[active], np.unique(switches.host))]
    missing = np.setdiff1d(active, np.unique(intervals.thread))
    ledger.add("threads_without_kernel_events", len(missing))
    return Scheduling(intervals, occupancy, names.array, len(wakes.ns) > 0, len(occupancy.cpu) > 0)


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
    place = search.position(thread, switches.ns[at + 1], after_equal=False) - 1
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
    """Which threads of the model a kernel thread may be; `host` is of each model thread."""

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
        of_threads = told[told["tid"] != IDLE]
        by_context = model.merge(of_threads, on=["host", "vpid", "vtid"])
        # Without contexts, a vtid is the kernel's id unless it is in a pid namespace.
        bare = model[~model["host"].isin(told["host"]) & (model["vtid"] != IDLE)]
        columns = ["host", "tid", "thread"]
        pairs = pd.concat(
            [by_context[columns], bare.rename(columns={"vtid": "tid"})[columns]], ignore_index=True
        )
        self._pairs = pairs.astype("int64").sort_values(["thread", "tid"], ignore_index=True)
        self._pairs["pair"] = self._pairs.index
        self.of_pair: Ints = self._pairs["thread"].to_numpy(np.int64)

    def expand(self, host: Ints, tid: Ints) -> tuple[Ints, Ints]:
        """Return rows and pairs, for the rows whose kernel id is one of the model's.

        A pair is a kernel thread and a thread of the model that it may be; `of_pair` is the latter.
        A kernel id that several threads had one after the other gives a row for each.
        """
        asked = pd.DataFrame({"host": host, "tid": tid, "row": np.arange(len(tid))})
        found = asked.merge(self._pairs, on=["host", "tid"])
        return found["row"].to_numpy(np.int64), found["pair"].to_numpy(np.int64)


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


def _thread_events(switches: _Switches, wakes: _Wakes, threads: _Threads) -> ThreadEvents:
    out = np.where(switches.runnable, Event.OUT_RUNNABLE, Event.OUT_BLOCKED).astype(np.int64)
    into = np.where(switches.broken, Event.IN_BROKEN, Event.IN).astype(np.int64)
    wake = np.full(len(wakes.ns), Event.WAKE, np.int64)
    parts = [
        (switches.host, switches.prev_tid, switches.ns, out, switches.cpu),
        (switches.host, switches.next_tid, switches.ns, into, switches.cpu),
        (wakes.host, wakes.tid, wakes.ns, wake, wakes.cpu),
    ]
    host, tid, ns, kind, cpu = (np.concatenate(column) for column in zip(*parts, strict=True))
    row, pair = threads.expand(host, tid)
    # What a later switch of its CPU shows of an *in* is no matter of order.
    rank = np.minimum(kind[row], Event.IN)
    order = np.lexsort((rank, ns[row], pair))
    row, pair = row[order], pair[order]
    return ThreadEvents(pair, ns[row], kind[row], cpu[row])


def _extent(switches: _Switches, wakes: _Wakes, hosts: int) -> tuple[Ints, Ints]:
    """First and last instant that the scheduler's events of each host tell of."""
    last = np.full(hosts, NONE, np.int64)
    first = np.full(hosts, np.iinfo(np.int64).max, np.int64)
    for events in (switches, wakes):
        np.maximum.at(last, events.host, events.ns)
        np.minimum.at(first, events.host, events.ns)
    return first, last


def _emitted(traced: EventColumns) -> tuple[Ints, Ints]:
    """Threads and times of the events that were recorded, but for those that make entities."""
    names = [name for name in traced.names if CATALOGUE[name].phase is Phase.RUNTIME]
    own = [traced.stand_ins(name) == 0 for name in names]
    thread = [traced.thread(name)[kept] for name, kept in zip(names, own, strict=True)]
    ns = [traced.timestamps(name)[kept] for name, kept in zip(names, own, strict=True)]
    none = np.empty(0, np.int64)
    return np.concatenate([none, *thread]), np.concatenate([none, *ns])


def _first_of_each(thread: Ints, ns: Ints) -> tuple[Ints, Ints]:
    """The first `EMITTED` events of each thread."""
    order = np.lexsort((ns, thread))
    thread, ns = thread[order], ns[order]
    begin, _ = runs(thread, thread)
    kept = np.arange(len(thread)) - begin < EMITTED
    return thread[kept], ns[kept]


def _of_threads(pairs: Intervals, of_pair: Ints, thread: Ints, ns: Ints) -> Intervals:
    """The intervals of the kernel thread that each thread of the model is, if it is any.

    `thread` of `pairs` is a pair, `of_pair` the thread of each; then threads and times of events.
    Left out is what emitted more while it did not run, it seems, than while it did.
    """
    if not len(pairs.thread):
        return pairs
    pair, event = spread(*runs(of_pair, thread))
    search = GroupedSearch(pairs.thread, pairs.start_ns)
    place = search.position(pair, ns[event], after_equal=True) - 1
    row = search.order[np.maximum(place, 0)]
    known = (place >= search.begin(pair)) & (ns[event] < pairs.end_ns[row])
    pair, state = pair[known], pairs.state[row[known]]
    asleep = (state == State.PREEMPTED) | (state == State.BLOCKED)
    at_rest = np.bincount(pair[asleep], minlength=len(of_pair))
    at_work = np.bincount(pair[state == State.RUNNING], minlength=len(of_pair))
    wrong = at_rest > at_work
    best = np.lexsort((-at_work, wrong, of_pair))
    best = best[np.append(True, of_pair[best[1:]] != of_pair[best[:-1]])]
    chosen = np.zeros(len(of_pair), bool)
    chosen[best[~wrong[best]]] = True
    kept = picked(pairs, chosen[pairs.thread])
    return replace(kept, thread=of_pair[kept.thread])
