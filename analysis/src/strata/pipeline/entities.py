# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Processes and what lives in them: endpoints, callbacks, executors, timers, services."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from strata.analysis import TraceSummary
from strata.layers.action_frames import action_rows
from strata.layers.driver_frames import driver_frames_rows, driver_losses_rows
from strata.layers.service_calls import cut_calls
from strata.layers.service_frames import (
    client_objects_rows,
    service_calls_rows,
    service_objects_rows,
)
from strata.layers.timer_fires import find_timer_fires
from strata.layers.timer_frames import timer_fires_rows
from strata.model import entity_frames, frames
from strata.model.build import Model
from strata.model.cpu_use import callback_cpu_use
from strata.model.executor_frames import executor_threads_rows, executors_rows
from strata.model.lifecycle import StateMachines, States, find_states
from strata.model.processes import ProcessFacts
from strata.model.thread_cpu_frames import thread_cpu_rows
from strata.pipeline.stages import FINDINGS, stage
from strata.schema.quality import Findings
from strata.schema.rows import Rows
from strata.stats.actions import action_tables
from strata.stats.callbacks import callback_table
from strata.stats.drivers import driver_sources_table
from strata.stats.lifecycle import lifecycle_table
from strata.stats.services import service_tables
from strata.stats.timers import timer_table


def _states(model: Model) -> tuple[StateMachines, States, Findings]:
    return find_states(model.events, model.entities.nodes)


def _thread_cpu(model: Model, facts: ProcessFacts) -> Rows:
    return thread_cpu_rows(model, facts.procname)


def _callback_cpu(model: Model) -> Mapping[str, Sequence[Any]]:
    return {name: values.tolist() for name, values in callback_cpu_use(model).columns.items()}


def _lifecycle(states: Rows, nodes: Rows, summary: TraceSummary) -> Rows:
    return lifecycle_table(states, nodes, summary.begin_ns, summary.end_ns)


ENTITY_STAGES = (
    stage("processes", entity_frames.processes_rows, "model", "facts"),
    stage("contexts", entity_frames.contexts_rows, "model"),
    stage("nodes", frames.nodes_rows, "model"),
    stage("publishers", frames.publishers_rows, "model"),
    stage("subscriptions", frames.subscriptions_rows, "model"),
    stage("subscription_objects", entity_frames.subscription_objects_rows, "model"),
    stage("callback_objects", frames.callback_objects_rows, "model"),
    stage("callback_instances", frames.callback_instances_rows, "model"),
    stage("callback_cpu", _callback_cpu, "model"),
    stage("callbacks", callback_table, "callback_objects", "callback_instances", "callback_cpu"),
    stage("executors", executors_rows, "model"),
    stage("executor_threads", executor_threads_rows, "model"),
    stage("thread_cpu", _thread_cpu, "model", "facts"),
    # Timers.
    stage("timers", entity_frames.timers_rows, "model"),
    stage(("found_fires", FINDINGS), find_timer_fires, "model"),
    stage("timer_fires", timer_fires_rows, "found_fires"),
    stage(
        "timer_statistics",
        timer_table,
        "timers",
        "timer_fires",
        "nodes",
        "callback_objects",
        "callback_instances",
    ),
    # Lifecycles.
    stage(("state_machines", "found_states", FINDINGS), _states, "model"),
    stage("lifecycle_nodes", entity_frames.lifecycle_nodes_rows, "model", "state_machines"),
    stage(
        "lifecycle_states", entity_frames.lifecycle_states_rows, "state_machines", "found_states"
    ),
    stage("lifecycle_statistics", _lifecycle, "lifecycle_states", "nodes", "trace"),
    # Services and actions.
    stage("service_objects", service_objects_rows, "model"),
    stage("client_objects", client_objects_rows, "model"),
    stage(("call_layers", FINDINGS), cut_calls, "model"),
    stage("service_calls", service_calls_rows, "model", "call_layers"),
    stage(("services", "service_layers"), service_tables, "service_calls"),
    stage(("action_goals", "action_feedback", FINDINGS), action_rows, "model", "service_calls"),
    stage(("actions", "action_phases"), action_tables, "action_goals"),
    # Drivers.
    stage("driver_frames", driver_frames_rows, "model"),
    stage("driver_losses", driver_losses_rows, "model"),
    stage("driver_sources", driver_sources_table, "model", "driver_frames"),
)
"""What makes the tables of all entities and of what they did beside messages."""
