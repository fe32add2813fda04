# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Processes and the entities in them: contexts, nodes, endpoints, callbacks, timers."""

from __future__ import annotations

from strata.schema.columns import (
    BEGIN,
    END,
    HANDLE,
    HOST,
    NO_INIT,
    VPID,
    dense_id,
    duration,
    instant,
)
from strata.schema.table import Column, Table

PROCESSES = Table(
    "processes",
    ("process_id",),
    (
        dense_id("process_id", "dense number of the process"),
        HOST,
        VPID,
        Column("procname", "string", "name of its first thread", null="not recorded"),
        Column("distro", "string", "ROS 2 distribution, as its events show", null="not known"),
        Column("tracetools_version", "string", "the version reported by rcl_init", null=NO_INIT),
        Column(
            "told_by",
            "string",
            "how the distribution was determined: version; newer version (than the newest known, "
            "and read as that); fields (by the events and fields present); unknown",
        ),
        instant("begin_ns", "its first ros2 or dds event"),
        instant("end_ns", "its last ros2 or dds event"),
    ),
    "One row per process. A reused process id has one row per process.",
)

CONTEXTS = Table(
    "contexts",
    ("context_id",),
    (
        dense_id("context_id", "dense number of the context"),
        dense_id("process_id", "row of `processes`"),
        HOST,
        VPID,
        HANDLE,
        Column("tracetools_version", "string", "version of tracetools in its process"),
        BEGIN,
        END,
    ),
    "One row per context (rcl_init) and lifetime.",
)

NODES = Table(
    "nodes",
    ("node_id",),
    (
        dense_id("node_id", "dense number of the node"),
        HOST,
        VPID,
        HANDLE,
        Column("name", "string", "full name, namespace included"),
        BEGIN,
        END,
    ),
    "One row per node and lifetime.",
)

PUBLISHERS = Table(
    "publishers",
    ("publisher_id",),
    (
        dense_id("publisher_id", "dense number of the publisher"),
        HOST,
        VPID,
        HANDLE,
        Column("rmw_handle", "uint64", "address of the rmw object"),
        dense_id("node_id", "its node", null=NO_INIT),
        Column("topic", "string", "fully qualified topic"),
        Column("queue_depth", "int64", "messages kept by the QoS history"),
        BEGIN,
        END,
    ),
    "One row per publisher and lifetime.",
)

SUBSCRIPTIONS = Table(
    "subscriptions",
    ("subscription_id",),
    (
        dense_id("subscription_id", "dense number of the subscription"),
        HOST,
        VPID,
        HANDLE,
        Column("rmw_handle", "uint64", "address of the rmw object"),
        dense_id("node_id", "its node", null=NO_INIT),
        Column("topic", "string", "fully qualified topic"),
        Column("queue_depth", "int64", "messages kept by the QoS history"),
        BEGIN,
        END,
    ),
    "One row per subscription and lifetime.",
)

SUBSCRIPTION_OBJECTS = Table(
    "subscription_objects",
    ("subscription_object_id",),
    (
        dense_id("subscription_object_id", "dense number"),
        HOST,
        VPID,
        Column("address", "uint64", "address of the rclcpp object; reused after it is destroyed"),
        dense_id("subscription_id", "its rcl subscription", null=NO_INIT),
        dense_id("callback_id", "its callback", null="no event named one"),
        Column("is_intra_process", "bool", "it takes from an intra-process buffer"),
        BEGIN,
        END,
    ),
    "One row per subscription of the client library and lifetime: two per rcl subscription with "
    "intra-process communication.",
)

CALLBACK_OBJECTS = Table(
    "callback_objects",
    ("callback_id",),
    (
        dense_id("callback_id", "dense number of the callback"),
        HOST,
        VPID,
        Column("address", "uint64", "the address in callback_start; reused"),
        Column(
            "symbol", "string", "name of the function", null="never registered, or without a name"
        ),
        Column("kind", "string", "subscription, timer, service, action (rclpy) or unknown"),
        Column("trigger", "string", "its topic, service or period", null="owner unknown"),
        dense_id("subscription_id", "its subscription", null="not a subscription callback"),
        dense_id("timer_id", "its timer", null="not a timer callback, or no rcl_timer_init"),
        dense_id("node_id", "the node that owns it", null="owner unknown"),
        Column("node", "string", "name of that node", null="owner unknown"),
        BEGIN,
        END,
    ),
    "One row per callback and lifetime, including those known only from callback_start.",
)

TIMERS = Table(
    "timers",
    ("timer_id",),
    (
        dense_id("timer_id", "dense number of the timer"),
        HOST,
        VPID,
        HANDLE,
        dense_id("node_id", "its node", null="owner unknown"),
        duration("period_ns", "the period that it was created with"),
        BEGIN,
        END,
    ),
    "One row per timer and lifetime, of timers with a callback or a node.",
)

LIFECYCLE_NODES = Table(
    "lifecycle_nodes",
    ("lifecycle_node_id",),
    (
        dense_id("lifecycle_node_id", "dense number of the state machine"),
        HOST,
        VPID,
        Column("state_machine", "uint64", "address of the state machine; reused"),
        dense_id("node_id", "its node", null=NO_INIT),
        instant("begin_ns", "when its init event was recorded", null=NO_INIT),
        END,
    ),
    "One row per state machine of a lifecycle node and lifetime.",
)
