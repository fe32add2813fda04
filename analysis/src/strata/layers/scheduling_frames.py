# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What threads did within layers, and who preempted them, as declared tables."""

from __future__ import annotations

from strata.layers.cpu_waits import CPU_LAYERS, CpuWaits
from strata.layers.scheduling import LayerTimes, Preemptions
from strata.layers.stretches import LAYERS
from strata.model.columns import Ints
from strata.schema import tables
from strata.schema.rows import Coded, Rows

_NAMES = tuple(layer.name for layer in LAYERS)
_CPU_NAMES = tuple(layer.name for layer in CPU_LAYERS)


def layer_scheduling_rows(vtid: Ints, times: LayerTimes) -> Rows:
    """Return the table `layer_scheduling`; `vtid` has the id of each thread."""
    return Rows(
        tables.LAYER_SCHEDULING,
        {
            "message_id": times.message,
            "layer": Coded(times.layer, _NAMES),
            "vtid": vtid[times.thread],
            "running_ns": times.running_ns,
            "preempted_ns": times.preempted_ns,
            "blocked_ns": times.blocked_ns,
            "unknown_ns": times.unknown_ns,
        },
    )


def layer_cpu_waits_rows(vtid: Ints, waits: CpuWaits) -> Rows:
    """Return the table `layer_cpu_waits`; `vtid` has the id of each thread."""
    return Rows(
        tables.LAYER_CPU_WAITS,
        {
            "message_id": waits.message,
            "layer": Coded(waits.layer, _CPU_NAMES),
            "vtid": vtid[waits.thread],
            "about_ns": waits.about_ns,
            "least_ns": waits.least_ns,
            "most_ns": waits.most_ns,
        },
    )


def preemptions_rows(preemptions: Preemptions) -> Rows:
    """Return the table `preemptions`."""
    return Rows(
        tables.PREEMPTIONS,
        {
            "message_id": preemptions.message,
            "layer": Coded(preemptions.layer, _NAMES),
            "tid": preemptions.tid,
            "comm": preemptions.name,
            "duration_ns": preemptions.duration_ns,
        },
    )
