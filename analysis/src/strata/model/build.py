# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""From event tables to the model of what happened: the stages, in order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import pyarrow as pa

from strata.model.callback_groups import CallbackGroups, find_callback_groups
from strata.model.columns import NONE, EventColumns, Processes
from strata.model.dds.calls import add_call_events
from strata.model.dds.middleware import Middleware, find_middleware
from strata.model.driver.driver import Driver, find_driver
from strata.model.driver.publications import Surroundings
from strata.model.entities import Entities, build_entities
from strata.model.executions import Executions, Waits, pair_executions, pair_waits
from strata.model.executor_clocks import ExecutorClocks, read_clocks
from strata.model.executors import Executors, find_executors
from strata.model.facts import Facts, TableFacts
from strata.model.hosts import Flags, HostClocks, number_clocks
from strata.model.inferred import infer
from strata.model.intra_process import Trace, Traffic, join_intra_process
from strata.model.matching import Matches, match
from strata.model.nesting import count_contradictory_nesting
from strata.model.ring_buffers import Passages, find_ring_buffers, pair_passages
from strata.model.scheduling import Scheduling, find_scheduling
from strata.model.service_calls import ServiceTraffic, find_service_traffic
from strata.model.suspensions import join_pieces
from strata.model.thread_cpu import CpuSamples, find_cpu_samples, no_samples
from strata.model.thread_steps import ThreadSteps, find_thread_steps
from strata.model.timeline import Timeline
from strata.model.topics import number_topics
from strata.model.traffic import Publications, Takes, find_publications, find_takes
from strata.model.windows import NO_LOSSES, Windows
from strata.read.thread_cpu import ThreadCpu
from strata.schema.quality import Ledger


@dataclass(frozen=True)
class Model:
    """Entities, and what they did. Rows refer to each other by number; see each class."""

    events: EventColumns
    timeline: Timeline
    entities: Entities
    executions: Executions
    waits: Waits
    executors: Executors
    groups: CallbackGroups
    clocks: ExecutorClocks
    publications: Publications
    takes: Takes
    middleware: Middleware
    driver: Driver
    matches: Matches
    passages: Passages
    scheduling: Scheduling
    service_traffic: ServiceTraffic
    losses: Windows
    host_clocks: HostClocks
    cpu: CpuSamples = field(default_factory=no_samples)
    dropped_until_ns: int = NONE
    """Until then only what names things is there; `NONE`: nothing was dropped on purpose."""
    thread_steps: ThreadSteps = field(kw_only=True)
    known: Facts | None = None
    """What else the events tell, where it is not to be found in event tables."""

    @property
    def processes(self) -> Processes:
        """All processes and threads."""
        return self.events.processes

    @cached_property
    def facts(self) -> Facts:
        """What else the events tell."""
        return self.known or TableFacts(self)

    @cached_property
    def unsynchronised(self) -> Flags:
        """Which matches are of messages between machines: their clocks are two."""
        publisher = self.publications.thread[self.matches.publication]
        return self.host_clocks.differ(publisher, self.takes.thread[self.matches.take])


def build_model(
    tables: Mapping[str, pa.Table],
    ledger: Ledger,
    losses: Windows = NO_LOSSES,
    cpu: tuple[ThreadCpu, int] | None = None,
    clocks: Mapping[str, str] | None = None,
    dropped_until_ns: int = NONE,
) -> Model:
    """Build the model of a trace; what cannot be explained is counted in `ledger`.

    `losses` are the windows of time in which events were lost: first and last instant of each.
    `cpu`: samples of the threads' waits for a CPU, and what the trace's clock adds to theirs.
    `clocks`: the id of each host's clock, where hosts may share one (strata.model.hosts).
    `dropped_until_ns`: see `Model`; that time is one of the `losses`, too.
    """
    events = EventColumns(dict(tables), ledger)
    host_clocks = number_clocks(events.processes, clocks or {})
    add_call_events(events)
    entities = build_entities(events)
    timeline = Timeline(events)
    executions = pair_executions(events, timeline, entities.callbacks, ledger, losses)
    executions = join_pieces(events, timeline, executions, ledger, losses)
    count_contradictory_nesting(events, executions, ledger)
    waits = pair_waits(events, timeline)
    publications = find_publications(events, timeline, entities, executions, ledger, losses)
    takes = find_takes(events, timeline, entities, executions, ledger, losses)
    middleware = find_middleware(events, timeline, publications, takes, losses)
    topics = number_topics(publications, takes, entities)
    inferred = infer(events, timeline, publications, takes, topics)
    matches = match(publications, takes, topics, middleware, ledger, inferred, host_clocks)
    passages = pair_passages(events, find_ring_buffers(events, entities), ledger)
    traffic = join_intra_process(
        Trace(events, timeline, entities, topics, executions, passages, losses),
        Traffic(publications, takes, middleware, matches),
        ledger,
    )
    driver = find_driver(
        Surroundings(events, timeline, entities, executions, traffic.publications, losses), ledger
    )
    executors = find_executors(events, executions, waits, entities.callbacks)
    groups = find_callback_groups(executions, executors, entities.callbacks)
    scheduling = find_scheduling(tables, events, ledger)
    service_traffic = find_service_traffic(
        events, timeline, entities, executions, ledger, host_clocks, losses
    )
    return Model(
        events,
        timeline,
        entities,
        executions,
        waits,
        executors,
        groups,
        read_clocks(executions, waits, executors, groups),
        traffic.publications,
        traffic.takes,
        traffic.middleware,
        driver,
        traffic.matches,
        passages,
        scheduling,
        service_traffic,
        losses,
        host_clocks,
        find_cpu_samples(*cpu, events.processes) if cpu else no_samples(),
        dropped_until_ns,
        thread_steps=find_thread_steps(timeline, losses),
    )
