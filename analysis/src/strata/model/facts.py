# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What layers and tables ask of events beside entities, executions and messages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from strata.engine._model import ThreadIntervals
from strata.engine.groups import raise_to, sums, values_at
from strata.model.columns import NONE, Ints
from strata.model.event_uses import EventUse
from strata.model.goals import GoalColumns, feedback_executions, find_goals
from strata.model.processes import ProcessFacts, describe_processes
from strata.model.search import pick
from strata.read.processes import Threads
from strata.schema.events import CATALOGUE, DDS_PROVIDER, EVENTS
from strata.schema.quality import Findings
from strata.schema.rows import Flags

if TYPE_CHECKING:
    from strata.model.build import Model

PAUSE_NS = 1_000_000


_ROWS = 1 << 16
"""So many intervals are looked at at once."""
_NAMING = (
    "dds:written",
    "dds:sent",
    "dds:received",
    "dds:taken",
    "dds:writer_history_add",
    "dds:send_begin",
    "dds:send_sample",
    "dds:receive",
    "dds:receive_sample",
    "dds:reader_history_add",
    "dds:reader_notify",
    "dds:take_end",
)
"""The events that name a sample of the middleware."""
_KINDS = range(3)
"""ExecutorInterval of native/model/executor_threads.hpp: looks, spins, handed."""


@dataclass(frozen=True)
class Intervals:
    """Intervals of so many `threads` that do not overlap, as ThreadIntervals in columns."""

    threads: int
    thread: Ints
    begin_ns: Ints
    end_ns: Ints

    def total(self) -> Ints:
        """Return the sum of each thread."""
        return sums(self.thread, self.end_ns - self.begin_ns, self.threads)

    def total_within(self, begin_ns: Ints, end_ns: Ints) -> Ints:
        """Return the sum of each thread of what lies between two instants of it."""
        out = np.zeros(self.threads, np.int64)
        # What is made of each piece stays small.
        for begin in range(0, len(self.thread), _ROWS):
            own = slice(begin, begin + _ROWS)
            thread = self.thread[own]
            first = np.maximum(self.begin_ns[own], begin_ns[thread])
            last = np.minimum(self.end_ns[own], end_ns[thread])
            out += sums(thread, np.maximum(last - first, 0), self.threads)
        return out

    def last(self) -> Ints:
        """Return when the last of each thread ended; `NONE` for none."""
        out = np.full(self.threads, NONE, np.int64)
        raise_to(out, self.thread, self.end_ns)
        return out


@dataclass(frozen=True)
class ExecutorTimes:
    """What threads of executors did outside of callbacks beside the waits that ended.

    `looks` go from the event before to a look for work that ends no wait, `spins` to a wait of no
    time, `handed` to what a thread executes that never looks for work. `open` are waits that were
    the last that their threads did. `first_ns` and `last_ns` bound the events of each of `threads`.
    """

    looks: ThreadIntervals
    spins: ThreadIntervals
    handed: ThreadIntervals
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


class Facts:
    """What events show; rows and numbers are those of the model."""

    def __init__(self, model: Model) -> None:
        """Take the model, which is asked for what an answer needs only."""
        self._model, self._of = model, model.rows

    @property
    def process_first_ns(self) -> Ints:
        """The first event of each process."""
        return self._of.ints("processes", "first_ns")[self._of.process_order]

    @property
    def first_ns(self) -> int:
        """The first event; far in the future without any."""
        first_ns = self._of.rows["processes"]["first_ns"]
        return int(first_ns.min(initial=np.iinfo(np.int64).max))

    @property
    def process_last_ns(self) -> Ints:
        """The last event of each process."""
        return self._of.ints("processes", "last_ns")[self._of.process_order]

    @property
    def process_ran_ns(self) -> Ints:
        """The last runtime event of each process; 0 for none."""
        return self._of.ints("processes", "ran_ns")[self._of.process_order]

    @property
    def host_last_ns(self) -> Ints:
        """The last runtime event of each thread's host; 0 for none."""
        ran = np.maximum(self._of.ints("processes", "ran_ns"), 0)
        host = np.unique(self._of.ints("processes", "host"), return_inverse=True)[1]
        last = np.zeros(int(host.max(initial=0)) + 1, np.int64)
        np.maximum.at(last, host, ran)
        process = self._of.rows["threads"]["process"].astype(np.int64)
        return last[host][process][self._of.thread_order]

    @property
    def is_hooked(self) -> bool:
        """Whether the trace has any event of the DDS hooks."""
        types = np.unique(self._of.rows["censuses"]["event"]).tolist()
        return any(EVENTS[number].provider == DDS_PROVIDER for number in types)

    @property
    def names_samples(self) -> bool:
        """Whether any event names a sample of the middleware."""
        counts = self._of.engine.counts
        return any(counts.get(name) for name in _NAMING)

    def spin_begins(self) -> tuple[Ints, Ints]:
        """Threads that waited or looked for work, and when they first did."""
        thread = self._of.ints("executor_threads", "thread")
        spin_ns = self._of.ints("executor_threads", "spin_ns")
        own = spin_ns != NONE
        return thread[own], spin_ns[own]

    def pauses(self) -> tuple[Ints, Ints, Ints]:
        """Process, begin and end of stretches of `PAUSE_NS` or more without an event."""
        process, begin_ns, end_ns = (
            self._of.ints("pauses", name) for name in ("process", "begin_ns", "end_ns")
        )
        order = np.lexsort((begin_ns, process))
        return process[order], begin_ns[order], end_ns[order]

    def timer_picks(self, timer: Ints, rows: Ints) -> Ints:
        """When the executor picked the timer for each of some executions; `NONE`: not recorded."""
        del timer
        picked_ns = self._of.ints("executions", "timer_picked_ns")
        return values_at(picked_ns, values_at(self._model.numbers.execution_order, rows))

    def thread_name(self, publication: int) -> str | None:
        """The name of the thread that made a publication."""
        table, row = "publishes", self._model.numbers.publish_order[publication]
        calls = self._model.numbers.calls
        if calls is not None and row == NONE:
            table, row = calls.table, calls.rows[publication]
        name = self._of.words(self._of.rows[table]["procname"].astype(np.int64)[[row]])[0]
        return None if name is None else str(name)

    def told_of(self, process: Ints) -> Flags:
        """Whether any reader of each process was notified of any sample."""
        return np.isin(process, self._told()[1])

    def told(self) -> tuple[Ints, Ints]:
        """Sample and process of all samples that a reader was notified of."""
        sample, process = self._told()
        known = sample != NONE
        return sample[known], process[known]

    def _told(self) -> tuple[Ints, Ints]:
        found = self._of.engine.notifications()
        thread = self._of.thread_number[found["thread"]]
        return found["sample"], self._model.processes.thread_process[thread]

    def sent_again(self) -> Ints:
        """Samples that were sent more than once to one place."""
        sends = self._of.engine.transmissions()["sends"]
        return np.asarray(sends["sample"][sends["again"] == 1], np.int64)

    def executor_times(self) -> ExecutorTimes:
        """What threads of executors did."""
        engine, order = self._of.engine, self._of.thread_order
        looks, spins, handed = (engine.executor_intervals(kind, order) for kind in _KINDS)
        return ExecutorTimes(
            looks,
            spins,
            handed,
            Intervals(
                len(self._of.thread_order),
                *(self._of.ints("open_waits", name) for name in ("thread", "start_ns", "end_ns")),
            ),
            *(
                self._of.ints("executor_threads", name)
                for name in ("thread", "first_ns", "last_ns")
            ),
        )

    def are_last(self) -> Flags:
        """Executions without an end after which their threads did no other work."""
        out = np.zeros(self._of.size("executions"), bool)
        hanging = self._of.ints("hanging_executions", "execution")
        out[self._model.numbers.execution_number[hanging]] = True
        return out

    def ways(self) -> Mapping[str, Ints]:
        """Columns of strata.layers.way.Way of each match."""
        model = self._model
        publication, take = model.matches.publication, model.matches.take
        of_thread = model.processes.thread_process
        subscription = model.takes.subscription[take]
        columns = (
            self._model.numbers.publish_order[publication],
            self._model.numbers.take_order[take],
            model.publications.rmw_publish_ns[publication],
            self._of.process_order[of_thread[model.publications.thread[publication]]],
            self._of.process_order[of_thread[model.takes.thread[take]]],
            subscription,
            pick(model.entities.subscriptions.begin_ns, subscription),
            model.unsynchronised.astype(np.int64),
        )
        return self._of.engine.ways([np.ascontiguousarray(one, np.int64) for one in columns])

    def goals(self) -> GoalColumns:
        """The evidence of goals beside their calls."""
        return find_goals(self._of, self._model.numbers, self._model.executions)

    def feedback_executions(self) -> Ints:
        """What each take of feedback started, by take."""
        return feedback_executions(self._of, self._model.numbers)

    def process_facts(self) -> tuple[ProcessFacts, Findings]:
        """What is known of each process, and what of it contradicts itself."""
        return describe_processes(self._of, self._model.events)

    def event_uses(self) -> list[EventUse]:
        """What events were used for."""
        order = {name: number for number, name in enumerate(CATALOGUE)}
        found = [EventUse(*use) for use in self._of.engine.event_uses]
        return sorted(found, key=lambda use: order[use.event])

    def census(self) -> Census:
        """What was read."""
        tables, processes = self._of, self._model.processes
        threads: Threads = Counter()
        rows = tables.rows["names"]
        thread = tables.ints("names", "thread")
        host = np.asarray(processes.host, object)[processes.thread_process[thread]]
        vpid = processes.vpid[processes.thread_process[thread]]
        columns = (host, vpid.tolist(), processes.thread_vtid[thread].tolist())
        names = tables.text("names", "name")
        for place, name, count in zip(
            zip(*columns, strict=True), names, rows["count"].tolist(), strict=True
        ):
            threads[(*place, None if name is None else str(name))] += count
        threads.update(self._bystanders())
        total = tables.engine.events
        return Census(total, *tables.engine.span, threads)

    def _bystanders(self) -> Threads:
        """Who emitted events that no machine saw, and how many."""
        rows = self._of.rows["bystanders"]
        found: Threads = Counter()
        host, name = (self._of.text("bystanders", column) for column in ("host", "name"))
        columns = (rows[column].tolist() for column in ("vpid", "vtid", "count"))
        for at, (vpid, vtid, count) in enumerate(zip(*columns, strict=True)):
            found[str(host[at]), _known(vpid), _known(vtid), name[at]] += count
        return found


def _known(number: int) -> int | None:
    return None if number == NONE else number
