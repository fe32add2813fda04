# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""How large a planted fault is: by what the programs measured, or by what was known before."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from case import Truth

Magnitude = Callable[[Truth], float]
Count = Callable[[Truth], int]


def median_of(node: str, what: str, topic: str | None = None) -> Magnitude:
    """Plant the median of what a node itself measured."""

    def magnitude(truth: Truth) -> float:
        return float(np.median(truth.durations(node, what, topic)))

    return magnitude


def mean_of(node: str, what: str, topic: str | None = None) -> Magnitude:
    """Plant the mean of what a node itself measured."""

    def magnitude(truth: Truth) -> float:
        return float(np.mean(truth.durations(node, what, topic)))

    return magnitude


def slowest_of(node: str, what: str, share: float) -> Magnitude:
    """Plant the median of the longest `share` of what a node itself measured."""

    def magnitude(truth: Truth) -> float:
        found = np.sort(truth.durations(node, what))
        return float(np.median(found[-max(int(len(found) * share), 1) :]))

    return magnitude


def constant(milliseconds: float) -> Magnitude:
    """Plant a magnitude that is known beforehand."""
    return lambda _: milliseconds * 1e6


def ways_of(
    truth: Truth,
    sender: str,
    reader: str,
    topic: str,
    begin: str = "callback",
    last: str | None = None,
) -> npt.NDArray[np.int64]:
    """Return when each message was given to publish, when that returned, and when the reader began.

    A row each message that the reader got, and the chain's `last` node of it, of three instants in
    ns; `begin` is what the reader began.
    """
    ended = {row["number"] for row in truth.rows(last, "callback")} if last else None
    sent = {
        row["number"]: row
        for row in truth.rows(sender, "publish", topic)
        if ended is None or row["number"] in ended
    }
    return np.array(
        [
            [
                int(sent[row["number"]]["begin_ns"]),
                int(sent[row["number"]]["end_ns"]),
                int(row["begin_ns"]),
            ]
            for row in truth.rows(reader, begin, topic)
            if row["number"] in sent
        ],
        np.int64,
    )


def mean_way(
    sender: str,
    readers: tuple[str, ...],
    topic: str,
    begin: str = "callback",
    last: str | None = None,
) -> Magnitude:
    """Plant the mean time from when publish returned to when the readers began."""

    def magnitude(truth: Truth) -> float:
        every = [ways_of(truth, sender, each, topic, begin, last) for each in readers]
        ways = np.concatenate(every)
        return float(np.mean(ways[:, 2] - ways[:, 1]))

    return magnitude


def median_way(sender: str, reader: str, topic: str) -> Magnitude:
    """Plant the median time from when publish returned to when the reader's callback began."""

    def magnitude(truth: Truth) -> float:
        ways = ways_of(truth, sender, reader, topic)
        return float(np.median(ways[:, 2] - ways[:, 1]))

    return magnitude


def mean_sending(sender: str, reader: str, topic: str) -> Magnitude:
    """Plant the mean time in publish, as far as the message was not at the reader before."""

    def magnitude(truth: Truth) -> float:
        ways = ways_of(truth, sender, reader, topic)
        return float(np.mean(np.minimum(ways[:, 1], ways[:, 2]) - ways[:, 0]))

    return magnitude
