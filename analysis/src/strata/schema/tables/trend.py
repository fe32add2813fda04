# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""How the latency of chains, and of their layers, changed in the course of a long recording."""

from __future__ import annotations

from strata.schema.columns import dense_id, instant
from strata.schema.table import Column, Table

_LATENCY = "latency of the messages that began in the interval"

TREND = Table(
    "trend",
    ("chain_id", "begin_ns"),
    (
        dense_id("chain_id", "row of `chains`"),
        instant("begin_ns", "begin of the interval, a multiple of its width; included"),
        instant("end_ns", "end of the interval; not included"),
        Column("count", "int64", "messages that began in it"),
        Column("latency_p50_ns", "float64", f"{_LATENCY}: median", unit="ns"),
        Column("latency_p99_ns", "float64", f"{_LATENCY}: 99th percentile", unit="ns"),
        Column("latency_max_ns", "float64", f"{_LATENCY}: maximum", unit="ns"),
        Column("latency_mean_ns", "float64", f"{_LATENCY}: mean", unit="ns"),
    ),
    "One row per chain and interval of time in which messages of it began, without those of the "
    "start-up and those between hosts whose clocks are not synchronised. All chains have the same "
    "intervals. Empty if the recording has less than 2 minutes from the first message to the last.",
)

LAYER_TREND = Table(
    "layer_trend",
    ("chain_id", "position", "begin_ns"),
    (
        dense_id("chain_id", "row of `chains`"),
        Column("position", "int64", "order along the chain, from 0, as in `chain_layers`"),
        Column("hop", "int64", "hop along the chain, from 0"),
        Column("layer", "string", "name of the layer"),
        instant("begin_ns", "begin of the interval, as in `trend`"),
        Column(
            "mean_ns",
            "float64",
            "mean time in the layer; a message without the layer counts with 0, so the means of an "
            "interval add up to `latency_mean_ns` in `trend`",
            unit="ns",
        ),
    ),
    "One row per layer of a hop of a chain, and row of `trend`.",
)

_UNCHANGED = "its latency did not change"
_PER_HOUR = "ns per hour"

DRIFTS = Table(
    "drifts",
    ("chain_id",),
    (
        dense_id("chain_id", "row of `chains`"),
        Column("intervals", "int64", "rows of `trend` that were used: of 5 messages or more"),
        Column(
            "slope_ns_per_hour",
            "float64",
            "least-squares slope of the medians of these intervals",
            unit=_PER_HOUR,
        ),
        Column("low_ns_per_hour", "float64", "lower end of its 95 % interval", unit=_PER_HOUR),
        Column("high_ns_per_hour", "float64", "upper end of its 95 % interval", unit=_PER_HOUR),
        Column(
            "p",
            "float64",
            "p-value under no change, of the slope or, where a step fits better, of the step; "
            "corrected for the number of chains",
        ),
        Column(
            "changed",
            "bool",
            "it changed: p < 0.01, and change_ns is at least 20 us and 5 % of the chain's median",
        ),
        Column("kind", "string", "drift: it changed gradually; step: at once", null=_UNCHANGED),
        instant(
            "step_ns", "begin of the first interval after the step", null="there is no such step"
        ),
        Column(
            "from_ns",
            "float64",
            "latency that it changed from: the line's value in the first interval; of a step the "
            "median of the intervals before it",
            unit="ns",
        ),
        Column("to_ns", "float64", "latency that it changed to, likewise", unit="ns"),
        Column("change_ns", "float64", "to_ns - from_ns", unit="ns"),
        Column(
            "share",
            "float64",
            "change_ns as a share of the latency before: of the median of the first quarter of the "
            "intervals; of a step, of from_ns",
        ),
        Column("position", "int64", "layer that changed most, in `chain_layers`", null=_UNCHANGED),
        Column("hop", "int64", "its hop along the chain, from 0", null=_UNCHANGED),
        Column("layer", "string", "its name", null=_UNCHANGED),
        Column("where", "string", "its place, as in `chain_layers`", null=_UNCHANGED),
        Column(
            "layer_slope_ns_per_hour",
            "float64",
            "Theil-Sen slope of its means over time",
            unit=_PER_HOUR,
            null=_UNCHANGED,
        ),
        Column(
            "layer_change_ns",
            "float64",
            "how much it changed: this slope over the time of the intervals; at a step, the "
            "difference of the medians of its means",
            unit="ns",
            null=_UNCHANGED,
        ),
        Column(
            "layer_share",
            "float64",
            "layer_change_ns as a share of the sum over all layers of the chain",
            null=_UNCHANGED,
        ),
    ),
    "One row per chain with at least 10 intervals of 5 messages or more in `trend`: whether its "
    "latency changed in the course of the recording (docs/method.md).",
)

TREND_TABLES = (TREND, LAYER_TREND, DRIFTS)
