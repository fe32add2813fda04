# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""How the latency of chains changed in the course of a long recording."""

from __future__ import annotations

from strata.pipeline.stages import stage
from strata.stats.chain_drifts import drift_rows
from strata.stats.trend import find_intervals, layer_trend_rows, trend_rows

TREND_STAGES = (
    stage("intervals", find_intervals, "chain_instances"),
    stage("trend", trend_rows, "intervals", "chain_instances"),
    stage("layer_trend", layer_trend_rows, "intervals", "trend", "chain_layers", "segments"),
    stage("drifts", drift_rows, "trend", "layer_trend", "chains", "chain_layers"),
)
"""What makes the tables of the trend; `segments` are those of strata.stats.segments."""
