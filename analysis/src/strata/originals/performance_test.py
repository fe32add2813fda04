# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""ApexAI's performance_test: a CSV log with a header of `key: value` lines, one row a second.

Read are logs of all versions from 2019 (Crystal) on: with and without cpu_usage and the loops'
reserves, with a comma at the end of a line or none, with tabs between. What came in JSON has the
same values in other units: performance_test_json.py.

A row has the least, greatest and mean latency and the variance of its second: no quantile can be
had of them. `received`, `sent`, `lost` and `data_received` are a second's, rounded down.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np
import pandas as pd

from strata.originals.imported import Fact, Finding, Imported, Run, Samples
from strata.originals.text import Line, Text, fields_of

NAME = "performance_test"

_START = "---EXPERIMENT-START---"
_SEPARATOR = r"[ \t]*,[ \t]*"
_COUNTS = ("received", "sent", "lost", "data_received")
_LATENCY = ("latency_min (ms)", "latency_max (ms)", "latency_mean (ms)", "latency_variance (ms)")
_ENDINGS = ("Maximum runtime reached", "Caught signal", "Thread priority", "Received signal")
"""What the program says at its end, which older versions wrote into the log."""

_FACTS = {
    "RMW Implementation": "middleware",
    "Communication mean": "communication",
    "Publishing rate": "rate",
    "Number of publishers": "publishers",
    "Number of subscribers": "subscribers",
    "Performance Test Version": "version",
    "Roundtrip Mode": "roundtrip",
}
_QOS = {
    "Reliability": "reliability",
    "Durability": "durability",
    "History kind": "history",
    "History depth": "depth",
}

CONVERSIONS = (
    "latency: min, max, mean in ms as written; std is the root of latency_variance, whose unit is "
    "not ms but 10^-3 s^2: ms^2 x 10^3",
    "round_trip instead of latency if Roundtrip Mode is MAIN: there and back, not halved",
    "loss: lost / (lost + received) of all rows; relative_loss divides by sent, which is 0 in a "
    "process that only receives",
    "rate, sent_rate: received and sent per second, rounded down, all subscribers together",
    "throughput: data_received, B per second, / 10^6",
    "cpu_of_machine: cpu_usage (%), of all CPUs; cpu: user and system time over the time elapsed, "
    "first to last row, of one CPU",
    "rss: ru_maxrss, KiB / 1024: the largest so far",
)


def matches(text: Text) -> bool:
    """Return whether a file is such a log, with its header or only its rows."""
    return any(line.text.strip() == _START or _is_header(line) for line in text.lines[:200])


def read(text: Text) -> Imported:
    """Read a log; raises OriginalError for a line that is none of this format."""
    at = next((i for i, line in enumerate(text.lines) if _is_header(line)), None)
    if at is None:
        raise text.none("column line that begins with T_experiment")
    columns = fields_of(text.lines[at].text, _SEPARATOR)
    missing = [name for name in (*_COUNTS, *_LATENCY) if name not in columns]
    if missing:
        advice = f"Its columns are {', '.join(columns)}"
        raise text.error(text.lines[at], f"has no column {missing[0]!r}", advice)
    says = _says(text.lines[:at])
    body, findings = _body(text.lines[at + 1 :], text)
    table = text.table(body, columns, _SEPARATOR, counts=_COUNTS)
    with np.errstate(over="ignore"):
        variance = table["latency_variance (ms)"].to_numpy() * 1e3
    # An interval without a message has the trackers' beginnings: infinities, or 0.
    got = table["received"] > 0
    latency = {
        "interval_min": table["latency_min (ms)"],
        "interval_max": table["latency_max (ms)"],
        "interval_mean": table["latency_mean (ms)"],
        "interval_std": pd.Series(np.sqrt(np.maximum(variance, 0))),
    }
    facts = _facts(says)
    samples = Samples()
    add_rows(samples, facts, table, latency)
    _add_resources(samples, table)
    findings += interval_findings(table, latency, got)
    return Imported(text.path, NAME, says, [Run(facts, samples.frame())], CONVERSIONS, findings)


def _add_resources(samples: Samples, table: pd.DataFrame) -> None:
    if "cpu_usage (%)" in table:
        samples.add("cpu_of_machine", "interval", table["cpu_usage (%)"])
    if {"ru_utime", "ru_stime"} <= set(table.columns):
        busy = table["ru_utime"] + table["ru_stime"]
        elapsed = table["T_experiment"].iloc[-1] - table["T_experiment"].iloc[0]
        if elapsed > 0:
            samples.add("cpu", "run", [100 * (busy.iloc[-1] - busy.iloc[0]) / elapsed])
    if "ru_maxrss" in table:
        samples.add("rss", "interval_max", table["ru_maxrss"] / 1024)


def add_rows(
    samples: Samples, facts: Mapping[str, Fact], table: pd.DataFrame, latency: dict[str, pd.Series]
) -> None:
    """Add what every version has; `table` has received, sent, lost and data_received."""
    got = (table["received"] > 0).to_numpy()
    counts = table["received"].astype("int64")[got]
    measure = "round_trip" if facts.get("roundtrip") == "MAIN" else "latency"
    for statistic, values in latency.items():
        numbers = np.flatnonzero(got)
        samples.add(measure, statistic, values[got], numbers=numbers, counts=counts)
    received, lost = float(table["received"].sum()), float(table["lost"].sum())
    if received > 0:
        samples.add("rate", "interval", table["received"])
        samples.add("throughput", "interval", table["data_received"] / 1e6)
        samples.add("loss", "run", [100 * lost / (lost + received)], counts=[int(received + lost)])
    if table["sent"].sum() > 0:
        samples.add("sent_rate", "interval", table["sent"])


def interval_findings(
    table: pd.DataFrame, latency: dict[str, pd.Series], got: pd.Series
) -> list[Finding]:
    """Tell of seconds without messages, and of latencies below zero."""
    out = []
    empty = int((~got).sum())
    if empty:
        text = f"{empty} of {len(table)} intervals received nothing: they have no latency"
        out.append(Finding("empty_intervals", empty, text))
    known = np.all([np.isfinite(values) for values in latency.values()], axis=0)
    odd = int((got & ~known).sum())
    if odd:
        text = f"{odd} intervals received messages and have a latency that is not finite: left out"
        out.append(Finding("latency_not_finite", odd, text))
    negative = int((latency["interval_min"][got] < 0).sum())
    if negative:
        text = f"{negative} intervals have latencies below zero: clocks are not synchronised"
        out.append(Finding("negative_latency", negative, text))
    return out


def payload_bytes(name: str) -> int | None:
    """Give the payload (B) of a message type by its name: Array1k has 1024; null for others."""
    found = re.fullmatch(r"Array([0-9]+)([kmKM]?)", name)
    if found is None:
        return None
    return int(found[1]) << {"": 0, "k": 10, "m": 20}[found[2].lower()]


def _is_header(line: Line) -> bool:
    return fields_of(line.text, _SEPARATOR)[0] == "T_experiment"


def _says(lines: list[Line]) -> dict[str, str]:
    out = {}
    for line in lines:
        key, colon, value = line.text.partition(":")
        if colon:
            out[key.strip()] = value.strip()
    return out


def _facts(says: Mapping[str, str]) -> dict[str, Fact]:
    facts: dict[str, Fact] = {}
    for key, name in _FACTS.items():
        if says.get(key):
            facts[name] = as_number(says[key])
    for key, name in _QOS.items():
        found = re.search(rf"{key}: (\S+)", says.get("QOS", ""))
        if found:
            facts[name] = as_number(found[1])
    # Before version 1.0, the topic was named as its type.
    kind = says.get("Msg name") or says.get("Topic name", "")
    size = payload_bytes(kind)
    if kind:
        facts["type"] = kind
    if size is not None:
        facts["size"] = size
    return facts


def as_number(text: str) -> Fact:
    """Give a text that is a whole number as such."""
    return int(text) if re.fullmatch(r"[0-9]{1,15}", text) else text


def _body(lines: list[Line], text: Text) -> tuple[list[Line], list[Finding]]:
    """Give the rows, without what the program said at its end."""
    said = next((i for i, line in enumerate(lines) if line.text.strip().startswith(_ENDINGS)), None)
    return (lines if said is None else lines[:said]), text.findings()
