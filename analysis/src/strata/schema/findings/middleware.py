# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Findings about what the middleware did with messages."""

from __future__ import annotations

from strata.schema.diagnostic import Diagnostic, Severity

MIDDLEWARE = (
    Diagnostic(
        "messages_without_notification",
        Severity.INFO,
        "{count} {message was|messages were} not seen to reach {its|their} reader, although the "
        "middleware was traced (it was loaded late, its hooks do not bind, events were lost, or "
        "their data match several messages): {its|their} layers within the middleware are merged "
        "into one. See strata doctor --dds.",
    ),
    Diagnostic(
        "messages_with_merged_dds_layers",
        Severity.INFO,
        "{count} {message lacks|messages lack} a checkpoint within the middleware (a hook that "
        "does not bind, shared memory of iceoryx, or lost events): the layers on both sides of "
        "it are merged. See strata doctor --dds.",
    ),
    Diagnostic(
        "disordered_dds_checkpoints",
        Severity.WARNING,
        "{count} {message has|messages have} checkpoints within the middleware that are out of "
        "order; those were not used.",
    ),
    Diagnostic(
        "messages_from_history",
        Severity.INFO,
        "{count} {message was|messages were} written before anything could be sent to "
        "{its|their} reader (a late joiner): the time until {it was|they were} sent is the layer "
        "history.",
    ),
    Diagnostic(
        "inferred_notifications",
        Severity.WARNING,
        "{count} {take|takes} by readers without an init event (the trace began late), of "
        "samples that several readers of the process were notified of: the first notification "
        "counts.",
    ),
    Diagnostic(
        "refused_sends",
        Severity.WARNING,
        "{count} {send|sends} failed for lack of space (a full socket buffer, or shared memory "
        "in use) and {was|were} dropped or retried by the middleware.",
    ),
    Diagnostic(
        "incomplete_samples",
        Severity.WARNING,
        "{count} {sample|samples} arrived at a process only in part, and no reader there was "
        "notified: fragments were lost in transit (or the trace ended first).",
    ),
    Diagnostic(
        "impossible_fragments",
        Severity.WARNING,
        "{count} {event names|events name} more fragments of a sample than a buffer can hold "
        "(256), or a fragment number that no sample has: the excess was ignored.",
    ),
    Diagnostic(
        "resent_messages",
        Severity.INFO,
        "{count} {message arrived|messages arrived} only after part of {it|them} was sent again "
        "(lost in transit, to a full socket buffer, or for lack of shared memory); the wait is "
        "part of dds receive (resend_ns).",
    ),
)
