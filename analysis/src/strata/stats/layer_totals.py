# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The layers of a chain, each added up over the hops of the chain."""

from __future__ import annotations

import numpy as np

from strata.engine.groups import sums
from strata.schema.layers import CALLBACK, HOLD, LINK_HOLD, STORED, SUSPENDED, TRANSFER_LAYERS
from strata.schema.rows import Rows
from strata.stats.partition import partition
from strata.stats.summary import Statistics, summarize_part

_ORDER = dict.fromkeys(
    layer.name for layer in (*TRANSFER_LAYERS, HOLD, SUSPENDED, CALLBACK, STORED, LINK_HOLD)
)


def layer_totals(
    instances: Rows, segments: Rows
) -> dict[int, list[dict[str, str | int | float | None]]]:
    """Return share and statistics of each layer of each chain, by its id.

    From `chain_instances` and `chain_segments`. Of each instance the durations of a layer are added
    up first, so the means add up to the mean latency. Layers are in the order of the way.
    """
    total = {
        chain_id: int(instances["latency_ns"][own].sum())
        for chain_id, own in partition(instances["chain_id"])
    }
    layers, duration_ns = segments.words("layer"), segments["duration_ns"]
    code = {name: at for at, name in enumerate(layers.words)}
    out: dict[int, list[dict[str, str | int | float | None]]] = {}
    for chain_id, own in partition(segments["chain_id"]):
        of_layer = dict(partition(layers.codes[own]))
        for name in _ORDER:
            if code.get(name) in of_layer:
                rows = own[of_layer[code[name]]]
                _, number = np.unique(segments["chain_instance_id"][rows], return_inverse=True)
                whole = sums(number, duration_ns[rows], int(number.max(initial=-1)) + 1)
                found: Statistics = summarize_part(whole, total[chain_id])
                out.setdefault(chain_id, []).append({"layer": name, **found})
    return out
