# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Findings about processes, timers and lifecycles."""

from __future__ import annotations

from strata.schema.diagnostic import Diagnostic, Severity

ENTITIES = (
    Diagnostic(
        "reused_process_ids",
        Severity.INFO,
        "{count} {process id was|process ids were} reused by another process; their entities are "
        "kept apart.",
    ),
    Diagnostic(
        "repeated_contexts",
        Severity.INFO,
        "{count} further {rcl_init|rcl_inits} of a process id, and nothing distinguishes a "
        "second context from another process with that id: treated as one process.",
    ),
    Diagnostic(
        "not_all_recorded",
        Severity.INFO,
        "{count} {event is|events are} left out: {it was|they were} recorded while the recording "
        "of further processes had not begun, or had ended already.",
    ),
    Diagnostic(
        "forgotten_announcements",
        Severity.LOSS,
        "{count} {announcement of an entity|announcements of entities} that {was|were} there "
        "before the trace {is|are} missing, as {its process|their processes} had too many to keep: "
        "some names may be unknown.",
    ),
    Diagnostic(
        "contradictory_nesting",
        Severity.LOSS,
        "{count} process {id has|ids have} threads whose callbacks end in an order that one "
        "thread cannot have: two processes of one id, in two containers of one host ({detail}). "
        "Results for {it|them} are wrong. Record the context pid_ns, which distinguishes such "
        "processes.",
    ),
    Diagnostic(
        "contradicted_versions",
        Severity.WARNING,
        "{count} {process has|processes have} events or fields that {its|their} version of "
        "tracetools does not have, or {lacks|lack} some that it has.",
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
        "{count} {timer does|timers do} not keep to a grid of {its|their} period (simulated "
        "time, or a period that changes often): at some point the lateness of {its|their} fires "
        "becomes unknown.",
    ),
    Diagnostic(
        "missing_transitions",
        Severity.WARNING,
        "{count} lifecycle {transition begins|transitions begin} in a state that the node was "
        "not in: transitions in between were lost; the time in between counts as state (unknown).",
    ),
)
