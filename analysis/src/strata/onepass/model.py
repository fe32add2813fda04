# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The model of a trace from the engine's rows."""

from __future__ import annotations

from collections.abc import Mapping

from strata.model.build import Model
from strata.model.callback_groups import find_callback_groups
from strata.model.columns import NONE
from strata.model.driver.driver import no_driver
from strata.model.entities import build_entities
from strata.model.executor_clocks import read_clocks
from strata.model.executors import group_threads
from strata.model.hosts import number_clocks
from strata.model.thread_cpu import find_cpu_samples, no_samples
from strata.model.timeline import Timeline
from strata.model.windows import NO_LOSSES, Windows
from strata.onepass.executions import (
    callback_rows,
    find_executions,
    find_waits,
    threads_of_executors,
)
from strata.onepass.facts import EngineFacts
from strata.onepass.findings import count_findings
from strata.onepass.intra_process import find_passages
from strata.onepass.kept import KeptEvents
from strata.onepass.messages import find_matches, find_publications, find_takes
from strata.onepass.middleware import find_middleware
from strata.onepass.numbers import number_rows
from strata.onepass.scheduling import find_scheduling
from strata.onepass.services import find_traffic
from strata.onepass.steps import find_thread_steps
from strata.onepass.tables import EngineTables
from strata.read.thread_cpu import ThreadCpu
from strata.schema.quality import Ledger


def model_of_rows(
    tables: EngineTables,
    ledger: Ledger,
    clocks: Mapping[str, str],
    cpu: tuple[ThreadCpu, int] | None,
    losses: Windows = NO_LOSSES,
    dropped_until_ns: int = NONE,
) -> Model:
    """Return the model of an engine that is finished; what it found is counted in `ledger`.

    `losses` are the windows of time in which events were lost, those that the engine was given.
    `dropped_until_ns`: see `Model`.
    """
    numbers = number_rows(tables)
    kept = KeptEvents(tables)
    made: list[Model] = []
    facts = EngineFacts(tables, numbers, lambda: made[0])
    timeline = Timeline(kept)
    entities = build_entities(kept)
    callback_of = callback_rows(tables, entities.callbacks)
    executions = find_executions(tables, numbers, callback_of)
    waits = find_waits(tables)
    host_clocks = number_clocks(kept.processes, clocks)
    publications, takes = find_publications(tables, numbers), find_takes(tables, numbers)
    count_findings(tables, entities, callback_of, ledger)
    executors = group_threads(
        kept.processes, executions, threads_of_executors(tables, kept, waits), entities.callbacks
    )
    groups = find_callback_groups(executions, executors, entities.callbacks)
    made.append(
        Model(
            kept,
            timeline,
            entities,
            executions,
            waits,
            executors,
            groups,
            read_clocks(executions, waits, executors, groups),
            publications,
            takes,
            find_middleware(tables, numbers),
            no_driver(),
            find_matches(tables, numbers),
            find_passages(tables),
            find_scheduling(tables, kept),
            find_traffic(tables, numbers, kept, entities.callbacks),
            losses,
            host_clocks,
            find_cpu_samples(*cpu, kept.processes) if cpu else no_samples(),
            dropped_until_ns,
            known=facts,
            thread_steps=find_thread_steps(tables),
        )
    )
    return made[0]
