# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The trend of each chain in the document of `strata analyze --format json`."""

from __future__ import annotations

from typing import Any

import numpy as np

from strata.analysis import Analysis
from strata.schema.rows import Rows

_STATISTICS = ("p50", "p99", "max", "mean")


def trend_document(analysis: Analysis) -> list[dict[str, Any]]:
    """Return one item per chain that has rows in `trend`; durations are ns."""
    trend, layers = analysis.rows("trend"), analysis.rows("layer_trend")
    drifts = {row["chain_id"]: row for row in analysis.rows("drifts").records()}
    where = {
        (row["chain_id"], row["position"]): row["where"]
        for row in analysis.rows("chain_layers").records()
    }
    out = []
    for chain_id in np.unique(trend["chain_id"]).tolist():
        own = trend.take(trend["chain_id"] == chain_id)
        drift = drifts.get(chain_id)
        of_layers = layers.take(layers["chain_id"] == chain_id)
        out.append(
            {
                "chain_id": chain_id,
                "width_ns": int(own["end_ns"][0] - own["begin_ns"][0]),
                "intervals": [_interval(row) for row in own.records()],
                "layers": [
                    {**layer, "where": where.get((chain_id, layer["position"]))}
                    for layer in _layers(of_layers)
                ],
                "drift": drift and {key: drift[key] for key in drift if key != "chain_id"},
            }
        )
    return out


def _interval(row: dict[str, Any]) -> dict[str, Any]:
    latency = {name: row[f"latency_{name}_ns"] for name in _STATISTICS}
    return {**{key: row[key] for key in ("begin_ns", "count")}, "latency_ns": latency}


def _layers(rows: Rows) -> list[dict[str, Any]]:
    """Return each layer of a chain, with its means in the order of the chain's intervals."""
    out = []
    for position in np.unique(rows["position"]).tolist():
        own = rows.take(rows["position"] == position)
        first = own.record(0)
        names = {name: first[name] for name in ("position", "hop", "layer")}
        out.append({**names, "mean_ns": own["mean_ns"].tolist()})
    return out
