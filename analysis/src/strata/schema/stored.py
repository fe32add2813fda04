# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a results directory keeps of a long recording: rows of declared tables, and sums.

Results of a long recording are made window by window (strata.results). Rows of what happened once
are kept as they are; statistics are not kept, as they are made of the rows whenever they are read.
What is neither (how busy a thread was) is kept as a sum for each window.

In the files a row has a number that is unique in the directory. Readers number the rows anew, from
0, in the order of these numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from strata.schema import tables
from strata.schema.table import Column, Table


@dataclass(frozen=True)
class Stored:
    """A table whose rows are kept.

    `references` are the columns that refer to rows of other stored tables, with the names of these;
    its own key is among them. `handle` is the column that identifies an entity in its process while
    it lives, `identity` are columns that tell all rows apart. A table without a key has neither:
    each row is kept with the one that the column `follows` refers to, or, where that is empty, by
    its time. `order` are the columns by which it is ordered; without them it is by its key.
    """

    table: Table
    references: Mapping[str, str] = field(default_factory=dict)
    handle: str = ""
    identity: tuple[str, ...] = ()
    follows: str = ""
    order: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The table's name."""
        return self.table.name

    @property
    def key(self) -> str:
        """The column with the number of the row; empty for none."""
        own = [column for column, name in self.references.items() if name == self.name]
        return own[0] if own and own[0] in self.table.key else ""


_THREAD = ("host", "vpid", "vtid")

MESSAGE_FACTS = Table(
    "message_facts",
    ("message_id",),
    (
        Column("message_id", "int64", "The message."),
        Column("hop_ready_ns", "int64", "When the hop was ready.", "ns", "not known"),
        Column("by_publisher", "bool", "Of the hop's ends the publisher was ready last."),
        Column("headless", "bool", "What caused the message is not in the trace."),
    ),
    "One row per message: what chains need to know of it beyond the table `messages`.",
)
HOP_COUNTS = Table(
    "hop_counts",
    ("topic", "publisher_node", "subscription_node"),
    (
        Column("topic", "string", "Topic of the hop."),
        Column("publisher_node", "string", "Node that publishes."),
        Column("subscription_node", "string", "Node that subscribes."),
        Column("published", "int64", "Messages published for the hop."),
        Column("received", "int64", "Those that were taken."),
        Column("lost", "int64", "Those that were lost."),
        Column("in_flight", "int64", "Those on their way at the end."),
        Column("unknown", "int64", "Those of which nothing is known."),
        Column("before_first", "int64", "Published before the subscription took its first."),
    ),
    "One row per hop and window: what happened to the messages published in it.",
)
HOP_CAUSES = Table(
    "hop_causes",
    ("topic", "publisher_node", "subscription_node", "cause"),
    (
        Column("topic", "string", "Topic of the hop."),
        Column("publisher_node", "string", "Node that publishes."),
        Column("subscription_node", "string", "Node that subscribes."),
        Column("outcome", "string", "As in `hop_losses`."),
        Column("cause", "string", "As in `hop_losses`."),
        Column("count", "int64", "Messages."),
        Column("begin_ns", "int64", "The first one's publish.", "ns"),
        Column("end_ns", "int64", "The last one's publish.", "ns"),
        Column("since_ns", "int64", "As in `hop_losses`.", "ns", "the cause is another"),
    ),
    "One row per hop, cause and window: `hop_losses` of the window.",
)
PROCESS_EVENTS = Table(
    "process_events",
    ("host", "vpid"),
    (
        Column("host", "string", "Host."),
        Column("vpid", "int64", "Process id.", "", "the event has no such context"),
        Column("name", "string", "Name of the process."),
        Column("events", "int64", "Events that it emitted."),
    ),
    "One row per process and window: how many events it emitted.",
)
THREAD_TIMES = Table(
    "thread_times",
    _THREAD,
    (
        Column("executor", "int64", "The least thread id of its executor in the window."),
        Column("kind", "string", "As in `executors`."),
        *(
            column
            for column in tables.EXECUTOR_THREADS.columns
            if column.name != "executor_id" and not column.name.startswith("cpu_")
        ),
    ),
    "One row per thread of an executor and window: `executor_threads` of the window alone.",
)
SOURCE_TIMES = Table(
    "source_times",
    ("source_id",),
    (
        Column("source_id", "int64", "The source of sensor data."),
        Column("reads", "int64", "Packets or buffers read."),
        Column("bytes", "int64", "Bytes read."),
        Column("queue_max_ns", "int64", "The longest time in a queue.", "ns", "not known"),
    ),
    "One row per source and window: what was read in it.",
)
WINDOWS = Table(
    "windows",
    ("number",),
    (
        Column("number", "int64", "Number of the window, from 0."),
        Column("chunk", "string", "Directory of the trace chunk that was analyzed."),
        Column("begin_ns", "int64", "What happened after this was counted.", "ns"),
        Column("end_ns", "int64", "What happened until this was counted.", "ns"),
        Column("events", "int64", "Events of the chunk."),
        Column("ambiguous", "int64", "Takes that may be of several publications."),
        Column("unread", "string", "Why the chunk could not be analyzed.", "", "it was"),
    ),
    "One row per window, that is, per trace chunk.",
)
SUMS = (HOP_COUNTS, HOP_CAUSES, PROCESS_EVENTS, THREAD_TIMES, SOURCE_TIMES, tables.LOSSES, WINDOWS)
"""Tables that are sums of each window."""

_NODE = {"node_id": "nodes"}


def _entity(table: Table, key: str, handle: str, **references: str) -> Stored:
    return Stored(table, {key: table.name, **references}, handle=handle)


def _of_message(table: Table, **references: str) -> Stored:
    references = {"message_id": "messages", **references}
    return Stored(table, references, follows="message_id", order=("message_id",))


STORED: tuple[Stored, ...] = (
    Stored(tables.PROCESSES, {"process_id": "processes"}, handle="vpid"),
    _entity(tables.CONTEXTS, "context_id", "handle", process_id="processes"),
    _entity(tables.NODES, "node_id", "handle"),
    _entity(tables.PUBLISHERS, "publisher_id", "handle", **_NODE),
    _entity(tables.SUBSCRIPTIONS, "subscription_id", "handle", **_NODE),
    _entity(tables.TIMERS, "timer_id", "handle", **_NODE),
    _entity(
        tables.CALLBACK_OBJECTS,
        "callback_id",
        "address",
        subscription_id="subscriptions",
        timer_id="timers",
        **_NODE,
    ),
    _entity(
        tables.SUBSCRIPTION_OBJECTS,
        "subscription_object_id",
        "address",
        subscription_id="subscriptions",
        callback_id="callback_objects",
    ),
    _entity(tables.SERVICE_OBJECTS, "service_object_id", "handle", **_NODE),
    _entity(tables.CLIENT_OBJECTS, "client_object_id", "rmw_handle", **_NODE),
    _entity(tables.LIFECYCLE_NODES, "lifecycle_node_id", "state_machine", **_NODE),
    _entity(tables.DRIVER_SOURCES, "source_id", "source"),
    Stored(
        tables.LIFECYCLE_STATES,
        {"lifecycle_node_id": "lifecycle_nodes", **_NODE},
        order=("lifecycle_node_id", "begin_ns"),
    ),
    Stored(
        tables.DRIVER_LOSSES,
        {"source_id": "driver_sources"},
        order=("source_id", "begin_ns"),
    ),
    Stored(
        tables.CALLBACK_INSTANCES,
        {
            "instance_id": "callback_instances",
            "execution_id": "callback_instances",
            "callback_id": "callback_objects",
        },
        identity=(*_THREAD, "start_ns"),
    ),
    Stored(
        tables.PUBLICATIONS,
        {
            "publication_id": "publications",
            "publisher_id": "publishers",
            "instance_id": "callback_instances",
        },
        identity=(*_THREAD, "publisher_id", "client_ns", "rmw_publish_ns", "source_timestamp"),
    ),
    Stored(
        tables.TAKES,
        {
            "take_id": "takes",
            "subscription_id": "subscriptions",
            "instance_id": "callback_instances",
        },
        identity=(*_THREAD, "subscription_id", "rmw_take_ns", "dequeue_ns", "source_timestamp"),
    ),
    Stored(
        tables.DRIVER_FRAMES,
        {"frame_id": "driver_frames", "source_id": "driver_sources"},
        identity=("source_id", "read_ns", "boundary_ns"),
        order=("source_id", "frame_id"),
    ),
    Stored(
        tables.MESSAGES,
        {
            "message_id": "messages",
            "parent_id": "messages",
            "publication_id": "publications",
            "take_id": "takes",
            "callback_id": "callback_objects",
            "publisher_callback_id": "callback_objects",
            "frame_id": "driver_frames",
        },
        identity=("publication_id", "take_id"),
    ),
    _of_message(MESSAGE_FACTS),
    Stored(
        tables.LINKS,
        {"child_id": "messages", "parent_id": "messages"},
        follows="child_id",
        order=("child_id", "parent_id"),
    ),
    _of_message(tables.EXECUTOR_BLOCKERS, callback_id="callback_objects"),
    _of_message(tables.LAYER_SCHEDULING),
    _of_message(tables.PREEMPTIONS),
    Stored(
        tables.TIMER_FIRES,
        {"timer_id": "timers", "instance_id": "callback_instances"},
        follows="instance_id",
        order=("timer_id", "start_ns"),
    ),
    Stored(
        tables.SERVICE_CALLS,
        {
            "call_id": "service_calls",
            "client_object_id": "client_objects",
            "service_object_id": "service_objects",
            "caller_instance_id": "callback_instances",
            "instance_id": "callback_instances",
        },
        identity=("service", "client_node", "sequence_number", "begin_ns", "further"),
    ),
    Stored(
        tables.ACTION_GOALS,
        {
            "goal_id": "action_goals",
            "goal_call_id": "service_calls",
            "result_call_id": "service_calls",
            "cancel_call_id": "service_calls",
            "instance_id": "callback_instances",
        },
        identity=("goal_call_id",),
    ),
    Stored(
        tables.ACTION_FEEDBACK,
        {
            "publication_id": "publications",
            "goal_id": "action_goals",
            "take_id": "takes",
            "instance_id": "callback_instances",
        },
        follows="publication_id",
        order=("publication_id",),
    ),
)
"""Each after those that it refers to."""

BY_NAME = {stored.name: stored for stored in STORED}
