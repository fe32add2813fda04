# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of processes and threads."""

from __future__ import annotations

INT, SHORT = "int64_t", "int32_t"

PROCESS_ROWS = (
    (
        "processes",
        (
            ("host", INT, "number of the host's name among the texts"),
            ("vpid", INT, "process id"),
            ("end_ns", INT, "when its id was another process's; null for the last that had it"),
            ("first_ns", INT, "first event"),
            ("last_ns", INT, "last event"),
            ("events", INT, "how many events"),
            ("ran_ns", INT, "last runtime event"),
        ),
        "Processes in the order of their first events; a process id of a host that is another "
        "process later on has a row for each.",
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
    (
        "censuses",
        (
            ("process", SHORT, "row of the processes"),
            ("event", SHORT, "number of the event's type in the catalogue"),
            ("count", INT, "how many events"),
            ("present", SHORT, "bit i: any of them has a value in field i"),
            ("absent", SHORT, "bit i: any of them has none"),
        ),
        "What each process emitted, by type of event.",
    ),
    (
        "names",
        (
            ("thread", SHORT, "row of the threads"),
            ("name", SHORT, "number of the thread's name among the texts; null: not recorded"),
            ("count", INT, "how many events"),
        ),
        "Under which names threads emitted events.",
    ),
    (
        "bystanders",
        (
            ("host", SHORT, "number of the host's name among the texts"),
            ("pid_ns", INT, "namespace of the process id; null where it was not recorded"),
            ("vpid", INT, "process id; null where it was not recorded"),
            ("vtid", INT, "thread id; null where it was not recorded"),
            ("name", SHORT, "number of the thread's name among the texts; null: not recorded"),
            ("count", INT, "how many events"),
        ),
        "Who emitted events that no machine sees: those of no declared provider, or of no known "
        "thread.",
    ),
    (
        "left_out",
        (
            ("host", INT, "number of the host's name among the texts"),
            ("vpid", INT, "process id"),
            ("vtid", INT, "thread id; null where it was not recorded"),
            ("name", INT, "number of the thread's name among the texts; null: not recorded"),
            ("events", INT, "how many events"),
            ("ros2_events", INT, "how many of them are of ROS 2"),
        ),
        "Threads of the processes that were to be left out, under each of their names.",
    ),
    (
        "pauses",
        (
            ("process", SHORT, "row of the processes"),
            ("begin_ns", INT, "the last event before it"),
            ("end_ns", INT, "the next event"),
        ),
        "Stretches of a millisecond or more in which no thread of a process emitted an event, in "
        "order of their ends.",
    ),
)
