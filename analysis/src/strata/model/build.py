# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The model of what happened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from strata.model.columns import NONE, EventColumns, Processes
from strata.model.facts import Facts, TableFacts
from strata.model.hosts import Flags, HostClocks
from strata.model.thread_cpu import CpuSamples, no_samples
from strata.model.windows import NO_LOSSES, Windows

if TYPE_CHECKING:
    import pyarrow as pa

    from strata.model.callback_groups import CallbackGroups
    from strata.model.dds.middleware import Middleware
    from strata.model.driver.driver import Driver
    from strata.model.entities import Entities
    from strata.model.executions import Executions, Waits
    from strata.model.executor_clocks import ExecutorClocks
    from strata.model.executors import Executors
    from strata.model.matching import Matches
    from strata.model.ring_buffers import Passages
    from strata.model.scheduling import Scheduling
    from strata.model.service_calls import ServiceTraffic
    from strata.model.thread_steps import ThreadSteps
    from strata.model.timeline import Timeline
    from strata.model.traffic import Publications, Takes
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
    # Few traces have to be looked at as tables: what does it is loaded for these alone.
    from strata.model.of_tables import model_of_tables

    return model_of_tables(tables, ledger, losses, cpu, clocks or {}, dropped_until_ns)
