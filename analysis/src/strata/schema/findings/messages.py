# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Findings about publications, takes, matches, callbacks and chains."""

from __future__ import annotations

from strata.schema.diagnostic import Diagnostic, Severity

MESSAGES = (
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
        "{count} {take|takes} could belong to several publications by the time of publishing, as "
        "they carry no source timestamp; {it was|they were} counted as ambiguous and not matched.",
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
        "topics) and {is not a message|are not messages} of the application.",
    ),
    Diagnostic(
        "loaned_takes",
        Severity.INFO,
        "{count} {take|takes} of loaned messages {has|have} no rmw_take: reconstructed from the "
        "middleware's own events; the subscription is the one that the executor picked before, "
        "or whose callback follows.",
    ),
    Diagnostic(
        "unseen_takes",
        Severity.LOSS,
        "{count} {callback|callbacks} of subscriptions ran without a take event before {it|them} "
        "(loaned messages, recorded without the middleware's own events): "
        "{its hop is|their hops are} missing.",
    ),
    Diagnostic(
        "graph_publications",
        Severity.INFO,
        "{count} {publication belongs|publications belong} to no rcl publisher (the middleware's "
        "own graph topics) and {is not a message|are not messages} of the application.",
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
        "{count} {publication has|publications have} only an rmw_publish; the client publish "
        "layer is unknown.",
    ),
    Diagnostic(
        "takes_without_callback",
        Severity.INFO,
        "{count} taken {message|messages} started no callback that was recorded (a client library "
        "without callback events, an intra-process duplicate, events lost in between, or the trace "
        "ended first).",
    ),
    Diagnostic(
        "callbacks_without_end",
        Severity.WARNING,
        "{count} {callback|callbacks} began and never ended in the trace (an exception, or the "
        "trace ended first); {it has|they have} no duration.",
    ),
    Diagnostic(
        "callbacks_with_losses",
        Severity.WARNING,
        "{count} {callback was|callbacks were} running while events were lost: which "
        "callback_end belongs to {it|them} is not known; {it has|they have} no duration.",
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
        "wait cannot be separated from what comes before it.",
    ),
    Diagnostic(
        "messages_with_lost_waits",
        Severity.WARNING,
        "{count} {message was|messages were} in flight while events were lost, possibly the "
        "waits of {its|their} executor: executor wait cannot be separated from what comes before "
        "it.",
    ),
    Diagnostic(
        "lost_messages",
        Severity.WARNING,
        "{count} {message was|messages were} published for a subscription and never received "
        "(causes in the table hop_losses).",
    ),
    Diagnostic(
        "unknown_deliveries",
        Severity.WARNING,
        "{count} {message was|messages were} either received or lost: the tracer lost events "
        "when {it|they} would have been taken, or a take could match several publications.",
    ),
    Diagnostic(
        "truncated_chains",
        Severity.INFO,
        "{count} {message|messages} began a chain that did not reach its end in the trace.",
    ),
    Diagnostic(
        "chains_without_begin",
        Severity.WARNING,
        "{count} {message was|messages were} published in a callback whose own message is missing "
        "from the trace (its take was lost by the tracer, or could not be matched): "
        "{it begins|they begin} no chain.",
    ),
    Diagnostic(
        "unfinished_chains",
        Severity.WARNING,
        "{count} {message|messages} reached the last callback of a chain, but that callback has "
        "no end in the trace (an exception, events lost, or the trace ended first): "
        "{it is|they are} not counted in the chain.",
    ),
    Diagnostic(
        "unresolved_links",
        Severity.WARNING,
        "{count} declared message {link names|links name} a node, topic or handle that is not in "
        "the trace.",
    ),
    Diagnostic(
        "callbacks_left_suspended",
        Severity.INFO,
        "{count} coroutine {callback was|callbacks were} suspended and never ended: at the end "
        "of the trace {it still awaits|they still await} something, or {was|were} cancelled.",
    ),
    Diagnostic(
        "unlinked_publications",
        Severity.WARNING,
        "{count} {publication was|publications were} made in timers or threads of nodes whose "
        "callbacks only store the messages they take: chains end there (table link_proposals). "
        "`strata links` proposes links.",
    ),
    Diagnostic(
        "fan_in_publications",
        Severity.INFO,
        "{count} {publication was|publications were} made by nodes that seem to wait for several "
        "inputs: chains continue only from the last of them (table link_proposals). `strata "
        "links` proposes links.",
    ),
    Diagnostic(
        "unfollowed_links",
        Severity.WARNING,
        "{count} {link was|links were} not followed: there are too many paths through the "
        "declared message links. Chains that continue beyond them are marked (chains.cut_short); "
        "--chain follows one path to its end.",
    ),
    Diagnostic(
        "intra_process_duplicates",
        Severity.INFO,
        "{count} {message was|messages were} also taken from the middleware by a subscription "
        "that had already received {it|them} within the process: rclcpp drops such copies.",
    ),
    Diagnostic(
        "ring_buffer_overwrites",
        Severity.WARNING,
        "{count} intra-process {message was|messages were} overwritten in a full ring buffer "
        "before {it was|they were} taken: lost. The subscription is slower than its publisher; a "
        "larger queue depth only hides this.",
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
        "{count} {message was|messages were} stored in a publisher's own buffer, for late "
        "joiners (transient local); these are not transfers.",
    ),
    Diagnostic(
        "enqueues_without_publication",
        Severity.WARNING,
        "{count} intra-process {message was|messages were} stored without a preceding publish on "
        "the thread (events were lost); {it is|they are} not matched.",
    ),
    Diagnostic(
        "replayed_messages",
        Severity.INFO,
        "{count} intra-process {message was|messages were} given to a subscription that was "
        "created later (a late joiner), from {its|their} publisher's own buffer (transient "
        "local); {it is|they are} not matched.",
    ),
    Diagnostic(
        "unmatched_dequeues",
        Severity.WARNING,
        "{count} intra-process {take has|takes have} no stored message in the trace (stored before "
        "it began, or lost by the tracer).",
    ),
)
