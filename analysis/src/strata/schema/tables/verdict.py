# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Tables of the verdict over the whole system: ranked causes, what keeps executors busy, groups."""

from __future__ import annotations

from strata.schema.columns import dense_id, duration
from strata.schema.table import Column, Table

SYSTEM_CAUSES = Table(
    "system_causes",
    ("rank",),
    (
        Column("rank", "int64", "from 1: bottlenecks (stands_out) first, by kind, then by share"),
        Column(
            "kind",
            "string",
            "executor: messages waited for it; cpu: a process waited for CPUs; topic: the path "
            "from a publish to the reader; hop: what the receiving node did with the message",
        ),
        Column("where", "string", "nodes of the executor, process, topic, or callback and node"),
        Column("layer", "string", "the layer with most of the time", null="a cpu cause"),
        duration("duration_ns", "summed over all finished messages of the application"),
        Column(
            "share",
            "float64",
            "share of the summed latency of these messages; no message's time is counted under "
            "two of executor, topic and hop",
            null="a cpu cause: the samples do not show in which messages it waited",
        ),
        Column("count", "int64", "messages concerned"),
        Column("mean_ns", "float64", "duration_ns per message", unit="ns"),
        Column(
            "busy",
            "float64",
            "of an executor: fraction of its threads' time, from its first message to its last, "
            "in which they did not wait for work (traffic_idle_ns of `executor_threads`); of a "
            "cpu cause: fraction of the threads' runnable time without a CPU",
            null="a topic or hop, or waits were not recorded",
        ),
        Column(
            "source",
            "string",
            "source of a cpu cause: samples (of the kernel's counters) or kernel events",
            null="not a cpu cause",
        ),
        dense_id("executor_id", "row of `executors`", null="not an executor"),
        dense_id("hop_id", "row of `hops`", null="not a hop"),
        Column(
            "stands_out",
            "bool",
            "it is a bottleneck by the rule of docs/method.md (The whole system)",
        ),
        Column("text", "string", "the cause in a sentence"),
    ),
    "One row per cause of the latency of all application messages, over the whole system. Causes "
    "below 1 % are left out.",
)

EXECUTOR_LOAD = Table(
    "executor_load",
    ("executor_id", "rank"),
    (
        dense_id("executor_id", "row of `executors`"),
        Column("rank", "int64", "from 1, longest running first"),
        Column("work", "string", "callback, or take (of messages, up to their callback)"),
        dense_id(
            "callback_id", "row of `callback_objects`; for a take, the callback that it was for"
        ),
        Column("node", "string", "name of its node", null="no init event was recorded"),
        Column("trigger", "string", "its topic, service or period", null="owner unknown"),
        Column("count", "int64", "number of executions"),
        duration("duration_ns", "how long it ran in total, outermost callbacks only"),
        Column("share", "float64", "share of the time of the executor's threads"),
        duration("traffic_ns", "part of duration_ns between traffic_begin_ns and traffic_end_ns"),
        Column(
            "traffic_share",
            "float64",
            "traffic_ns as a share of the time of the executor's threads between "
            "traffic_begin_ns and traffic_end_ns (`executor_threads`)",
        ),
        Column(
            "unfinished",
            "int64",
            "of count: callbacks without an end; each counts to until_ns of `callback_instances`",
        ),
        duration("waited_ns", "how long messages waited behind it, from `executor_blockers`"),
    ),
    "One row per callback of an executor (or the takes for it): what keeps the executor busy.",
)

CHAIN_GROUPS = Table(
    "chain_groups",
    ("group_id",),
    (
        dense_id("group_id", "dense number of the group"),
        Column(
            "name", "string", "topics of the chain; for several chains, with * where they differ"
        ),
        Column(
            "nodes", "string", "nodes of the chain; for several chains, with * where they differ"
        ),
        Column(
            "same",
            "string",
            "shape: nodes and topics are the same except for numbers and namespaces; ends: only "
            "the first and the last node are the same",
        ),
        dense_id("chain_id", "its slowest chain by median: the one to look at"),
        Column("chains", "int64", "chains in it"),
        Column("count", "int64", "messages of all its chains"),
        Column("hops_low", "int64", "fewest hops of a chain"),
        Column("hops_high", "int64", "most hops of a chain"),
        Column(
            "p50_low_ns", "float64", "smallest median of its chains", unit="ns", null="no values"
        ),
        Column(
            "p50_high_ns", "float64", "largest median of its chains", unit="ns", null="no values"
        ),
        Column("max_ns", "float64", "largest latency of its chains", unit="ns", null="no values"),
    ),
    "One row per group of chains of one shape. Where there are more than 6 shapes, those with the "
    "same ends are one group.",
)

CHAIN_GROUP_MEMBERS = Table(
    "chain_group_members",
    ("chain_id",),
    (
        dense_id("chain_id", "row of `chains`"),
        dense_id("group_id", "row of `chain_groups`"),
    ),
    "One row per chain: the group that it is in.",
)

VERDICT_TABLES = (SYSTEM_CAUSES, EXECUTOR_LOAD, CHAIN_GROUPS, CHAIN_GROUP_MEMBERS)
