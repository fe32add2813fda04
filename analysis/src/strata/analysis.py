# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The result of an analysis: the declared tables of one trace, and what they say in words."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from strata.schema import tables

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Process:
    """One traced process; `nodes` are the full names of its nodes, empty without init events.

    `distro` and `tracetools_version` are None where they are not known (table `processes`).
    """

    host: str
    vpid: int
    procname: str
    nodes: tuple[str, ...]
    events: int
    distro: str | None = None
    tracetools_version: str | None = None


@dataclass(frozen=True)
class TraceSummary:
    """What was read. Times are nanoseconds; `begin_ns` and `end_ns` since the epoch.

    `discarded_events` is null where the recorder could not tell them all. `machine` tells ROS 2,
    rmw and machine in words; empty when the trace has no manifest.
    """

    path: str
    events: int
    discarded_events: int | None
    begin_ns: int
    end_ns: int
    processes: tuple[Process, ...]
    machine: str = ""

    @property
    def duration_ns(self) -> int:
        """First to last event."""
        return self.end_ns - self.begin_ns


@dataclass(frozen=True)
class MessageCounts:
    """Messages of the application; `matched` counts takes."""

    published: int
    taken: int
    matched: int
    unmatched_publish: int
    unmatched_take: int
    ambiguous: int


@dataclass(frozen=True)
class Bottleneck:
    """What stands out of a chain's latency, or is its largest part where nothing does.

    Of the typical messages it is `layer` and `where`: the largest cause that stands out, else the
    largest of all; of the slowest messages the largest cause. Shares are of the latency of the
    group (see the table `blame`), durations are mean ns there, and `latency_p50_ns` and
    `latency_p99_ns` are quantiles of the chain. `text` says it in plain words, with the nodes where
    another chain goes over the same topics.

    `stands_out` tells that there is something to look at, by the rules named in `reasons`
    (strata.stats.stands_out). `tail_count` is how many messages the slowest are, `start_up_count`
    how many were left out as they were published before the last node was ready. `growth_ns_per_s`
    is what the latency grows by in a second behind a queue; null where none grows. `cpu_wait_ns`
    and `tail_cpu_wait_ns` are what of `typical_ns` and `tail_ns` a thread waited for a CPU,
    estimated from samples.
    """

    chain_id: int
    chain: str
    nodes: tuple[str, ...]
    layer: str
    where: str
    share_p50: float
    typical_ns: float
    latency_p50_ns: float
    text: str
    tail_layer: str = ""
    tail_where: str = ""
    share_p99: float = 0.0
    tail_ns: float = 0.0
    latency_p99_ns: float = 0.0
    stands_out: bool = True
    reasons: tuple[str, ...] = ()
    tail_count: int = 0
    start_up_count: int = 0
    growth_ns_per_s: float | None = None
    cpu_wait_ns: float = 0.0
    tail_cpu_wait_ns: float = 0.0


@dataclass(frozen=True)
class SystemVerdict:
    """What stands out over the whole system, in a sentence; causes are in `system_causes`.

    `text` is empty where no message of the application reached the end of its callback.
    """

    text: str = ""
    stands_out: bool = False


@dataclass(frozen=True)
class Analysis:
    """All results of one trace; every frame is a declared table (strata.schema.tables)."""

    trace: TraceSummary
    counts: MessageCounts
    nodes: pd.DataFrame
    publishers: pd.DataFrame
    subscriptions: pd.DataFrame
    callback_objects: pd.DataFrame
    callback_instances: pd.DataFrame
    publications: pd.DataFrame
    takes: pd.DataFrame
    messages: pd.DataFrame
    links: pd.DataFrame
    executor_blockers: pd.DataFrame
    executors: pd.DataFrame
    executor_threads: pd.DataFrame
    hops: pd.DataFrame
    hop_layers: pd.DataFrame
    chains: pd.DataFrame
    chain_instances: pd.DataFrame
    chain_segments: pd.DataFrame
    chain_layers: pd.DataFrame
    blame: pd.DataFrame
    modes: pd.DataFrame
    callbacks: pd.DataFrame
    service_objects: pd.DataFrame
    client_objects: pd.DataFrame
    service_calls: pd.DataFrame
    services: pd.DataFrame
    service_layers: pd.DataFrame
    quality: pd.DataFrame
    losses: pd.DataFrame
    event_uses: pd.DataFrame
    bottlenecks: tuple[Bottleneck, ...]
    hop_losses: pd.DataFrame = field(default_factory=tables.HOP_LOSSES.empty)
    processes: pd.DataFrame = field(default_factory=tables.PROCESSES.empty)
    contexts: pd.DataFrame = field(default_factory=tables.CONTEXTS.empty)
    subscription_objects: pd.DataFrame = field(default_factory=tables.SUBSCRIPTION_OBJECTS.empty)
    timers: pd.DataFrame = field(default_factory=tables.TIMERS.empty)
    timer_fires: pd.DataFrame = field(default_factory=tables.TIMER_FIRES.empty)
    timer_statistics: pd.DataFrame = field(default_factory=tables.TIMER_STATISTICS.empty)
    lifecycle_nodes: pd.DataFrame = field(default_factory=tables.LIFECYCLE_NODES.empty)
    lifecycle_states: pd.DataFrame = field(default_factory=tables.LIFECYCLE_STATES.empty)
    lifecycle_statistics: pd.DataFrame = field(default_factory=tables.LIFECYCLE_STATISTICS.empty)
    link_proposals: pd.DataFrame = field(default_factory=tables.LINK_PROPOSALS.empty)
    # Empty without actions.
    action_goals: pd.DataFrame = field(default_factory=tables.ACTION_GOALS.empty)
    action_feedback: pd.DataFrame = field(default_factory=tables.ACTION_FEEDBACK.empty)
    actions: pd.DataFrame = field(default_factory=tables.ACTIONS.empty)
    action_phases: pd.DataFrame = field(default_factory=tables.ACTION_PHASE_STATS.empty)
    # Empty without events of drivers.
    driver_sources: pd.DataFrame = field(default_factory=tables.DRIVER_SOURCES.empty)
    driver_frames: pd.DataFrame = field(default_factory=tables.DRIVER_FRAMES.empty)
    driver_losses: pd.DataFrame = field(default_factory=tables.DRIVER_LOSSES.empty)
    # Empty without events of the kernel.
    layer_scheduling: pd.DataFrame = field(default_factory=tables.LAYER_SCHEDULING.empty)
    preemptions: pd.DataFrame = field(default_factory=tables.PREEMPTIONS.empty)
    chain_scheduling: pd.DataFrame = field(default_factory=tables.SCHEDULING_STATS.empty)
    # Empty where nothing was sampled beside the trace.
    thread_cpu: pd.DataFrame = field(default_factory=tables.THREAD_CPU.empty)
    # The verdict over the whole system.
    system: SystemVerdict = field(default_factory=SystemVerdict)
    system_causes: pd.DataFrame = field(default_factory=tables.SYSTEM_CAUSES.empty)
    executor_load: pd.DataFrame = field(default_factory=tables.EXECUTOR_LOAD.empty)
    chain_groups: pd.DataFrame = field(default_factory=tables.CHAIN_GROUPS.empty)
    chain_group_members: pd.DataFrame = field(default_factory=tables.CHAIN_GROUP_MEMBERS.empty)
    layer_cpu_waits: pd.DataFrame = field(default_factory=tables.LAYER_CPU_WAITS.empty)
