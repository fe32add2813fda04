# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What is kept of one campaign cell: the tables from which its measures are computed.

Instants are by the trace's clock. Warm-up rows are kept and marked; counts exclude them.
"""

from __future__ import annotations

from strata.schema.columns import duration, instant
from strata.schema.layers import HOLD, HOP_LAYERS, LINK_HOLD, STORED
from strata.schema.table import Column, Table
from strata.schema.tables.measured_calls import CALL_TABLES
from strata.schema.tables.measured_executors import EXECUTOR_TABLES

_HOP = Column("hop", "string", "topic: publishing node -> subscribing node")
_NUMBER = Column("number", "int64", "index among its publisher's publications, from 0")
_WARM_UP = Column("warm_up", "bool", "`number` belongs to the cell's warm-up: in no statistic")
_UNSYNCHRONISED = Column(
    "unsynchronised",
    "bool",
    "it went between hosts whose clocks are not synchronised: its latency and its layers between "
    "the hosts contain the offset of the clocks",
)
_NO_END = "its callback never ended"
_NOT_THERE = "not in this row"
_UNTOLD = "not recorded"
_NO_CLIENT = "the node registered no callback by name"
_NO_FILE = "the node wrote no such file"

CHAIN_LAYERS = (*HOP_LAYERS, HOLD, STORED, LINK_HOLD)
"""The layers that a chain may have, its callback being that of its last hop."""

MEASURED_TRANSFERS = Table(
    "measured_transfers",
    ("hop", "number"),
    (
        _HOP,
        Column("topic", "string", "fully qualified topic"),
        Column("publisher_node", "string", "node that published"),
        Column("subscription_node", "string", "node that took"),
        _NUMBER,
        instant(
            "begin_ns", "where its latency begins: arrival of the sensor data, else the publish"
        ),
        instant("publish_ns", "checkpoint: the publish"),
        instant("end_ns", "callback_start; if that was not recorded, the last checkpoint"),
        duration("latency_ns", "begin_ns -> end_ns; the sum of the layers without the callback"),
        duration("whole_ns", "begin_ns -> callback_end; the sum of the layers", null=_NO_END),
        *(duration(layer.column, f"layer {layer.name}", null=_NOT_THERE) for layer in HOP_LAYERS),
        Column("size", "int64", "payload, including the CDR header", unit="bytes", null=_UNTOLD),
        Column("transport", "string", "as in `messages`", null=_UNTOLD),
        _UNSYNCHRONISED,
        _WARM_UP,
    ),
    "One row per taken message of the measured hops.",
)

MEASURED_CHAINS = Table(
    "measured_chains",
    ("chain", "number"),
    (
        Column("chain", "string", "topics of its hops, joined by ->"),
        Column("hops", "int64", "number of hops"),
        _NUMBER,
        instant("begin_ns", "where the latency of its first message begins"),
        instant("end_ns", "start of the last callback"),
        duration("latency_ns", "begin_ns -> end_ns; the sum of the layers without the callback"),
        duration("whole_ns", "begin_ns -> end of the last callback; the sum of the layers"),
        *(
            duration(layer.column, f"layer {layer.name}, summed over the hops", null=_NOT_THERE)
            for layer in CHAIN_LAYERS
        ),
        _UNSYNCHRONISED,
        _WARM_UP,
    ),
    "One row per message that went through a whole chain of measured topics along critical links.",
)

MEASURED_PUBLICATIONS = Table(
    "measured_publications",
    ("topic", "publisher_node", "number"),
    (
        Column("topic", "string", "fully qualified topic"),
        Column("publisher_node", "string", "node that published"),
        _NUMBER,
        instant("publish_ns", "the publish"),
        _WARM_UP,
    ),
    "One row per publication on a measured topic, taken or not.",
)

MEASURED_HOPS = Table(
    "measured_hops",
    ("hop",),
    (
        _HOP,
        Column("topic", "string", "fully qualified topic"),
        Column("publisher_node", "string", "node that publishes"),
        Column("subscription_node", "string", "node that takes"),
        Column("publisher_client", "string", "client library: rclpy or rclcpp", null=_NO_CLIENT),
        Column("subscription_client", "string", "of the node that takes", null=_NO_CLIENT),
        Column("published", "int64", "publications; the next five columns add up to it"),
        Column("left_out", "int64", "of these: in the warm-up"),
        Column("before_first", "int64", "of these: before the first that the subscription took"),
        Column("received", "int64", "of these: taken, each counted once"),
        Column(
            "lost",
            "int64",
            "of these: not taken, between the first and the last taken; all of them when none "
            "was taken",
        ),
        Column(
            "after_last",
            "int64",
            "of these: after the last that it took: in flight at the end, or lost",
        ),
        instant("first_ns", "end_ns of the first received", null="nothing received"),
        instant("last_ns", "end_ns of the last received", null="nothing received"),
        Column(
            "own_received", "int64", "as counted by the node, including the warm-up", null=_NO_FILE
        ),
        Column(
            "own_lost",
            "int64",
            "by the node's sequence numbers, including the warm-up",
            null=_NO_FILE,
        ),
        Column("own_file", "string", "file in which the node reports it", null=_NO_FILE),
        Column(
            "matched_received", "int64", "like received, over the messages that the node counted"
        ),
        Column("matched_lost", "int64", "like lost, over the messages that the node counted"),
        Column(
            "payload_bytes",
            "int64",
            "payload per message",
            unit="bytes",
            null="neither known nor recorded",
        ),
        Column("payload_from", "string", "source of it: node, setting or trace (including CDR)"),
    ),
    "One row per measured hop: what happened to its messages.",
)

MEASURED_SOURCES = Table(
    "measured_sources",
    ("name",),
    (
        Column("name", "string", "what the driver calls it, else its place"),
        Column("place", "string", "in words: UDP port 7502, appsink NAME"),
        Column("nodes", "string", "nodes that published from it"),
        Column("topics", "string", "what they published"),
        Column("reads", "int64", "packets received, or buffers pulled"),
        Column("frames", "int64", "scans or images"),
        Column("published", "int64", "frames from which a message was published"),
        Column("unpublished", "int64", "frames from which none was"),
        Column("dropped", "int64", "packets or buffers dropped because its queue was full"),
        Column("missing", "int64", "further packets that never arrived"),
    ),
    "One row per source of sensor data, including the warm-up.",
)

MEASURED_PROCESSES = Table(
    "measured_processes",
    ("process",),
    (
        Column("process", "string", "name in the scenario"),
        duration("cpu_ns", "CPU time, user and system, including its children", null=_UNTOLD),
        duration("wall_ns", "from its start to its end", null=_UNTOLD),
        Column("rss_max_bytes", "int64", "largest resident memory", unit="bytes", null=_UNTOLD),
        Column("voluntary_switches", "int64", "context switches to wait", null=_UNTOLD),
        Column("involuntary_switches", "int64", "context switches forced on it", null=_UNTOLD),
    ),
    "One row per process of the scenario, over its lifetime.",
)

MEASURED_RESOURCES = Table(
    "measured_resources",
    ("process", "t_ns"),
    (
        Column("process", "string", "name in the scenario; machine: the whole machine"),
        duration("t_ns", "since the start of the run"),
        instant("at_ns", "when that was", null="the start of the run was not recorded"),
        duration("cpu_ns", "CPU time until then", null=_UNTOLD),
        Column("rss_bytes", "int64", "resident memory", unit="bytes", null=_UNTOLD),
    ),
    "One row per sample of a process while it ran.",
)

MEASURED_STAMPS = Table(
    "measured_stamps",
    ("topic", "number"),
    (
        Column("topic", "string", "topic that the node took"),
        Column("number", "int64", "index among the messages that the node took, from 0"),
        instant("recv_ns", "the node's own clock (CLOCK_REALTIME) in the callback"),
        instant("msg_ns", "the message's stamp"),
        _WARM_UP,
    ),
    "One row per message for which a perf node logged both stamps.",
)

MEASURED_COLUMN_TIMES = Table(
    "measured_column_times",
    ("topic", "number", "column"),
    (
        Column("topic", "string", "topic of the clouds that the node took"),
        Column("number", "int64", "index among the messages that the node took, from 0"),
        Column("column", "int64", "column of the scan, from 0"),
        duration("since_ns", "since the scan's first column, by the sensor's clock"),
    ),
    "One row per column of a cloud whose time a perf node noted; missing columns have none.",
)

MEASURED_ROUND_TRIPS = Table(
    "measured_round_trips",
    ("number",),
    (
        Column("number", "int64", "number of the ping, from 0"),
        instant("begin_ns", "when it was sent, by the node's own clock", null=_UNTOLD),
        duration("round_trip_ns", "until it was back, by the node's own clock"),
        _WARM_UP,
    ),
    "One row per ping that came back.",
)

MEASURED_TABLES = (
    MEASURED_TRANSFERS,
    MEASURED_CHAINS,
    MEASURED_PUBLICATIONS,
    MEASURED_HOPS,
    MEASURED_SOURCES,
    MEASURED_PROCESSES,
    MEASURED_RESOURCES,
    MEASURED_STAMPS,
    MEASURED_COLUMN_TIMES,
    MEASURED_ROUND_TRIPS,
    *CALL_TABLES,
    *EXECUTOR_TABLES,
)
