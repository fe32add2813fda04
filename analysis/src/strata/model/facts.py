# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What layers and tables ask of events beside entities, executions and messages.

`Facts` is what is asked; `TableFacts` answers it from event tables, `strata.onepass.facts` from the
engine's rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from strata.engine.groups import sums
from strata.model.columns import NONE, Ints
from strata.model.dds.samples import NAMING
from strata.model.executions import AFTER_WORK, open_waits
from strata.model.processes import ProcessFacts, describe_processes
from strata.model.search import GroupedSearch
from strata.model.timeline import EVENT_OF, Kind
from strata.model.windows import touched
from strata.read.processes import Threads
from strata.schema.quality import Ledger
from strata.schema.rows import Flags

if TYPE_CHECKING:
    from strata.model.build import Model
    from strata.model.driver.columns import DriverColumns
    from strata.model.event_uses import EventUse
    from strata.model.goal_columns import GoalColumns

_EXECUTE = "ros2:rclcpp_executor_execute"
_SPINS = (Kind.WAIT, Kind.WAIT_BEGIN, Kind.READY)
_RECEIVING = ("dds:receive", "dds:reader_history_add", "dds:reader_notify")
"""The timeline has all other runtime events."""
PAUSE_NS = 1_000_000
_ROWS = 1 << 16
"""So many intervals are looked at at once."""


@dataclass(frozen=True)
class Intervals:
    """Intervals of threads that do not overlap."""

    thread: Ints
    begin_ns: Ints
    end_ns: Ints

    def __len__(self) -> int:
        return len(self.thread)

    def total(self, count: int) -> Ints:
        """Return the sum of each of `count` threads."""
        out = np.zeros(count, np.int64)
        for part in self._pieces():
            out += sums(part.thread, part.end_ns - part.begin_ns, count)
        return out

    def total_within(self, begin_ns: Ints, end_ns: Ints) -> Ints:
        """Return the sum of each thread of what lies between two instants of it."""
        out = np.zeros(len(begin_ns), np.int64)
        for part in self._pieces():
            first = np.maximum(part.begin_ns, begin_ns[part.thread])
            last = np.minimum(part.end_ns, end_ns[part.thread])
            out += sums(part.thread, np.maximum(last - first, 0), len(out))
        return out

    def some(self, rows: Flags) -> Intervals:
        """Return some of the intervals."""
        if rows.all():
            return self
        return Intervals(self.thread[rows], self.begin_ns[rows], self.end_ns[rows])

    def _pieces(self) -> Iterator[Intervals]:
        """Go over the rows piece by piece: what is made of each then stays small."""
        for begin in range(0, len(self), _ROWS):
            own = slice(begin, begin + _ROWS)
            yield Intervals(self.thread[own], self.begin_ns[own], self.end_ns[own])


@dataclass(frozen=True)
class ExecutorTimes:
    """What threads of executors did outside of callbacks beside the waits that ended.

    `looks` go from the event before to a look for work that ends no wait, `spins` to a wait of no
    time, `handed` to what a thread executes that never looks for work. `open` are waits that were
    the last that their threads did. `first_ns` and `last_ns` bound the events of each of `threads`.
    """

    looks: Intervals
    spins: Intervals
    handed: Intervals
    open: Intervals
    threads: Ints
    first_ns: Ints
    last_ns: Ints


@dataclass(frozen=True)
class Census:
    """Events by host, process id, thread id and name of the thread, and their first and last."""

    events: int
    begin_ns: int
    end_ns: int
    threads: Threads


class Facts(Protocol):
    """What events tell; rows and numbers are those of the model."""

    @property
    def first_ns(self) -> int:
        """The first event; far in the future without any."""

    @property
    def process_last_ns(self) -> Ints:
        """The last event of each process."""

    @property
    def process_ran_ns(self) -> Ints:
        """The last runtime event of each process; 0 for none."""

    @property
    def host_last_ns(self) -> Ints:
        """The last runtime event of each thread's host; 0 for none."""

    @property
    def is_hooked(self) -> bool:
        """Whether the trace has any event of the DDS hooks."""

    @property
    def names_samples(self) -> bool:
        """Whether any event names a sample of the middleware."""

    def spin_begins(self) -> tuple[Ints, Ints]:
        """Threads that waited or looked for work, and when they first did."""

    def pauses(self) -> tuple[Ints, Ints, Ints]:
        """Process, begin and end of stretches of `PAUSE_NS` or more without an event."""

    def timer_picks(self, timer: Ints, rows: Ints) -> Ints:
        """When the executor picked the timer for each of some executions; `NONE`: not recorded."""

    def thread_name(self, publication: int) -> str | None:
        """The name of the thread that made a publication."""

    def told_of(self, process: Ints) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Whether any reader of each process was told of any sample."""

    def told(self) -> tuple[Ints, Ints]:
        """Sample and process of all samples that a reader was told of."""

    def sent_again(self) -> Ints:
        """Samples that were sent more than once to one place."""

    def executor_times(self) -> ExecutorTimes:
        """What threads of executors did."""

    def are_last(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Executions without an end after which their threads did no other work."""

    def ways(self) -> Mapping[str, Ints] | None:
        """Columns of strata.layers.way.Way of each match; None: the model's wire has them."""

    def driver(self) -> DriverColumns | None:
        """What sensor drivers did; None: the model's driver has it."""

    def goals(self) -> GoalColumns | None:
        """What tells of goals beside their calls; None: the model's timeline has it."""

    def feedback_executions(self) -> Ints | None:
        """What each take of feedback started, by take; None: the model's timeline has it."""

    def process_facts(self, ledger: Ledger) -> ProcessFacts:
        """What is known of each process."""

    def event_uses(self) -> list[EventUse]:
        """What events were used for."""

    def census(self) -> Census:
        """What was read."""


class TableFacts:
    """The answers of event tables."""

    def __init__(self, model: Model) -> None:
        """Take a model that was built of event tables."""
        self._model = model

    @property
    def first_ns(self) -> int:
        """As `Facts` says."""
        events = self._model.events
        first = [events.timestamps(name)[:1] for name in events.names]
        return int(min((int(ns.min()) for ns in first if len(ns)), default=np.iinfo(np.int64).max))

    @property
    def process_last_ns(self) -> Ints:
        """As `Facts` says."""
        events = self._model.events
        end_ns = np.full(len(events.processes.vpid), NONE, np.int64)
        for name in events.names:
            last = np.full(len(end_ns), NONE, np.int64)
            # Tables are in order of time: of several rows the last one stays.
            last[events.process(name)] = events.timestamps(name)
            end_ns = np.maximum(end_ns, last)
        return end_ns

    @property
    def process_ran_ns(self) -> Ints:
        """As `Facts` says."""
        model = self._model
        out = np.zeros(len(model.processes.vpid), np.int64)
        of_thread = model.processes.thread_process
        np.maximum.at(out, of_thread[model.timeline.thread], model.timeline.ns)
        return out

    @property
    def host_last_ns(self) -> Ints:
        """As `Facts` says."""
        timeline, processes = self._model.timeline, self._model.processes
        host = np.unique(processes.host, return_inverse=True)[1][processes.thread_process]
        last = np.zeros(int(host.max(initial=0)) + 1, np.int64)
        np.maximum.at(last, host[timeline.thread], timeline.ns)
        return np.asarray(last[host], np.int64)

    @property
    def is_hooked(self) -> bool:
        """As `Facts` says."""
        return self._model.events.recorded("dds")

    @property
    def names_samples(self) -> bool:
        """As `Facts` says."""
        return any(self._model.events.count(name) for name in NAMING)

    def spin_begins(self) -> tuple[Ints, Ints]:
        """As `Facts` says."""
        timeline = self._model.timeline
        at = timeline.positions(*_SPINS)
        thread, first = np.unique(timeline.thread[at], return_index=True)
        return thread, timeline.ns[at[first]]

    def pauses(self) -> tuple[Ints, Ints, Ints]:
        """As `Facts` says."""
        events, timeline = self._model.events, self._model.timeline
        of_thread = self._model.processes.thread_process
        thread = [timeline.thread, *(events.thread(name) for name in _RECEIVING)]
        stamps = [timeline.ns, *(events.timestamps(name) for name in _RECEIVING)]
        process, ns = of_thread[np.concatenate(thread)], np.concatenate(stamps)
        order = np.lexsort((ns, process))
        process, ns = process[order], ns[order]
        long = (process[1:] == process[:-1]) & (np.diff(ns) >= PAUSE_NS)
        return process[1:][long], ns[:-1][long], ns[1:][long]

    def timer_picks(self, timer: Ints, rows: Ints) -> Ints:
        """The last pick on the thread before the callback, when it names the timer.

        And belongs to no callback before, and no events were lost in between.
        """
        model = self._model
        picked = np.full(len(rows), NONE, np.int64)
        ns = model.events.timestamps(_EXECUTE)
        if not len(ns):
            return picked
        picks = GroupedSearch(model.events.thread(_EXECUTE), ns)
        every = model.executions
        at = picks.position(every.thread, every.start_ns, after_equal=True) - 1
        pick = np.where(at >= picks.begin(every.thread), picks.order[np.maximum(at, 0)], NONE)
        order = np.lexsort((every.start_ns, every.thread))
        again = np.zeros(len(every), bool)
        again[order[1:]] = pick[order[1:]] == pick[order[:-1]]
        pick = np.where(again, NONE, pick)[rows]
        named = model.events.ints(_EXECUTE, "handle")[np.maximum(pick, 0)]
        own = (pick != NONE) & (named == model.entities.timers.handle[timer])
        own &= ~touched(model.losses, ns[np.maximum(pick, 0)], every.start_ns[rows])
        picked[own] = ns[pick[own]]
        return picked

    def thread_name(self, publication: int) -> str | None:
        """As `Facts` says."""
        model = self._model
        at = int(model.publications.position[publication])
        event = EVENT_OF[Kind(int(model.timeline.kind[at]))]
        codes, labels = model.events.procnames(event)
        code = int(codes[model.timeline.row[at]])
        return labels[code] if code != NONE else None

    def told_of(self, process: Ints) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """As `Facts` says."""
        return np.isin(process, self._model.events.process("dds:reader_notify"))

    def told(self) -> tuple[Ints, Ints]:
        """As `Facts` says."""
        name = "dds:reader_notify"
        process, sample = self._model.events.process(name), self._model.middleware.samples.of(name)
        known = sample != NONE
        return sample[known], process[known]

    def sent_again(self) -> Ints:
        """As `Facts` says."""
        return self._model.middleware.wire.sent_again()

    def executor_times(self) -> ExecutorTimes:
        """As `Facts` says."""
        looks, spins = self._between()
        threads, first_ns, last_ns = self._bounds()
        model = self._model
        waits = open_waits(model.timeline, self._host_ends(), model.losses)
        return ExecutorTimes(
            looks,
            spins,
            self._until_handed(),
            Intervals(waits.thread, waits.start_ns, waits.end_ns),
            threads,
            first_ns,
            last_ns,
        )

    def _host_ends(self) -> Ints:
        processes = self._model.processes
        ended = processes.end_ns[processes.thread_process]
        out = self.host_last_ns
        return np.asarray(np.where(ended != NONE, np.minimum(ended, out), out), np.int64)

    def _bounds(self) -> tuple[Ints, Ints, Ints]:
        timeline = self._model.timeline
        at = timeline.positions(
            Kind.WAIT,
            Kind.READY,
            Kind.EXECUTE,
            Kind.CALLBACK_START,
            Kind.CALLBACK_END,
            Kind.WAIT_BEGIN,
            Kind.WAIT_END,
        )
        thread, first = np.unique(timeline.thread[at], return_index=True)
        last = np.append(first, len(at))[1:] - 1
        return thread, timeline.ns[at[first]], timeline.ns[at[last]]

    def _between(self) -> tuple[Intervals, Intervals]:
        model, timeline = self._model, self._model.timeline
        at = timeline.positions(
            Kind.WAIT, Kind.READY, Kind.EXECUTE, Kind.CALLBACK_START, Kind.CALLBACK_END
        )
        kind, thread, ns = timeline.kind[at], timeline.thread[at], timeline.ns[at]
        before, after = kind[:-1], kind[1:]
        timeout = model.events.ints(EVENT_OF[Kind.WAIT], "timeout")
        at_once = after == Kind.WAIT
        at_once[at_once] = timeout[timeline.row[at[1:][at_once]]] == 0
        # Before a callback's start its take lies, and before its end the callback.
        spun = at_once & (before != Kind.CALLBACK_START) & (before != Kind.EXECUTE)
        looked = (after == Kind.READY) & (before != Kind.WAIT)
        own = (thread[1:] == thread[:-1]) & (model.executions.enclosing(at[1:]) == NONE)
        looks, spins = (
            Intervals(thread[1:][own & some], ns[:-1][own & some], ns[1:][own & some])
            for some in (looked, spun)
        )
        return looks, spins

    def _until_handed(self) -> Intervals:
        model, timeline = self._model, self._model.timeline
        looks = timeline.positions(Kind.WAIT, Kind.READY, Kind.WAIT_BEGIN)
        handed = np.ones(len(model.executors.of_thread), bool)
        handed[timeline.thread[looks]] = False
        handed[model.waits.thread] = False
        at = timeline.positions(Kind.EXECUTE, Kind.CALLBACK_START, Kind.CALLBACK_END)
        kind, thread, ns = timeline.kind[at], timeline.thread[at], timeline.ns[at]
        own = (thread[1:] == thread[:-1]) & (kind[1:] == Kind.EXECUTE) & handed[thread[1:]]
        own &= model.executions.enclosing(at[1:]) == NONE
        return Intervals(thread[1:][own], ns[:-1][own], ns[1:][own])

    def are_last(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """As `Facts` says."""
        executions = self._model.executions
        after = self._model.timeline.after(executions.start, *AFTER_WORK)
        return np.asarray((executions.end_ns == NONE) & (after == NONE), bool)

    def ways(self) -> Mapping[str, Ints] | None:
        """As `Facts` says."""
        return None

    def driver(self) -> DriverColumns | None:
        """As `Facts` says."""
        return None

    def goals(self) -> GoalColumns | None:
        """As `Facts` says."""
        return None

    def feedback_executions(self) -> Ints | None:
        """As `Facts` says."""
        return None

    def process_facts(self, ledger: Ledger) -> ProcessFacts:
        """As `Facts` says."""
        return describe_processes(self._model.events, ledger)

    def event_uses(self) -> list[EventUse]:
        """As `Facts` says."""
        from strata.model.event_uses import event_uses

        return event_uses(self._model)

    def census(self) -> Census:
        """As `Facts` says; who has the event tables knows (tests/engine/by_tables.py)."""
        raise NotImplementedError
