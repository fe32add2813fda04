# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Every table that Strata makes from a trace, declared once.

The documentation page, the validation of frames and the report's labels come from here. Times end
in ``_ns``: instants are nanoseconds since the epoch by the trace's clock, durations nanoseconds.
"""

from __future__ import annotations

from strata.schema.columns import dense_id, duration, instant, modality, statistics
from strata.schema.layers import HOP_LAYERS
from strata.schema.scheduling_tables import LAYER_SCHEDULING, PREEMPTIONS, SCHEDULING_STATS
from strata.schema.service_tables import SERVICE_TABLES
from strata.schema.table import Column, Table

_HOST = Column("host", "string", "host name")
_VPID = Column("vpid", "int64", "process id")
_VTID = Column("vtid", "int64", "thread id")
_BEGIN = instant("begin_ns", "when its init event was recorded; it lives until its handle is new")
_END = instant(
    "end_ns",
    "when its handle was made again, or its process id was another process's",
    null="to the end of the trace",
)
_NO_INIT = "no init event was recorded"
_NO_SAMPLE = "the middleware was not traced, or did not name it"
_NO_DDS = "not recorded (no hook there, or events were lost)"
_NO_EXECUTOR = "the thread has no executor events"
_WITHIN = "an intra-process message"
_WITHOUT = "it came through the middleware"
_HANDLE = Column("handle", "uint64", "address of the rcl object; used again after its death")

NODES = Table(
    "nodes",
    ("node_id",),
    (
        dense_id("node_id", "dense number of the node"),
        _HOST,
        _VPID,
        _HANDLE,
        Column("name", "string", "full name, namespace included"),
        _BEGIN,
        _END,
    ),
    "One row a node and life.",
)

PUBLISHERS = Table(
    "publishers",
    ("publisher_id",),
    (
        dense_id("publisher_id", "dense number of the publisher"),
        _HOST,
        _VPID,
        _HANDLE,
        Column("rmw_handle", "uint64", "address of the rmw object"),
        dense_id("node_id", "its node", null=_NO_INIT),
        Column("topic", "string", "fully qualified topic"),
        Column("queue_depth", "int64", "messages kept by the QoS history"),
        _BEGIN,
        _END,
    ),
    "One row a publisher and life.",
)

SUBSCRIPTIONS = Table(
    "subscriptions",
    ("subscription_id",),
    (
        dense_id("subscription_id", "dense number of the subscription"),
        _HOST,
        _VPID,
        _HANDLE,
        Column("rmw_handle", "uint64", "address of the rmw object"),
        dense_id("node_id", "its node", null=_NO_INIT),
        Column("topic", "string", "fully qualified topic"),
        Column("queue_depth", "int64", "messages kept by the QoS history"),
        _BEGIN,
        _END,
    ),
    "One row a subscription and life.",
)

CALLBACK_OBJECTS = Table(
    "callback_objects",
    ("callback_id",),
    (
        dense_id("callback_id", "dense number of the callback"),
        _HOST,
        _VPID,
        Column("address", "uint64", "what callback_start names; used again"),
        Column("symbol", "string", "name of the function", null="never registered, or without one"),
        Column("kind", "string", "subscription, timer, service or unknown"),
        Column("trigger", "string", "its topic, service or period", null="owner unknown"),
        dense_id("subscription_id", "its subscription", null="not a subscription's"),
        dense_id("timer_id", "its timer", null="not a timer's, or no rcl_timer_init"),
        dense_id("node_id", "the node that owns it", null="owner unknown"),
        Column("node", "string", "name of that node", null="owner unknown"),
        _BEGIN,
        _END,
    ),
    "One row a callback and life, also for those that only callback_start made known.",
)

CALLBACK_INSTANCES = Table(
    "callback_instances",
    ("instance_id",),
    (
        dense_id("instance_id", "dense number"),
        dense_id("callback_id", "which callback ran"),
        _HOST,
        _VPID,
        _VTID,
        instant("start_ns", "callback_start"),
        instant("end_ns", "callback_end", null="it never ended in the trace"),
        Column("is_intra_process", "bool", "the message came through an intra-process buffer"),
    ),
    "One row an execution of a callback: the half-open interval from start to end.",
)

PUBLICATIONS = Table(
    "publications",
    ("publication_id",),
    (
        dense_id("publication_id", "dense number, in order of time"),
        dense_id("publisher_id", "who published", null=_NO_INIT),
        _HOST,
        _VPID,
        _VTID,
        instant(
            "client_ns",
            "rclcpp_intra_publish, else rclcpp_publish, else rcl_publish",
            null="none was recorded",
        ),
        instant(
            "rmw_publish_ns",
            "rmw_publish, before serialization",
            null="it stayed in its process",
        ),
        Column(
            "source_timestamp",
            "int64",
            "the publisher's stamp, CLOCK_REALTIME",
            unit="ns since the epoch",
            null="not recorded (Iron and older), or it stayed in its process",
        ),
        Column("writer_gid", "string", "GUID of the DDS writer, 32 hex digits", null=_NO_SAMPLE),
        Column("sequence_number", "int64", "number of the DDS sample", null=_NO_SAMPLE),
        dense_id("instance_id", "the callback execution that published", null="none was running"),
    ),
    "One row a message that an rcl publisher published: one call, whichever ways it went.",
)

TAKES = Table(
    "takes",
    ("take_id",),
    (
        dense_id("take_id", "dense number, in order of time"),
        dense_id("subscription_id", "who took", null=_NO_INIT),
        _HOST,
        _VPID,
        _VTID,
        instant(
            "picked_ns",
            "rclcpp_executor_execute of this take; the dequeue of an intra-process message",
            null="not recorded",
        ),
        instant("rmw_take_ns", "rmw_take, after deserialization", null=_WITHIN),
        instant("dequeue_ns", "taken from a ring buffer", null=_WITHOUT),
        Column(
            "source_timestamp",
            "int64",
            "the publisher's stamp, CLOCK_REALTIME",
            unit="ns since the epoch",
            null=_WITHIN,
        ),
        Column("writer_gid", "string", "GUID of the DDS writer, 32 hex digits", null=_NO_SAMPLE),
        Column("sequence_number", "int64", "number of the DDS sample", null=_NO_SAMPLE),
        dense_id("instance_id", "the callback execution that it started", null="none was recorded"),
        Column(
            "duplicate",
            "bool",
            "a copy, through the middleware, of what came within the process; rclcpp drops it",
        ),
    ),
    "One row a message taken from the middleware (taken = 1, with a source timestamp) or from a "
    "ring buffer.",
)

MESSAGES = Table(
    "messages",
    ("message_id",),
    (
        dense_id("message_id", "dense number, in order of take"),
        dense_id("hop_id", "row of `hops`"),
        dense_id("publication_id", "its publication"),
        dense_id("take_id", "its take"),
        Column("topic", "string", "fully qualified topic; (unknown) without init events"),
        Column("publisher_node", "string", "node that published; (unknown pid/handle) if unnamed"),
        Column("subscription_node", "string", "node that took; (unknown pid/handle) if unnamed"),
        Column(
            "method",
            "string",
            "what decided the match: topic+timestamp, timestamp, guid+sequence, ring buffer or "
            "publish time",
        ),
        Column("confidence", "string", "exact or inferred; the method decides"),
        dense_id("callback_id", "the callback that it started", null="none was recorded"),
        dense_id(
            "publisher_callback_id", "the callback that published it", null="none was running"
        ),
        instant(
            "publish_ns",
            "checkpoint: rclcpp_intra_publish, else rclcpp_publish, else rcl_publish, else "
            "rmw_publish",
        ),
        instant("rmw_publish_ns", "checkpoint: rmw_publish", null=_WITHIN),
        instant("enqueue_ns", "checkpoint: rclcpp_ring_buffer_enqueue", null=_WITHOUT),
        instant("serialize_begin_ns", "checkpoint: serialize_begin", null=_NO_DDS),
        instant("serialize_end_ns", "checkpoint: serialize_end", null=_NO_DDS),
        instant("sent_ns", "checkpoint: first send_begin of the sample", null=_NO_DDS),
        instant(
            "received_ns",
            "checkpoint: last fragment that came by a first transmission; if none did, the end of "
            "the first transmission",
            null=_NO_DDS,
        ),
        instant("notified_ns", "checkpoint: reader_notify; at the latest the take", null=_NO_DDS),
        instant(
            "ready_ns",
            "checkpoint: the last return of the taking thread's wait before it was picked",
            null="the thread did not wait in between, or its waits were not recorded",
        ),
        instant(
            "picked_ns",
            "checkpoint: rclcpp_executor_execute; the dequeue of an intra-process message",
            null="not recorded",
        ),
        instant("rmw_take_ns", "checkpoint: rmw_take", null=_WITHIN),
        instant("dequeue_ns", "checkpoint: rclcpp_ring_buffer_dequeue", null=_WITHOUT),
        instant("callback_start_ns", "checkpoint: callback_start", null="no callback recorded"),
        instant("callback_end_ns", "checkpoint: callback_end", null="it never ended"),
        *(
            duration(layer.column, f"layer {layer.name}: {layer.doc}", null="not in this row")
            for layer in HOP_LAYERS
        ),
        duration("latency_ns", "publish_ns to the last checkpoint; the sum of the layers"),
        duration(
            "deserialize_ns", "part of take: deserialize_begin -> deserialize_end", null=_NO_DDS
        ),
        duration(
            "resend_ns",
            "part of dds receive: received_ns -> last fragment, recovered by a resend",
            null="nothing had to be sent again",
        ),
        Column("size", "int64", "payload, CDR header included", unit="bytes", null=_NO_DDS),
        Column("fragments", "int64", "fragments of the sample; 1: whole", null=_NO_DDS),
        Column("recovered_fragments", "int64", "that came only after a resend", null=_NO_DDS),
        Column(
            "transport",
            "string",
            "UDPv4, UDPv6, TCPv4, TCPv6, SHM, data sharing; intra-process: handed over within the "
            "writer's process by the middleware; ring buffer: by rclcpp",
            null=_NO_DDS,
        ),
        Column("complete", "bool", "the row reaches callback_end"),
        dense_id(
            "parent_id",
            "the message whose callback published this one",
            null="published outside a message's callback",
        ),
        duration(
            "hold_ns",
            "from that callback's start to publish_ns",
            null="published outside a message's callback",
        ),
    ),
    "One row a matched transfer (publication and take) with its checkpoints and layers.",
)

LINKS = Table(
    "links",
    ("child_id", "parent_id"),
    (
        dense_id("child_id", "the message that was caused"),
        dense_id("parent_id", "the message that caused it"),
        Column("kind", "string", "callback, periodic_async or partial_sync"),
        duration("callback_ns", "the parent's callback, whole", null="published inside it"),
        duration(
            "stored_ns",
            "end of that callback -> start of the callback that published; of a publish outside of "
            "callbacks, -> the publish",
            null="published inside the parent's callback",
        ),
        duration(
            "hold_ns",
            "start of the callback that published -> the publish",
            null="published outside of callbacks",
        ),
        Column("critical", "bool", "of all causes of the child it was there last"),
    ),
    "One row a cause of a message.",
)

EXECUTOR_BLOCKERS = Table(
    "executor_blockers",
    ("message_id", "callback_id"),
    (
        dense_id("message_id", "the message that waited"),
        dense_id("callback_id", "the callback that ran on the taking thread meanwhile"),
        duration(
            "duration_ns",
            "how long it ran from the notification (not recorded: from rmw_publish) to picked",
        ),
    ),
    "What the taking thread was running while a message waited for it. The rest of executor wait "
    "is the executor's own work.",
)

EXECUTORS = Table(
    "executors",
    ("executor_id",),
    (
        dense_id("executor_id", "dense number of the executor"),
        _HOST,
        _VPID,
        Column(
            "kind",
            "string",
            "single-threaded, multi-threaded, or without events (EventsExecutor, pools of rclpy)",
        ),
        Column("threads", "int64", "threads that ran its callbacks"),
        Column("nodes", "string", "nodes whose callbacks it ran, joined by a comma"),
        Column("callbacks", "int64", "different callbacks that it ran"),
    ),
    "One row an executor, inferred: threads of a process that ran the same callbacks.",
)

EXECUTOR_THREADS = Table(
    "executor_threads",
    ("host", "vpid", "vtid"),
    (
        dense_id("executor_id", "row of `executors`"),
        _HOST,
        _VPID,
        _VTID,
        instant("begin_ns", "first event of its executor or callbacks"),
        instant("end_ns", "last event of its executor or callbacks"),
        Column("executions", "int64", "callbacks that it ran"),
        duration("executing_ns", "inside callbacks; one that never ended, up to the next event"),
        duration("waiting_ns", "waiting for work, outside of callbacks", null=_NO_EXECUTOR),
        duration(
            "mutex_ns",
            "waiting for the executor's mutex, which another thread holds while it waits for work",
            null="not of a multi-threaded executor",
        ),
        duration("ready_ns", "the rest: taking and picking", null=_NO_EXECUTOR),
    ),
    "One row a thread of an executor. executing + waiting + mutex + ready = end - begin.",
)

HOPS = Table(
    "hops",
    ("hop_id",),
    (
        dense_id("hop_id", "dense number"),
        Column("topic", "string", "fully qualified topic"),
        Column("publisher_node", "string", "node that publishes"),
        Column("subscription_node", "string", "node that takes"),
        Column("count", "int64", "matched takes"),
        Column("lost", "int64", "published between the first and the last taken, and not taken"),
        *statistics("latency_", "publish to the end of the callback, complete rows"),
        *modality("its latency"),
    ),
    "One row a way from a publishing node over a topic to a subscribing node.",
)

HOP_LAYER_STATS = Table(
    "hop_layers",
    ("hop_id", "layer"),
    (
        dense_id("hop_id", "row of `hops`"),
        Column("layer", "string", "name of the layer"),
        Column("share", "float64", "of the summed latency of the complete rows"),
        *statistics("", "duration"),
    ),
    "One row a layer of a hop, over the hop's complete rows.",
)

CHAINS = Table(
    "chains",
    ("chain_id",),
    (
        dense_id("chain_id", "dense number, the longest and busiest first"),
        Column("name", "string", "topics of its hops, joined by ->"),
        Column("nodes", "string", "nodes on the way, joined by ->"),
        Column("hop_count", "int64", "hops"),
        Column("count", "int64", "messages that went all the way"),
        *statistics("latency_", "first publish to the end of the last callback"),
        *modality("its latency"),
    ),
    "One row a way of hops that are linked through callbacks.",
)

CHAIN_INSTANCES = Table(
    "chain_instances",
    ("chain_instance_id",),
    (
        dense_id("chain_instance_id", "dense number"),
        dense_id("chain_id", "row of `chains`"),
        dense_id("message_id", "the last message of the chain"),
        instant("begin_ns", "first publish"),
        instant("end_ns", "end of the last callback"),
        duration("latency_ns", "end_ns - begin_ns; the sum of its segments"),
        Column("critical", "bool", "every link on the way is the critical one of its message"),
    ),
    "One row a message that went through the whole chain.",
)

CHAIN_SEGMENTS = Table(
    "chain_segments",
    ("chain_instance_id", "position"),
    (
        dense_id("chain_instance_id", "row of `chain_instances`"),
        dense_id("chain_id", "row of `chains`"),
        Column("position", "int64", "order along the chain, from 0"),
        Column("hop", "int64", "hop along the chain, from 0"),
        dense_id("message_id", "the message of that hop"),
        Column("layer", "string", "name of the layer"),
        duration("duration_ns", "how long it took"),
    ),
    "One row a layer of a hop of a message along its chain.",
)

CHAIN_LAYER_STATS = Table(
    "chain_layers",
    ("chain_id", "position"),
    (
        dense_id("chain_id", "row of `chains`"),
        Column("position", "int64", "order along the chain, from 0"),
        Column("hop", "int64", "hop along the chain, from 0"),
        Column("layer", "string", "name of the layer"),
        Column("where", "string", "topic, node or callback that the time was spent in"),
        Column("share", "float64", "of the summed latency of the chain"),
        *statistics("", "duration"),
    ),
    "One row a layer of a hop of a chain.",
)

BLAME = Table(
    "blame",
    ("chain_id", "layer", "where"),
    (
        dense_id("chain_id", "row of `chains`"),
        Column("layer", "string", "name of the layer"),
        Column("where", "string", "topic, node, or callback that was run or waited for"),
        Column("share_p50", "float64", "of the latency of the typical messages (p40 to p60)"),
        Column("share_p99", "float64", "of the latency of the slowest messages (p99 and above)"),
        Column("typical_ns", "float64", "mean duration in the typical messages", unit="ns"),
        Column("tail_ns", "float64", "mean duration in the slowest messages", unit="ns"),
    ),
    "One row a cause of a chain's latency, the largest share of the median first.",
)

_NO_CAUSE = "the fastest mode, or of a hop"

MODES = Table(
    "modes",
    ("chain_id", "hop_id", "mode"),
    (
        dense_id("chain_id", "row of `chains`", null="of a hop"),
        dense_id("hop_id", "row of `hops`", null="of a chain"),
        Column("mode", "int64", "from 0, the fastest first"),
        Column("count", "int64", "messages"),
        Column("share", "float64", "of the messages"),
        duration("low_ns", "smallest latency"),
        duration("high_ns", "largest latency"),
        Column("p50_ns", "float64", "median latency", unit="ns"),
        Column("mean_ns", "float64", "mean latency", unit="ns"),
        Column(
            "slower_ns",
            "float64",
            "mean of its middle half less that of the mode before",
            unit="ns",
            null=_NO_CAUSE,
        ),
        Column("layer", "string", "layer that differs most from the mode before", null=_NO_CAUSE),
        Column("where", "string", "place of that, as in `blame`", null=_NO_CAUSE),
        Column("cause_share", "float64", "of slower_ns, of that layer there", null=_NO_CAUSE),
        Column("layer_share", "float64", "of slower_ns, of that layer anywhere", null=_NO_CAUSE),
    ),
    "One row a mode of a chain's or hop's latency, for those that have more than one.",
)

CALLBACKS = Table(
    "callbacks",
    ("callback_id",),
    (
        dense_id("callback_id", "row of `callback_objects`"),
        Column("node", "string", "node that owns it; (unknown) without init events"),
        Column("symbol", "string", "name of the function; its address when never registered"),
        Column("kind", "string", "subscription, timer, service or unknown"),
        Column("trigger", "string", "its topic, service or period", null="owner unknown"),
        Column("count", "int64", "executions"),
        *statistics("duration_", "callback_start to callback_end"),
        *statistics("period_", "between two starts"),
    ),
    "One row a callback that ran.",
)

PROCESSES = Table(
    "processes",
    ("process_id",),
    (
        dense_id("process_id", "dense number of the process"),
        _HOST,
        _VPID,
        Column("procname", "string", "name of its first thread", null="not recorded"),
        Column("distro", "string", "ROS 2 distribution whose events it has", null="not known"),
        Column("tracetools_version", "string", "what it said in rcl_init", null=_NO_INIT),
        Column(
            "told_by",
            "string",
            "how the distribution was told: version; newer version (than the catalogue knows, read "
            "as the newest); fields (by the events and fields that are there); unknown",
        ),
        instant("begin_ns", "its first ros2 or dds event"),
        instant("end_ns", "its last ros2 or dds event"),
    ),
    "One row a process. A process id that another process got later on is several rows.",
)

CONTEXTS = Table(
    "contexts",
    ("context_id",),
    (
        dense_id("context_id", "dense number of the context"),
        dense_id("process_id", "row of `processes`"),
        _HOST,
        _VPID,
        _HANDLE,
        Column("tracetools_version", "string", "version of tracetools in its process"),
        _BEGIN,
        _END,
    ),
    "One row a context (rcl_init) and life.",
)

SUBSCRIPTION_OBJECTS = Table(
    "subscription_objects",
    ("subscription_object_id",),
    (
        dense_id("subscription_object_id", "dense number"),
        _HOST,
        _VPID,
        Column("address", "uint64", "address of the rclcpp object; used again after its death"),
        dense_id("subscription_id", "the rcl subscription that it stands for", null=_NO_INIT),
        dense_id("callback_id", "its callback", null="none was announced"),
        Column("is_intra_process", "bool", "it takes from an intra-process buffer"),
        _BEGIN,
        _END,
    ),
    "One row a subscription of the client library and life: two for one rcl subscription with "
    "intra-process communication.",
)

TIMERS = Table(
    "timers",
    ("timer_id",),
    (
        dense_id("timer_id", "dense number of the timer"),
        _HOST,
        _VPID,
        _HANDLE,
        dense_id("node_id", "its node", null="owner unknown"),
        duration("period_ns", "the period that it was made with"),
        _BEGIN,
        _END,
    ),
    "One row a timer and life that a callback or a node was announced for.",
)

TIMER_FIRES = Table(
    "timer_fires",
    ("timer_id", "start_ns"),
    (
        dense_id("timer_id", "row of `timers`"),
        dense_id("instance_id", "row of `callback_instances`"),
        instant(
            "expected_ns",
            "when it was due",
            null="it is where the grid begins anew: its cause is early, paused or irregular",
        ),
        instant("picked_ns", "rclcpp_executor_execute of this fire", null="not recorded"),
        instant("start_ns", "callback_start"),
        duration("lateness_ns", "start_ns - expected_ns", null="expected_ns is null"),
        Column("skipped", "int64", "whole periods between due and called, not made up for"),
        Column(
            "cause",
            "string",
            "overrun: its thread was busy; paused: its thread waited, so the timer was cancelled, "
            "reset or given a longer period; undecided: skipped for one of these; early: reset, or "
            "given a shorter period; irregular: of a timer that keeps no grid",
            null="on its grid",
        ),
    ),
    "One row a fire of a timer: an execution of its callback.",
)

TIMER_STATISTICS = Table(
    "timer_statistics",
    ("timer_id",),
    (
        dense_id("timer_id", "row of `timers`"),
        Column("node", "string", "node that owns it; (unknown) without init events"),
        Column("symbol", "string", "name of its callback; its address when never registered"),
        duration("period_ns", "the period that it was made with"),
        Column("count", "int64", "fires"),
        Column("skipped", "int64", "periods without a fire, of overruns and undecided ones"),
        Column("overruns", "int64", "fires after skipped periods with a busy thread"),
        Column("undecided", "int64", "fires after skipped periods whose cause is not known"),
        Column("pauses", "int64", "fires after a cancel, reset or longer period"),
        Column("early", "int64", "fires before they were due: after a reset or a shorter period"),
        Column("irregular", "int64", "fires that could not be held against a grid"),
        *statistics("interval_", "between two fires, but for those after a pause"),
        *statistics("jitter_", "how far an interval is from the period"),
        *statistics("lateness_", "from when it was due to callback_start"),
    ),
    "One row a timer that fired.",
)

LIFECYCLE_NODES = Table(
    "lifecycle_nodes",
    ("lifecycle_node_id",),
    (
        dense_id("lifecycle_node_id", "dense number of the state machine"),
        _HOST,
        _VPID,
        Column("state_machine", "uint64", "address of the state machine; used again"),
        dense_id("node_id", "its node", null=_NO_INIT),
        instant("begin_ns", "when its init event was recorded", null=_NO_INIT),
        _END,
    ),
    "One row a state machine of a lifecycle node and life.",
)

LIFECYCLE_STATES = Table(
    "lifecycle_states",
    ("lifecycle_node_id", "position"),
    (
        dense_id("lifecycle_node_id", "row of `lifecycle_nodes`"),
        dense_id("node_id", "its node", null=_NO_INIT),
        Column("position", "int64", "order, from 0"),
        Column("state", "string", "name of the state; (unknown) where a transition is missing"),
        instant("begin_ns", "when it was entered", null="before the trace began"),
        instant("end_ns", "when it was left", null="to the end of the trace or of the node"),
    ),
    "One row a stay of a lifecycle node in a state, transition states (configuring ...) included.",
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
        *statistics("duration_", "stays that were seen to begin and to end"),
    ),
    "One row a state that a lifecycle node was in.",
)

QUALITY = Table(
    "quality",
    ("code",),
    (
        Column("code", "string", "what was found (strata.schema.quality)"),
        Column("count", "int64", "how often"),
        Column("severity", "string", "info, warning or loss"),
        Column("text", "string", "what it means and what to do"),
    ),
    "One row a kind of finding, the worst first.",
)

LOSSES = Table(
    "losses",
    ("code", "place", "begin_ns", "end_ns"),
    (
        Column("code", "string", "what was lost (strata.schema.quality)"),
        Column("count", "int64", "how much: events, packets, bytes, by the code"),
        Column("place", "string", "stream file, directory or event; empty for the whole trace"),
        instant("begin_ns", "it was lost at this time or later", null="not known"),
        instant("end_ns", "it was lost at this time or earlier", null="not known"),
    ),
    "One row a loss of the trace by itself, with the window of time in which it happened.",
)

EVENT_USES = Table(
    "event_uses",
    ("event", "use"),
    (
        Column("event", "string", "full name of a `ros2` event"),
        Column("used", "bool", "the analysis uses it; otherwise `use` says why not"),
        Column("use", "string", "what it was used for, or why it was ignored"),
        Column("count", "int64", "how many events; those of one name add up to all of it"),
    ),
    "What became of every `ros2` event.",
)

TABLES: tuple[Table, ...] = (
    PROCESSES,
    CONTEXTS,
    NODES,
    PUBLISHERS,
    SUBSCRIPTIONS,
    CALLBACK_OBJECTS,
    CALLBACK_INSTANCES,
    PUBLICATIONS,
    TAKES,
    MESSAGES,
    LINKS,
    EXECUTOR_BLOCKERS,
    EXECUTORS,
    EXECUTOR_THREADS,
    HOPS,
    HOP_LAYER_STATS,
    CHAINS,
    CHAIN_INSTANCES,
    CHAIN_SEGMENTS,
    CHAIN_LAYER_STATS,
    BLAME,
    MODES,
    CALLBACKS,
    SUBSCRIPTION_OBJECTS,
    TIMERS,
    TIMER_FIRES,
    TIMER_STATISTICS,
    LIFECYCLE_NODES,
    LIFECYCLE_STATES,
    LIFECYCLE_STATISTICS,
    *SERVICE_TABLES,
    QUALITY,
    LOSSES,
    EVENT_USES,
    LAYER_SCHEDULING,
    PREEMPTIONS,
    SCHEDULING_STATS,
)
