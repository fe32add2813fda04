# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of processes and threads."""

from __future__ import annotations

INT = "int64_t"

PROCESS_ROWS = (
    (
        "processes",
        (
            ("host", INT, "number of the host's name among the texts"),
            ("pid_ns", INT, "namespace of its id; null where it was not recorded"),
            ("vpid", INT, "process id"),
            ("first_ns", INT, "first event"),
            ("last_ns", INT, "last event"),
            ("events", INT, "how many events"),
        ),
        "Processes (host, vpid) in the order of their first events.",
    ),
    (
        "threads",
        (
            ("process", INT, "row of the processes"),
            ("vtid", INT, "thread id"),
            ("last_ns", INT, "last event"),
        ),
        "Threads (process, vtid) in the order of their first events.",
    ),
)
