# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What can be measured of a campaign's cells: each with its unit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd

from strata.errors import CampaignError
from strata.study import call_values as calls
from strata.study import measure_values as values
from strata.study import resource_values as resources
from strata.study.cell_tables import CellTables
from strata.study.wording import NANOSECONDS, shown_unit


@dataclass(frozen=True)
class Measure:
    """A measure: its unit, what it has a value for, and its own columns beside the common ones.

    Durations are in ns; only what formats them makes ms of them. A duration is a whole number,
    but for `layer`, which is a mean.

    `each` is message, interval (between two messages), column (of a scan), line (of a log), cell,
    process, or sample (of a time series).
    """

    name: str
    unit: str
    each: str
    text: str
    columns: tuple[str, ...]
    of_cell: Callable[[CellTables, values.Context], pd.DataFrame]
    is_mean: bool = False

    @property
    def dtype(self) -> str:
        """The type of its values in frames: int64 for durations that were measured."""
        return "int64" if self.unit == NANOSECONDS and not self.is_mean else "float64"

    @property
    def shown_unit(self) -> str:
        """The unit in which people read it."""
        return shown_unit(self.unit)


_DECLARED = (
    Measure(
        "latency",
        "ns",
        "message",
        "from the arrival of the sensor's data, or the publish, to callback_start; along the whole "
        "chain in a study of chains",
        ("hop", "t_ns"),
        values.latency,
    ),
    Measure(
        "hop_latency",
        "ns",
        "message",
        "as latency, for each hop separately",
        ("hop", "t_ns"),
        values.hop_latency,
    ),
    Measure(
        "whole_latency",
        "ns",
        "message",
        "as latency, to the end of the callback",
        ("hop", "t_ns"),
        values.whole_latency,
    ),
    Measure(
        "period",
        "ns",
        "interval",
        "between the starts of two successive callbacks of a hop",
        ("hop", "t_ns"),
        values.period,
    ),
    Measure(
        "sent_period",
        "ns",
        "interval",
        "between the stamps of two messages that a perf node took; without one, between two "
        "publishes",
        ("hop", "t_ns"),
        values.sent_period,
    ),
    Measure(
        "jitter",
        "ns",
        "interval",
        "|period - nominal period|",
        ("hop", "t_ns"),
        values.jitter,
    ),
    Measure(
        "stamp_latency",
        "ns",
        "message",
        "the node's own time of reception less the message's stamp",
        ("hop", "t_ns"),
        values.stamp_latency,
    ),
    Measure(
        "point_age",
        "ns",
        "column",
        "the node's own time of reception less the time at which the sensor measured the points of "
        "a column; a value for each scan and noted column",
        ("hop", "column", "t_ns"),
        values.point_age,
    ),
    Measure(
        "clock_offset",
        "ns",
        "line",
        "offset of a clock from the one that it follows, by each line of an imported log of ptp4l "
        "or phc2sys",
        ("clock", "state", "t_ns"),
        values.no_values,
    ),
    Measure(
        "loss",
        "%",
        "cell",
        "share of the messages published meanwhile that were never taken; one value per hop",
        ("hop", "lost", "expected"),
        values.loss,
    ),
    Measure(
        "grid_loss",
        "%",
        "cell",
        "points of the grid of nominal periods without a message of the perf node: what the sensor "
        "made and the node never received, wherever it was lost",
        ("hop", "lost", "expected"),
        values.grid_loss,
    ),
    Measure(
        "shortfall",
        "%",
        "cell",
        "how much less often than nominal was published: caused by the producer, and not a loss",
        ("hop",),
        values.shortfall,
    ),
    Measure(
        "shortfall_by_second",
        "%",
        "sample",
        "as shortfall, for each whole second; below 0 where the source caught up",
        ("hop", "t_ns"),
        values.shortfall_by_second,
    ),
    Measure(
        "rate_by_second",
        "Hz",
        "sample",
        "messages received in each whole second",
        ("hop", "t_ns"),
        values.rate_by_second,
    ),
    Measure(
        "rate",
        "Hz",
        "cell",
        "messages received per second; one value per hop",
        ("hop",),
        values.rate,
    ),
    Measure(
        "throughput",
        "MB/s",
        "cell",
        "payload received per second, 1 MB = 10^6 bytes; one value per hop",
        ("hop",),
        values.throughput,
    ),
    Measure(
        "cpu",
        "%",
        "process",
        "CPU time of a process in percent of one CPU: while messages were measured, where it was "
        "sampled then; else over its whole life",
        ("process", "over"),
        resources.cpu,
    ),
    Measure(
        "cpu_all",
        "%",
        "cell",
        "CPU time of all processes of the scenario together, in percent of one CPU, as cpu",
        ("over",),
        resources.cpu_all,
    ),
    Measure(
        "cpu_by_second",
        "%",
        "sample",
        "CPU time of a process between two samples, in percent of one CPU",
        ("process", "t_ns"),
        resources.cpu_by_second,
    ),
    Measure(
        "rss",
        "MiB",
        "sample",
        "resident memory of a process, while it ran",
        ("process", "t_ns"),
        resources.rss,
    ),
    Measure(
        "rss_max",
        "MiB",
        "process",
        "largest resident memory of a process",
        ("process",),
        resources.rss_max,
    ),
    Measure(
        "layer",
        "ns",
        "cell",
        "mean of each layer over the cell's messages, 0 for a message without it; the layers of "
        "a hop (in a study of chains, of the chain) add up to the mean of its latency",
        ("hop", "layer", "unsynchronised"),
        values.layer,
        is_mean=True,
    ),
    Measure(
        "round_trip",
        "ns",
        "message",
        "from sending a ping until it is back, there and back; by the node's own clock, or along "
        "the chain without that",
        ("hop", "t_ns"),
        values.round_trip,
    ),
    Measure(
        "call_latency",
        "ns",
        "message",
        "of a service call: from the request until its answer was taken",
        ("hop", "t_ns"),
        calls.call_latency,
    ),
    Measure(
        "request_latency",
        "ns",
        "message",
        "of a service call: from the request to the start of the service's callback",
        ("hop", "t_ns"),
        calls.request_latency,
    ),
    Measure(
        "call_chain_latency",
        "ns",
        "message",
        "of a chain of calls, each made in the callback that serves the one before: from the first "
        "request to the start of the last service's callback",
        ("hop", "t_ns"),
        calls.call_chain_latency,
    ),
    Measure(
        "call_loss",
        "%",
        "cell",
        "share of the calls without an answer, up to the last that was answered; one value per "
        "service and calling node",
        ("hop", "lost", "expected"),
        calls.call_loss,
    ),
    Measure(
        "call_layer",
        "ns",
        "cell",
        "mean of each layer over the answered calls of a service in a cell; they add up to the "
        "mean call latency",
        ("hop", "layer"),
        calls.call_layer,
        is_mean=True,
    ),
)
MEASURES: dict[str, Measure] = {measure.name: measure for measure in _DECLARED}

OVER_TIME = {
    "cpu": "cpu_by_second",
    "rate": "rate_by_second",
    "shortfall": "shortfall_by_second",
}
"""Of measures that have one value per cell or process: the measure of its course in time."""


def find_measure(name: str) -> Measure:
    """Return a measure; raises CampaignError when there is none of that name."""
    if name not in MEASURES:
        raise CampaignError(f"Cannot measure {name}: known are {', '.join(MEASURES)}.")
    return MEASURES[name]
