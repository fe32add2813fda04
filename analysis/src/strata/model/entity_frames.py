# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Processes, contexts, the client library's subscriptions, timers and lifecycles as tables."""

from __future__ import annotations

import numpy as np

from strata.model.build import Model
from strata.model.columns import NONE
from strata.model.frames import life, place
from strata.model.lifecycle import StateMachines, States
from strata.model.objects import find_contexts, find_subscription_objects
from strata.model.processes import ProcessFacts
from strata.model.search import position_in_group
from strata.schema import tables
from strata.schema.rows import Rows


def processes_rows(model: Model, facts: ProcessFacts) -> Rows:
    """Return the table `processes`."""
    number = np.arange(len(facts.begin_ns))
    return Rows(
        tables.PROCESSES,
        {
            "process_id": number,
            **place(model, number),
            "procname": facts.procname,
            "distro": facts.distro,
            "tracetools_version": facts.version,
            "told_by": facts.told_by,
            "begin_ns": facts.begin_ns,
            "end_ns": facts.end_ns,
        },
    )


def contexts_rows(model: Model) -> Rows:
    """Return the table `contexts`."""
    contexts = find_contexts(model.events)
    return Rows(
        tables.CONTEXTS,
        {
            "context_id": np.arange(len(contexts.handle)),
            "process_id": contexts.process,
            **place(model, contexts.process),
            "handle": contexts.handle,
            "tracetools_version": contexts.version,
            **life(model, contexts.process, contexts.handle, contexts.begin_ns),
        },
    )


def subscription_objects_rows(model: Model) -> Rows:
    """Return the table `subscription_objects`."""
    objects = find_subscription_objects(model.events, model.entities)
    return Rows(
        tables.SUBSCRIPTION_OBJECTS,
        {
            "subscription_object_id": np.arange(len(objects.address)),
            **place(model, objects.process),
            "address": objects.address,
            "subscription_id": objects.subscription,
            "callback_id": objects.callback,
            "is_intra_process": objects.is_intra_process,
            **life(model, objects.process, objects.address, objects.begin_ns),
        },
    )


def timers_rows(model: Model) -> Rows:
    """Return the table `timers`."""
    timers = model.entities.timers
    again = timers.ends()
    gone = model.processes.end_ns[timers.process]
    return Rows(
        tables.TIMERS,
        {
            "timer_id": np.arange(len(timers)),
            **place(model, timers.process),
            "handle": timers.handle,
            "node_id": timers.node,
            "period_ns": timers.period_ns,
            "begin_ns": timers.begin_ns,
            "end_ns": np.where(again != NONE, again, gone),
        },
    )


def lifecycle_nodes_rows(model: Model, machines: StateMachines) -> Rows:
    """Return the table `lifecycle_nodes`."""
    return Rows(
        tables.LIFECYCLE_NODES,
        {
            "lifecycle_node_id": np.arange(len(machines.address)),
            **place(model, machines.process),
            "state_machine": machines.address,
            "node_id": machines.node,
            "begin_ns": machines.begin_ns,
            "end_ns": machines.end_ns,
        },
    )


def lifecycle_states_rows(machines: StateMachines, states: States) -> Rows:
    """Return the table `lifecycle_states`."""
    return Rows(
        tables.LIFECYCLE_STATES,
        {
            "lifecycle_node_id": states.machine,
            "node_id": machines.node[states.machine],
            "state": states.state,
            "begin_ns": states.begin_ns,
            "end_ns": states.end_ns,
            "position": position_in_group(states.machine),
        },
    )
