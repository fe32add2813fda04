# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of when threads did anything with messages, callbacks, executors and drivers: *steps*."""

from __future__ import annotations

INT, SHORT = "int64_t", "int32_t"

STEP_ROWS = (
    (
        "last_steps",
        (
            ("thread", SHORT, "row of the threads"),
            ("ns", INT, "its last step"),
        ),
        "Threads that did anything.",
    ),
    (
        "steps_after_losses",
        (
            ("thread", SHORT, "row of the threads"),
            ("ns", INT, "its first step after them"),
            ("over", SHORT, "how many losses of events were over before it"),
        ),
        "The first step of each thread after losses of events, in order of time: up to a thread's "
        "next row no more losses were over before its steps.",
    ),
)
