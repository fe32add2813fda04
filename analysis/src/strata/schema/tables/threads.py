# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Tables of what the kernel counts of every thread (schedstat), which `strata record` samples."""

from __future__ import annotations

from strata.schema.columns import HOST, VPID, VTID, dense_id, duration, instant
from strata.schema.table import Column, Table

_UNTOLD = "neither kernel events nor samples tell"

CPU_USE = (
    duration(
        "cpu_ns",
        "how long it had a CPU in cpu_known_ns; by samples estimated, spread evenly over the time "
        "in which the thread was needed",
        null=_UNTOLD,
    ),
    duration("cpu_least_ns", "the samples leave no less; by kernel events cpu_ns", null=_UNTOLD),
    duration("cpu_most_ns", "the samples leave no more; by kernel events cpu_ns", null=_UNTOLD),
    duration("cpu_known_ns", "of how much of its time kernel events or samples tell", null=_UNTOLD),
    Column("cpu_share", "float64", "cpu_ns of cpu_known_ns", null=_UNTOLD),
    Column(
        "cpu_confidence",
        "string",
        "exact: by kernel events; estimated: some or all by samples, which bound it",
        null=_UNTOLD,
    ),
)
"""How long something had a CPU (strata.model.cpu_use)."""
CPU_USE_NAMES = tuple(column.name for column in CPU_USE)

LAYER_CPU_WAITS = Table(
    "layer_cpu_waits",
    ("message_id", "layer"),
    (
        dense_id("message_id", "the message; of hold the one that was published in it"),
        Column(
            "layer",
            "string",
            "name of the layer; of executor wait, what lies outside of callbacks",
        ),
        VTID,
        duration(
            "about_ns",
            "estimated: the waits of its thread between two samples, spread evenly over the time "
            "in which the thread was needed",
        ),
        duration("least_ns", "the samples leave no less"),
        duration("most_ns", "the samples leave no more"),
    ),
    "How long the thread of a layer waited for a CPU in it, by samples of the kernel's counts some "
    "100 ms apart, which bound it. No rows without samples, and where the upper bound is 0. With "
    "kernel events, `layer_scheduling` knows it exactly.",
)

THREAD_CPU = Table(
    "thread_cpu",
    ("thread_cpu_id",),
    (
        dense_id("thread_cpu_id", "dense number of the thread"),
        dense_id("process_id", "row of `processes`", null="the process has no event in the trace"),
        HOST,
        VPID,
        VTID,
        Column(
            "source",
            "string",
            "samples: of the kernel's counts; kernel events: of its scheduler, where the process "
            "was not sampled",
        ),
        Column("process", "string", "name of the process"),
        Column("name", "string", "name of the thread", null="by kernel events"),
        instant(
            "begin_ns",
            "the first sample in which it had run; by kernel events when it first ran or could",
        ),
        instant(
            "end_ns",
            "the last sample in which it had run since the one before; by kernel events when it "
            "last ran or could",
        ),
        duration("on_cpu_ns", "how long it ran, from its begin to the last sample or event"),
        duration("cpu_wait_ns", "how long it could have run, but waited for a CPU"),
        Column("slices", "int64", "how often it got a CPU"),
        Column(
            "wait_share",
            "float64",
            "cpu_wait_ns of cpu_wait_ns and on_cpu_ns together: of the time in which it wanted a "
            "CPU, the part in which it had none",
            null="it neither ran nor waited",
        ),
        duration(
            "longest_wait_ns",
            "largest growth of cpu_wait_ns from one sample to the next: no single wait was longer; "
            "by kernel events the longest single wait",
        ),
        *(
            duration(
                f"traffic_{name}",
                f"of {name}: between the first and the last message of the application that the "
                "process sent or took",
            )
            for name in ("on_cpu_ns", "cpu_wait_ns")
        ),
    ),
    "One row per thread of the recorded command and of all that descend from it, traced or not: "
    "how long it ran and waited for a CPU over the whole recording, by the kernel's own count. "
    "What it did after its last sample (100 ms before its end, at most) is not in it. Of processes "
    "that were not sampled (recordings of other tools, kernels without schedstat) what kernel "
    "events tell of their traced threads; without these, nothing.",
)
