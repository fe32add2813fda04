# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Processes and what lives in them: endpoints, callbacks, executors, timers, services."""

from __future__ import annotations

import pandas as pd

from strata.analysis import TraceSummary
from strata.layers.action_frames import action_frames
from strata.layers.driver_frames import driver_frames_frame, driver_losses_frame
from strata.layers.service_calls import cut_calls
from strata.layers.service_frames import (
    client_objects_frame,
    service_calls_frame,
    service_objects_frame,
)
from strata.layers.timer_fires import find_timer_fires
from strata.layers.timer_frames import timer_fires_frame
from strata.model import entity_frames, frames
from strata.model.build import Model
from strata.model.executor_frames import executor_threads_frame, executors_frame
from strata.model.lifecycle import find_states
from strata.model.processes import ProcessFacts
from strata.model.thread_cpu_frames import thread_cpu_frame
from strata.schema.quality import Ledger
from strata.stats.actions import action_tables
from strata.stats.callbacks import callback_table
from strata.stats.drivers import driver_sources_table
from strata.stats.lifecycle import lifecycle_table
from strata.stats.services import service_tables
from strata.stats.timers import timer_table


def entity_tables(
    model: Model,
    facts: ProcessFacts,
    summary: TraceSummary,
    objects: pd.DataFrame,
    ledger: Ledger,
) -> dict[str, pd.DataFrame]:
    """Return the tables of all entities and of what they did beside messages, by name.

    `objects` is the table `callback_objects`, which is that of the messages too.
    """
    instances = frames.callback_instances_frame(model)
    nodes = frames.nodes_frame(model)
    return {
        "processes": entity_frames.processes_frame(model, facts),
        "contexts": entity_frames.contexts_frame(model),
        "nodes": nodes,
        "publishers": frames.publishers_frame(model),
        "subscriptions": frames.subscriptions_frame(model),
        "subscription_objects": entity_frames.subscription_objects_frame(model),
        "callback_instances": instances,
        "callbacks": callback_table(objects, instances),
        "executors": executors_frame(model),
        "executor_threads": executor_threads_frame(model),
        "thread_cpu": thread_cpu_frame(model, facts.procname),
        **_timers(model, nodes, objects, instances, ledger),
        **_lifecycle(model, nodes, summary, ledger),
        **_services(model, ledger),
        **_drivers(model),
    }


def _timers(
    model: Model,
    nodes: pd.DataFrame,
    objects: pd.DataFrame,
    instances: pd.DataFrame,
    ledger: Ledger,
) -> dict[str, pd.DataFrame]:
    timers = entity_frames.timers_frame(model)
    fires = timer_fires_frame(find_timer_fires(model, ledger))
    statistics = timer_table(timers, fires, nodes, objects, instances)
    return {"timers": timers, "timer_fires": fires, "timer_statistics": statistics}


def _lifecycle(
    model: Model, nodes: pd.DataFrame, summary: TraceSummary, ledger: Ledger
) -> dict[str, pd.DataFrame]:
    machines, found = find_states(model.events, model.entities.nodes, ledger)
    states = entity_frames.lifecycle_states_frame(machines, found)
    return {
        "lifecycle_nodes": entity_frames.lifecycle_nodes_frame(model, machines),
        "lifecycle_states": states,
        "lifecycle_statistics": lifecycle_table(states, nodes, summary.begin_ns, summary.end_ns),
    }


def _services(model: Model, ledger: Ledger) -> dict[str, pd.DataFrame]:
    calls = service_calls_frame(model, cut_calls(model, ledger))
    services, layers = service_tables(calls)
    goals, feedback = action_frames(model, calls, ledger)
    actions, phases = action_tables(goals)
    return {
        "action_goals": goals,
        "action_feedback": feedback,
        "actions": actions,
        "action_phases": phases,
        "service_objects": service_objects_frame(model),
        "client_objects": client_objects_frame(model),
        "service_calls": calls,
        "services": services,
        "service_layers": layers,
    }


def _drivers(model: Model) -> dict[str, pd.DataFrame]:
    found = driver_frames_frame(model)
    return {
        "driver_sources": driver_sources_table(model, found),
        "driver_frames": found,
        "driver_losses": driver_losses_frame(model),
    }
