# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""performance_test's JSON log (since 1.2): the rows of its CSV, in seconds and nanoseconds."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from strata.errors import OriginalError
from strata.originals.imported import Fact, Imported, Run, Samples
from strata.originals.performance_test import (
    CONVERSIONS,
    add_rows,
    as_number,
    interval_findings,
    payload_bytes,
)
from strata.originals.text import Text, is_count

NAME = "performance_test_json"

_FACTS = {
    "rmw_implementation": "middleware",
    "com_mean_str": "communication",
    "rate": "rate",
    "number_of_publishers": "publishers",
    "number_of_subscribers": "subscribers",
    "perf_test_version": "version",
    "roundtrip_mode": "roundtrip",
    "qos_reliability": "reliability",
    "qos_durability": "durability",
    "qos_history_kind": "history",
    "qos_history_depth": "depth",
    "msg_name": "type",
}
_COUNTS = {
    "received": "num_samples_received",
    "sent": "num_samples_sent",
    "lost": "num_samples_lost",
    "data_received": "total_data_received",
}
_LATENCY = ("latency_min", "latency_max", "latency_mean", "latency_variance")

_CONVERSIONS = (
    "latency: min, max, mean in s x 10^3; std is the root of latency_variance, s^2",
    *CONVERSIONS[1:],
)


def matches(text: Text) -> bool:
    """Return whether a file is such a log."""
    lines = [*text.lines, *([text.cut] if text.cut else [])]
    return bool(lines) and lines[0].text.lstrip().startswith("{")


def read(text: Text) -> Imported:
    """Read a log; raises OriginalError when it is no JSON, or has not what it needs."""
    document = _document(text)
    says = {key: str(value) for key, value in document.items() if key != "analysis_results"}
    table = pd.DataFrame(
        {
            **{name: _column(text, document, key, is_count) for name, key in _COUNTS.items()},
            **{name: _column(text, document, name) for name in _LATENCY},
        }
    )
    latency = {
        "interval_min": table["latency_min"] * 1e3,
        "interval_max": table["latency_max"] * 1e3,
        "interval_mean": table["latency_mean"] * 1e3,
        "interval_std": np.sqrt(table["latency_variance"].clip(lower=0)) * 1e3,
    }
    facts = _facts(document)
    samples = Samples()
    add_rows(samples, facts, table, latency)
    rows = document["analysis_results"]
    if all("cpu_info_cpu_usage" in row for row in rows):
        usage = _column(text, document, "cpu_info_cpu_usage")
        samples.add("cpu_of_machine", "interval", usage)
        if all("cpu_info_cpu_cores" in row for row in rows):
            cores = _column(text, document, "cpu_info_cpu_cores")
            samples.add("cpu", "interval", usage * cores)
    if all("sys_tracker_ru_maxrss" in row for row in rows):
        samples.add("rss", "interval_max", _column(text, document, "sys_tracker_ru_maxrss") / 1024)
    findings = interval_findings(table, latency, table["received"] > 0)
    run = Run(facts, samples.frame())
    return Imported(text.path, NAME, says, [run], _CONVERSIONS, findings)


def _document(text: Text) -> dict[str, Any]:
    lines = [line.text for line in [*text.lines, *([text.cut] if text.cut else [])]]
    try:
        document = json.loads("\n".join(lines))
    except (ValueError, RecursionError) as error:
        where = error.lineno if isinstance(error, json.JSONDecodeError) else 1
        what = error.msg if isinstance(error, json.JSONDecodeError) else "too deep"
        raise text.error(
            where, f"is not JSON ({what})", "A killed writer leaves an incomplete file"
        ) from error
    rows = document.get("analysis_results") if isinstance(document, dict) else None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise text.none("list analysis_results")
    if not rows:
        raise text.none("rows in analysis_results")
    return dict(document)


def _is_number(value: float) -> bool:
    return isinstance(value, float) or abs(value) <= sys.float_info.max


def _column(
    text: Text,
    document: Mapping[str, Any],
    key: str,
    right: Callable[[float], bool] = _is_number,
) -> pd.Series:
    values = [row.get(key) for row in document["analysis_results"]]
    for at, value in enumerate(values):
        if isinstance(value, bool) or not isinstance(value, int | float) or not right(value):
            what = "count" if right is is_count else "number"
            raise OriginalError(
                f"Cannot read {text.path}: analysis_results[{at}] has {key} {value!r:.40}, which "
                f"is not a {what}. Fix it, or leave the row out."
            )
    return pd.Series(values, dtype="float64")


def _facts(document: Mapping[str, Any]) -> dict[str, Fact]:
    facts: dict[str, Fact] = {}
    for key, name in _FACTS.items():
        value = document.get(key)
        if isinstance(value, str | int | float) and value != "":
            facts[name] = as_number(value) if isinstance(value, str) else value
    size = payload_bytes(str(facts.get("type", "")))
    if size is not None:
        facts["size"] = size
    return facts
