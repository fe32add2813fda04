# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""irobot's ros2-performance: latency_all.txt, latency_total.txt and resources.txt.

Columns are named with their units, and stand apart by blanks or commas. A message is late when it
took longer than min(0.2 period, 5 ms), too late when longer than min(period, 50 ms); lost ones are
gaps of its tracking numbers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd

from strata.originals.imported import Fact, Imported, Run, Samples
from strata.originals.text import Line, Text, fields_of

NAME = "ros2_performance"

_PAIR = ("node", "topic")
_TOTAL = {"received[#]", "mean[us]", "late[#]", "late[%]", "too_late[#]", "too_late[%]"}
_TOTAL |= {"lost[#]", "lost[%]"}
_ALL = {*_PAIR, "size[b]", "received[#]", "late[#]", "too_late[#]", "lost[#]", "mean[us]"}
_RESOURCES = {"time[ms]", "cpu[%]", "rss[KB]"}

_CONVERSIONS = (
    "latency: us / 10^3; of each subscription, min, mean, max and std (sd) of the whole run",
    "loss: lost / (lost + received); late, too_late: of those received",
    "cpu_of_machine: cpu[%], of all CPUs; rss: rss[KB] / 1024, taking KB as KiB",
)


def matches(text: Text) -> bool:
    """Return whether a file is one of the three."""
    return bool(text.lines) and _kind(_columns(text.lines[0])[0]) is not None


def read(text: Text) -> Imported:
    """Read one of the three; raises OriginalError for a line that is none of it."""
    if not text.lines:
        raise text.none("rows")
    columns, separator = _columns(text.lines[0])
    kind = _kind(columns)
    if kind is None:
        advice = "latency_all.txt, latency_total.txt and resources.txt begin with their columns"
        raise text.error(text.lines[0], "names other columns", advice)
    lines = text.lines[1:]
    counts = [name for name in columns if name.endswith("[#]") or name == "size[b]"]
    table = text.table(lines, columns, separator, words=_PAIR, counts=counts)
    if kind == "resources":
        runs = [_resources(table)]
    else:
        # A publisher's row has its own publish times and nothing received.
        records = table[table["received[#]"] > 0].to_dict("records")
        runs = [_latency({str(name): value for name, value in row.items()}) for row in records]
    if not runs:
        raise text.none("subscription that received a message")
    return Imported(text.path, NAME, {}, runs, _CONVERSIONS, text.findings())


def _columns(line: Line) -> tuple[list[str], str]:
    separator = "," if "," in line.text else r"\s+"
    return fields_of(line.text, separator), separator


def _kind(columns: list[str]) -> str | None:
    kinds = {"all": _ALL, "total": _TOTAL, "resources": _RESOURCES}
    return next((name for name, needed in kinds.items() if needed <= set(columns)), None)


def _latency(row: Mapping[str, str | float]) -> Run:
    facts: dict[str, Fact] = {}
    names = {"node": "node", "topic": "topic", "size[b]": "size", "freq[hz]": "rate"}
    for column, name in {**names, "duration[s]": "seconds"}.items():
        if column in row:
            value = row[column]
            if isinstance(value, str) or math.isfinite(value):
                facts[name] = int(value) if not isinstance(value, str) and value % 1 == 0 else value
    received, lost = float(row["received[#]"]), float(row["lost[#]"])
    samples = Samples()
    statistics = {"mean[us]": "run_mean", "min[us]": "run_min", "max[us]": "run_max"}
    for column, statistic in {**statistics, "sd[us]": "run_std"}.items():
        if column in row:
            value = float(row[column]) / 1e3
            samples.add("latency", statistic, [value], counts=[int(received)])
    for column, measure in (("late[#]", "late"), ("too_late[#]", "too_late")):
        share = 100 * float(row[column]) / received
        samples.add(measure, "run", [share], counts=[int(received)])
    samples.add("loss", "run", [100 * lost / (lost + received)], counts=[int(lost + received)])
    return Run(facts, samples.frame())


def _resources(table: pd.DataFrame) -> Run:
    samples = Samples()
    numbers = np.arange(len(table))
    # The first row is before anything was measured: all zero.
    kept = (table["time[ms]"] > 0).to_numpy()
    for column, measure, factor in (
        ("cpu[%]", "cpu_of_machine", 1.0),
        ("rss[KB]", "rss", 1 / 1024),
    ):
        samples.add(measure, "interval", table[column][kept] * factor, numbers=numbers[kept])
    return Run({}, samples.frame())
