# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Latency of chains and their layers by intervals of time: the tables `trend`, `layer_trend`.

All chains have the same intervals: whole multiples since the epoch of the smallest width that makes
at most MOST_INTERVALS of them. A message belongs to the interval in which it began. Messages of the
start-up, and those between hosts whose clocks are not synchronised, belong to none.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from strata.schema import tables
from strata.schema.rows import NONE, Ints, Rows
from strata.stats._grouped import Groups
from strata.stats.segments import Segments
from strata.stats.summary import summarize_groups

MIN_SPAN_NS = 120_000_000_000
"""Recordings with less from the first message to the last have no trend."""
MOST_INTERVALS = 240
_S = 1_000_000_000
_DAY = 86_400
_SHORT = (1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1_200, 1_800)
_LONG = (3_600, 7_200, 14_400, 21_600, 43_200, _DAY)
WIDTHS_S = (*_SHORT, *_LONG)
"""Widths of an interval in seconds; where a day is too little, it is several days."""


@dataclass(frozen=True)
class Intervals:
    """Intervals of time, and the one in which each message of a chain began.

    There are `count` intervals (0: the recording is too short), each `width_ns` wide; the first one
    begins at `begin_ns`. `cell` has for each chain_instance_id its chain_id * count + the number of
    its interval, `NONE` for a message that is left out; `chains` is one more than the largest id.
    """

    begin_ns: int
    width_ns: int
    count: int
    chains: int
    cell: Ints

    def begins_ns(self, number: Ints) -> Ints:
        """Return when intervals begin, by their number."""
        return self.begin_ns + self.width_ns * number


def find_intervals(instances: Rows) -> Intervals:
    """Return the intervals of a recording; `instances` is the table `chain_instances`."""
    numbers = instances["chain_instance_id"]
    cell = np.full(int(numbers.max(initial=NONE)) + 1, NONE, np.int64)
    rows = np.flatnonzero(~instances["start_up"] & ~instances["unsynchronised"])
    begin_ns = instances["begin_ns"][rows]
    if not len(rows) or int(begin_ns.max()) - int(begin_ns.min()) < MIN_SPAN_NS:
        return Intervals(0, 1, 0, 0, cell)
    first, last = int(begin_ns.min()), int(begin_ns.max())
    width = _width_ns(first, last)
    start = first // width * width
    count = last // width - first // width + 1
    chain = instances["chain_id"][rows]
    cell[numbers[rows]] = chain * count + (begin_ns - start) // width
    return Intervals(start, width, count, int(chain.max()) + 1, cell)


def _width_ns(first_ns: int, last_ns: int) -> int:
    for width in (width_s * _S for width_s in WIDTHS_S):
        if last_ns // width - first_ns // width < MOST_INTERVALS:
            return width
    # Neither the first interval nor the last is whole.
    days = -(-(last_ns - first_ns) // (_DAY * _S * (MOST_INTERVALS - 2)))
    return days * _DAY * _S


def trend_rows(intervals: Intervals, instances: Rows) -> Rows:
    """Return the table `trend`; `instances` is the table `chain_instances`."""
    if not intervals.count:
        return Rows.none(tables.TREND)
    groups = Groups(
        intervals.cell[instances["chain_instance_id"]], intervals.chains * intervals.count
    )
    found = summarize_groups(groups, instances["latency_ns"])
    there = np.flatnonzero(found.count)
    chain, number = np.divmod(there, intervals.count)
    begin_ns = intervals.begins_ns(number)
    return Rows(
        tables.TREND,
        {
            "chain_id": chain,
            "begin_ns": begin_ns,
            "end_ns": begin_ns + intervals.width_ns,
            "count": found.count[there],
            **{
                f"latency_{name}_ns": found.columns[name][there]
                for name in ("p50", "p99", "max", "mean")
            },
        },
    )


def layer_trend_rows(intervals: Intervals, trend: Rows, layers: Rows, segments: Segments) -> Rows:
    """Return the table `layer_trend`; `trend` and `layers` are `trend` and `chain_layers`.

    Layers of chains of which no message is in an interval have no row.
    """
    if not len(trend):
        return Rows.none(tables.LAYER_TREND)
    counts = np.zeros((intervals.chains, intervals.count), np.int64)
    number = (trend["begin_ns"] - intervals.begin_ns) // intervals.width_ns
    counts[trend["chain_id"], number] = trend["count"]
    layers = layers.take(layers["chain_id"] < intervals.chains)
    sums = _sums(intervals, layers, segments)
    row, number = np.nonzero(counts[layers["chain_id"]] > 0)
    chain = layers["chain_id"][row]
    return Rows(
        tables.LAYER_TREND,
        {
            "chain_id": chain,
            "position": layers["position"][row],
            "hop": layers["hop"][row],
            "layer": layers.words("layer").take(row),
            "begin_ns": intervals.begins_ns(number),
            "mean_ns": sums[row, number] / counts[chain, number],
        },
    )


def _sums(intervals: Intervals, layers: Rows, segments: Segments) -> Ints:
    """Return the summed durations of each row of `layers` (first axis) in each interval, in ns."""
    # Layers are in order of chain and position, and positions are dense.
    first = np.searchsorted(layers["chain_id"], np.arange(intervals.chains))
    shape = (len(layers), intervals.count)
    sums = np.zeros(len(layers) * intervals.count, np.int64)
    for part in segments.parts():
        cell = intervals.cell[part["chain_instance_id"]]
        kept = cell != NONE
        chain, number = np.divmod(cell[kept], intervals.count)
        row = first[chain] + part["position"][kept]
        # Exact up to 2^53 ns in an interval: 104 days.
        added = np.bincount(
            row * intervals.count + number,
            weights=part["duration_ns"][kept],
            minlength=len(sums),
        )
        sums += added.astype(np.int64)
    return sums.reshape(shape)
