# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Fires of timers and states of lifecycle nodes."""

from __future__ import annotations

from strata.schema.columns import NO_INIT, dense_id, duration, instant, statistics
from strata.schema.table import Column, Table

TIMER_FIRES = Table(
    "timer_fires",
    ("timer_id", "start_ns"),
    (
        dense_id("timer_id", "row of `timers`"),
        dense_id("instance_id", "row of `callback_instances`"),
        instant(
            "expected_ns",
            "when it was due",
            null="a new grid begins here: its cause is early, paused or irregular",
        ),
        instant("picked_ns", "rclcpp_executor_execute of this fire", null="not recorded"),
        instant("start_ns", "callback_start"),
        duration("lateness_ns", "start_ns - expected_ns", null="expected_ns is null"),
        Column("skipped", "int64", "whole periods between due time and call, not made up for"),
        Column(
            "cause",
            "string",
            "overrun: its thread was busy; paused: its thread waited, and later fires are on "
            "another grid, so the timer was cancelled, reset or given a longer period; "
            "undecided: skipped for an unknown cause (the thread may have had no CPU); early: "
            "reset, or given a shorter period; irregular: the timer has more grids than are "
            "followed",
            null="on its grid",
        ),
    ),
    "One row per fire of a timer: an execution of its callback.",
)

TIMER_STATISTICS = Table(
    "timer_statistics",
    ("timer_id",),
    (
        dense_id("timer_id", "row of `timers`"),
        Column("node", "string", "node that owns it; (unknown) without init events"),
        Column("symbol", "string", "name of its callback; its address when never registered"),
        duration("period_ns", "the period that it was created with"),
        Column("count", "int64", "fires"),
        Column("skipped", "int64", "periods without a fire, from overruns and undecided ones"),
        Column("overruns", "int64", "fires after skipped periods with a busy thread"),
        Column("undecided", "int64", "fires after skipped periods whose cause is not known"),
        Column(
            "pauses", "int64", "fires after a cancel, reset or longer period, shown by a new grid"
        ),
        Column("early", "int64", "fires before they were due: after a reset or a shorter period"),
        Column("irregular", "int64", "fires that fit no grid"),
        *statistics("interval_", "between two fires, except those after a pause"),
        *statistics("jitter_", "absolute difference between an interval and the period"),
        *statistics("lateness_", "from its due time to callback_start"),
    ),
    "One row per timer that fired.",
)

LIFECYCLE_STATES = Table(
    "lifecycle_states",
    ("lifecycle_node_id", "position"),
    (
        dense_id("lifecycle_node_id", "row of `lifecycle_nodes`"),
        dense_id("node_id", "its node", null=NO_INIT),
        Column("position", "int64", "order, from 0"),
        Column("state", "string", "name of the state; (unknown) where a transition is missing"),
        instant("begin_ns", "when it was entered", null="before the trace began"),
        instant(
            "end_ns", "when it was left", null="it lasted until the end of the trace or of the node"
        ),
    ),
    "One row per stay of a lifecycle node in a state, transition states included.",
)

LIFECYCLE_STATISTICS = Table(
    "lifecycle_statistics",
    ("lifecycle_node_id", "state"),
    (
        dense_id("lifecycle_node_id", "row of `lifecycle_nodes`"),
        Column("node", "string", "full name; (unknown) without init events"),
        Column("state", "string", "name of the state; (unknown) where a transition is missing"),
        Column("count", "int64", "stays"),
        duration("total_ns", "sum of all stays; the last counts to the end of node or trace"),
        *statistics("duration_", "stays whose begin and end were recorded"),
    ),
    "One row per state that a lifecycle node was in.",
)
