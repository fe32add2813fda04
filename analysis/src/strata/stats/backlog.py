# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Does a queue of a chain grow: do messages come faster than they are worked on?

Then each message waits longer than the one before, and a median of the latency says how long the
recording was. The slope is that of Theil and Sen ("A rank-invariant method of linear and polynomial
regression analysis", 1950; "Estimates of the regression coefficient based on Kendall's tau", JASA
63, 1968): the median of the slopes between all pairs of messages. A growth is told when all of this
holds:

* messages: MIN_COUNT or more, without the start-up;
* monotone: the medians of five consecutive fifths of the messages rise from each to the next, and
  Kendall's tau of latency and time is at least MIN_TAU;
* no chance: the slope of least squares is positive with p < ALPHA, autocorrelation allowed for
  (strata.stats.drift);
* a queue: a layer in which messages queue (executor wait, driver queue) grows by at least half of
  what the latency grows by;
* too slow: messages leave this queue at a lower rate than they come.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from strata.model.columns import NONE, filled
from strata.schema.layers import DRIVER_QUEUE, EXECUTOR_WAIT
from strata.stats.drift import drift

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

MIN_COUNT = 20
MIN_TAU = 0.7
ALPHA = 0.01
MIN_GROWTH_NS = 1_000_000
"""Less, from the first fifth to the last, is not worth naming."""
SLOWER = 1.005
"""The time between two that leave over that between two that come, at least."""
_FIFTHS = 5
_PAIRED = 300
"""So many messages, evenly over time, stand for all: slopes are of all pairs."""
_FEW = 1000
"""Up to so many messages all pairs are compared at once; else scipy counts, which takes long to
import.
"""
_NS_PER_S = 1e9


@dataclass(frozen=True)
class Backlog:
    """A queue that grows: `layer` of the chain's hop, by `growth` ns of latency a second.

    `arrival_ns` is the mean time between two messages that come, `service_ns` between two that
    leave the queue, `work_ns` the median of the callback that they are taken for (null: unknown).
    `node` takes them, or reads them from the sensor.
    """

    hop: int
    layer: str
    node: str
    growth: float
    arrival_ns: float
    service_ns: float
    work_ns: float | None


def find_backlog(
    instances: pd.DataFrame, segments: pd.DataFrame, messages: pd.DataFrame
) -> Backlog | None:
    """Tell whether a queue of one chain grows; null when none does.

    `instances` are the messages of the chain without its start-up, `segments` its rows of
    `chain_segments`.
    """
    if len(instances) < MIN_COUNT:
        return None
    ordered = instances.sort_values("begin_ns", kind="stable")
    times_s = (
        ordered["begin_ns"].to_numpy(np.int64) - int(ordered["begin_ns"].iloc[0])
    ) / _NS_PER_S
    latency = ordered["latency_ns"].to_numpy(np.float64)
    if not _rises(latency):
        return None
    queue = _queue(ordered, segments, _risen(latency))
    if queue is None:
        return None
    hop, layer, rows = queue
    own = messages.iloc[rows]
    periods = _periods(own, layer)
    # What takes longest comes last.
    if periods is None or not _is_no_chance(times_s, latency):
        return None
    return _backlog(hop, layer, own, growth_per_s(times_s, latency), periods)


def growth_per_s(times_s: Floats, values: Floats) -> float:
    """Return the slope of values over times by Theil and Sen, in units of the value a second."""
    from scipy.stats import theilslopes

    chosen = np.unique(np.linspace(0, len(values) - 1, min(_PAIRED, len(values))).astype(np.int64))
    return float(theilslopes(values[chosen], times_s[chosen]).slope)


def _rises(latency: Floats) -> bool:
    """Tell whether the medians of the fifths rise, by enough to be worth naming."""
    medians = [float(np.median(part)) for part in np.array_split(latency, _FIFTHS)]
    return bool((np.diff(medians) > 0).all()) and _risen(latency) >= MIN_GROWTH_NS


def _is_no_chance(times_s: Floats, latency: Floats) -> bool:
    """Tell whether the latency rises all along, and with more than chance."""
    if times_s[-1] <= 0 or tau(times_s, latency) < MIN_TAU:
        return False
    found = drift(times_s, latency)
    return found.slope_per_hour > 0 and found.p < ALPHA


def tau(first: Floats, second: Floats) -> float:
    """Return Kendall's tau-b of two columns, neither of which is all equal."""
    if len(first) > _FEW:
        from scipy.stats import kendalltau

        return float(kendalltau(first, second).statistic)
    one, other = (np.sign(np.subtract.outer(values, values)) for values in (first, second))
    # Each pair is there twice; those that are equal count in neither.
    untied = np.sqrt([np.count_nonzero(signs) / 2 for signs in (one, other)])
    return float((one * other).sum() / 2 / untied[0] / untied[1])


def _risen(values: Floats) -> float:
    """By how much the median of the last fifth is above that of the first."""
    fifths = np.array_split(values, _FIFTHS)
    return float(np.median(fifths[-1]) - np.median(fifths[0]))


def _queue(
    ordered: pd.DataFrame, segments: pd.DataFrame, risen_ns: float
) -> tuple[int, str, Ints] | None:
    """Return hop, layer and messages of the queue that grows most, if it makes up half of it."""
    waits = segments["layer"] == DRIVER_QUEUE.name
    waits |= segments["layer"].str.contains(EXECUTOR_WAIT.name, regex=False)
    best: tuple[float, int, str, Ints] | None = None
    for (hop, layer), part in segments[waits].groupby(["hop", "layer"]):
        own = part.set_index("chain_instance_id").reindex(ordered["chain_instance_id"])
        own = own[own["duration_ns"].notna()]
        if len(own) < MIN_COUNT:
            continue
        grown = _risen(own["duration_ns"].to_numpy(np.float64))
        if best is None or grown > best[0]:
            best = grown, int(str(hop)), str(layer), own["message_id"].to_numpy(np.int64)
    return best[1:] if best is not None and best[0] >= risen_ns / 2 else None


def _periods(messages: pd.DataFrame, layer: str) -> tuple[float, float] | None:
    """Mean ns between two that come, and between two that leave; null unless the latter is more."""
    of_driver = layer == DRIVER_QUEUE.name
    came = messages["arrival_ns" if of_driver else "rmw_publish_ns"]
    came = came.fillna(messages["publish_ns"])
    left = messages["read_ns" if of_driver else "callback_start_ns"]
    left = left.fillna(messages["publish_ns"] if of_driver else messages["rmw_take_ns"])
    arrival, service = _period(filled(came)), _period(filled(left))
    slower = arrival and service and service >= SLOWER * arrival
    return (arrival, service) if slower else None


def _backlog(
    hop: int, layer: str, messages: pd.DataFrame, growth: float, periods: tuple[float, float]
) -> Backlog:
    of_driver = layer == DRIVER_QUEUE.name
    work = messages["callback_ns"].dropna()
    node = messages["publisher_node" if of_driver else "subscription_node"].iloc[0]
    known = None if of_driver or work.empty else float(work.median())
    return Backlog(hop, layer, str(node), growth, *periods, known)


def _period(instants: Ints) -> float:
    """Mean time between instants, NONE left out; 0 for fewer than two."""
    known = np.unique(instants[instants != NONE])
    return float(known[-1] - known[0]) / (len(known) - 1) if len(known) > 1 else 0.0
