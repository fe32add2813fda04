# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Whether the latency of each chain changed in the course of a recording: the table `drifts`.

It is decided on the medians of the intervals (strata.stats.trend) that have MIN_MESSAGES or more.
Two changes are looked for:

* a drift: the line of least squares (strata.stats.drift);
* a step: two levels, before and after the instant that leaves the smallest sum of squares, with
  MIN_SIDE intervals or more on each side. Its p-value is that of the difference of the levels, by
  the same estimator of the noise, times the number of instants that were possible (Bonferroni).

It is the step where two levels leave at most STEP_REST of the squares that the line leaves. p is
corrected for the number of chains (Holm). A change is reported where p < ALPHA and it is relevant
(strata.stats.relevance), as in comparisons.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from strata.schema import tables
from strata.schema.rows import NONE, Floats, Ints, Rows
from strata.stats.backlog import growth_per_s
from strata.stats.drift import MIN_COUNT, Drift, drift, fitted_slope, p_of_slope
from strata.stats.grouped import found
from strata.stats.relevance import DEFAULT
from strata.stats.shift import holm

MIN_MESSAGES = 5
"""An interval with fewer is not used."""
MIN_SIDE = 5
STEP_REST = 0.8
ALPHA = 0.01
DRIFT, STEP = "drift", "step"
_NS_PER_S = 1e9
_HOUR_S = 3600.0

Row = Mapping[str, Any]


@dataclass(frozen=True)
class _Change:
    """How the medians of one chain changed.

    `used` flags the intervals of the chain that count, `times_s` are the middles of these since the
    epoch, `medians` in ns. `split` is how many of them lie before the step; null for a drift.
    """

    chain_id: int
    used: Ints
    begin_ns: Ints
    times_s: Floats
    medians: Floats
    line: Drift
    split: int | None
    p: float


def drift_rows(trend: Rows, layer_trend: Rows, chains: Rows, layers: Rows) -> Rows:
    """Return the table `drifts`; the arguments are declared tables, `layers` is `chain_layers`."""
    changes = [one for one in map(_change, *_by_chain(trend)) if one is not None]
    if not changes:
        return Rows.none(tables.DRIFTS)
    corrected = holm([change.p for change in changes]).tolist()
    numbers = np.array([change.chain_id for change in changes], np.int64)
    chain_rows = found(chains["chain_id"], np.arange(len(chains)), numbers, NONE)
    medians = chains["latency_p50_ns"][chain_rows].tolist()
    out = []
    for change, p, median in zip(changes, corrected, medians, strict=True):
        row = _of_change(change)
        changed = p < ALPHA and DEFAULT.allows(row["change_ns"], median)
        of_layer: Row = {}
        if changed:
            of_layer = _layer(change, row["change_ns"], layer_trend, layers)
        out.append({**row, "p": p, "changed": changed, **of_layer})
        if not changed:
            out[-1] |= {"kind": None, "step_ns": None}
    return Rows.of_records(tables.DRIFTS, out)


def _by_chain(trend: Rows) -> tuple[list[int], list[Rows]]:
    chains, first = np.unique(trend["chain_id"], return_index=True)
    parts = np.split(np.arange(len(trend)), first[1:])
    return chains.tolist(), [trend.take(part) for part in parts] if len(chains) else []


def _change(chain_id: int, trend: Rows) -> _Change | None:
    """Return the change of one chain of these intervals; null for too few."""
    used = np.flatnonzero(trend["count"] >= MIN_MESSAGES)
    if len(used) < MIN_COUNT:
        return None
    begin_ns = trend["begin_ns"][used]
    width_ns = int(trend["end_ns"][0] - trend["begin_ns"][0])
    # Relative to the first: floats of seconds since the epoch are too coarse.
    times_s = (begin_ns - begin_ns[0] + width_ns / 2) / _NS_PER_S
    medians = trend["latency_p50_ns"][used]
    line = drift(times_s, medians)
    split, rest, possible = _best_split(medians)
    if rest > STEP_REST * _rest_of_line(times_s, medians, line):
        return _Change(chain_id, used, begin_ns, times_s, medians, line, None, line.p)
    after = (np.arange(len(medians)) >= split).astype(np.float64)
    p = min(1.0, possible * p_of_slope(*fitted_slope(after, medians)))
    return _Change(chain_id, used, begin_ns, times_s, medians, line, split, p)


def _best_split(values: Floats) -> tuple[int, float, int]:
    """Return how many values lie before the best step, the squares it leaves, and how many others.

    The last is the number of steps that were possible, itself among them.
    """
    count = len(values)
    about = values - values.mean()
    before = np.arange(MIN_SIDE, count - MIN_SIDE + 1)
    sums = np.cumsum(about)[before - 1]
    # The squares between two groups, as all values add up to 0.
    between = sums**2 * count / (before * (count - before))
    best = int(np.argmax(between))
    rest = float((about**2).sum() - between[best])
    return int(before[best]), max(rest, 0.0), len(before)


def _rest_of_line(times_s: Floats, values: Floats, line: Drift) -> float:
    hours = (times_s - times_s.mean()) / _HOUR_S
    return float(((values - values.mean() - line.slope_per_hour * hours) ** 2).sum())


def _of_change(change: _Change) -> dict[str, Any]:
    """Return the columns of a change that are of the whole chain."""
    medians, line, split = change.medians, change.line, change.split
    if split is None:
        times = change.times_s - change.times_s.mean()
        ends = medians.mean() + line.slope_per_hour * times[[0, -1]] / _HOUR_S
        low, high = map(float, ends)
        whole = float(np.median(medians[: max(1, len(medians) // 4)]))
    else:
        low, high = float(np.median(medians[:split])), float(np.median(medians[split:]))
        whole = low
    return {
        "chain_id": change.chain_id,
        "intervals": len(medians),
        "slope_ns_per_hour": line.slope_per_hour,
        "low_ns_per_hour": line.low,
        "high_ns_per_hour": line.high,
        "kind": DRIFT if split is None else STEP,
        "step_ns": None if split is None else int(change.begin_ns[split]),
        "from_ns": low,
        "to_ns": high,
        "change_ns": high - low,
        "share": (high - low) / whole if whole else 0.0,
    }


def _layer(change: _Change, change_ns: float, layer_trend: Rows, layers: Rows) -> Row:
    """Return the columns of the layer that changed most in the direction of the chain."""
    own = layers.take(layers["chain_id"] == change.chain_id)
    means = layer_trend["mean_ns"][layer_trend["chain_id"] == change.chain_id]
    if not len(own) or not len(means):
        return {}
    means = means.reshape(len(own), -1)[:, change.used]
    slopes = np.array([growth_per_s(change.times_s, values) for values in means])
    if change.split is None:
        changes = slopes * (change.times_s[-1] - change.times_s[0])
    else:
        before, after = means[:, : change.split], means[:, change.split :]
        changes = np.median(after, axis=1) - np.median(before, axis=1)
    most = int(np.argmax(changes * np.sign(change_ns)))
    whole = float(changes.sum())
    row = own.record(most)
    return {
        **{name: row[name] for name in ("position", "hop", "layer", "where")},
        "layer_slope_ns_per_hour": float(slopes[most]) * _HOUR_S,
        "layer_change_ns": float(changes[most]),
        "layer_share": float(changes[most]) / whole if whole else None,
    }
