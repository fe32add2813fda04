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

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from strata.schema.layers import DRIVER_QUEUE, EXECUTOR_WAIT
from strata.schema.rows import NONE, Floats, Ints, Rows
from strata.stats.drift import drift
from strata.stats.grouped import Ordered, counts, ranks, runs, spread
from strata.stats.groups import ChainGroups
from strata.stats.partition import partition
from strata.stats.segments import Segments

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


def find_backlogs(
    instances: Rows, groups: ChainGroups, segments: Segments, messages: Rows
) -> Mapping[int, Backlog]:
    """Return the queue that grows of every chain that has one, by the chain's id.

    The arguments are declared tables; messages of the start-up do not count.
    """
    rows = np.flatnonzero(groups.settled)
    chain, begin_ns = groups.chain[rows], instances["begin_ns"][rows]
    order = np.lexsort((begin_ns, chain))
    rows, chain = rows[order], chain[order]
    found = {}
    sizes = counts(chain, len(groups.chains))
    first = np.cumsum(sizes) - sizes
    for at in _rising(chain, instances["latency_ns"][rows], sizes).tolist():
        own = instances.take(rows[first[at] : first[at] + sizes[at]])
        backlog = _find_backlog(own, segments, messages)
        if backlog is not None:
            found[int(groups.chains[at])] = backlog
    return found


def _rising(chain: Ints, latency: Ints, sizes: Ints) -> Ints:
    """Return the chains whose medians of fifths rise, by enough to be worth naming.

    `latency` is in order of time by chain.
    """
    size = sizes[chain]
    place = np.arange(len(chain)) - (np.cumsum(sizes) - sizes)[chain]
    # As numpy.array_split: the first fifths have one more where the count is no multiple.
    each, more = np.divmod(size, _FIFTHS)
    in_more = place < more * (each + 1)
    fifth = np.where(
        in_more,
        place // (each + 1),
        more + (place - more * (each + 1)) // np.maximum(each, 1),
    )
    ordered = Ordered(chain * _FIFTHS + fifth, latency, len(sizes) * _FIFTHS)
    medians = ordered.median().reshape(-1, _FIFTHS)
    rises = (np.diff(medians, axis=1) > 0).all(axis=1)
    risen = medians[:, -1] - medians[:, 0] >= MIN_GROWTH_NS
    return np.flatnonzero((sizes >= MIN_COUNT) & rises & risen)


def _find_backlog(ordered: Rows, segments: Segments, messages: Rows) -> Backlog | None:
    """Return the queue of one chain that grows; `ordered` are its messages in order of time."""
    begin_ns = ordered["begin_ns"]
    times_s = (begin_ns - begin_ns[0]) / _NS_PER_S
    latency = ordered["latency_ns"].astype(np.float64)
    queue = _queue(ordered, segments.of(ordered["chain_instance_id"]), _risen(latency))
    if queue is None:
        return None
    hop, layer, rows = queue
    own = messages.take(rows)
    periods = _periods(own, layer)
    # What takes longest comes last.
    if periods is None or not _is_no_chance(times_s, latency):
        return None
    return _backlog(hop, layer, own, growth_per_s(times_s, latency), periods)


def growth_per_s(times_s: Floats, values: Floats) -> float:
    """Return the slope of values over times by Theil and Sen, in units of the value a second."""
    chosen = np.unique(np.linspace(0, len(values) - 1, min(_PAIRED, len(values))).astype(np.int64))
    time, value = times_s[chosen], values[chosen]
    apart = np.subtract.outer(time, time)
    later = apart > 0
    return float(np.median(np.subtract.outer(value, value)[later] / apart[later]))


def _is_no_chance(times_s: Floats, latency: Floats) -> bool:
    """Return whether the latency rises all along, and with more than chance."""
    if times_s[-1] <= 0 or tau(times_s, latency) < MIN_TAU:
        return False
    found = drift(times_s, latency)
    return found.slope_per_hour > 0 and found.p < ALPHA


def tau(first: Floats, second: Floats) -> float:
    """Return Kendall's tau-b of two columns, neither of which is all equal.

    Pairs are counted by Knight ("A computer method for calculating Kendall's tau with ungrouped
    data", JASA 61, 1966).
    """
    order = np.lexsort((second, first))
    one, other = (
        np.unique(values, return_inverse=True)[1][order].astype(np.int64)
        for values in (first, second)
    )
    pairs = len(one) * (len(one) - 1) // 2
    ties = [_pairs(np.bincount(values)) for values in (one, other)]
    both = _pairs(np.unique(one * (int(other.max()) + 1) + other, return_counts=True)[1])
    agreed = pairs - ties[0] - ties[1] + both - 2 * _inversions(other)
    return float(agreed / np.sqrt(pairs - ties[0]) / np.sqrt(pairs - ties[1]))


def _pairs(sizes: Ints) -> int:
    """Return how many pairs there are within groups of these sizes."""
    return int((sizes * (sizes - 1) // 2).sum())


def _inversions(values: Ints) -> int:
    """Count the pairs of which the first is greater; values are 0 or more.

    Bit by bit from the highest: a pair is inverted where its first bit that differs is 1, then 0.
    """
    total = 0
    for bit in reversed(range(int(values.max(initial=0)).bit_length())):
        # Sorted by the bits above, and as they came among those that are equal in these.
        above, one = values >> (bit + 1), (values >> bit) & 1
        begin = np.flatnonzero(np.diff(above, prepend=-1))
        before = np.cumsum(one) - one
        block = np.repeat(before[begin], np.diff(begin, append=len(values)))
        total += int((before - block)[one == 0].sum())
        values = values[np.argsort(values >> bit, kind="stable")]
    return total


def _risen(values: Floats) -> float:
    """By how much the median of the last fifth is above that of the first."""
    fifths = np.array_split(values, _FIFTHS)
    return float(np.median(fifths[-1]) - np.median(fifths[0]))


def _queue(ordered: Rows, segments: Rows, risen_ns: float) -> tuple[int, str, Ints] | None:
    """Return hop, layer and messages of the queue that grows most, if it makes up half of it.

    `segments` are those of the messages; the messages of a queue are in their order.
    """
    rows, _ = spread(*runs(segments["chain_instance_id"], ordered["chain_instance_id"]))
    layers = segments.words("layer")
    waits = [
        name for name in layers.words if name == DRIVER_QUEUE.name or EXECUTOR_WAIT.name in name
    ]
    rows = rows[layers.take(rows).are(*waits)]
    count = len(layers.words)
    keys = segments["hop"][rows] * count + ranks(layers.words)[layers.codes[rows]]
    best: tuple[float, int, str, Ints] | None = None
    for key, of_queue in partition(keys):
        own = rows[of_queue]
        if len(own) < MIN_COUNT:
            continue
        grown = _risen(segments["duration_ns"][own].astype(np.float64))
        if best is None or grown > best[0]:
            layer = layers.words[layers.codes[own[0]]]
            best = grown, key // count, layer, segments["message_id"][own]
    return best[1:] if best is not None and best[0] >= risen_ns / 2 else None


def _periods(messages: Rows, layer: str) -> tuple[float, float] | None:
    """Mean ns between two that come, and between two that leave; null unless the latter is more."""
    of_driver = layer == DRIVER_QUEUE.name
    publish_ns = messages["publish_ns"]
    came = messages["arrival_ns" if of_driver else "rmw_publish_ns"]
    left = messages["read_ns" if of_driver else "callback_start_ns"]
    other = publish_ns if of_driver else messages["rmw_take_ns"]
    arrival = _period(np.where(came != NONE, came, publish_ns))
    service = _period(np.where(left != NONE, left, other))
    slower = arrival and service and service >= SLOWER * arrival
    return (arrival, service) if slower else None


def _backlog(
    hop: int, layer: str, messages: Rows, growth: float, periods: tuple[float, float]
) -> Backlog:
    of_driver = layer == DRIVER_QUEUE.name
    work = messages["callback_ns"][messages.there("callback_ns")]
    node = messages.words("publisher_node" if of_driver else "subscription_node").at(0)
    known = None if of_driver or not len(work) else float(np.median(work))
    return Backlog(hop, layer, str(node), growth, *periods, known)


def _period(instants: Ints) -> float:
    """Mean time between instants, NONE left out; 0 for fewer than two."""
    known = np.unique(instants[instants != NONE])
    return float(known[-1] - known[0]) / (len(known) - 1) if len(known) > 1 else 0.0
