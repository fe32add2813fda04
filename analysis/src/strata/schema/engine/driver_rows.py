# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of what sensor drivers read, and of what they made of it."""

from __future__ import annotations

INT, SHORT, FLAG = "int64_t", "int32_t", "uint8_t"

_SOURCE = ("source", SHORT, "row of the driver_sources")
_THREAD = ("thread", SHORT, "row of the threads")

DRIVER_ROWS = (
    (
        "driver_sources",
        (
            ("process", SHORT, "row of the processes"),
            ("number", INT, "its number in its process"),
            ("begin_ns", INT, "source_init"),
            ("kind", INT, "number of udp or appsink among the texts; null without source_init"),
            ("name", INT, "number of what the driver calls it among the texts"),
            ("address", INT, "number of its address among the texts"),
            ("reads", INT, "packets and buffers that were read from it"),
            ("bytes", INT, "what these had in all"),
            ("is_pulled", FLAG, "buffers were pulled from it"),
            ("tells_frames", FLAG, "its driver says what it makes of the data"),
        ),
        "Sockets and appsinks by host, process and number.",
    ),
    (
        "driver_reads",
        (
            _SOURCE,
            _THREAD,
            ("number", INT, "sequence number of a packet, frame of a buffer"),
            ("ns", INT, "when it was read"),
            ("arrival_ns", INT, "when it came into the queue that it was read from"),
            ("dropped_so_far", INT, "what the queue had dropped since its source began"),
            ("is_packet", FLAG, "a packet, no buffer"),
        ),
        "Packets and buffers that were read, in order of time.",
    ),
    (
        "driver_frames",
        (
            _SOURCE,
            (
                "number",
                INT,
                "counted by the driver; null: made of one read of which no more is told",
            ),
            ("first", SHORT, "row of the reads: its first packet"),
            ("last", SHORT, "row of the reads: what completed it"),
            ("boundary_ns", INT, "when its driver had it whole"),
            ("ready_ns", INT, "when it was in a message"),
            ("packets", INT, "packets that it has"),
            ("missing", INT, "packets of it that were not read"),
            ("dropped", INT, "what the queue dropped since the frame before was complete"),
            ("first_arrival_ns", INT, "arrival of its first packet"),
            ("arrival_ns", INT, "arrival of what completed it"),
            ("read_ns", INT, "when that was read"),
            ("thread", SHORT, "row of the threads: which read it"),
            ("publications", INT, "messages that were made of it"),
        ),
        "Frames by source and number; then those without a number, by source and time.",
    ),
    (
        "driver_frame_events",
        (
            _SOURCE,
            _THREAD,
            ("frame", SHORT, "row of the frames"),
            ("ns", INT, "when it was"),
            ("kind", FLAG, "FrameEvent: 0 boundary, 1 pulled, 2 cloud ready, 3 copy done"),
        ),
        "Events that name a frame, in order of time.",
    ),
    (
        "driver_links",
        (
            (
                "published",
                SHORT,
                "row of the published messages; of the publishes where no ring buffer was used",
            ),
            ("frame", SHORT, "row of the frames"),
            ("is_inferred", FLAG, "by what its thread had read last"),
            ("is_caused", FLAG, "it was made in an execution that a message started"),
        ),
        "Which published messages were made of which frame, in their order.",
    ),
    (
        "driver_losses",
        (
            _SOURCE,
            (
                "cause",
                FLAG,
                "LossCause: 0 socket full, 1 appsink full, 2 never came, 3 unpublished",
            ),
            ("count", INT, "how many were lost"),
            ("begin_ns", INT, "since when; null: not known"),
            ("end_ns", INT, "until when; null: not known"),
        ),
        "Stretches of losses of one source and cause, by source, cause and time.",
    ),
)
