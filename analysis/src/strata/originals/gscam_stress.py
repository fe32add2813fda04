# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""gscam_stress of NEWSLabNTU's rmw_benchmark: a CSV a run, one row a second, and its summary.csv.

What it calls frame loss is the images asked for (configured rate x time) less those received: what
the camera did not make counts, and a second that catches up is below zero. That is `shortfall`
here, never `loss`. What it calls MB/s are MiB/s. The maximum latency in summary.csv is the
greatest of the seconds' minima (a column too far to the left in its script).
"""

from __future__ import annotations

import re
from collections.abc import Collection

import numpy as np
import numpy.typing as npt
import pandas as pd

from strata.originals.imported import Fact, Finding, Imported, Run, Samples
from strata.originals.text import Line, Text, fields_of

NAME = "gscam_stress"
SUMMARY_NAME = "gscam_stress_summary"

_RUN = ["timestamp", "width", "height", "fps", "byte_rate", "message_rate", "frame_loss_pct"]
_RUN += ["latency_avg_ms", "latency_min_ms", "latency_max_ms"]
_SUMMARY = ["rmw_type", "config", "resolution", "fps", "data_rate_mbps", "avg_frame_loss_pct"]
_SUMMARY += ["max_frame_loss_pct", "avg_latency_ms", "max_latency_ms", "avg_message_rate"]
_SUMMARY += ["test_duration_sec", "timestamp"]

_RUN_CONVERSIONS = (
    "latency: avg, min and max of a second, ms as written, by the node's own clock",
    "shortfall: frame_loss_pct: images asked for less images received, % of those asked for; not "
    "what was lost in transit",
    "rate: message_rate; throughput: byte_rate, B/s / 10^6",
)
_SUMMARY_CONVERSIONS = (
    "shortfall: avg_frame_loss_pct is the mean of the seconds, max_frame_loss_pct the worst second",
    "latency: avg_latency_ms is the mean of the seconds' means, max_latency_ms the greatest of "
    "their minima: no maximum",
    "asked_throughput: width x height x 3 B x fps, / 10^6; data_rate_mbps is the same in MiB/s",
    "rate: avg_message_rate",
)


def matches(text: Text) -> bool:
    """Return whether a file is the CSV of a run."""
    return bool(text.lines) and fields_of(text.lines[0].text, ",") == _RUN


def matches_summary(text: Text) -> bool:
    """Return whether a file is a summary.csv."""
    return bool(text.lines) and fields_of(text.lines[0].text, ",") == _SUMMARY


def read(text: Text) -> Imported:
    """Read the CSV of a run; raises OriginalError for a line that is none of this format."""
    _require(text, _RUN, matches(text))
    lines = text.lines[1:]
    table = _table(text, lines, _RUN, words=("timestamp",))
    for name in ("width", "height", "fps"):
        other = np.flatnonzero(table[name] != table[name].iloc[0])
        if len(other):
            fact = f"has another {name} than line {lines[0].number}"
            raise text.error(lines[int(other[0])], fact, "One file is one run")
    # A second without an image has 0 for each latency.
    got = (table["message_rate"] > 0).to_numpy()
    samples = Samples()
    for column, statistic in (("avg", "mean"), ("min", "min"), ("max", "max")):
        values = table[f"latency_{column}_ms"][got]
        samples.add("latency", f"interval_{statistic}", values, numbers=np.flatnonzero(got))
    samples.add("shortfall", "interval", table["frame_loss_pct"])
    samples.add("rate", "interval", table["message_rate"])
    samples.add("throughput", "interval", table["byte_rate"] / 1e6)
    facts = _video(*(int(table[name].iloc[0]) for name in ("width", "height", "fps")))
    facts["begun"] = str(table["timestamp"].iloc[0])
    findings = text.findings() + _findings(table, got)
    run = Run(facts, samples.frame())
    return Imported(text.path, NAME, {}, [run], _RUN_CONVERSIONS, findings)


def read_summary(text: Text) -> Imported:
    """Read a summary.csv, a run a row; raises OriginalError for a line that is none of it."""
    _require(text, _SUMMARY, matches_summary(text))
    lines = text.lines[1:]
    words = ("rmw_type", "config", "resolution", "timestamp")
    table = _table(text, lines, _SUMMARY, words=words)
    runs, unlike = [], 0
    for line, row in zip(lines, table.to_dict("records"), strict=True):
        size = re.fullmatch(r"([0-9]{1,6})x([0-9]{1,6})", row["resolution"])
        if size is None:
            fact = f"has resolution {row['resolution']!r}"
            raise text.error(line, fact, "A resolution is WIDTHxHEIGHT")
        facts = _video(int(size[1]), int(size[2]), int(row["fps"]))
        facts |= {"rmw": row["rmw_type"], "config": row["config"], "begun": row["timestamp"]}
        facts["seconds"] = row["test_duration_sec"]
        asked = float(facts["size"]) * float(row["fps"])
        unlike += abs(asked / (1 << 20) - row["data_rate_mbps"]) > 0.1 + 1e-9
        samples = Samples()
        samples.add("shortfall", "run_mean", [row["avg_frame_loss_pct"]])
        samples.add("shortfall", "interval_worst", [row["max_frame_loss_pct"]])
        samples.add("latency", "mean_of_interval_means", [row["avg_latency_ms"]])
        samples.add("latency", "max_of_interval_min", [row["max_latency_ms"]])
        samples.add("rate", "run_mean", [row["avg_message_rate"]])
        samples.add("asked_throughput", "run", [asked / 1e6])
        runs.append(Run(facts, samples.frame()))
    findings = text.findings() + _summary_findings(table)
    if unlike:
        what = f"{unlike} rows have a data_rate_mbps that is not width x height x 3 B x fps in MiB"
        findings.append(Finding("other_data_rate", unlike, f"{what}: images of another encoding?"))
    return Imported(text.path, SUMMARY_NAME, {}, runs, _SUMMARY_CONVERSIONS, findings)


def _require(text: Text, columns: list[str], found: bool) -> None:
    if not found:
        first = text.lines[0].text.strip() if text.lines else ""
        raise text.error(1, f"is {first[:60]!r}", f"The columns are {', '.join(columns)}")


def _table(
    text: Text, lines: list[Line], columns: list[str], words: Collection[str]
) -> pd.DataFrame:
    table = text.table(lines, columns, ",", words=words, counts=("width", "height", "fps"))
    for name in columns:
        if name in words:
            continue
        wrong = np.flatnonzero(~np.isfinite(table[name]))
        if len(wrong):
            at = int(wrong[0])
            fact = f"has {name} {table[name].iloc[at]}, which is not finite"
            raise text.error(lines[at], fact, "Fix the line, or leave it out")
    return table


def _video(width: int, height: int, fps: int) -> dict[str, Fact]:
    return {"width": width, "height": height, "fps": fps, "size": width * height * 3}


def _findings(table: pd.DataFrame, got: npt.NDArray[np.bool_]) -> list[Finding]:
    out = []
    empty = int(np.count_nonzero(~got))
    if empty:
        text = f"{empty} of {len(table)} seconds had no image: they have no latency"
        out.append(Finding("empty_intervals", empty, text))
    below = int((table["frame_loss_pct"] < 0).sum())
    if below:
        text = f"{below} of {len(table)} seconds received more than was asked for: their shortfall "
        out.append(Finding("negative_shortfall", below, f"{text}is below zero, as written"))
    negative = int((table["latency_min_ms"][got] < 0).sum())
    if negative:
        text = f"{negative} seconds have latencies below zero: clocks are not synchronised"
        out.append(Finding("negative_latency", negative, text))
    return out


def _summary_findings(table: pd.DataFrame) -> list[Finding]:
    less = int((table["max_latency_ms"] < table["avg_latency_ms"]).sum())
    if not less:
        return []
    text = f"{less} of {len(table)} rows have a max_latency_ms below their avg_latency_ms, as it is"
    return [Finding("max_below_mean", less, f"{text} the greatest of the seconds' minima")]
