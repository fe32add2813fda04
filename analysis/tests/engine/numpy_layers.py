# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What threads did within layers, in NumPy: what the engine's functions are compared with.

Every argument is columns in the order in which the functions of the engine take them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy_clocks import Clock, Overlap

from strata.engine.groups import sums
from strata.model.columns import NONE, Ints
from strata.model.scheduling import IDLE
from strata.model.search import overlapping
from strata.model.thread_states import State

Columns = Sequence[Ints]
STATES = (State.RUNNING, State.PREEMPTED, State.BLOCKED)


@dataclass(frozen=True)
class Stretches:
    message: Ints
    layer: Ints
    thread: Ints
    begin_ns: Ints
    end_ns: Ints
    lane: Ints
    idle: Ints


def cut_stretches(layers: Sequence[tuple[Any, ...]], lane: Ints, group: Ints) -> Columns:
    alone = group == NONE
    parts = []
    for number, idle, thread, begin_ns, until_ns, ns in layers:
        whole = until_ns - begin_ns == ns if idle == NONE else alone & (until_ns >= begin_ns)
        there = (ns != NONE) & (thread != NONE) & (begin_ns != NONE) & whole
        message = np.flatnonzero(there)
        same = np.ones(len(message), np.int64)
        columns = (thread[there], begin_ns[there], until_ns[there], lane[there])
        parts.append((message, number * same, *columns, idle * same))
    return [np.concatenate(column) for column in zip(*parts, strict=True)]


class Did:
    def __init__(self, waits: Columns, callbacks: Columns, lane_of: Ints) -> None:
        self.waits = Clock(*waits)
        self.callbacks = Clock(*callbacks)
        self.both = Overlap(self.callbacks, self.waits, lane_of[self.callbacks.lane])

    def counted(self, own: Stretches, rows: Ints, begin_ns: Ints, end_ns: Ints) -> Ints:
        idle, whole = own.idle[rows], end_ns - begin_ns
        waited = self.waits.within(own.lane[rows], begin_ns, end_ns)
        return np.where(idle == NONE, whole, np.where(idle == 1, waited, whole - waited))

    def apart(self, own: Stretches, rows: Ints, begin_ns: Ints, end_ns: Ints) -> Ints:
        thread, lane = own.thread[rows], own.lane[rows]
        ran = self.callbacks.within(thread, begin_ns, end_ns)
        ran = ran - self.both.within(thread, lane, begin_ns, end_ns)
        counted = self.counted(own, rows, begin_ns, end_ns)
        return counted - np.where(own.idle[rows] == 0, ran, 0)


def layer_times(stretches: Columns, states: Columns, waits: Columns, lane_of: Ints) -> list[Ints]:
    own, idle = Stretches(*stretches), Clock(*waits)
    did = Did(waits, [np.empty(0, np.int64)] * 3, lane_of)
    spent = [_spent(own, states, state, idle, lane_of) for state in STATES]
    every = np.arange(len(own.message))
    whole = did.counted(own, every, own.begin_ns, own.end_ns)
    return [*spent, whole - sum(spent)]


def _spent(own: Stretches, states: Columns, state: State, waits: Clock, lane_of: Ints) -> Ints:
    kept = states[3] == state
    clock = Clock(*(column[kept] for column in states[:3]))
    within = Overlap(clock, waits, lane_of[clock.lane])
    whole = clock.within(own.thread, own.begin_ns, own.end_ns)
    idle = within.within(own.thread, own.lane, own.begin_ns, own.end_ns)
    some = np.where(own.idle == 1, idle, whole - idle)
    return np.where(own.idle == NONE, whole, some)


def preemptions(
    stretches: Columns,
    states: Columns,
    occupancy: Columns,
    waits: Columns,
    callbacks: Columns,
    lane_of: Ints,
) -> Columns:
    own, did = Stretches(*stretches), Did(waits, callbacks, lane_of)
    thread, start_ns, until_ns, state, on = states
    cpu, had_from_ns, had_until_ns, tid, name = occupancy
    queued = np.flatnonzero(state == State.PREEMPTED)
    row, piece = overlapping(
        (own.thread, own.begin_ns, own.end_ns),
        (thread[queued], start_ns[queued], until_ns[queued]),
    )
    piece = queued[piece]
    begin_ns = np.maximum(own.begin_ns[row], start_ns[piece])
    end_ns = np.minimum(own.end_ns[row], until_ns[piece])
    inner, had = overlapping((on[piece], begin_ns, end_ns), (cpu, had_from_ns, had_until_ns))
    had_begin = np.maximum(begin_ns[inner], had_from_ns[had])
    had_end = np.minimum(end_ns[inner], had_until_ns[had])
    known = did.apart(own, row[inner], had_begin, had_end)
    whole = did.apart(own, row, begin_ns, end_ns)
    seen = sums(inner, known, len(row))
    none = np.full(len(row), NONE, np.int64)
    named = np.where((tid[had] != NONE) & (tid[had] != IDLE), name[had], NONE)
    rows = np.concatenate([row[inner], row])
    ns = np.concatenate([known, whole - seen])
    kept = ns > 0
    keys = [
        own.message[rows],
        own.layer[rows],
        np.concatenate([tid[had], none]),
        np.concatenate([named, none]),
    ]
    return _sums_by([key[kept] for key in keys], [ns[kept]])


def separate(windows: Columns) -> Columns:
    raw_thread, raw_begin_ns, raw_end_ns, raw_cpu_ns, raw_wait_ns = windows
    order = np.lexsort((raw_end_ns, raw_thread))
    order = order[raw_thread[order] != NONE]
    thread, end_ns = raw_thread[order], raw_end_ns[order]
    begin_ns, wait_ns = raw_begin_ns[order], raw_wait_ns[order].copy()
    follows = np.append(False, thread[1:] == thread[:-1])[: len(thread)]
    before_ns = np.where(follows, np.append(0, end_ns[:-1])[: len(end_ns)], begin_ns - wait_ns)
    begin_ns = np.maximum(np.minimum(begin_ns, end_ns - wait_ns), before_ns)
    beyond = np.where(follows, np.maximum(wait_ns - (end_ns - begin_ns), 0), 0)
    wait_ns[:-1] += beyond[1:]
    wait_ns = np.minimum(wait_ns, np.maximum(end_ns - begin_ns, 0))
    return thread, begin_ns, end_ns, raw_cpu_ns[order], wait_ns


def cpu_waits(
    stretches: Columns,
    windows: Columns,
    waits: Columns,
    callbacks: Columns,
    thread_waits: Columns,
    lane_of: Ints,
) -> Columns:
    own, did = Stretches(*stretches), Did(waits, callbacks, lane_of)
    thread, begin_ns, end_ns, cpu_ns, wait_ns = separate(windows)
    kept = own.idle != 0
    work = (own.thread[kept], own.begin_ns[kept], own.end_ns[kept])
    clock = Clock(*(np.concatenate(pair) for pair in zip(work, callbacks, strict=True)))
    known = clock.within(thread, begin_ns, end_ns)
    waiting = Clock(*thread_waits)
    awake = end_ns - begin_ns - waiting.within(thread, begin_ns, end_ns)
    needed_ns = np.where(waiting.known(thread), np.maximum(awake, known), known)
    row, window = overlapping((own.thread, own.begin_ns, own.end_ns), (thread, begin_ns, end_ns))
    waited = wait_ns[window] > 0
    row, window = row[waited], window[waited]
    from_ns = np.maximum(own.begin_ns[row], begin_ns[window])
    until_ns = np.minimum(own.end_ns[row], end_ns[window])
    inside_ns = np.maximum(did.apart(own, row, from_ns, until_ns), 0)
    length_ns = (end_ns - begin_ns)[window]
    most = np.minimum(inside_ns, wait_ns[window])
    least = np.minimum(np.maximum(inside_ns - (length_ns - wait_ns[window]), 0), most)
    busy_ns = np.maximum(np.maximum(needed_ns[window], (wait_ns + cpu_ns)[window]), 1)
    about = np.rint(inside_ns * (wait_ns[window] / busy_ns)).astype(np.int64)
    found = _sums_by(
        [own.message[row], own.layer[row], own.thread[row]],
        [np.clip(about, least, most), least, most],
    )
    return [column[found[5] > 0] for column in found]


def sample_windows(samples: Columns, sampled_ns: Ints) -> Columns:
    thread, ns, read_ns, *counts = samples
    first = np.append(True, thread[1:] != thread[:-1])[: len(thread)]
    of_sample = np.searchsorted(sampled_ns, ns, side="right") - 1
    whole = ns - counts[0] - counts[1]
    since = sampled_ns[np.maximum(of_sample - 1, 0)] if len(sampled_ns) else whole
    before = np.where(of_sample > 0, since, whole)
    begin = np.where(first, before, np.maximum(before, np.append(NONE, ns[:-1])[: len(ns)]))

    def growth(values: Ints) -> Ints:
        return np.where(first, values, values - np.append(0, values[:-1])[: len(values)])

    return [thread, np.minimum(begin, ns), ns + read_ns, *map(growth, counts)]


def sum_windows(windows: Columns, first_ns: Ints, last_ns: Ints) -> Columns:
    names = ("thread", "begin_ns", "end_ns", "cpu_ns", "wait_ns", "slices")
    rows = pd.DataFrame(dict(zip(names, windows, strict=True)))
    grouped = rows.groupby("thread")
    traced = rows["thread"].to_numpy()
    inside = (rows["begin_ns"] >= first_ns[traced]) & (rows["end_ns"] <= last_ns[traced])
    in_traffic = rows[inside].groupby("thread")
    sums = pd.DataFrame(
        {
            "begin_ns": grouped["end_ns"].first(),
            "end_ns": grouped["end_ns"].last(),
            "on_cpu": grouped["cpu_ns"].sum(),
            "wait": grouped["wait_ns"].sum(),
            "slices": grouped["slices"].sum(),
            "longest": grouped["wait_ns"].max(),
            "traffic_on_cpu": in_traffic["cpu_ns"].sum(),
            "traffic_wait": in_traffic["wait_ns"].sum(),
        }
    )
    return _columns(sums)


def sum_states(states: Columns, first_ns: Ints, last_ns: Ints) -> Columns:
    rows = pd.DataFrame(dict(zip(("thread", "begin_ns", "end_ns", "state"), states, strict=False)))
    rows = rows[rows["state"].isin((State.RUNNING, State.PREEMPTED))]
    traced = rows["thread"].to_numpy()
    inside = np.minimum(rows["end_ns"], last_ns[traced]) - np.maximum(
        rows["begin_ns"], first_ns[traced]
    )
    rows = rows.assign(ns=rows["end_ns"] - rows["begin_ns"], traffic=inside.clip(lower=0))
    ran = rows["state"] == State.RUNNING
    grouped, on, off = (part.groupby("thread") for part in (rows, rows[ran], rows[~ran]))
    sums = pd.DataFrame(
        {
            "begin_ns": grouped["begin_ns"].min(),
            "end_ns": grouped["end_ns"].max(),
            "on_cpu": on["ns"].sum(),
            "wait": off["ns"].sum(),
            "slices": on.size(),
            "longest": off["ns"].max(),
            "traffic_on_cpu": on["traffic"].sum(),
            "traffic_wait": off["traffic"].sum(),
        },
        index=grouped.size().index,
    )
    return _columns(sums)


def _columns(sums: pd.DataFrame) -> Columns:
    sums = sums.fillna(0).astype(np.int64)
    return [sums.index.to_numpy(), *(sums[name].to_numpy() for name in sums)]


def _sums_by(keys: Columns, values: Columns) -> Columns:
    groups, inverse = np.unique(np.stack(keys), axis=1, return_inverse=True)
    inverse = inverse.reshape(-1)
    return [*groups, *(sums(inverse, column, groups.shape[1]) for column in values)]
