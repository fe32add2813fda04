# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What is kept of the executors of a campaign cell (strata.schema.tables.measured)."""

from __future__ import annotations

from strata.schema.columns import duration
from strata.schema.table import Column, Table

_NO_WAITS = "the executor's waits were not recorded"
_EXECUTOR = Column("executor", "int64", "row of `executors` in the analysis of the session")

MEASURED_EXECUTORS = Table(
    "measured_executors",
    ("executor",),
    (
        _EXECUTOR,
        Column("nodes", "string", "nodes whose callbacks it ran"),
        Column("kind", "string", "as in `executors`"),
        Column("client", "string", "client library: rclpy or rclcpp", null="not known"),
        Column("threads", "int64", "threads that ran its callbacks"),
        duration("traffic_ns", "from its first message or request to the end of its last one"),
        duration("threads_ns", "traffic_ns of all its threads together"),
        duration("executing_ns", "of threads_ns: in callbacks"),
        duration("any_executing_ns", "of traffic_ns: at least one of its callbacks ran"),
        duration(
            "busy_ns",
            "of threads_ns: neither waiting for work nor for the executor's mutex",
            null=_NO_WAITS,
        ),
    ),
    "One row per executor that ran callbacks of measured messages or of requests.",
)

MEASURED_WORK = Table(
    "measured_work",
    ("executor", "node", "trigger"),
    (
        _EXECUTOR,
        Column("node", "string", "node of the callback", null="not known"),
        Column("trigger", "string", "its topic, service or period", null="not known"),
        duration(
            "period_ns", "period of its timer", null="not a timer, or its period is not known"
        ),
        Column(
            "is_traffic", "bool", "its trigger is a measured topic, or a service that is called"
        ),
        Column(
            "senders", "int64", "publishers of its topic, or clients of its service; 0 for others"
        ),
        Column("count", "int64", "executions in traffic_ns"),
        duration("callback_ns", "of traffic_ns: in its callbacks"),
        duration("take_ns", "of traffic_ns: taking its messages, before callback_start"),
    ),
    "One row per callback of these executors: how much of their time it took.",
)

EXECUTOR_TABLES = (MEASURED_EXECUTORS, MEASURED_WORK)
