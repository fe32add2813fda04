# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Processes, contexts, the client library's subscriptions, timers and lifecycles as tables."""

from __future__ import annotations

import numpy as np
import pandas as pd

from strata.model.build import Model
from strata.model.columns import NONE
from strata.model.frames import life, nullable, place
from strata.model.lifecycle import StateMachines, States
from strata.model.objects import find_contexts, find_subscription_objects
from strata.model.processes import ProcessFacts
from strata.schema import tables


def processes_frame(model: Model, facts: ProcessFacts) -> pd.DataFrame:
    """Return the table `processes`."""
    number = np.arange(len(facts.begin_ns))
    return tables.PROCESSES.frame(
        pd.DataFrame(
            {
                "process_id": number,
                **place(model, number),
                "procname": facts.procname,
                "distro": facts.distro,
                "tracetools_version": facts.version,
                "told_by": facts.told_by,
                "begin_ns": facts.begin_ns,
                "end_ns": facts.end_ns,
            }
        )
    )


def contexts_frame(model: Model) -> pd.DataFrame:
    """Return the table `contexts`."""
    contexts = find_contexts(model.events)
    return tables.CONTEXTS.frame(
        pd.DataFrame(
            {
                "context_id": np.arange(len(contexts.handle)),
                "process_id": contexts.process,
                **place(model, contexts.process),
                "handle": contexts.handle.astype(np.uint64),
                "tracetools_version": contexts.version,
                **life(model, contexts.process, contexts.handle, contexts.begin_ns),
            }
        )
    )


def subscription_objects_frame(model: Model) -> pd.DataFrame:
    """Return the table `subscription_objects`."""
    objects = find_subscription_objects(model.events, model.entities)
    return tables.SUBSCRIPTION_OBJECTS.frame(
        pd.DataFrame(
            {
                "subscription_object_id": np.arange(len(objects.address)),
                **place(model, objects.process),
                "address": objects.address.astype(np.uint64),
                "subscription_id": nullable(objects.subscription),
                "callback_id": nullable(objects.callback),
                "is_intra_process": objects.is_intra_process,
                **life(model, objects.process, objects.address, objects.begin_ns),
            }
        )
    )


def timers_frame(model: Model) -> pd.DataFrame:
    """Return the table `timers`."""
    timers = model.entities.timers
    again = timers.ends()
    gone = model.events.processes.end_ns[timers.process]
    return tables.TIMERS.frame(
        pd.DataFrame(
            {
                "timer_id": np.arange(len(timers)),
                **place(model, timers.process),
                "handle": timers.handle.astype(np.uint64),
                "node_id": nullable(timers.node),
                "period_ns": timers.period_ns,
                "begin_ns": timers.begin_ns,
                "end_ns": nullable(np.where(again != NONE, again, gone)),
            }
        )
    )


def lifecycle_nodes_frame(model: Model, machines: StateMachines) -> pd.DataFrame:
    """Return the table `lifecycle_nodes`."""
    return tables.LIFECYCLE_NODES.frame(
        pd.DataFrame(
            {
                "lifecycle_node_id": np.arange(len(machines.address)),
                **place(model, machines.process),
                "state_machine": machines.address.astype(np.uint64),
                "node_id": nullable(machines.node),
                "begin_ns": nullable(machines.begin_ns),
                "end_ns": nullable(machines.end_ns),
            }
        )
    )


def lifecycle_states_frame(machines: StateMachines, states: States) -> pd.DataFrame:
    """Return the table `lifecycle_states`."""
    frame = pd.DataFrame(
        {
            "lifecycle_node_id": states.machine,
            "node_id": nullable(machines.node[states.machine]),
            "state": states.state,
            "begin_ns": nullable(states.begin_ns),
            "end_ns": nullable(states.end_ns),
        }
    )
    frame["position"] = frame.groupby("lifecycle_node_id").cumcount()
    return tables.LIFECYCLE_STATES.frame(frame)
