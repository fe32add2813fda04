# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""From event tables to the model of what happened: the stages, in order."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from strata.model.build import Model
from strata.model.callback_groups import find_callback_groups
from strata.model.columns import EventColumns
from strata.model.dds.calls import add_call_events
from strata.model.dds.middleware import find_middleware
from strata.model.driver.driver import find_driver
from strata.model.driver.publications import Surroundings
from strata.model.entities import build_entities
from strata.model.executions import pair_executions, pair_waits
from strata.model.executor_clocks import read_clocks
from strata.model.executors import find_executors
from strata.model.hosts import number_clocks
from strata.model.inferred import infer
from strata.model.intra_process import Trace, Traffic, join_intra_process
from strata.model.matching import match
from strata.model.nesting import count_contradictory_nesting
from strata.model.ring_buffers import find_ring_buffers, pair_passages
from strata.model.scheduling import find_scheduling
from strata.model.service_calls import find_service_traffic
from strata.model.suspensions import join_pieces
from strata.model.thread_cpu import find_cpu_samples, no_samples
from strata.model.thread_steps import find_thread_steps
from strata.model.timeline import Timeline
from strata.model.topics import number_topics
from strata.model.traffic import find_publications, find_takes
from strata.model.windows import Windows
from strata.read.thread_cpu import ThreadCpu
from strata.schema.quality import Ledger


def model_of_tables(
    tables: Mapping[str, pa.Table],
    ledger: Ledger,
    losses: Windows,
    cpu: tuple[ThreadCpu, int] | None,
    clocks: Mapping[str, str],
    dropped_until_ns: int,
) -> Model:
    """Build a model; use `strata.model.build.build_model`, which says what of."""
    events = EventColumns(dict(tables), ledger)
    host_clocks = number_clocks(events.processes, clocks)
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
