# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What drivers read from their sensors, and the frames that they made from it."""

from __future__ import annotations

from strata.schema.columns import HOST, VPID, dense_id, duration, instant
from strata.schema.table import Column, Table

_LOST = "source_init was not recorded"
_INFERRED = "not known: the driver is not instrumented"
_NO_PACKET = "not recorded, or its arrival time is not known"

DRIVER_SOURCES = Table(
    "driver_sources",
    ("source_id",),
    (
        dense_id("source_id", "dense number"),
        HOST,
        VPID,
        Column("source", "uint64", "the source's number in its process"),
        Column("kind", "string", "udp or appsink", null=_LOST),
        Column(
            "name", "string", "what the driver calls it; empty if recorded by hooks", null=_LOST
        ),
        Column("address", "string", "address and port, or the element's name", null=_LOST),
        Column("place", "string", "in words: UDP port 7502, appsink NAME"),
        Column("nodes", "string", "nodes that published from it, joined by a comma; may be empty"),
        Column("topics", "string", "what they published, joined by a comma; may be empty"),
        Column("reads", "int64", "packets received, or buffers pulled"),
        Column("bytes", "int64", "read in all", unit="bytes"),
        Column("frames", "int64", "rows of `driver_frames`"),
        Column("published", "int64", "frames from which a message was published"),
        Column(
            "unpublished",
            "int64",
            "frames from which none was, excluding the last of a trace; 0 where `published` is 0",
        ),
        Column("dropped", "int64", "packets or buffers dropped because its queue was full"),
        Column("missing", "int64", "further packets that never arrived"),
        duration(
            "queue_p50_ns",
            "median time in the queue, of everything that was read",
            null="not known",
        ),
        duration("queue_p99_ns", "as queue_p50_ns: 99th percentile", null="not known"),
        duration("queue_max_ns", "as queue_p50_ns: longest", null="not known"),
        duration("sweep_p50_ns", "`driver_frames.sweep_ns`", null="not known"),
        duration("conversion_p50_ns", "`driver_frames.conversion_ns`", null="not known"),
        duration("conversion_p99_ns", "as conversion_p50_ns: 99th percentile", null="not known"),
    ),
    "One row per stream of sensor data in a process: a UDP socket, or an appsink.",
)

DRIVER_FRAMES = Table(
    "driver_frames",
    ("frame_id",),
    (
        dense_id("frame_id", "dense number"),
        dense_id("source_id", "its source"),
        Column("frame", "int64", "number of the frame, counted by the driver", null=_INFERRED),
        instant("first_arrival_ns", "its first packet arrived at this host", null=_NO_PACKET),
        instant("arrival_ns", "the data that completed it arrived at this host", null=_NO_PACKET),
        instant("read_ns", "checkpoint: packet_received or buffer_pulled", null="not recorded"),
        instant(
            "boundary_ns",
            "frame_boundary: the driver found it complete",
            null="from an appsink, or inferred",
        ),
        instant("ready_ns", "first cloud_ready or copy_done", null="not recorded"),
        duration(
            "sweep_ns", "first packet -> completing packet: time spent by the sensor", _NO_PACKET
        ),
        duration(
            "conversion_ns",
            "found complete (for an appsink: pulled) -> ready",
            null="not recorded",
        ),
        Column("packets", "int64", "packets of the frame", null="from an appsink, or not known"),
        Column("missing", "int64", "packets of it that never arrived", null="as packets"),
        Column(
            "dropped",
            "int64",
            "packets or buffers dropped by a full queue since the previous frame was complete",
            null="not known",
        ),
        Column("publications", "int64", "messages published from it; 0: none"),
    ),
    "One row per frame: the data of one message, or of the messages of one sweep.",
)

DRIVER_LOSSES = Table(
    "driver_losses",
    ("source_id", "cause", "begin_ns"),
    (
        dense_id("source_id", "which source lost them"),
        Column(
            "cause",
            "string",
            "socket buffer full, appsink full, never came (lost before the socket, or never sent) "
            "or not published",
        ),
        Column("count", "int64", "packets, buffers, or (not published) frames"),
        instant("begin_ns", "at this time or later", null="not known"),
        instant("end_ns", "at this time or earlier", null="not known"),
    ),
    "One row per period in which a source lost data without a pause.",
)

DRIVER_TABLES = (DRIVER_SOURCES, DRIVER_FRAMES, DRIVER_LOSSES)
