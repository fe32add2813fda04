# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The statistics of the performance node; needs no ROS."""

from __future__ import annotations

import numpy as np

from lidar_pipeline.perf.sample_statistics import (
    describe,
    lost_by_sequence,
    lost_by_stamp,
    summarize,
)


def test_the_figures_are_those_of_their_definitions() -> None:
    found = describe(np.array([1, 2, 3, 4, 100], np.int64))
    assert (found["count"], found["median"], found["mad"]) == (5, 3, 1)
    assert (found["min"], found["p90"], found["p99"], found["max"]) == (1, 100, 100, 100)
    assert found["mean"] == 22.0
    assert abs(found["std"] - np.std([1, 2, 3, 4, 100], ddof=1)) < 1e-12
    assert describe(np.zeros(0, np.int64)) == {"count": 0}


def test_the_interval_is_wider_for_samples_that_depend_on_each_other() -> None:
    random = np.random.default_rng(3)
    steps = random.normal(0, 1000, 2000)
    walk = np.convolve(steps, np.ones(10), "valid").astype(np.int64) + 10**6
    shuffled = random.permutation(walk)
    widths = [np.ptp(describe(values)["median_ci95"]) for values in (walk, shuffled)]
    assert widths[0] > 1.5 * widths[1]
    assert describe(walk)["lag1"] > 0.8 > abs(describe(shuffled)["lag1"])


def test_losses_are_gaps_of_numbers_or_of_stamps() -> None:
    assert lost_by_sequence(np.array([4, 5, 8, 9])) == 2
    assert lost_by_sequence(np.array([0, 0, 0])) is None
    stamps = np.array([0, 100, 200, 500, 600, 702], np.int64)
    assert lost_by_stamp(stamps) == 2
    assert lost_by_stamp(stamps[:2]) is None


def test_periods_are_one_fewer_than_samples_and_the_warm_up_is_left_out() -> None:
    stamps = np.arange(10, dtype=np.int64) * 100
    received = stamps + 7
    received[0] += 1000
    found = summarize(received, stamps, np.arange(1, 11), warm_up=1)
    assert (found["samples"], found["warm_up"]) == (9, 1)
    assert found["latency_ns"]["max"] == found["latency_ns"]["median"] == 7
    assert found["reception_period_ns"]["count"] == found["stamp_period_ns"]["count"] == 8
    assert found["stamp_period_ns"]["mad"] == 0
