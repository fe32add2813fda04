# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Tables of a results directory that are made of sums of its windows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from strata.engine.groups import lower, sums
from strata.layers.deliveries import Names
from strata.model.drivers import CAUSES
from strata.model.executor_frames import MULTI, SILENT, SINGLE
from strata.schema import tables
from strata.schema.fates import NEVER_TOOK, NUMBER
from strata.schema.rows import NONE, Coded, Ints, Rows, Values, numbered
from strata.schema.stored import HOP_COUNTS, THREAD_TIMES
from strata.stats.summary import summarize

_COUNTS = ("published", "received", "lost", "in_flight", "unknown", "before_first")


@dataclass(frozen=True)
class Hops:
    """Names of all hops, those with messages first; and the hop of each message."""

    names: Sequence[Names]
    of_message: Ints

    def numbers_of(self, rows: Rows) -> Ints:
        """Return the hop of each row of a table with names of hops."""
        names, number = _distinct(rows)
        row = {name: at for at, name in enumerate(self.names)}
        return np.array([row[name] for name in names], np.int64)[number]


def find_hops(messages: Rows, counts: Rows) -> Hops:
    """Number the hops, by their names: those of messages, and those that only were sent over."""
    named, number = _distinct(messages)
    rest = sorted(set(_distinct(counts)[0]) - set(named))
    return Hops([*named, *rest], number)


def _distinct(rows: Rows) -> tuple[list[Names], Ints]:
    """Return the distinct names of hops, ascending, and the number of each row's."""
    columns = [rows.words(name) for name in HOP_COUNTS.key]
    key = np.zeros(len(rows), np.int64)
    for column in columns:
        key = key * (len(column.words) + 1) + column.codes
    found, first, number = np.unique(key, return_index=True, return_inverse=True)
    names = [
        (str(columns[0].at(row)), str(columns[1].at(row)), str(columns[2].at(row)))
        for row in first.tolist()
    ]
    order = sorted(range(len(found)), key=names.__getitem__)
    rank = np.empty(len(found), np.int64)
    rank[order] = np.arange(len(found))
    return [names[at] for at in order], rank[number]


def hop_tables_of(hops: Hops, counts: Rows, causes: Rows) -> tuple[dict[str, Values], Rows]:
    """Return what hops are called and counted, and the table `hop_losses`.

    As strata.stats.hops.delivery_tables. What was published in a window in which a reader took
    nothing was before its first message, if it took one later.
    """
    count = len(hops.names)
    number = hops.numbers_of(counts)
    columns: dict[str, Values] = {
        name: Coded.of(hop[at] for hop in hops.names) for at, name in enumerate(HOP_COUNTS.key)
    }
    total = {name: sums(number, counts[name], count) for name in _COUNTS}
    never = causes.words("cause").are(NEVER_TOOK)
    hop = hops.numbers_of(causes)
    early = never & (total["received"][hop] > 0)
    before = sums(hop[early], causes["count"][early], count)
    total["published"] -= before
    total["lost"] -= before
    total["before_first"] += before
    return {**columns, **total}, _hop_losses(hop[~early], causes.take(~early))


def _hop_losses(hop: Ints, causes: Rows) -> Rows:
    outcome, cause = causes.words("outcome"), causes.words("cause")
    fate = np.array([*(NUMBER[word] for word in cause.words), NONE], np.int64)[cause.codes]
    key = hop * len(NUMBER) + fate
    _, first, group = np.unique(key, return_index=True, return_inverse=True)
    count = len(first)
    far = np.iinfo(np.int64).max
    since_ns = np.where(causes["since_ns"] == NONE, far, causes["since_ns"])
    least = _least(group, since_ns, count)
    return Rows(
        tables.HOP_LOSSES,
        {
            "hop_id": hop[first],
            "outcome": outcome.take(first),
            "cause": cause.take(first),
            "count": sums(group, causes["count"], count),
            "begin_ns": _least(group, causes["begin_ns"], count),
            "end_ns": -_least(group, -causes["end_ns"], count),
            "since_ns": np.where(least == far, NONE, least),
        },
    )


def executor_tables(times: Rows, instances: Rows, objects: Rows) -> tuple[Rows, Rows]:
    """Return the tables `executors` and `executor_threads`.

    `times` is `thread_times`, `instances` and `objects` are the tables of callbacks. Threads that
    were of one executor in any window are of one.
    """
    threads = numbered(times.words("host"), times["vpid"], times["vtid"])
    count = int(threads.max(initial=-1)) + 1
    first = np.zeros(count, np.int64)
    first[threads[::-1]] = np.arange(len(threads))[::-1]
    executor = _joined(threads, times, count)
    return (
        _executors(times.take(first), executor, times, threads, instances, objects),
        _threads(times, threads, first, executor),
    )


def _joined(threads: Ints, times: Rows, count: int) -> Ints:
    """Return the executor of each thread, numbered by the least thread in it."""
    groups = numbered(times.words("host"), times["vpid"], times["executor"])
    label = np.arange(count)
    while len(threads):
        least = np.full(int(groups.max()) + 1, count)
        np.minimum.at(least, groups, label[threads])
        after = label.copy()
        np.minimum.at(after, threads, least[groups])
        if (after == label).all():
            break
        label = after
    return np.unique(label, return_inverse=True)[1].astype(np.int64)


def _executors(
    own: Rows, executor: Ints, times: Rows, threads: Ints, instances: Rows, objects: Rows
) -> Rows:
    count = int(executor.max(initial=-1)) + 1
    first = np.zeros(count, np.int64)
    first[executor[::-1]] = np.arange(len(executor))[::-1]
    width = np.bincount(executor, minlength=count)
    heard = np.zeros(count, bool)
    heard[executor[threads[~times.words("kind").are(SILENT)]]] = True
    ran, callbacks = _ran(own, executor, instances)
    nodes: list[dict[str, None]] = [{} for _ in range(count)]
    names = objects.texts("node")
    for number, callback in zip(ran.tolist(), callbacks.tolist(), strict=True):
        if names[callback] is not None:
            nodes[number][names[callback]] = None
    kind = np.where(width > 1, MULTI, SINGLE)
    return Rows(
        tables.EXECUTORS,
        {
            "executor_id": np.arange(count),
            "host": own.words("host").take(first),
            "vpid": own["vpid"][first],
            "kind": Coded.of(np.where(heard, kind, SILENT).tolist()),
            "threads": width,
            "nodes": Coded.of(", ".join(found) for found in nodes),
            "callbacks": np.bincount(ran, minlength=count),
        },
    )


def _ran(own: Rows, executor: Ints, instances: Rows) -> tuple[Ints, Ints]:
    """Return which callbacks each executor ran, each pair once."""
    hosts = {word: at for at, word in enumerate(dict.fromkeys(own.texts("host")))}
    place = {
        (hosts[host], vpid, vtid): at
        for at, (host, vpid, vtid) in enumerate(
            zip(own.texts("host"), own["vpid"].tolist(), own["vtid"].tolist(), strict=True)
        )
    }
    words = instances.words("host")
    host = np.array([*(hosts.get(word, NONE) for word in words.words), NONE])[words.codes]
    ran = np.stack([host, instances["vpid"], instances["vtid"], instances["callback_id"]])
    # In the order of their first execution, thread by thread.
    ran = ran[:, np.lexsort((instances["start_ns"], *ran[2::-1]))]
    _, first = np.unique(ran, axis=1, return_index=True)
    pairs = dict.fromkeys(
        (int(executor[place[tuple(key)]]), callback)
        for *key, callback in ran[:, np.sort(first)].T.tolist()
        if tuple(key) in place
    )
    columns = np.array(list(pairs), np.int64).reshape(-1, 2)
    return columns[:, 0], columns[:, 1]


_ALL_OF = ("executing_ns", "waiting_ns", "mutex_ns", "ready_ns", "outside_ns")


def _threads(times: Rows, threads: Ints, first: Ints, executor: Ints) -> Rows:
    """Sum the windows of each thread up. In a window without any event of it, it waited."""
    count = len(first)
    begin_ns = _least(threads, times["begin_ns"], count)
    end_ns = -_least(threads, -times["end_ns"], count)
    total = {name: _sums_known(threads, times[name], count) for name in _ALL_OF}
    silent_ns = end_ns - begin_ns - sums(threads, times["end_ns"] - times["begin_ns"], count)
    waits = total["waiting_ns"] != NONE
    total["waiting_ns"] = np.where(waits, total["waiting_ns"] + silent_ns, NONE)
    return Rows(
        tables.EXECUTOR_THREADS,
        {
            "executor_id": executor,
            "host": times.words("host").take(first),
            "vpid": times["vpid"][first],
            "vtid": times["vtid"][first],
            "begin_ns": begin_ns,
            "end_ns": end_ns,
            "executions": sums(threads, times["executions"], count),
            **total,
            **_traffic(times, threads, count),
        },
    )


def _traffic(times: Rows, threads: Ints, count: int) -> dict[str, Ints]:
    """The columns of traffic: from the first window with any to the last, all of those between."""
    has = np.flatnonzero(times["traffic_begin_ns"] != NONE)
    columns = [name for name in THREAD_TIMES.names if name.startswith("traffic_")]
    if not len(has):
        return {name: np.full(count, NONE, np.int64) for name in columns}
    begin_ns = np.full(count, NONE, np.int64)
    end_ns = begin_ns.copy()
    some = np.unique(threads[has])
    begin_ns[some] = _least(threads[has], times["traffic_begin_ns"][has], count)[some]
    end_ns[some] = -_least(threads[has], -times["traffic_end_ns"][has], count)[some]
    first_ns, last_ns = begin_ns[threads], end_ns[threads]
    at_end = (times["begin_ns"] <= first_ns) | (times["end_ns"] >= last_ns)
    inside = (first_ns != NONE) & (times["end_ns"] > first_ns) & (times["begin_ns"] < last_ns)
    zero = np.maximum(times["mutex_ns"], 0)
    idle_ns = np.maximum(times["waiting_ns"], 0) + np.maximum(times["outside_ns"], 0) + zero
    whole = {"executing": times["executing_ns"], "waiting": times["waiting_ns"], "idle": idle_ns}
    found = {"traffic_begin_ns": begin_ns, "traffic_end_ns": end_ns}
    for name, values in whole.items():
        part = times[f"traffic_{name}_ns"]
        used = np.where(at_end, np.maximum(part, 0), np.maximum(values, 0))
        total = sums(threads[inside], used[inside], count)
        known = _sums_known(threads, part, count) != NONE
        found[f"traffic_{name}_ns"] = np.where((begin_ns != NONE) & known, total, NONE)
    # What is between two windows without any event of a thread, it waited.
    covered = np.minimum(times["end_ns"], last_ns) - np.maximum(times["begin_ns"], first_ns)
    gap_ns = end_ns - begin_ns - sums(threads[inside], np.maximum(covered[inside], 0), count)
    for name in ("traffic_waiting_ns", "traffic_idle_ns"):
        found[name] = np.where(found[name] != NONE, found[name] + np.maximum(gap_ns, 0), NONE)
    return found


def driver_sources_rows(sources: Rows, times: Rows, of: Ints, frames: Rows, losses: Rows) -> Rows:
    """Return the table `driver_sources`; how long reads lay in queues is only known at most.

    `sources` are the stored rows, `of` has the source of each row of `source_times`.
    """
    count = len(sources)
    of_frame = frames["source_id"]
    cause = losses.words("cause")
    lost = {
        name: sums(losses["source_id"][cause.are(name)], losses["count"][cause.are(name)], count)
        for name in CAUSES
    }
    full, overflowed, never, unpublished = lost.values()
    longest = np.full(count, NONE, np.int64)
    np.maximum.at(longest, of, times["queue_max_ns"])
    null = np.full(count, NONE, np.int64)
    return sources.with_columns(
        {
            "reads": sums(of, times["reads"], count),
            "bytes": sums(of, times["bytes"], count),
            "frames": np.bincount(of_frame, minlength=count),
            "published": np.bincount(of_frame[frames["publications"] > 0], minlength=count),
            "unpublished": unpublished,
            "dropped": full + overflowed,
            "missing": never,
            "queue_p50_ns": null,
            "queue_p99_ns": null,
            "queue_max_ns": longest,
            "sweep_p50_ns": _quantile(of_frame, frames["sweep_ns"], count, "p50"),
            "conversion_p50_ns": _quantile(of_frame, frames["conversion_ns"], count, "p50"),
            "conversion_p99_ns": _quantile(of_frame, frames["conversion_ns"], count, "p99"),
        }
    )


def _quantile(group: Ints, values: Ints, count: int, name: str) -> Ints:
    out = np.full(count, NONE, np.int64)
    for at in range(count):
        own = values[(group == at) & (values != NONE)]
        if len(own):
            out[at] = round(summarize(own)[name] or 0)
    return out


def lifecycle_states_rows(rows: Rows) -> Rows:
    """Return `lifecycle_states`: a stay ends when the next one of its node begins."""
    order = np.lexsort((rows["begin_ns"], rows["lifecycle_node_id"]))
    rows = rows.take(order)
    node, begin_ns = rows["lifecycle_node_id"], rows["begin_ns"]
    follows = np.append(node[1:] == node[:-1], False)[: len(node)]
    first = np.append(True, node[1:] != node[:-1])[: len(node)]
    at = np.arange(len(node))
    position = at - np.maximum.accumulate(np.where(first, at, 0))
    end_ns = np.where(follows, np.append(begin_ns[1:], NONE)[: len(node)], NONE)
    return rows.with_columns({"position": position, "end_ns": end_ns})


def losses_rows(rows: Rows) -> Rows:
    """Return the table `losses`: those of one kind at one place are one row."""
    merged: dict[tuple[str, str], dict[str, Any]] = {}
    for row in rows.records():
        own = merged.setdefault((row["code"], row["place"]), {**row, "count": 0})
        own["count"] += row["count"]
        own["end_ns"] = row["end_ns"]
    return Rows.of_records(tables.LOSSES, list(merged.values()))


def _sums_known(group: Ints, values: Ints, count: int) -> Ints:
    """Return the sums of what is known; null where nothing is."""
    known = values != NONE
    out = sums(group[known], values[known], count)
    some = np.zeros(count, bool)
    some[group[known]] = True
    return np.where(some, out, NONE)


def _least(group: Ints, values: Ints, count: int) -> Ints:
    out = np.full(count, np.iinfo(np.int64).max)
    lower(out, group, values)
    return out
