# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Tables of the verdict over the whole system: ranked causes, what fills executors, groups."""

from __future__ import annotations

from strata.schema.columns import dense_id, duration
from strata.schema.table import Column, Table

SYSTEM_CAUSES = Table(
    "system_causes",
    ("rank",),
    (
        Column("rank", "int64", "from 1: those that stand out first, by kind, then by share"),
        Column(
            "kind",
            "string",
            "executor: messages waited for it; cpu: a process waited for CPUs; topic: the way from "
            "a publish to the reader; hop: what the receiving node did with the message",
        ),
        Column("where", "string", "nodes of the executor, process, topic, or callback and node"),
        Column("layer", "string", "the layer with most of the time", null="of a cpu cause"),
        duration("duration_ns", "summed over all messages of the application that were finished"),
        Column(
            "share",
            "float64",
            "of the summed latency of these messages; no message's time is in two of executor, "
            "topic and hop",
            null="of a cpu cause: the samples do not say in which messages it waited",
        ),
        Column("count", "int64", "messages that it is about"),
        Column("mean_ns", "float64", "duration_ns a message", unit="ns"),
        Column(
            "busy",
            "float64",
            "of an executor: fraction of its threads' time, from its first message to its last, in "
            "which they did not wait for work (traffic_idle_ns of `executor_threads`); of "
            "a cpu cause: of the time in which threads wanted a CPU, the fraction without one",
            null="of a topic or hop, or waits were not recorded",
        ),
        Column(
            "source",
            "string",
            "what told of a cpu cause: samples (of the kernel's counts) or kernel events",
            null="not a cpu cause",
        ),
        dense_id("executor_id", "row of `executors`", null="not of an executor"),
        dense_id("hop_id", "row of `hops`", null="not of a hop"),
        Column("stands_out", "bool", "by the rule of docs/method.md, the whole system"),
        Column("text", "string", "the cause in a sentence"),
    ),
    "One row per cause of the time that all messages of the application took, over the whole "
    "system. Causes of less than 1 % of it are left out.",
)

EXECUTOR_LOAD = Table(
    "executor_load",
    ("executor_id", "rank"),
    (
        dense_id("executor_id", "row of `executors`"),
        Column("rank", "int64", "from 1: what ran longest first"),
        Column("work", "string", "callback, or take (of messages, up to their callback)"),
        dense_id("callback_id", "row of `callback_objects`; of a take, the one that it was for"),
        Column("node", "string", "name of its node", null="no init event was recorded"),
        Column("trigger", "string", "its topic, service or period", null="owner unknown"),
        Column("count", "int64", "times it ran"),
        duration("duration_ns", "how long it ran in all, outermost callbacks only"),
        Column("share", "float64", "of the time of the executor's threads"),
        duration("traffic_ns", "of duration_ns: between traffic_begin_ns and traffic_end_ns"),
        Column(
            "traffic_share",
            "float64",
            "traffic_ns of the time of the executor's threads between traffic_begin_ns and "
            "traffic_end_ns (`executor_threads`)",
        ),
        Column(
            "unfinished",
            "int64",
            "of count: callbacks without an end; each counts to until_ns of `callback_instances`",
        ),
        duration("waited_ns", "how long messages waited behind it, of `executor_blockers`"),
    ),
    "One row per callback (or the takes for it) of an executor: what fills the executor.",
)

CHAIN_GROUPS = Table(
    "chain_groups",
    ("group_id",),
    (
        dense_id("group_id", "dense number of the group"),
        Column("name", "string", "topics of the chain; of several, with * for what differs"),
        Column("nodes", "string", "nodes of the chain; of several, with * for what differs"),
        Column(
            "same",
            "string",
            "shape: nodes and topics are the same but for numbers and namespaces; ends: the first "
            "and the last node are, and the ways between differ",
        ),
        dense_id("chain_id", "its slowest chain by median: the one to look at"),
        Column("chains", "int64", "chains in it"),
        Column("count", "int64", "messages of them all"),
        Column("hops_low", "int64", "fewest hops of a chain"),
        Column("hops_high", "int64", "most hops of a chain"),
        Column("p50_low", "float64", "smallest median of its chains", unit="ns", null="no values"),
        Column("p50_high", "float64", "largest median of its chains", unit="ns", null="no values"),
        Column("max", "float64", "largest latency of its chains", unit="ns", null="no values"),
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
