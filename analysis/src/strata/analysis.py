# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The result of an analysis: the declared tables of one trace, and what they say in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, Self, overload

from strata.schema.rows import Rows
from strata.schema.table import Table
from strata.schema.tables import TABLES

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
    rmw and machine in words; empty when the trace has no manifest. `faults` are those for which
    `strata guard` kept it, a sentence each.
    """

    path: str
    events: int
    discarded_events: int | None
    begin_ns: int
    end_ns: int
    processes: tuple[Process, ...]
    machine: str = ""
    faults: tuple[str, ...] = field(default=(), repr=False)
    opened: Path | None = field(default=None, repr=False)

    @property
    def place(self) -> Path:
        """Where to open it again; in `path`, for people, U+FFFD replaces what is no UTF-8."""
        return Path(self.path) if self.opened is None else self.opened

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


_NOTHING_STANDS_OUT = SystemVerdict()


class Results(Protocol):
    """What an analysis resulted in: each table is made when it is first asked for."""

    @property
    def trace(self) -> TraceSummary:
        """What was read."""

    @property
    def counts(self) -> MessageCounts:
        """Messages of the application."""

    @property
    def bottlenecks(self) -> tuple[Bottleneck, ...]:
        """What stands out of each chain."""

    @property
    def system(self) -> SystemVerdict:
        """What stands out over the whole system."""

    def rows(self, name: str) -> Rows:
        """Return a declared table by its name."""


@dataclass(frozen=True)
class GivenResults:
    """Results that are there; a table that is not in `tables` has no row."""

    trace: TraceSummary
    counts: MessageCounts
    tables: Mapping[str, Rows]
    bottlenecks: tuple[Bottleneck, ...] = ()
    system: SystemVerdict = _NOTHING_STANDS_OUT

    def rows(self, name: str) -> Rows:
        """Return a declared table by its name."""
        return self.tables[name] if name in self.tables else Rows.none(TABLE_OF[name])


class _Frame:
    """A declared table as a frame, made at first use; the attribute has the table's name."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, analysis: None, owner: type) -> _Frame: ...
    @overload
    def __get__(self, analysis: Analysis, owner: type) -> pd.DataFrame: ...

    def __get__(self, analysis: Analysis | None, owner: type) -> _Frame | pd.DataFrame:
        return self if analysis is None else analysis.frame(self._name)


class Analysis:
    """All results of one trace.

    Each table (strata.schema.tables) is an attribute of its name: a frame of the declared columns
    with text as categories, which is made when it is first asked for. `rows` gives the same table
    as NumPy columns.
    """

    nodes = _Frame()
    publishers = _Frame()
    subscriptions = _Frame()
    callback_objects = _Frame()
    callback_instances = _Frame()
    publications = _Frame()
    takes = _Frame()
    messages = _Frame()
    links = _Frame()
    executor_blockers = _Frame()
    executors = _Frame()
    executor_threads = _Frame()
    hops = _Frame()
    hop_layers = _Frame()
    chains = _Frame()
    chain_instances = _Frame()
    chain_segments = _Frame()
    chain_layers = _Frame()
    blame = _Frame()
    modes = _Frame()
    callbacks = _Frame()
    quantiles = _Frame()
    service_objects = _Frame()
    client_objects = _Frame()
    service_calls = _Frame()
    services = _Frame()
    service_layers = _Frame()
    quality = _Frame()
    losses = _Frame()
    event_uses = _Frame()
    hop_losses = _Frame()
    processes = _Frame()
    contexts = _Frame()
    subscription_objects = _Frame()
    timers = _Frame()
    timer_fires = _Frame()
    timer_statistics = _Frame()
    lifecycle_nodes = _Frame()
    lifecycle_states = _Frame()
    lifecycle_statistics = _Frame()
    link_proposals = _Frame()
    action_goals = _Frame()
    action_feedback = _Frame()
    actions = _Frame()
    action_phases = _Frame()
    driver_sources = _Frame()
    driver_frames = _Frame()
    driver_losses = _Frame()
    layer_scheduling = _Frame()
    preemptions = _Frame()
    chain_scheduling = _Frame()
    thread_cpu = _Frame()
    system_causes = _Frame()
    executor_load = _Frame()
    chain_groups = _Frame()
    chain_group_members = _Frame()
    layer_cpu_waits = _Frame()
    trend = _Frame()
    layer_trend = _Frame()
    drifts = _Frame()

    def __init__(self, results: Results) -> None:
        self._results = results
        self._frames: dict[str, pd.DataFrame] = {}

    @classmethod
    def of(
        cls,
        trace: TraceSummary,
        counts: MessageCounts,
        bottlenecks: Sequence[Bottleneck] = (),
        system: SystemVerdict = _NOTHING_STANDS_OUT,
        **tables: Rows | pd.DataFrame,
    ) -> Self:
        """Return an analysis of given tables, by name; a table that is not given has no row."""
        return cls(GivenResults(trace, counts, _as_rows(tables), tuple(bottlenecks), system))

    @property
    def results(self) -> Results:
        """What makes the tables."""
        return self._results

    @property
    def trace(self) -> TraceSummary:
        """What was read."""
        return self._results.trace

    @property
    def counts(self) -> MessageCounts:
        """Messages of the application."""
        return self._results.counts

    @property
    def bottlenecks(self) -> tuple[Bottleneck, ...]:
        """What stands out of each chain."""
        return self._results.bottlenecks

    @property
    def system(self) -> SystemVerdict:
        """What stands out over the whole system; its causes are in `system_causes`."""
        return self._results.system

    def rows(self, name: str) -> Rows:
        """Return a declared table by its name; raises KeyError for one that is not declared."""
        if name not in TABLE_OF:
            raise KeyError(name)
        return self._results.rows(name)

    def frame(self, name: str) -> pd.DataFrame:
        """Return a declared table as a frame, the same one each time; raises KeyError."""
        if name not in self._frames:
            self._frames[name] = self.rows(name).frame()
        return self._frames[name]

    def replaced(
        self, bottlenecks: Sequence[Bottleneck] | None = None, **tables: Rows | pd.DataFrame
    ) -> Self:
        """Return an analysis with some of its results replaced."""
        given = {name: self.rows(name) for name in TABLE_OF} | _as_rows(tables)
        kept = self.bottlenecks if bottlenecks is None else tuple(bottlenecks)
        return type(self)(GivenResults(self.trace, self.counts, given, kept, self.system))


TABLE_OF: Mapping[str, Table] = {table.name: table for table in TABLES}


def _as_rows(given: Mapping[str, Rows | pd.DataFrame]) -> dict[str, Rows]:
    return {
        name: table if isinstance(table, Rows) else Rows.of_frame(TABLE_OF[name], table)
        for name, table in given.items()
    }
