# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Findings about the trace: what was lost or could not be read."""

from __future__ import annotations

from strata.schema.diagnostic import Diagnostic, Severity

TRACE = (
    Diagnostic(
        "discarded_events",
        Severity.LOSS,
        "{count} {event was|events were} discarded by the tracer because its buffers were full: "
        "anything unmatched is suspect. Record again with more or larger sub-buffers (num_subbuf, "
        "subbuf_size).",
    ),
    Diagnostic(
        "lost_packets",
        Severity.LOSS,
        "{count} {packet is|packets are} missing from a stream (overwritten, not written, or not "
        "in the file any more); how many events {it|they} contained is not known.",
    ),
    Diagnostic(
        "misplaced_events",
        Severity.LOSS,
        "{count} {event has a time|events have times} outside {its packet|their packets} "
        "(damaged) and {was|were} left out.",
    ),
    Diagnostic(
        "damaged_packet_headers",
        Severity.WARNING,
        "{count} packet {header is|headers are} damaged: {it contradicts|they contradict} the "
        "neighbouring packets; the values were taken from those and from LTTng's index.",
    ),
    Diagnostic(
        "damaged_indexes",
        Severity.WARNING,
        "{count} {index|indexes} of LTTng cannot be read or {contradicts its stream|contradict "
        "their streams}, which {was|were} read without {it|them}.",
    ),
    Diagnostic(
        "dropped_packets",
        Severity.WARNING,
        "{count} {packet was|packets were} dropped while recording to keep the trace within its "
        "size or time (--max-size, --keep); the events in {it|them} that name nodes, topics and "
        "callbacks were kept.",
    ),
    Diagnostic(
        "truncated_streams",
        Severity.LOSS,
        "{count} {stream file ends|stream files end} inside a packet; {it was|they were} read up "
        "to the last whole packet.",
    ),
    Diagnostic(
        "truncated_bytes",
        Severity.LOSS,
        "{count} {byte|bytes} at the ends of stream files {belongs|belong} to no whole packet and "
        "{was|were} not read.",
    ),
    Diagnostic(
        "unreadable_traces",
        Severity.LOSS,
        "{count} {directory at or below the path|directories at or below the path} could not be "
        "read and {was|were} left out.",
    ),
    Diagnostic(
        "cut_metadata",
        Severity.LOSS,
        "{count} metadata {file ends|files end} too early (the recorder was killed, or the file "
        "is damaged) and {was|were} read up to the last whole declaration: events whose "
        "declaration would have followed are unreadable.",
    ),
    Diagnostic(
        "unreadable_bytes",
        Severity.LOSS,
        "{count} {byte|bytes} of stream files could not be decoded (damaged, or not as the "
        "metadata declares); everything around {it|them} was read.",
    ),
    Diagnostic(
        "packets_before_trace",
        Severity.INFO,
        "{count} {packet was|packets were} written before the first one in the trace (a "
        "snapshot, or files deleted because of a tracefile count).",
    ),
    Diagnostic(
        "duplicate_packets",
        Severity.INFO,
        "{count} {packet is|packets are} present twice (overlapping snapshots) and {was|were} "
        "read once.",
    ),
    Diagnostic(
        "out_of_order_events",
        Severity.WARNING,
        "{count} {event is|events are} earlier than {its|their} predecessor in the stream (the "
        "clock went backwards) and {was|were} sorted by time.",
    ),
    Diagnostic(
        "mistyped_values",
        Severity.WARNING,
        "{count} {value has|values have} a different type than the column and {was|were} set to "
        "null.",
    ),
    Diagnostic(
        "empty_streams", Severity.INFO, "{count} {stream file holds|stream files hold} no packet."
    ),
    Diagnostic(
        "processes_left_out",
        Severity.WARNING,
        "{count} {process was|processes were} left out, because the command did not start "
        "{it|them}: {detail}. --all-processes includes {it|them}.",
    ),
    Diagnostic(
        "only_other_processes",
        Severity.INFO,
        "The command started no process that emits ros2 events: the {count} other traced "
        "{process|processes} {is|are} analyzed instead ({detail}).",
    ),
    Diagnostic(
        "unsynchronised_messages",
        Severity.WARNING,
        "{count} {message|messages} went between hosts whose clocks are not synchronised: the "
        "layer between the hosts, and the latency, also contain the offset between the clocks. "
        "Reader time minus sender time: {detail}.",
    ),
    Diagnostic(
        "messages_before_publish",
        Severity.WARNING,
        "{count} {message|messages} between hosts {was|were} received before {it was|they were} "
        "sent, by the clocks of the hosts: the layer between the hosts is negative.",
    ),
    Diagnostic(
        "no_init_events",
        Severity.WARNING,
        "{count} {process has|processes have} no init events: tracing began after they did. Their "
        "nodes, topics and callbacks are unnamed; messages are matched by source timestamp alone. "
        "Start the session before the nodes.",
    ),
    Diagnostic(
        "missing_contexts",
        Severity.LOSS,
        "{count} {event carries|events carry} no vpid or vtid context and cannot be attributed to "
        "a thread; {it was|they were} left out of the model. Record the contexts vpid and vtid.",
    ),
    Diagnostic(
        "long_operations",
        Severity.WARNING,
        "{count} {write, take, send or receipt|writes, takes, sends or receipts} of the middleware "
        "took longer than 10 s and {was|were} not seen going on: {its|their} first steps are left "
        "out.",
    ),
    Diagnostic(
        "unexplained_events",
        Severity.WARNING,
        "{count} {event matches|events match} no rule of the model (table event_uses): events "
        "around {it|them} were lost, or a client library emits them in an unknown order.",
    ),
    Diagnostic(
        "results_by_chunk",
        Severity.INFO,
        "The recording was analyzed in {count} {chunk|chunks}: what took longer than some seconds "
        "may be cut off, and waits for a CPU are not known (docs/long-runs.md).",
    ),
)
