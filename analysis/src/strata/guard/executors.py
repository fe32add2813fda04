# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""How busy executors were in the busiest stretch of a length that ends in a window.

Busy is what strata.verdict.executor_load means: all but waiting for work or for the executor's
mutex, and but what lies outside of the executor. Before its first and after its last event of a
trace a thread is taken for idle: nobody saw it work.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase

import numpy as np

from strata.engine._model import ThreadIntervals
from strata.guard.conditions import COMPARISONS, Busy
from strata.guard.load import When
from strata.guard.occurrence import Fault, bound_text
from strata.live.judged import Seen
from strata.live.windows import Window
from strata.model.build import Model
from strata.model.facts import Intervals
from strata.model.last_seen import ran_until
from strata.schema.rows import NONE, Ints, Rows
from strata.units import format_share


@dataclass(frozen=True)
class Idle:
    """When threads of executors were idle: one row each, no two of one thread overlap."""

    executor: Ints
    begin_ns: Ints
    end_ns: Ints


@dataclass(frozen=True)
class Stretch:
    """The busiest one of an executor: its end, and the share that its threads were busy."""

    end_ns: int
    share: float


def overloaded(when: When, condition: Busy, seen: Seen, idle: Idle) -> Iterator[Fault]:
    """Yield the executors that were busy for more than a share of some stretch of time."""
    threads, told = seen.made["executor_threads"], seen.model.executors.told
    for row in seen.made["executors"].records():
        nodes = sorted(row["nodes"].split(", ")) if row["nodes"] else [f"process {row['vpid']}"]
        executor = row["executor_id"]
        if not told[executor] or not any(fnmatchcase(node, when.pattern) for node in nodes):
            continue
        own = threads.take(threads["executor_id"] == executor)
        found = busiest(own, idle, executor, condition.for_ns, seen.window)
        if found is None or not COMPARISONS[condition.limit](found.share, condition.bound):
            continue
        name = f"the executor of {', '.join(nodes)}"
        span = f"{condition.span:f} {condition.unit}"
        text = f"{name} was busy for {format_share(found.share)} of {span}"
        yield Fault(name, found.end_ns, f"{text}, {bound_text(condition)}", found.share)


def idleness(model: Model) -> Idle:
    """Return when the threads of all executors were idle while they were seen."""
    executions, times = model.executions, model.facts.executor_times()
    outer = np.flatnonzero(executions.depth == 1)
    # One that spins waits inside of a callback.
    waits = model.waits.of_threads.outside(
        executions.thread[outer], executions.start_ns[outer], ran_until(model)[outer]
    )
    executors = model.executors
    several = np.append(executors.threads > 1, False)
    parts = []
    for part in (waits, times.open, times.handed, times.spins, times.looks):
        thread, begin_ns, end_ns = _columns(part)
        executor = executors.of_thread[thread]
        own = (executor != NONE) & (end_ns > begin_ns)
        if part is times.looks:
            # With one thread nobody holds the executor's mutex for long.
            own &= several[executor]
        parts.append((executor[own], begin_ns[own], end_ns[own]))
    return Idle(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def busiest(
    threads: Rows, idle: Idle, executor: int, span_ns: int, window: Window
) -> Stretch | None:
    """Return the busiest stretch of an executor that ends in a window; null without a thread.

    `threads` are its rows of `executor_threads`. The idle time up to an instant grows piece by
    piece as a line, so the busiest stretch begins or ends where a piece does, or with the window.
    """
    count = len(threads)
    if not count:
        return None
    own = idle.executor == executor
    far = span_ns + window.span_ns
    first, last = window.since_ns - far, window.until_ns + far
    begins = np.concatenate([idle.begin_ns[own], np.full(count, first), threads["end_ns"]])
    ends = np.concatenate([idle.end_ns[own], threads["begin_ns"], np.full(count, last)])
    begins, ends = np.clip(begins, first, last), np.clip(ends, first, last)
    edges = np.unique(np.concatenate([begins, ends]))
    ends_ns = np.concatenate([edges, edges + span_ns, [window.since_ns + 1, window.until_ns]])
    ends_ns = np.unique(ends_ns[(ends_ns > window.since_ns) & (ends_ns <= window.until_ns)])
    idle_ns = _until(begins, ends, ends_ns) - _until(begins, ends, ends_ns - span_ns)
    row = int(idle_ns.argmin())
    return Stretch(int(ends_ns[row]), 1.0 - float(idle_ns[row]) / (count * span_ns))


def _until(begins: Ints, ends: Ints, at_ns: Ints) -> Ints:
    """Return how much of some intervals lies before each instant, in ns."""
    total = np.zeros(len(at_ns), np.int64)
    for edges, sign in ((np.sort(begins), 1), (np.sort(ends), -1)):
        before = np.searchsorted(edges, at_ns)
        sums = np.append(0, np.cumsum(edges - edges[0]))
        total += sign * (before * (at_ns - edges[0]) - sums[before])
    return total


def _columns(part: Intervals | ThreadIntervals) -> tuple[Ints, Ints, Ints]:
    if isinstance(part, Intervals):
        return part.thread, part.begin_ns, part.end_ns
    return part.columns()
