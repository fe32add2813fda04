# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The model of what happened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from strata.engine.tables import EngineTables
from strata.engine.windows import NO_LOSSES, Windows
from strata.model.callback_groups import CallbackGroups, find_callback_groups
from strata.model.columns import NONE, EventColumns, Processes
from strata.model.drivers import DriverColumns, find_drivers
from strata.model.entities import Entities, build_entities
from strata.model.executions import Executions, Waits, callback_rows, find_executions, find_waits
from strata.model.executor_clocks import (
    ExecutorClocks,
    ThreadClocks,
    read_clocks,
    read_thread_clocks,
)
from strata.model.executors import Executors, find_executors
from strata.model.facts import Facts
from strata.model.findings import findings_of_engine
from strata.model.hosts import HostClocks, number_clocks
from strata.model.matching import Matches, find_matches, subscriptions_of
from strata.model.middleware import Middleware, find_middleware
from strata.model.numbers import Numbers, number_rows
from strata.model.scheduling import Scheduling, find_scheduling
from strata.model.search import pick
from strata.model.service_calls import ServiceTraffic, find_traffic
from strata.model.thread_cpu import CpuSamples, find_cpu_samples, no_samples
from strata.model.thread_steps import ThreadSteps, find_thread_steps
from strata.model.traffic import Publications, Takes, find_publications, find_takes
from strata.read.thread_cpu import ThreadCpu
from strata.schema.quality import NOTHING_FOUND, Findings
from strata.schema.rows import Flags, Ints


class Made(Protocol):
    """Columns of entities: the process that made each, and when."""

    @property
    def process(self) -> Ints:
        """Dense number of the process."""

    @property
    def begin_ns(self) -> Ints:
        """When it was made, since the epoch."""


@dataclass(frozen=True, eq=False)
class Model:
    """Entities, and what they did, each made of the engine's rows when it is first asked for.

    Rows refer to each other by number; see each class. `losses` are the windows of time in which
    events were lost, those that the engine was given; `clocks_of_hosts` has the id of each host's
    clock, where hosts may share one (strata.model.hosts); `samples` are those of the threads' waits
    for a CPU, and what the trace's clock adds to their times. Until `dropped_until_ns` only what
    names things is there; `NONE`: nothing was dropped on purpose. `found_before` tells of what was
    left out when the events were read. `always_named`: see `Processes`. `timers_due`: of timers
    that are older than the trace, by host, process id and handle, the start of fires before, or of
    its first ones, and when these were due; as an earlier part of the recording has them.
    """

    rows: EngineTables
    losses: Windows = NO_LOSSES
    clocks_of_hosts: Mapping[str, str] = field(default_factory=dict)
    samples: tuple[ThreadCpu, int] | None = None
    dropped_until_ns: int = NONE
    found_before: Findings = NOTHING_FOUND
    always_named: bool = False
    timers_due: Mapping[tuple[str, int, int], tuple[Ints, Ints]] = field(default_factory=dict)

    @cached_property
    def numbers(self) -> Numbers:
        """How rows are numbered, as the engine numbers what comes as it comes."""
        return number_rows(self.rows)

    @cached_property
    def events(self) -> EventColumns:
        """The events that the engine keeps whole."""
        return EventColumns(self.rows)

    def was_there(self, entities: Made, rows: Ints) -> Flags:
        """Return which entities were there before the trace, as their processes announced.

        They begin before any event of their process, as nobody says when they were made. `rows`
        are rows of `entities`, or `NONE`.
        """
        first_ns = np.append(self.facts.process_first_ns, NONE)
        return np.asarray(pick(entities.begin_ns, rows) < first_ns[pick(entities.process, rows)])

    @property
    def joined_ns(self) -> int:
        """When the last process that was there before the trace began to be recorded, or `NONE`."""
        return self.rows.engine.joined_ns

    @cached_property
    def processes(self) -> Processes:
        """All processes and threads."""
        return replace(self.events.processes, always_named=self.always_named)

    @cached_property
    def entities(self) -> Entities:
        """Nodes, publishers, subscriptions, timers and callbacks."""
        return build_entities(self.events)

    @cached_property
    def callback_of(self) -> Ints:
        """The row of each of the engine's callbacks; one more for null."""
        return callback_rows(self.rows, self.entities.callbacks)

    @cached_property
    def executions(self) -> Executions:
        """What ran of callbacks."""
        return find_executions(self.rows, self.numbers, self.callback_of)

    @cached_property
    def waits(self) -> Waits:
        """When threads of executors waited for work."""
        return find_waits(self.rows)

    @cached_property
    def executors(self) -> Executors:
        """Which threads ran callbacks together."""
        callbacks = self.entities.callbacks
        return find_executors(self.rows, self.processes, self.executions, self.waits, callbacks)

    @cached_property
    def groups(self) -> CallbackGroups:
        """Which callbacks never ran at once."""
        return find_callback_groups(self.executions, self.executors, self.entities.callbacks)

    @cached_property
    def clocks(self) -> ExecutorClocks:
        """How long executors waited, and callback groups ran."""
        return read_clocks(self.executions, self.waits, self.executors, self.groups)

    @cached_property
    def thread_clocks(self) -> ThreadClocks:
        """How long threads waited and ran callbacks; of use for executors of several threads."""
        count = len(self.processes.thread_process)
        return read_thread_clocks(self.executions, self.waits, count)

    @cached_property
    def publications(self) -> Publications:
        """What the application published."""
        return find_publications(self.rows, self.numbers)

    @cached_property
    def takes(self) -> Takes:
        """What was taken of messages."""
        return find_takes(self.rows, self.numbers)

    @cached_property
    def matches(self) -> Matches:
        """Which publication each take took."""
        return find_matches(self.rows, self.numbers)

    @cached_property
    def middleware(self) -> Middleware:
        """What the middleware did with publications and takes."""
        return find_middleware(self.rows, self.numbers)

    @cached_property
    def buffered(self) -> Ints:
        """The subscription of each message that was put into a ring buffer; `NONE` for none."""
        return subscriptions_of(self.rows, "enqueues")

    @cached_property
    def driver(self) -> DriverColumns:
        """What sensor drivers did."""
        return find_drivers(self.rows, self.numbers)

    @cached_property
    def scheduling(self) -> Scheduling:
        """What the kernel's scheduler did with threads."""
        return find_scheduling(self.rows, self.events)

    @cached_property
    def service_traffic(self) -> ServiceTraffic:
        """Services, clients and their calls."""
        return find_traffic(self.rows, self.numbers, self.events, self.entities.callbacks)

    @cached_property
    def thread_steps(self) -> ThreadSteps:
        """What threads did first after losses of events."""
        return find_thread_steps(self.rows)

    @cached_property
    def host_clocks(self) -> HostClocks:
        """By which clock each event is timed."""
        return number_clocks(self.processes, self.clocks_of_hosts)

    @cached_property
    def cpu(self) -> CpuSamples:
        """How long threads ran, and waited for a CPU, by samples of the kernel's counts."""
        if self.samples is None:
            return no_samples()
        return find_cpu_samples(*self.samples, self.processes)

    @cached_property
    def facts(self) -> Facts:
        """What else the events show."""
        return Facts(self)

    @cached_property
    def unsynchronised(self) -> Flags:
        """Which matches are of messages between machines: their clocks are two."""
        publisher = self.publications.thread[self.matches.publication]
        return self.host_clocks.differ(publisher, self.takes.thread[self.matches.take])

    @cached_property
    def findings(self) -> Findings:
        """What was found wrong when the events were read, and by the engine."""
        of_engine = findings_of_engine(self.rows, self.entities, self.callback_of)
        return self.found_before + of_engine
