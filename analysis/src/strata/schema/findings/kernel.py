# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Findings about kernel events."""

from __future__ import annotations

from strata.schema.diagnostic import Diagnostic, Severity

KERNEL = (
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
)
