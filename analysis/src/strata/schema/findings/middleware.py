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
        "what they say fits several messages): {its|their} layers within the middleware are one. "
        "See strata doctor --dds.",
    ),
    Diagnostic(
        "messages_with_merged_dds_layers",
        Severity.INFO,
        "{count} {message lacks|messages lack} a checkpoint within the middleware (a hook that "
        "does not bind, shared memory of iceoryx, or lost events): the layers that it would part "
        "are one. See strata doctor --dds.",
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
        "{count} {message was|messages were} written before {its|their} reader could be sent "
        "anything (a late joiner): the time until {it was|they were} sent to it is the layer "
        "history.",
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
        "impossible_fragments",
        Severity.WARNING,
        "{count} {event names|events name} more fragments of a sample than a buffer has room for "
        "(256), or one of a number that no sample has: what {it counts|they count} beyond that was "
        "not looked at.",
    ),
    Diagnostic(
        "resent_messages",
        Severity.INFO,
        "{count} {message arrived|messages arrived} only after something of {it|them} was sent "
        "again (lost on the way, by a full socket buffer, or for lack of shared memory); the wait "
        "is part of dds receive (resend_ns).",
    ),
)
