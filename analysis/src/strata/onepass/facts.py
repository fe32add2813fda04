# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What layers ask of events, answered by the engine's rows (strata.model.facts.Facts)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from strata.engine.groups import values_at
from strata.model.columns import NONE, Ints
from strata.model.dds.samples import NAMING
from strata.model.driver.columns import DriverColumns
from strata.model.event_uses.cases import EventUse
from strata.model.facts import Census, ExecutorTimes, Intervals
from strata.model.goal_columns import GoalColumns
from strata.model.processes import ProcessFacts
from strata.model.search import pick
from strata.onepass.driver import find_driver_columns
from strata.onepass.process_facts import describe
from strata.onepass.services import feedback_executions, find_goals
from strata.onepass.tables import EngineTables
from strata.read.processes import Threads
from strata.schema.events import CATALOGUE, DDS_PROVIDER, EVENTS
from strata.schema.quality import Ledger

if TYPE_CHECKING:
    from strata.model.build import Model
    from strata.onepass.numbers import Numbers

Flags = npt.NDArray[np.bool_]

_LOOK, _SPIN, _HANDED = range(3)
"""ExecutorInterval of native/model/executor_threads.hpp."""


class EngineFacts:
    """The answers of an engine that is finished."""

    def __init__(self, tables: EngineTables, numbers: Numbers, model: Callable[[], Model]) -> None:
        """Take its rows, how rows of the model are numbered, and what gives the model."""
        self._of, self._numbers, self._model = tables, numbers, model

    @property
    def first_ns(self) -> int:
        """As `Facts` says."""
        first_ns = self._of.rows["processes"]["first_ns"]
        return int(first_ns.min(initial=np.iinfo(np.int64).max))

    @property
    def process_last_ns(self) -> Ints:
        """As `Facts` says."""
        return self._of.ints("processes", "last_ns")[self._of.process_order]

    @property
    def process_ran_ns(self) -> Ints:
        """As `Facts` says."""
        return self._of.ints("processes", "ran_ns")[self._of.process_order]

    @property
    def host_last_ns(self) -> Ints:
        """As `Facts` says."""
        ran = np.maximum(self._of.ints("processes", "ran_ns"), 0)
        host = np.unique(self._of.ints("processes", "host"), return_inverse=True)[1]
        last = np.zeros(int(host.max(initial=0)) + 1, np.int64)
        np.maximum.at(last, host, ran)
        process = self._of.rows["threads"]["process"].astype(np.int64)
        return last[host][process][self._of.thread_order]

    @property
    def is_hooked(self) -> bool:
        """As `Facts` says."""
        types = np.unique(self._of.rows["censuses"]["event"]).tolist()
        return any(EVENTS[number].provider == DDS_PROVIDER for number in types)

    @property
    def names_samples(self) -> bool:
        """As `Facts` says."""
        counts = self._of.engine.counts
        return any(counts.get(name) for name in NAMING)

    def spin_begins(self) -> tuple[Ints, Ints]:
        """As `Facts` says."""
        thread = self._of.ints("executor_threads", "thread")
        spin_ns = self._of.ints("executor_threads", "spin_ns")
        own = spin_ns != NONE
        return thread[own], spin_ns[own]

    def pauses(self) -> tuple[Ints, Ints, Ints]:
        """As `Facts` says."""
        process, begin_ns, end_ns = (
            self._of.ints("pauses", name) for name in ("process", "begin_ns", "end_ns")
        )
        order = np.lexsort((begin_ns, process))
        return process[order], begin_ns[order], end_ns[order]

    def timer_picks(self, timer: Ints, rows: Ints) -> Ints:
        """As `Facts` says."""
        del timer
        picked_ns = self._of.ints("executions", "timer_picked_ns")
        return values_at(picked_ns, values_at(self._numbers.execution_order, rows))

    def thread_name(self, publication: int) -> str | None:
        """As `Facts` says."""
        table, row = "publishes", self._numbers.publish_order[publication]
        calls = self._numbers.calls
        if calls is not None and row == NONE:
            table, row = calls.table, calls.rows[publication]
        name = self._of.words(self._of.rows[table]["procname"].astype(np.int64)[[row]])[0]
        return None if name is None else str(name)

    def told_of(self, process: Ints) -> Flags:
        """As `Facts` says."""
        return np.isin(process, self._told()[1])

    def told(self) -> tuple[Ints, Ints]:
        """As `Facts` says."""
        sample, process = self._told()
        known = sample != NONE
        return sample[known], process[known]

    def _told(self) -> tuple[Ints, Ints]:
        found = self._of.engine.notifications()
        thread = self._of.thread_number[found["thread"]]
        return found["sample"], self._model().processes.thread_process[thread]

    def sent_again(self) -> Ints:
        """As `Facts` says."""
        sends = self._of.engine.transmissions()["sends"]
        return np.asarray(sends["sample"][sends["again"] == 1], np.int64)

    def executor_times(self) -> ExecutorTimes:
        """As `Facts` says."""
        return ExecutorTimes(
            self._intervals(_LOOK),
            self._intervals(_SPIN),
            self._intervals(_HANDED),
            Intervals(
                *(self._of.ints("open_waits", name) for name in ("thread", "start_ns", "end_ns"))
            ),
            *(
                self._of.ints("executor_threads", name)
                for name in ("thread", "first_ns", "last_ns")
            ),
        )

    def _intervals(self, kind: int) -> Intervals:
        rows = self._of.rows["executor_intervals"]
        own = np.flatnonzero(rows["kind"] == kind)
        thread, begin_ns, end_ns = (
            values_at(rows[name], own) for name in ("thread", "begin_ns", "end_ns")
        )
        return Intervals(values_at(self._of.thread_number, thread), begin_ns, end_ns)

    def are_last(self) -> Flags:
        """As `Facts` says."""
        out = np.zeros(self._of.size("executions"), bool)
        hanging = self._of.ints("hanging_executions", "execution")
        out[self._numbers.execution_number[hanging]] = True
        return out

    def ways(self) -> Mapping[str, Ints] | None:
        """As `Facts` says."""
        model = self._model()
        publication, take = model.matches.publication, model.matches.take
        of_thread = model.processes.thread_process
        subscription = model.takes.subscription[take]
        columns = (
            self._numbers.publish_order[publication],
            self._numbers.take_order[take],
            model.publications.rmw_publish_ns[publication],
            self._of.process_order[of_thread[model.publications.thread[publication]]],
            self._of.process_order[of_thread[model.takes.thread[take]]],
            subscription,
            pick(model.entities.subscriptions.begin_ns, subscription),
            model.unsynchronised.astype(np.int64),
        )
        return self._of.engine.ways([np.ascontiguousarray(one, np.int64) for one in columns])

    def driver(self) -> DriverColumns | None:
        """As `Facts` says."""
        return self._driver

    @cached_property
    def _driver(self) -> DriverColumns:
        return find_driver_columns(self._of, self._numbers)

    def goals(self) -> GoalColumns | None:
        """As `Facts` says."""
        return find_goals(self._of, self._numbers)

    def feedback_executions(self) -> Ints | None:
        """As `Facts` says."""
        return feedback_executions(self._of, self._numbers)

    def process_facts(self, ledger: Ledger) -> ProcessFacts:
        """As `Facts` says."""
        return describe(self._of, self._model().events, ledger)

    def event_uses(self) -> list[EventUse]:
        """As `Facts` says."""
        order = {name: number for number, name in enumerate(CATALOGUE)}
        found = [EventUse(*use) for use in self._of.engine.event_uses]
        return sorted(found, key=lambda use: order[use.event])

    def census(self) -> Census:
        """As `Facts` says."""
        tables, processes = self._of, self._model().processes
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
