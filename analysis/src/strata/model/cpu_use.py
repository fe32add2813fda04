# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""How long threads had a CPU while they did something: in a callback, or as part of an executor.

With events of the kernel's scheduler it is known exactly, but for what these do not cover. Without
them samples of the kernel's counts bound it (strata.model.thread_cpu): in a window of length L the
thread ran for c, waited for a CPU for w, and was needed for n (all that is no wait for work; where
no such wait is recorded, its callbacks). Of what is asked for, o lies in the window. It ran

    at most   min(o, c)
    at least  c - (L - o)
    about     o * c / max(n, w + c)    within these two

*About* spreads what it ran evenly over the time in which it was needed; only the bounds are
certain, and these as far as the kernel's count is up to date: it is at each of its ticks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from strata.engine.groups import raise_to, sums
from strata.model.build import Model
from strata.model.columns import NONE, Ints
from strata.model.search import GroupedSearch, overlapping
from strata.model.thread_states import State
from strata.schema.confidence import ESTIMATED, EXACT


class Stretch(NamedTuple):
    """Stretches of threads to ask for: `group` is what each is of; those of one may overlap."""

    group: Ints
    thread: Ints
    begin_ns: Ints
    end_ns: Ints


@dataclass(frozen=True)
class CpuUse:
    """How long each group had a CPU, one row a group; ns.

    `known_ns` is how much of its stretches the trace tells of: 0 where it tells nothing. Of that
    `about_ns` lies between `least_ns` and `most_ns`. `sampled_ns` is what of `known_ns` only
    samples tell of; where that is 0 all three are equal.
    """

    about_ns: Ints
    least_ns: Ints
    most_ns: Ints
    known_ns: Ints
    sampled_ns: Ints

    @property
    def columns(self) -> dict[str, npt.NDArray[Any]]:
        """Columns of declared tables, by name."""
        none = self.known_ns == 0
        share = np.full(len(none), np.nan)
        np.divide(self.about_ns, self.known_ns, out=share, where=~none)
        durations = {
            "cpu_ns": self.about_ns,
            "cpu_least_ns": self.least_ns,
            "cpu_most_ns": self.most_ns,
            "cpu_known_ns": self.known_ns,
        }
        confidence = np.where(self.sampled_ns > 0, ESTIMATED, EXACT).astype(object)
        confidence[none] = None
        return {
            **{name: np.where(none, NONE, ns) for name, ns in durations.items()},
            "cpu_share": share,
            "cpu_confidence": confidence,
        }


def find_cpu_use(model: Model, asked: Stretch, count: int, *, needed_all: bool = False) -> CpuUse:
    """Return how long each of `count` groups of stretches had a CPU.

    `needed_all`: a stretch holds times in which the thread was not needed, so that samples are
    spread over all of it.
    """
    did = model.scheduling.intervals
    told = np.isin(asked.thread, np.unique(did.thread))
    ran = did.state == State.RUNNING
    known = did.state != State.UNKNOWN
    by_events = Stretch(*(column[told] for column in asked))
    running_ns, covered_ns = (
        _covered((did.thread[own], did.start_ns[own], did.end_ns[own]), by_events)
        for own in (ran, known)
    )
    exact_ns, exact_of_ns = (sums(by_events.group, ns, count) for ns in (running_ns, covered_ns))
    rest = Stretch(*(column[~told] for column in asked))
    about_ns, least_ns, most_ns, sampled_ns = _sampled(model, rest, count, needed_all=needed_all)
    return CpuUse(
        exact_ns + about_ns,
        exact_ns + least_ns,
        exact_ns + most_ns,
        exact_of_ns + sampled_ns,
        sampled_ns,
    )


def callback_cpu_use(model: Model) -> CpuUse:
    """Return how long each callback (row of `callback_objects`) had a CPU in its executions.

    In those that ended, from start to end, what they ran inside included; of coroutines in their
    pieces.
    """
    count = len(model.entities.callbacks.address)
    if not (model.scheduling.known or model.cpu.known):
        return CpuUse(*[np.zeros(count, np.int64)] * 5)
    runs = model.executions
    own = (runs.callback != NONE) & (runs.end_ns != NONE)
    asked = Stretch(runs.callback[own], runs.thread[own], runs.start_ns[own], runs.end_ns[own])
    return find_cpu_use(model, asked, count)


def thread_cpu_use(model: Model, thread: Ints, begin_ns: Ints, end_ns: Ints) -> CpuUse:
    """Return how long threads had a CPU from a begin to an end each; a row a thread."""
    rows = np.arange(len(thread))
    return find_cpu_use(model, Stretch(rows, thread, begin_ns, end_ns), len(rows), needed_all=True)


def _covered(spans: tuple[Ints, Ints, Ints], asked: Stretch) -> Ints:
    """Return how much of each stretch lies in spans (thread, begin, end), which never overlap."""
    thread, begin_ns, end_ns = spans
    if not len(thread):
        return np.zeros(len(asked.thread), np.int64)
    search = GroupedSearch(thread, begin_ns)
    ordered_end = end_ns[search.order]
    length = np.cumsum(np.append(0, (end_ns - begin_ns)[search.order]))
    first = search.begin(asked.thread)

    def before(ns: Ints) -> Ints:
        """What lies before an instant: all that began, less what is left of the last."""
        place = search.position(asked.thread, ns, after_equal=False)
        last = np.maximum(place - 1, 0)
        left_ns = np.where(place > first, np.maximum(ordered_end[last] - ns, 0), 0)
        return np.asarray(length[place] - left_ns, np.int64)

    return before(asked.end_ns) - before(asked.begin_ns)


class _Windows(NamedTuple):
    """Windows of samples of threads of the trace: how long it ran and waited for a CPU in each."""

    thread: Ints
    begin_ns: Ints
    end_ns: Ints
    cpu_ns: Ints
    wait_ns: Ints


def _windows(model: Model) -> _Windows:
    raw, threads = model.cpu.windows, model.cpu.threads
    thread = threads.at(threads.model_thread, raw.thread)
    own = thread != NONE
    return _Windows(
        *(column[own] for column in (thread, raw.begin_ns, raw.end_ns, raw.cpu_ns, raw.wait_ns))
    )


def _sampled(
    model: Model, asked: Stretch, count: int, *, needed_all: bool
) -> tuple[Ints, Ints, Ints, Ints]:
    """What samples show about groups of stretches: about, least, most and of how much."""
    none = np.zeros(count, np.int64)
    if not model.cpu.known or not len(asked.thread):
        return none, none, none, none
    windows = _windows(model)
    if not len(windows.thread):
        return none, none, none, none
    row, window = overlapping(
        (asked.thread, asked.begin_ns, asked.end_ns),
        (windows.thread, windows.begin_ns, windows.end_ns),
    )
    inside_ns = np.minimum(asked.end_ns[row], windows.end_ns[window])
    inside_ns = inside_ns - np.maximum(asked.begin_ns[row], windows.begin_ns[window])
    # Stretches of one group share what the thread ran in a window.
    width = len(windows.thread)
    pairs, number = np.unique(asked.group[row] * width + window, return_inverse=True)
    group, window = np.divmod(pairs, width)
    length_ns = (windows.end_ns - windows.begin_ns)[window]
    inside_ns = np.minimum(sums(number, inside_ns, len(pairs)), length_ns)
    ran_ns, waited_ns = np.minimum(windows.cpu_ns[window], length_ns), windows.wait_ns[window]
    most_ns = np.minimum(inside_ns, ran_ns)
    least_ns = np.maximum(ran_ns - (length_ns - inside_ns), 0)
    needed_ns = length_ns if needed_all else _needed(model, windows)[window]
    spread_ns = np.maximum(np.maximum(needed_ns, inside_ns), ran_ns + waited_ns)
    about_ns = np.rint(inside_ns * (ran_ns / np.maximum(spread_ns, 1))).astype(np.int64)
    about_ns = np.clip(about_ns, least_ns, most_ns)
    known_ns = sums(asked.group, _told_of(windows, model, asked), count)
    about_ns, least_ns, most_ns = (sums(group, ns, count) for ns in (about_ns, least_ns, most_ns))
    return about_ns, least_ns, most_ns, known_ns


def _needed(model: Model, windows: _Windows) -> Ints:
    """How much of each window its thread was needed: all that is no wait for work.

    Of a thread of which no such wait is recorded, as long as it was in callbacks.
    """
    waits, runs = model.waits, model.executions
    outer = runs.depth == 1
    asked = Stretch(windows.thread, windows.thread, windows.begin_ns, windows.end_ns)
    waited_ns = _covered((waits.thread, waits.start_ns, waits.end_ns), asked)
    called_ns = _covered((runs.thread[outer], runs.start_ns[outer], runs.until_ns[outer]), asked)
    length_ns = windows.end_ns - windows.begin_ns
    waits_known = np.isin(windows.thread, np.unique(waits.thread))
    return np.where(waits_known, np.maximum(length_ns - waited_ns, 0), called_ns)


def _told_of(windows: _Windows, model: Model, asked: Stretch) -> Ints:
    """How much of each stretch lies between its thread's first sample and the last of all.

    A thread without a window in between had not run.
    """
    far = np.iinfo(np.int64).max
    size = int(max(windows.thread.max(initial=0), asked.thread.max(initial=0))) + 1
    first_ns = np.full(size, far, np.int64)
    np.minimum.at(first_ns, windows.thread, windows.begin_ns)
    last_ns = np.full(1, NONE, np.int64)
    every = model.cpu.windows.end_ns
    raise_to(last_ns, np.zeros(len(every), np.int64), every)
    begin_ns = np.maximum(asked.begin_ns, np.minimum(first_ns[asked.thread], asked.end_ns))
    end_ns = np.minimum(asked.end_ns, last_ns[0])
    return np.asarray(np.maximum(end_ns - begin_ns, 0), np.int64)
