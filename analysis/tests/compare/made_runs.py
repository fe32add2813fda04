# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Sides of made analyses, and runs of one hop whose parts are given."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from made_analysis import Relay, make

from strata.comparison.parts import Part
from strata.comparison.runs import HOP, Measured, Run, Subject, measure_run
from strata.comparison.sides import Side
from strata.model.columns import NONE

Ints = npt.NDArray[np.int64]

ONLY_HOP = Subject(HOP, "/t", "/a -> /b")


def side(name: str, *relays: Relay) -> Side:
    """A side of one run for each relay."""
    return Side(
        name, tuple(measure_run(make(relay), f"{name}{at}") for at, relay in enumerate(relays))
    )


def hop_side(*runs: dict[Part, Ints], lost: int = 0, unknown: int = 0, unseen: int = 0) -> Side:
    """A side whose runs have one hop, cut into the given parts."""
    missing = (lost, unknown, unseen)
    return Side(
        "made", tuple(Run(f"r{at}", "/r", _hop(run, *missing)) for at, run in enumerate(runs))
    )


def _hop(parts: dict[Part, Ints], lost: int, *missing: int) -> dict[Subject, Measured]:
    latency = sum(np.where(ns == NONE, 0, ns) for ns in parts.values())
    count = len(latency)
    return {ONLY_HOP: Measured(latency, parts, latency, count + lost, lost, *missing)}


def durations(random: np.random.Generator, count: int = 300, median: int = 100_000) -> Ints:
    """Log-normal, as latencies are."""
    return (median * random.lognormal(0, 0.3, count)).astype(np.int64)
