# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of what went through ring buffers within processes, and of all traffic in one order."""

from __future__ import annotations

INT, SHORT, FLAG = "int64_t", "int32_t", "uint8_t"

INTRA_PROCESS_ROWS = (
    (
        "ring_buffers",
        (
            ("process", SHORT, "row of the processes"),
            ("address", INT, "address of the buffer"),
            ("begin_ns", INT, "when it was made; null where the trace does not say"),
            ("thread", SHORT, "row of the threads: that made it"),
            ("subscription", SHORT, "row of the subscriptions that takes from it"),
        ),
        "Ring buffers of intra-process communication, each with its life, in the order in which "
        "events named them. One that was made in the trace and has no subscription is a "
        "publisher's own.",
    ),
    (
        "intra_publishes",
        (
            ("thread", SHORT, "row of the threads"),
            ("ns", INT, "rclcpp_intra_publish"),
            ("at", INT, "its place in the order of events"),
            ("publisher", SHORT, "row of the publishers"),
            ("handle", INT, "address of the rcl publisher"),
            ("procname", SHORT, "number of the thread's name among the texts"),
            ("publish", SHORT, "row of the publishes of the same call; null for none"),
            ("open_execution", SHORT, "innermost execution that had begun, and was not over"),
            ("execution", SHORT, "row of the execution that it was made in, by its first piece"),
        ),
        "Calls of publish() that stored their message in ring buffers, in order of time.",
    ),
    (
        "enqueues",
        (
            ("thread", SHORT, "row of the threads"),
            ("ns", INT, "when a message was stored"),
            ("at", INT, "its place in the order of events"),
            ("buffer", SHORT, "row of the ring buffers"),
            ("slot", INT, "slot of the buffer that was written"),
            ("call", SHORT, "row of the intra-process publishes that stored it"),
            ("dequeue", SHORT, "row of the dequeues that took it"),
            ("overwrites", FLAG, "the buffer was full: the oldest message is lost"),
            ("stored", FLAG, "not into a publisher's own buffer"),
            ("displaced", FLAG, "it was overwritten before it was taken"),
            ("replayed", FLAG, "a late subscription got what a publisher had kept"),
        ),
        "Messages that were put into ring buffers, in order of time.",
    ),
    (
        "dequeues",
        (
            ("thread", SHORT, "row of the threads"),
            ("ns", INT, "when a message was taken"),
            ("at", INT, "its place in the order of events"),
            ("buffer", SHORT, "row of the ring buffers"),
            ("slot", INT, "slot of the buffer that was read"),
            ("size_left", INT, "messages that it left in the buffer"),
            ("enqueue", SHORT, "row of the enqueues that stored it"),
            ("execution", SHORT, "row of the execution that it started"),
        ),
        "Messages that were taken from ring buffers, in order of time.",
    ),
    (
        "published_messages",
        (
            ("publish", SHORT, "row of the publishes; null of what stayed in its process"),
            ("call", SHORT, "row of the intra-process publishes; null of what only left it"),
        ),
        "All messages that applications published, in order of time; none, like those that were "
        "taken and matched, where no ring buffer was used: then the middleware's are all.",
    ),
    (
        "taken_messages",
        (
            ("take", SHORT, "row of the takes; null of what came from a ring buffer"),
            ("dequeue", SHORT, "row of the dequeues; null of what the middleware gave"),
            ("duplicate", FLAG, "a copy of what came within the process, which rclcpp drops"),
        ),
        "All messages that were taken, in order of time.",
    ),
    (
        "matched_messages",
        (
            ("published", SHORT, "row of the published messages"),
            ("taken", SHORT, "row of the taken messages"),
            ("method", FLAG, "MatchMethod: what decided"),
            ("enqueue", SHORT, "row of the enqueues; null of what the middleware gave"),
        ),
        "Which published message each taken one is, in the order of the latter; no duplicate.",
    ),
)
