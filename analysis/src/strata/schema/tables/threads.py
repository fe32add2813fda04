# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Tables from the kernel's counters of each thread (schedstat), which `strata record` samples."""

from __future__ import annotations

from strata.schema.columns import HOST, VPID, VTID, dense_id, duration, instant
from strata.schema.table import Column, Table

_UNTOLD = "not known from kernel events or samples"

CPU_USE = (
    duration(
        "cpu_ns",
        "how long it had a CPU during cpu_known_ns; from samples an estimate, spread evenly over "
        "the time in which the thread was needed",
        null=_UNTOLD,
    ),
    duration(
        "cpu_least_ns",
        "lower bound from the samples; with kernel events equal to cpu_ns",
        null=_UNTOLD,
    ),
    duration(
        "cpu_most_ns",
        "upper bound from the samples; with kernel events equal to cpu_ns",
        null=_UNTOLD,
    ),
    duration(
        "cpu_known_ns", "the part of its time that kernel events or samples cover", null=_UNTOLD
    ),
    Column("cpu_share", "float64", "cpu_ns / cpu_known_ns", null=_UNTOLD),
    Column(
        "cpu_confidence",
        "string",
        "exact: from kernel events; estimated: partly or wholly from samples, which bound it",
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
            "name of the layer; for executor wait, the part outside of callbacks",
        ),
        VTID,
        duration(
            "about_ns",
            "estimate: its thread's waits between two samples, spread evenly over the time in "
            "which the thread was needed",
        ),
        duration("least_ns", "lower bound from the samples"),
        duration("most_ns", "upper bound from the samples"),
    ),
    "How long the thread of a layer waited for a CPU during it, bounded by samples of the "
    "kernel's counters about 100 ms apart. No rows without samples, nor where the upper bound is "
    "0. With kernel events, `layer_scheduling` has the exact value.",
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
            "samples: of the kernel's counters; kernel events: of its scheduler, if the process "
            "was not sampled",
        ),
        Column("process", "string", "name of the process"),
        Column("name", "string", "name of the thread", null="known from kernel events"),
        instant(
            "begin_ns",
            "the first sample in which it had run; with kernel events, when it first ran or was "
            "runnable",
        ),
        instant(
            "end_ns",
            "the last sample in which it had run since the previous one; with kernel events, "
            "when it last ran or was runnable",
        ),
        duration("on_cpu_ns", "how long it ran, from begin_ns to the last sample or event"),
        duration("cpu_wait_ns", "how long it was runnable but waited for a CPU"),
        Column("slices", "int64", "how often it got a CPU"),
        Column(
            "wait_share",
            "float64",
            "cpu_wait_ns / (cpu_wait_ns + on_cpu_ns): the part of its runnable time in which it "
            "had no CPU",
            null="it neither ran nor waited",
        ),
        duration(
            "longest_wait_ns",
            "largest increase of cpu_wait_ns from one sample to the next: no single wait was "
            "longer; with kernel events, the longest single wait",
        ),
        *(
            duration(
                f"traffic_{name}",
                f"part of {name}: between the first and the last application message that the "
                "process sent or took",
            )
            for name in ("on_cpu_ns", "cpu_wait_ns")
        ),
    ),
    "One row per thread of the recorded command and its descendants, traced or not: how long it "
    "ran and waited for a CPU over the whole recording, by the kernel's own counters. Anything "
    "after its last sample (at most 100 ms before its end) is not included. For processes that "
    "were not sampled (recordings by other tools, kernels without schedstat), the traced threads "
    "have rows if there are kernel events.",
)
