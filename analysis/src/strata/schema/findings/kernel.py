# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Findings about kernel events."""

from __future__ import annotations

from strata.schema.diagnostic import Diagnostic, Severity

KERNEL = (
    Diagnostic(
        "threads_without_kernel_events",
        Severity.WARNING,
        "{count} {thread has|threads have} no kernel scheduler events, or those of another "
        "thread: what {it|they} did within a layer is unknown (in a container, thread ids differ "
        "from the kernel's).",
    ),
    Diagnostic(
        "missing_switches",
        Severity.WARNING,
        "{count} {time|times} a CPU switched threads without an event: kernel events were lost, "
        "and what the two threads did at that time is unknown.",
    ),
    Diagnostic(
        "inferred_switches",
        Severity.INFO,
        "{count} {time|times} a CPU left idle for a thread without an event: assumed to have "
        "happened when the thread was woken.",
    ),
    Diagnostic(
        "lost_kernel_events",
        Severity.LOSS,
        "{count} kernel {event was|events were} lost because the tracer's buffers were full: "
        "what threads did within a layer is unknown at times. Record fewer kernel events, or on "
        "a less busy machine.",
    ),
)
