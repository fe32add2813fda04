# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of what the kernel's scheduler did."""

from __future__ import annotations

INT, SHORT, FLAG = "int64_t", "int32_t", "uint8_t"

_CPU = ("cpu", SHORT, "row of the CPUs")
_START, _END = ("start_ns", INT, "its begin"), ("end_ns", INT, "its end")

SCHEDULING_ROWS = (
    (
        "schedulers",
        (
            ("host", INT, "number of the host's name among the texts"),
            ("first_ns", INT, "first event of its scheduler"),
            ("last_ns", INT, "last event of its scheduler"),
            ("switches", INT, "how many events of sched_switch"),
            (
                "wakes",
                INT,
                "how many events of waking; without any, blocked may be waiting for a CPU",
            ),
        ),
        "Hosts with events of the kernel's scheduler, in the order of their first.",
    ),
    (
        "cpus",
        (
            ("scheduler", INT, "row of the schedulers"),
            ("number", INT, "its number in the host"),
            ("switches", INT, "how many events of sched_switch"),
        ),
        "CPUs in the order in which events name them.",
    ),
    (
        "thread_states",
        (
            ("thread", SHORT, "row of the threads"),
            _START,
            _END,
            ("state", FLAG, "ThreadState: 0 running, 1 preempted, 2 blocked, 3 unknown"),
            ("cpu", SHORT, "row of the CPUs; null when blocked or not known"),
        ),
        "What threads did, by thread and time; intervals of a thread leave no gap.",
    ),
    (
        "cpu_occupancy",
        (
            _CPU,
            _START,
            _END,
            ("tid", INT, "the kernel's id of the thread that had it; 0 for idle"),
            ("name", INT, "number of its name among the texts, as it was when it left"),
        ),
        "Which thread had a CPU while a traced thread was preempted on it, by CPU and time.",
    ),
)
