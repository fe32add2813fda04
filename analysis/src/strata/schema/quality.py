# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The catalogue of what can be wrong with a trace or uncertain in a result.

Every stage adds counts under a declared code; the counts travel with every result. A code has a
severity: *info* (explains a number), *warning* (results are right but partial, or inferred), *loss*
(data are missing: what was not seen may exist).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum


class Severity(StrEnum):
    """How much a finding matters to the numbers."""

    INFO = "info"
    WARNING = "warning"
    LOSS = "loss"


@dataclass(frozen=True)
class Diagnostic:
    """One thing that can be found.

    In `text`, ``{count}`` is the number, and of ``{byte|bytes}`` the first is for one.
    """

    code: str
    severity: Severity
    text: str

    def say(self, count: int) -> str:
        """Return the text for a count."""
        return _FORMS.sub(r"\1" if count == 1 else r"\2", self.text).format(count=f"{count:,}")

    @property
    def general(self) -> str:
        """The text for any count, N."""
        return _FORMS.sub(r"\2", self.text).format(count="N")


_FORMS = re.compile(r"\{([^{}|]*)\|([^{}|]*)\}")


_CATALOGUE = (
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
        "{count} {packet is|packets are} missing from the sequence of a stream (overwritten or "
        "not written).",
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
        "unreadable_bytes",
        Severity.LOSS,
        "{count} {byte|bytes} of stream files could not be decoded (damaged, or not as the "
        "metadata say); what is around was read.",
    ),
    Diagnostic(
        "packets_before_trace",
        Severity.INFO,
        "{count} {packet was|packets were} written before the first that the trace holds (a "
        "snapshot, or files that a tracefile count let go).",
    ),
    Diagnostic(
        "duplicate_packets",
        Severity.INFO,
        "{count} {packet stands|packets stand} twice (overlapping snapshots) and {was|were} read "
        "once.",
    ),
    Diagnostic(
        "out_of_order_events",
        Severity.WARNING,
        "{count} {event is|events are} earlier than one before in the stream (the clock went "
        "back) and {was|were} sorted by time.",
    ),
    Diagnostic(
        "mistyped_values",
        Severity.WARNING,
        "{count} {value is|values are} of another type than the column and {was|were} made null.",
    ),
    Diagnostic(
        "empty_streams", Severity.INFO, "{count} {stream file holds|stream files hold} no packet."
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
        "untaken_publications",
        Severity.INFO,
        "{count} published {message was|messages were} taken by nobody in the trace (no "
        "subscription, a taker outside the trace, a full queue, or the trace ended first).",
    ),
    Diagnostic(
        "unmatched_takes",
        Severity.WARNING,
        "{count} taken {message has|messages have} no publication in the trace (published outside "
        "it, before it began, or lost by the tracer).",
    ),
    Diagnostic(
        "ambiguous_matches",
        Severity.WARNING,
        "{count} {take|takes} could belong to several publications with one topic and source "
        "timestamp; {it was|they were} not matched.",
    ),
    Diagnostic(
        "contradictory_matches",
        Severity.WARNING,
        "{count} {take belongs|takes belong} to one publication by source timestamp and to another "
        "by GUID and sequence number; {it was|they were} counted as ambiguous and not matched.",
    ),
    Diagnostic(
        "inferred_matches",
        Severity.WARNING,
        "{count} {take was|takes were} matched by source timestamp alone, because a topic is "
        "unknown.",
    ),
    Diagnostic(
        "matches_by_publish_time",
        Severity.WARNING,
        "{count} {take was|takes were} matched by the time of publishing, because the publication "
        "carries no source timestamp (ROS 2 Iron or older): inferred.",
    ),
    Diagnostic(
        "undecided_publish_times",
        Severity.WARNING,
        "{count} {take|takes} could belong to several publications by the time of publishing (they "
        "carry no source timestamp); {it was|they were} counted as ambiguous and not matched.",
    ),
    Diagnostic(
        "out_of_order_matches",
        Severity.WARNING,
        "{count} matched {message was|messages were} taken before being published by the trace's "
        "clocks (unsynchronised hosts); {it was|they were} left out of the layers.",
    ),
    Diagnostic(
        "takes_without_source_timestamp",
        Severity.INFO,
        "{count} {take carries|takes carry} no source timestamp (the middleware's own graph "
        "topics) and {is no message|are no messages} of the application.",
    ),
    Diagnostic(
        "graph_publications",
        Severity.INFO,
        "{count} {publication belongs|publications belong} to no rcl publisher (the middleware's "
        "own graph topics) and {is no message|are no messages} of the application.",
    ),
    Diagnostic(
        "empty_takes", Severity.INFO, "{count} {take|takes} found nothing to take (taken = 0)."
    ),
    Diagnostic(
        "publications_without_timestamp",
        Severity.WARNING,
        "{count} {publication carries|publications carry} no source timestamp (ROS 2 Iron or "
        "older) and {is|are} matched by the time of publishing, where that decides.",
    ),
    Diagnostic(
        "publications_without_client_event",
        Severity.INFO,
        "{count} {publication has|publications have} an rmw_publish only; the client publish "
        "layer is unknown.",
    ),
    Diagnostic(
        "takes_without_callback",
        Severity.INFO,
        "{count} taken {message|messages} started no callback that was recorded (a client library "
        "without callback events, an intra-process duplicate, or the trace ended first).",
    ),
    Diagnostic(
        "callbacks_without_end",
        Severity.WARNING,
        "{count} {callback|callbacks} began and never ended in the trace (an exception, or the "
        "trace ended first); {it has|they have} no duration.",
    ),
    Diagnostic(
        "callback_ends_without_start",
        Severity.WARNING,
        "{count} {callback|callbacks} ended without having begun in the trace (it began late, or "
        "events were lost).",
    ),
    Diagnostic(
        "messages_without_executor_events",
        Severity.INFO,
        "{count} {message was|messages were} taken by threads without executor events: executor "
        "wait cannot be told apart from what comes before it.",
    ),
    Diagnostic(
        "messages_without_notification",
        Severity.INFO,
        "{count} {message was|messages were} not seen to reach {its|their} reader, although the "
        "middleware was traced (it was loaded late, its hooks do not bind, or events were lost): "
        "{its|their} layers within the middleware are one. See strata doctor --dds.",
    ),
    Diagnostic(
        "messages_with_merged_dds_layers",
        Severity.INFO,
        "{count} {message lacks|messages lack} a checkpoint within the middleware: the layers that "
        "it would part are one. See strata doctor --dds.",
    ),
    Diagnostic(
        "disordered_dds_checkpoints",
        Severity.WARNING,
        "{count} {message has|messages have} checkpoints within the middleware that are not in "
        "order of time; those out of order were not used.",
    ),
    Diagnostic(
        "messages_from_history",
        Severity.INFO,
        "{count} {message is|messages are} older than {its|their} reader (a late joiner): the time "
        "until {it was|they were} sent to it is the layer history.",
    ),
    Diagnostic(
        "inferred_notifications",
        Severity.WARNING,
        "{count} {take|takes} of readers that were not made known (the trace began late), of "
        "samples which several readers of the process were told of: the first notification counts.",
    ),
    Diagnostic(
        "refused_sends",
        Severity.WARNING,
        "{count} {send|sends} found no room (a full socket buffer, or shared memory in use) and "
        "{was|were} dropped or tried again by the middleware.",
    ),
    Diagnostic(
        "incomplete_samples",
        Severity.WARNING,
        "{count} {sample|samples} came to a process in part only, and no reader there was told: "
        "fragments were lost on the way (or the trace ended first).",
    ),
    Diagnostic(
        "lost_messages",
        Severity.WARNING,
        "{count} {message was|messages were} published on a hop between its first and its last "
        "taken one and not taken: lost on the way, or displaced in a full queue (hops.lost).",
    ),
    Diagnostic(
        "resent_messages",
        Severity.INFO,
        "{count} {message arrived|messages arrived} only after something of {it|them} was sent "
        "again (lost on the way, by a full socket buffer, or for lack of shared memory); the wait "
        "is part of dds receive (resend_ns).",
    ),
    Diagnostic(
        "truncated_chains",
        Severity.INFO,
        "{count} {message|messages} began a chain that did not reach its end in the trace.",
    ),
    Diagnostic(
        "unexplained_events",
        Severity.WARNING,
        "{count} {event fits|events fit} no rule of the model (table event_uses): events around "
        "{it|them} were lost, or a client library emits them in an unknown order.",
    ),
    Diagnostic(
        "unresolved_links",
        Severity.WARNING,
        "{count} declared message {link names|links name} a node, topic or handle that the trace "
        "does not hold.",
    ),
    Diagnostic(
        "unfollowed_links",
        Severity.WARNING,
        "{count} {link was|links were} not followed: there are too many ways through the declared "
        "message links.",
    ),
    Diagnostic(
        "reused_process_ids",
        Severity.INFO,
        "{count} {process id was|process ids were} another process later on; their entities are "
        "kept apart.",
    ),
    Diagnostic(
        "repeated_contexts",
        Severity.INFO,
        "{count} further {rcl_init|rcl_inits} of a process id, with nothing to tell a second "
        "context from another process with that id: taken as one process.",
    ),
    Diagnostic(
        "contradicted_versions",
        Severity.WARNING,
        "{count} {process has|processes have} events or fields that {its|their} version of "
        "tracetools has not, or {lacks|lack} some that it has.",
    ),
    Diagnostic(
        "newer_versions",
        Severity.INFO,
        "{count} {process has|processes have} a newer tracetools than this version knows; "
        "{it is|they are} read as the newest known.",
    ),
    Diagnostic(
        "timers_without_callback",
        Severity.INFO,
        "{count} {timer has|timers have} neither a callback nor a node (rclpy makes one for each "
        "spin with a timeout); {it is|they are} left out.",
    ),
    Diagnostic(
        "rebased_timers",
        Severity.INFO,
        "{count} {fire of a timer begins|fires of timers begin} a new grid: the timer was "
        "cancelled, reset or given another period.",
    ),
    Diagnostic(
        "irregular_timers",
        Severity.WARNING,
        "{count} {timer keeps|timers keep} no grid of {its|their} period (simulated time, or a "
        "period that changes often): the lateness of {its|their} fires is not known.",
    ),
    Diagnostic(
        "missing_transitions",
        Severity.WARNING,
        "{count} lifecycle {transition begins|transitions begin} in another state than the node "
        "was in: transitions between were lost; the time between is in state (unknown).",
    ),
    Diagnostic(
        "intra_process_duplicates",
        Severity.INFO,
        "{count} {message was|messages were} taken from the middleware too by a subscription that "
        "got {it|them} within the process: rclcpp drops such copies.",
    ),
    Diagnostic(
        "ring_buffer_overwrites",
        Severity.WARNING,
        "{count} intra-process {message was|messages were} overwritten in a full ring buffer "
        "before {it was|they were} taken: lost. The subscription is slower than its publisher; a "
        "greater queue depth only hides it.",
    ),
    Diagnostic(
        "contradictory_ring_buffers",
        Severity.WARNING,
        "{count} intra-process {take does|takes do} not fit what was stored in {its|their} slot "
        "(events were lost in between); {it was|they were} not matched.",
    ),
    Diagnostic(
        "ring_buffers_with_losses",
        Severity.WARNING,
        "{count} intra-process {message was|messages were} stored and taken while events were lost "
        "elsewhere: {it is|they are} matched by the slots of the ring buffer, but a pair of events "
        "in between may be missing.",
    ),
    Diagnostic(
        "publisher_buffer_enqueues",
        Severity.INFO,
        "{count} {message was|messages were} stored in a publisher's own buffer, for late joiners "
        "(transient local); that is no transfer.",
    ),
    Diagnostic(
        "enqueues_without_publication",
        Severity.WARNING,
        "{count} intra-process {message was|messages were} stored without a publish before on the "
        "thread (events were lost); {it is|they are} not matched.",
    ),
    Diagnostic(
        "unmatched_dequeues",
        Severity.WARNING,
        "{count} intra-process {take has|takes have} no stored message in the trace (stored before "
        "it began, or lost by the tracer).",
    ),
    Diagnostic(
        "threads_without_kernel_events",
        Severity.WARNING,
        "{count} {thread has|threads have} no events of the kernel's scheduler, or those of "
        "another: what {it|they} did within a layer is unknown (in a container, thread ids differ "
        "from the kernel's).",
    ),
    Diagnostic(
        "missing_switches",
        Severity.WARNING,
        "{count} {time|times} a CPU went from one thread to another unseen: events of the kernel "
        "were lost, and what the two threads did then is unknown.",
    ),
    Diagnostic(
        "inferred_switches",
        Severity.INFO,
        "{count} {time|times} a CPU left idle for a thread unseen: it is taken to have done so "
        "when the thread was woken.",
    ),
    Diagnostic(
        "lost_kernel_events",
        Severity.LOSS,
        "{count} {event of the kernel was|events of the kernel were} lost because the tracer's "
        "buffers were full: what threads did within a layer is unknown at times. Record fewer "
        "kernel events, or on a less busy machine.",
    ),
    Diagnostic(
        "service_calls_unseen",
        Severity.INFO,
        "{count} {execution|executions} of service callbacks in processes whose requests and "
        "responses are not in the trace (Jazzy and older do not trace them): {it is|they are} "
        "among the callbacks, the calls are not known.",
    ),
    Diagnostic(
        "untaken_requests",
        Severity.WARNING,
        "{count} {request was|requests were} taken by no service and not answered in the trace (no "
        "service, one outside the trace, or the trace ended first).",
    ),
    Diagnostic(
        "unanswered_requests",
        Severity.WARNING,
        "{count} {request was|requests were} taken by a service that sent no response in the "
        "trace.",
    ),
    Diagnostic(
        "untaken_responses",
        Severity.INFO,
        "{count} {response was|responses were} not taken by {its|their} client in the trace.",
    ),
    Diagnostic(
        "unmatched_requests",
        Severity.INFO,
        "{count} taken {request was|requests were} not seen to be sent (a client outside the "
        "trace, or before it began).",
    ),
    Diagnostic(
        "unmatched_responses",
        Severity.WARNING,
        "{count} taken {response belongs|responses belong} to no request or response that was seen "
        "to be sent.",
    ),
    Diagnostic(
        "calls_of_unseen_services",
        Severity.INFO,
        "{count} {call was|calls were} answered by a service that is not in the trace.",
    ),
    Diagnostic(
        "ambiguous_service_events",
        Severity.WARNING,
        "{count} {request or response|requests and responses} could belong to several calls (an "
        "init event is missing, or a GID was used again); {it was|they were} not matched.",
    ),
    Diagnostic(
        "inferred_calls",
        Severity.WARNING,
        "{count} service {call was|calls were} matched although the client's init event is "
        "missing: the timestamps of responses told its GID.",
    ),
    Diagnostic(
        "requests_taken_by_several",
        Severity.WARNING,
        "{count} {time|times} a request was taken by a service beside the one whose response "
        "counts (several services of one name).",
    ),
    Diagnostic(
        "requests_without_callback",
        Severity.INFO,
        "{count} taken {request|requests} started no callback that was recorded.",
    ),
    Diagnostic(
        "empty_service_takes",
        Severity.INFO,
        "{count} {take|takes} of a request or response found nothing.",
    ),
    Diagnostic(
        "late_request_events",
        Severity.INFO,
        "{count} {request was|requests were} taken before the event of {its|their} sending, which "
        "Fast DDS emits after the write: {its call begins|their calls begin} with the take. The "
        "events of the middleware tell more (trace_configs/full.yaml).",
    ),
    Diagnostic(
        "disordered_service_checkpoints",
        Severity.WARNING,
        "{count} service {call has|calls have} checkpoints after the take of the response (clocks "
        "of hosts that are not synchronised); those were not used.",
    ),
)

EVENT_LOSSES = frozenset(
    {
        "discarded_events",
        "lost_packets",
        "truncated_streams",
        "truncated_bytes",
        "unreadable_bytes",
        "unreadable_traces",
    }
)
"""Codes by which events are missing from the trace."""

CATALOGUE: dict[str, Diagnostic] = {item.code: item for item in _CATALOGUE}


def worst_first(code: str) -> tuple[int, str]:
    """Return what to sort codes by: the worst severity first, then by name."""
    order = (Severity.LOSS, Severity.WARNING, Severity.INFO)
    return order.index(CATALOGUE[code].severity), code


@dataclass
class Ledger:
    """Counts of findings by code; only declared codes are accepted."""

    counts: dict[str, int] = field(default_factory=dict)

    def add(self, code: str, count: int) -> None:
        """Add `count` findings (0 adds nothing); raises KeyError for an undeclared code."""
        if code not in CATALOGUE:
            raise KeyError(code)
        if count:
            self.counts[code] = self.counts.get(code, 0) + int(count)

    def merge(self, other: Ledger) -> None:
        """Add all counts of another ledger."""
        for code, count in other.counts.items():
            self.add(code, count)

    def rows(self) -> list[dict[str, str | int]]:
        """Findings, the worst first, as rows of the `quality` table."""
        found = sorted(self.counts, key=worst_first)
        return [
            {
                "code": code,
                "count": self.counts[code],
                "severity": CATALOGUE[code].severity.value,
                "text": CATALOGUE[code].say(self.counts[code]),
            }
            for code in found
        ]
