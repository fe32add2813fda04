# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Executors, their threads, and what messages waited behind."""

from __future__ import annotations

from strata.schema.columns import HOST, VPID, VTID, dense_id, duration, instant
from strata.schema.table import Column, Table
from strata.schema.tables.threads import CPU_USE

_NO_EXECUTOR = "the thread has no executor events"
_NO_MESSAGE = "the executor took no message of the application, and no request"

EXECUTOR_BLOCKERS = Table(
    "executor_blockers",
    ("message_id", "callback_id", "work"),
    (
        dense_id("message_id", "the message that waited"),
        dense_id(
            "callback_id",
            "the callback that ran on the taking thread meanwhile, or on another thread while "
            "its callback group excluded the message's callback",
            null="in a backlog: all work except the thread's 24 longest",
        ),
        Column(
            "work",
            "string",
            "callback: it ran; take: the thread took a message for it, from picked (if not "
            "recorded, take_begin or rmw_take) to callback_start",
        ),
        duration(
            "duration_ns",
            "how long it ran between the notification (if not recorded, rmw_publish; "
            "intra-process: the enqueue) and picked",
        ),
    ),
    "What the taking thread was running while a message waited for it. The remainder of executor "
    "wait is the executor's own work.",
)

EXECUTORS = Table(
    "executors",
    ("executor_id",),
    (
        dense_id("executor_id", "dense number of the executor"),
        HOST,
        VPID,
        Column(
            "kind",
            "string",
            "single-threaded, multi-threaded, or without events (EventsExecutor, pools of rclpy)",
        ),
        Column("threads", "int64", "threads that ran its callbacks"),
        Column("nodes", "string", "nodes whose callbacks it ran, joined by a comma"),
        Column("callbacks", "int64", "number of different callbacks that it ran"),
    ),
    "One row per executor, inferred from which threads of a process ran the same callbacks.",
)

EXECUTOR_THREADS = Table(
    "executor_threads",
    ("host", "vpid", "vtid"),
    (
        dense_id("executor_id", "row of `executors`"),
        HOST,
        VPID,
        VTID,
        instant("begin_ns", "first event of its executor or callbacks"),
        instant(
            "end_ns",
            "last event of its executor or callbacks; if the thread was then waiting for work, "
            "the last event of its host; if it was in a callback, until_ns of "
            "`callback_instances`",
        ),
        Column("executions", "int64", "callbacks that it ran"),
        duration(
            "executing_ns",
            "inside callbacks; one that never ended counts to until_ns of `callback_instances`",
        ),
        duration(
            "waiting_ns",
            "waiting for work, outside of callbacks; a wait without an end counts to the last "
            "event of the host",
            null=_NO_EXECUTOR,
        ),
        duration(
            "mutex_ns",
            "waiting for the executor's mutex, held by another thread that waits for work",
            null="not a multi-threaded executor",
        ),
        duration("ready_ns", "the remainder: taking and picking", null=_NO_EXECUTOR),
        duration(
            "outside_ns",
            "part of ready_ns: outside of the executor, between two calls of spin_some or spin_all",
            null=_NO_EXECUTOR,
        ),
        instant(
            "traffic_begin_ns",
            "publish time of the executor's first application message (published on a host with "
            "another clock: when it was picked); if it took only requests of services, take of the "
            "first; not before begin_ns",
            null=_NO_MESSAGE,
        ),
        instant(
            "traffic_end_ns",
            "end of the callback of the executor's last message, or request; not after end_ns",
            null=_NO_MESSAGE,
        ),
        duration(
            "traffic_executing_ns",
            "executing_ns between traffic_begin_ns and traffic_end_ns",
            null=_NO_MESSAGE,
        ),
        duration(
            "traffic_waiting_ns",
            "waiting_ns between traffic_begin_ns and traffic_end_ns",
            null=f"{_NO_EXECUTOR}, or {_NO_MESSAGE}",
        ),
        duration(
            "traffic_idle_ns",
            "sum of waiting_ns, mutex_ns and outside_ns between traffic_begin_ns and "
            "traffic_end_ns",
            null=f"{_NO_EXECUTOR}, or {_NO_MESSAGE}",
        ),
        *CPU_USE,
    ),
    "One row per thread of an executor. executing + waiting + mutex + ready = end - begin. The "
    "CPU columns also cover end - begin: a thread inside a callback does not always have a CPU.",
)
