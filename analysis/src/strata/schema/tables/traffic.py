# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What was run, published and taken, and the messages reconstructed from it."""

from __future__ import annotations

from strata.schema.columns import HOST, NO_INIT, VPID, VTID, dense_id, duration, instant
from strata.schema.layers import HOP_LAYERS
from strata.schema.table import Column, Table

_NO_SAMPLE = "the middleware was not traced, or its events do not identify the sample"
_NO_DDS = "not recorded (no hook there, or events were lost)"
_NO_DRIVER = "not known to be made from sensor data"
_NO_READ = "not made from sensor data, or the read was not recorded"
_WITHIN = "an intra-process message"
_WITHOUT = "it came through the middleware"

CALLBACK_INSTANCES = Table(
    "callback_instances",
    ("instance_id",),
    (
        dense_id("instance_id", "dense number"),
        dense_id("callback_id", "which callback ran"),
        HOST,
        VPID,
        VTID,
        instant("start_ns", "callback_start"),
        instant("end_ns", "callback_end", null="it never ended in the trace"),
        instant(
            "until_ns",
            "end_ns; if null, the next event of its executor or callbacks on its thread; if "
            "there is none, the last time its process is known to exist (docs/method.md, "
            "Executions)",
        ),
        Column("is_intra_process", "bool", "the message came through an intra-process buffer"),
        dense_id(
            "execution_id",
            "instance_id of the first piece of the execution: its own, except for a coroutine "
            "that was suspended",
        ),
        Column("is_resumed", "bool", "continues a coroutine that was suspended (rclpy)"),
        instant(
            "finished_ns",
            "callback_end of the execution's last piece",
            null="it never ended in the trace",
        ),
    ),
    "One row per execution of a callback: a half-open interval from start to end. A coroutine "
    "callback of rclpy has one row per piece that ran; in between it was suspended.",
)

PUBLICATIONS = Table(
    "publications",
    ("publication_id",),
    (
        dense_id("publication_id", "dense number, in time order"),
        dense_id("publisher_id", "its publisher", null=NO_INIT),
        HOST,
        VPID,
        VTID,
        instant(
            "client_ns",
            "rclcpp_intra_publish, else rclcpp_publish, else rcl_publish",
            null="none was recorded",
        ),
        instant(
            "rmw_publish_ns",
            "rmw_publish, before serialization",
            null="intra-process only",
        ),
        Column(
            "source_timestamp",
            "int64",
            "the publisher's stamp, CLOCK_REALTIME",
            unit="ns since the epoch",
            null="not recorded (Iron and older), or intra-process only",
        ),
        Column("writer_gid", "string", "GUID of the DDS writer, 32 hex digits", null=_NO_SAMPLE),
        Column("sequence_number", "int64", "number of the DDS sample", null=_NO_SAMPLE),
        dense_id("instance_id", "the callback execution that published", null="none was running"),
    ),
    "One row per message that an rcl publisher published: one call, through the middleware, "
    "within the process, or both.",
)

TAKES = Table(
    "takes",
    ("take_id",),
    (
        dense_id("take_id", "dense number, in time order"),
        dense_id("subscription_id", "its subscription", null=NO_INIT),
        HOST,
        VPID,
        VTID,
        instant(
            "picked_ns",
            "rclcpp_executor_execute of this take; the dequeue of an intra-process message",
            null="not recorded",
        ),
        instant("rmw_take_ns", "rmw_take, after deserialization; see `loaned`", null=_WITHIN),
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
            "a copy, through the middleware, of a message already received within the process; "
            "rclcpp drops it",
        ),
        Column(
            "loaned",
            "bool",
            "a loaned message, which has no rmw_take event: `rmw_take_ns` is the time of "
            "take_end, the subscription the one picked before or called after",
        ),
    ),
    "One row per message taken from the middleware (taken = 1, with a source timestamp) or from a "
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
            "how it was matched: topic+timestamp, timestamp, guid+sequence, ring buffer or "
            "publish time",
        ),
        Column(
            "confidence",
            "string",
            "exact or inferred, by the method; unsynchronised: between hosts whose clocks are "
            "not synchronised, so the layer between them (and the latency) is not known",
        ),
        dense_id("callback_id", "the callback that it started", null="none was recorded"),
        dense_id(
            "publisher_callback_id", "the callback that published it", null="none was running"
        ),
        dense_id("frame_id", "the sensor frame that it was made from", null=_NO_DRIVER),
        Column("driver_source", "string", "source of its data, in words", null=_NO_DRIVER),
        Column(
            "driver_method",
            "string",
            "how that was determined: frame (reported by the driver) or last read (inferred)",
            null=_NO_DRIVER,
        ),
        instant("begin_ns", "where its latency begins: arrival_ns, else read_ns, else publish_ns"),
        instant(
            "arrival_ns",
            "checkpoint: the data that completed the frame arrived at this host",
            null=f"{_NO_READ}, or not known",
        ),
        instant("read_ns", "checkpoint: packet_received or buffer_pulled", null=_NO_READ),
        instant(
            "publish_ns",
            "checkpoint: rclcpp_intra_publish, else rclcpp_publish, else rcl_publish, else "
            "rmw_publish",
        ),
        instant("rmw_publish_ns", "checkpoint: rmw_publish", null=_WITHIN),
        instant("enqueue_ns", "checkpoint: rclcpp_ring_buffer_enqueue", null=_WITHOUT),
        instant("serialize_begin_ns", "checkpoint: serialize_begin", null=_NO_DDS),
        instant("serialize_end_ns", "checkpoint: serialize_end", null=_NO_DDS),
        instant(
            "sent_ns",
            "checkpoint: first send_begin of the sample plus send_held_ns",
            null=_NO_DDS,
        ),
        instant(
            "received_ns",
            "checkpoint: last fragment that arrived by a first transmission; if none did, the "
            "end of the first transmission",
            null=_NO_DDS,
        ),
        instant(
            "notified_ns", "checkpoint: reader_notify, but not later than the take", null=_NO_DDS
        ),
        instant(
            "ready_ns",
            "checkpoint: the last return of the taking thread's wait before the message was picked",
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
        duration("latency_ns", "begin_ns to the last checkpoint; the sum of the layers"),
        duration(
            "sweep_ns",
            "before arrival_ns: first packet of the frame -> arrival_ns, time spent by the sensor",
            null=f"{_NO_DRIVER}, or not known",
        ),
        duration(
            "conversion_ns",
            "part of driver: frame complete -> its data are in the message",
            null=f"{_NO_DRIVER}, or not recorded",
        ),
        duration(
            "deserialize_ns", "part of take: deserialize_begin -> deserialize_end", null=_NO_DDS
        ),
        duration(
            "send_held_ns",
            "part of dds write: how long the sending thread was held up inside its send calls of "
            "the sample, until the arrival",
            null="the first send or the arrival is not known, or no transport was involved",
        ),
        duration(
            "resend_ns",
            "part of dds receive: received_ns -> last fragment recovered by a resend",
            null="nothing was sent again",
        ),
        Column("size", "int64", "payload, including the CDR header", unit="bytes", null=_NO_DDS),
        Column("fragments", "int64", "fragments of the sample; 1: not fragmented", null=_NO_DDS),
        Column(
            "recovered_fragments",
            "int64",
            "fragments that arrived only after a resend",
            null=_NO_DDS,
        ),
        Column(
            "transport",
            "string",
            "UDPv4, UDPv6, TCPv4, TCPv6, SHM, data sharing; iceoryx: its shared memory; "
            "intra-process: handed over within the process by the middleware; ring buffer: by "
            "rclcpp",
            null=_NO_DDS,
        ),
        Column("complete", "bool", "the row reaches callback_end"),
        Column(
            "start_up",
            "bool",
            "published before both ends of its hop were ready (as far as known)",
        ),
        Column(
            "reader_silent",
            "bool",
            "reader_silent_ns is not 0",
        ),
        Column(
            "reader_silent_ns",
            "int64",
            "over SHM, part of sent_ns to received_ns: periods of 1 ms or more in which no "
            "thread of the reader's process emitted an event, ran a callback, or had a CPU by "
            "the samples of `thread_cpu`; 0 also if not known",
            unit="ns",
        ),
        dense_id(
            "parent_id",
            "the message whose callback published this one",
            null="published outside a message's callback",
        ),
        duration(
            "hold_ns",
            "from that callback's start to publish_ns; of a coroutine, only the time in which it "
            "ran",
            null="published outside a message's callback",
        ),
    ),
    "One row per matched transfer (publication and take) with its checkpoints and layers.",
)

LINKS = Table(
    "links",
    ("child_id", "parent_id"),
    (
        dense_id("child_id", "the message that was caused"),
        dense_id("parent_id", "the message that caused it"),
        Column("kind", "string", "callback, periodic_async or partial_sync"),
        duration(
            "callback_ns", "duration of the parent's whole callback", null="published inside it"
        ),
        duration(
            "suspended_ns",
            "how long that callback, a coroutine, was suspended before the publish; not part of "
            "callback_ns and hold_ns",
            null="it was not suspended",
        ),
        duration(
            "stored_ns",
            "end of that callback -> start of the callback that published; for a publish outside "
            "of callbacks, -> that publish",
            null="published inside the parent's callback",
        ),
        duration(
            "hold_ns",
            "start of the callback that published -> the publish; for a link by callback, "
            "without the time that it was suspended",
            null="published outside of callbacks",
        ),
        Column("critical", "bool", "the last to arrive of all causes of the child"),
    ),
    "One row per cause of a message.",
)
