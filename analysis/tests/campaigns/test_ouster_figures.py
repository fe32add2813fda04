# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The Ouster campaign's raw data give its printed tables, and show where those are wrong."""

from __future__ import annotations

from decimal import ROUND_DOWN, Decimal
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest

from strata.stats.dependence import autocorrelation, effective_count, is_dependent
from strata.stats.intervals import bootstrap_interval, interval, mean_interval, quantile_interval
from strata.stats.periods import grid_losses, jitter, periods
from strata.stats.shift import shift
from strata.stats.summary import describe

DATA = Path(__file__).parent / "data"
PUBLISHED = Path(__file__).parents[3] / "trace_configs/campaigns/published/ouster-test-cases.csv"
FILES = {1: "2048x10", 2: "512x10", 3: "1024x10", 4: "1024x10", 5: "1024x10"}
NAMES = {"median": "p50"}
SCAN_NS = 100_000_000

# What is printed wrong: (test case, series, statistic) -> (printed, right to as many digits).
CUT = {
    (2, "msg_stamp", "median"): ("99.99", "100.00"),
    (2, "msg_stamp", "mean"): ("99.99", "100.00"),
    (2, "recv_stamp", "min"): ("81.97", "81.98"),
    (2, "msg_stamp", "min"): ("99.67", "99.68"),
    (3, "msg_stamp", "median"): ("99.99", "100.00"),
    (4, "recv_stamp", "mean"): ("99.999", "100.000"),
    (4, "msg_stamp", "mean"): ("100.000", "100.001"),
    (5, "msg_stamp", "median"): ("99.99", "100.00"),
}
MISCOPIED = {
    (3, "recv_stamp", "max"): ("131.823", "131.822"),
    (4, "msg_stamp", "max"): ("102.289", "102.389"),
}
WRONG = CUT | MISCOPIED


class Stamps(NamedTuple):
    received: np.ndarray
    sent: np.ndarray

    @property
    def latency(self) -> np.ndarray:
        return self.received - self.sent


@cache
def stamps(case: int) -> Stamps:
    frame = pd.read_csv(DATA / f"tc-0{case}-{FILES[case]}.csv.xz")
    return Stamps(frame["recv_stamp"].to_numpy(), frame["msg_stamp"].to_numpy())


def series(case: int, name: str) -> np.ndarray:
    of_case = stamps(case)
    if name == "End-to-end Latency":
        return of_case.latency
    return periods(of_case.received if name == "recv_stamp" else of_case.sent)


def published() -> list[tuple[int, str, str, str]]:
    frame = pd.read_csv(PUBLISHED, dtype={"value_ms": str})
    return list(frame.itertuples(index=False, name=None))


@pytest.mark.parametrize(("case", "name", "statistic", "printed"), published())
def test_a_printed_figure_is_reproduced_to_its_last_digit_or_is_known_to_be_wrong(
    case: int, name: str, statistic: str, printed: str
) -> None:
    value = describe(series(case, name))[NAMES.get(statistic, statistic)]
    assert value is not None
    if statistic == "count":
        assert value == int(printed)
        return
    in_ms = Decimal(repr(value / 1e6))
    right = in_ms.quantize(Decimal(printed))
    was, corrected = WRONG.get((case, name, statistic), (printed, printed))
    assert was == printed
    assert right == Decimal(corrected)
    if (case, name, statistic) in CUT:
        assert in_ms.quantize(Decimal(printed), ROUND_DOWN) == Decimal(printed)


def test_the_first_test_case_lost_scans() -> None:
    """81 of 1081 by the sensor's stamps; median and MAD of the period do not show it."""
    lost = grid_losses(stamps(1).sent, SCAN_NS)
    assert (lost.expected, lost.received, lost.lost) == (1081, 1000, 81)
    assert lost.share == pytest.approx(0.0749, abs=5e-5)
    assert lost.on_grid == pytest.approx(0.4975, abs=5e-5)
    # A scan is stamped by its first packet that came: without it the stamp is off the grid.
    assert lost.crowded == 120


def test_by_the_receivers_clock_more_are_missing_as_the_queue_still_grew() -> None:
    of_case = stamps(1)
    elapsed = int(of_case.received[-1] - of_case.received[0])
    assert 1 - len(of_case.received) / (elapsed / SCAN_NS) == pytest.approx(0.0766, abs=5e-5)
    grown = int(of_case.latency[-1] - of_case.latency[0])
    assert grown == elapsed - int(of_case.sent[-1] - of_case.sent[0])
    assert grown / SCAN_NS == pytest.approx(2.84, abs=0.005)


@pytest.mark.parametrize("case", [2, 3, 4, 5])
def test_the_other_test_cases_lost_none(case: int) -> None:
    lost = grid_losses(stamps(case).sent, SCAN_NS)
    assert (lost.lost, lost.gaps, lost.crowded) == (0, 0, 0)
    assert lost.on_grid > 0.99


def test_the_sensors_side_of_the_first_test_case_is_not_the_steadier_one() -> None:
    """The original says "much more stable": by the MAD. The deviation says the opposite."""
    sent, received = describe(series(1, "msg_stamp")), describe(series(1, "recv_stamp"))
    assert sent["mad"] < received["mad"]
    assert sent["std"] > received["std"]


def test_what_the_original_calls_jitter_is_the_period() -> None:
    of_period = series(2, "msg_stamp")
    assert np.median(of_period) == pytest.approx(SCAN_NS, rel=1e-4)
    assert np.median(jitter(of_period, SCAN_NS)) / 1e6 == pytest.approx(0.0430, abs=1e-4)


def test_latencies_of_the_first_three_hold_the_sweep() -> None:
    """They are a whole sweep and more above those whose stamp is made at its end."""
    for case in (2, 3):
        assert stamps(case).latency.min() > SCAN_NS
    for case in (4, 5):
        assert stamps(case).latency.max() < SCAN_NS / 2


def test_latencies_that_follow_each_other_are_not_independent() -> None:
    lag_1 = {case: autocorrelation(stamps(case).latency, 1)[1] for case in FILES}
    assert lag_1 == pytest.approx({1: 0.29, 2: 0.06, 3: -0.54, 4: -0.53, 5: -0.28}, abs=0.01)
    # A full queue makes a mean less sure, a beat makes it surer.
    assert effective_count(stamps(1).latency) < 250
    assert effective_count(stamps(4).latency) > 2500
    assert [case for case in FILES if is_dependent(stamps(case).latency)] == [1]


def test_the_interval_of_the_first_mean_is_twice_as_wide_as_is_thought() -> None:
    latency = stamps(1).latency / 1e6
    naive, ours = mean_interval(latency), interval(latency, "mean", 0.95, seed=1)
    assert ours.method.startswith("circular block bootstrap")
    assert (ours.high - ours.low) > 2 * (naive.high - naive.low)
    assert (round(naive.low, 1), round(naive.high, 1)) == (1441.4, 1449.5)
    assert ours.low == pytest.approx(1435.8, abs=1.5)
    assert ours.high == pytest.approx(1455.8, abs=1.5)


@pytest.mark.parametrize(
    ("case", "bounds", "resampled"),
    [
        (4, (26.9655, 26.1947, 28.2392), (26.4, 27.9)),
        (5, (18.1643, 17.0087, 18.2831), (17.1, 18.3)),
    ],
)
def test_medians_of_the_fourth_and_fifth(
    case: int, bounds: tuple[float, float, float], resampled: tuple[float, float]
) -> None:
    """Order statistics, too wide here as the latencies swing; a block bootstrap is narrower."""
    latency = stamps(case).latency / 1e6
    ours = interval(latency, "p50", 0.95, seed=1)
    assert ours.method == "order statistics"
    assert (ours.estimate, ours.low, ours.high) == pytest.approx(bounds, abs=5e-5)
    assert ours.coverage == pytest.approx(0.9537, abs=5e-5)
    assert ours.effective_count > 1200
    assert ours.low == quantile_interval(latency, 0.5).low
    blocks = bootstrap_interval(latency, "p50", 0.95, seed=1)
    assert (blocks.low, blocks.high) == pytest.approx(resampled, abs=0.15)


def test_the_fifth_test_case_is_faster_than_the_fourth() -> None:
    found = shift(stamps(4).latency, stamps(5).latency, seed=1)
    assert found.estimate == -7_761_680
    assert (found.low, found.high) == (-8_372_497, -6_911_456)
    assert found.p == pytest.approx(4.25e-70, rel=0.01)
    assert found.effect == pytest.approx(-0.457, abs=5e-4)
    assert found.quantiles["p99"].high < 0
