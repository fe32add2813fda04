# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Tables of what threads did within layers; they have rows only if the trace has kernel events."""

from __future__ import annotations

from strata.schema.columns import dense_id, duration
from strata.schema.table import Column, Table

_OF_THREAD = (
    dense_id("message_id", "the message; for hold the one that was published in it"),
    Column("layer", "string", "name of the layer"),
)

LAYER_SCHEDULING = Table(
    "layer_scheduling",
    ("message_id", "layer"),
    (
        *_OF_THREAD,
        Column("vtid", "int64", "thread id"),
        duration("running_ns", "the thread had a CPU; includes interrupts served there"),
        duration("preempted_ns", "it could run, and had no CPU"),
        duration("blocked_ns", "it waited for something: sleep, lock, input, its turn in a wait"),
        duration("unknown_ns", "not known from the kernel events"),
    ),
    "What the thread of a layer did during it, by kernel scheduler events; the four durations "
    "add up to the layer. No rows without such events, nor for layers that belong to no single "
    "thread.",
)

PREEMPTIONS = Table(
    "preemptions",
    ("message_id", "layer", "tid", "comm"),
    (
        *_OF_THREAD,
        Column(
            "tid",
            "int64",
            "kernel's id of the thread that had the CPU; 0: none, the CPU was leaving idle",
            null="unknown",
        ),
        Column("comm", "string", "name of that thread; empty if none or unknown"),
        duration(
            "duration_ns",
            "how long; for a layer they add up to its preempted_ns, for executor wait to the "
            "part of it outside of callbacks",
        ),
    ),
    "Which thread had the CPU that the thread of a layer waited for.",
)

SCHEDULING_STATS = Table(
    "chain_scheduling",
    ("chain_id", "position"),
    (
        dense_id("chain_id", "row of `chains`"),
        Column("position", "int64", "order along the chain, as in `chain_layers`"),
        Column("hop", "int64", "hop along the chain, from 0"),
        Column("layer", "string", "name of the layer"),
        Column("where", "string", "as in `chain_layers`"),
        Column("count", "int64", "messages with kernel events of the thread"),
        *(
            Column(f"{state}_{name}_ns", "float64", f"{what} of the time {state}", unit="ns")
            for state in ("running", "preempted", "blocked", "unknown")
            for name, what in (("mean", "mean"), ("p99", "99th percentile"))
        ),
        Column(
            "preempted_by", "string", "the thread that had the CPU longest meanwhile", null="nobody"
        ),
        duration("preempted_by_ns", "how long, over all messages", null="nobody"),
    ),
    "One row per layer of a chain's hop for whose thread there are kernel events.",
)
