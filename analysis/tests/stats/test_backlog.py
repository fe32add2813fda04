# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Queues that grow and queues that only vary: simulated by Lindley's recursion."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau, theilslopes
from table_rows import rows_of
from verdict_scene import Ints, judge

from strata.schema.rows import Coded
from strata.schema.tables import CHAIN_SEGMENTS, EXECUTOR_BLOCKERS, MESSAGES
from strata.stats.backlog import growth_per_s, tau
from strata.stats.causes import ITSELF, Evidence, find_causes
from strata.stats.layer_places import LayerPlaces
from strata.symbols import shorten_place

WORK = "work [/t0] (/n1)"


def waits(service: Ints, period: Ints) -> Ints:
    """How long each message waits for those before it (Lindley, 1952)."""
    steps = np.concatenate([[0], service[:-1] - period[1:]]).cumsum()
    return steps - np.minimum.accumulate(steps)


def queue(
    count: int, work_ns: float, period_ns: int, noise: float, seed: int = 1
) -> dict[tuple[int, str, str], Ints]:
    """One executor whose callback takes about `work_ns`, and a message each `period_ns`."""
    random = np.random.default_rng(seed)
    work = (work_ns * random.lognormal(0, noise, count)).astype(np.int64)
    wait = waits(work, np.full(count, period_ns))
    return {(0, "executor wait", "/n1"): wait + 50_000, (0, "callback", WORK): work}


def test_what_cannot_keep_up_falls_behind() -> None:
    found = judge(queue(100, 30e6, 25_000_000, 0.02))
    assert found.text.startswith("/n1 falls behind: the latency grows by ")
    assert "per second, with work of 30." in found.text
    assert "ms each 25.0 ms." in found.text
    assert "backlog" in found.reasons
    assert found.growth_ns_per_s == pytest.approx(200e6, rel=0.05)


@pytest.mark.parametrize("seed", range(10))
def test_a_busy_queue_that_keeps_up_does_not_grow(seed: int) -> None:
    # 92 % busy: long waits that rise and fall slowly, as alike as those of a drift.
    found = judge(queue(400, 21e6, 25_000_000, 0.4, seed))
    assert found.growth_ns_per_s is None
    assert "falls behind" not in found.text


def test_a_queue_that_is_full_does_not_grow() -> None:
    parts = queue(400, 30e6, 25_000_000, 0.02)
    parts[0, "executor wait", "/n1"] = np.minimum(parts[0, "executor wait", "/n1"], 250_000_000)
    assert judge(parts).growth_ns_per_s is None


def test_latency_that_grows_elsewhere_is_no_queue() -> None:
    work = np.linspace(1e6, 50e6, 200).astype(np.int64)
    parts = {(0, "executor wait", "/n1"): np.full(200, 50_000), (0, "callback", WORK): work}
    assert judge(parts, period_ns=100_000_000).growth_ns_per_s is None


def test_a_drivers_queue_grows_too() -> None:
    parts = queue(100, 120e6, 100_000_000, 0.01)
    parts[0, "driver queue", "UDP port 7502 (/n0)"] = parts.pop((0, "executor wait", "/n1"))
    parts[0, "callback", WORK] = np.full(100, 1_000_000)
    found = judge(parts, period_ns=100_000_000)
    assert found.text.startswith("/n0 falls behind: the latency grows by ")
    assert "A message comes each 100 ms, and it reads one each 120 ms (driver queue)." in found.text


@pytest.mark.parametrize("values", [50, 1_000_000])
def test_the_correlation_of_ranks_is_that_of_scipy(values: int) -> None:
    """With many equal values, and without."""
    random = np.random.default_rng(1)
    times = np.sort(random.integers(0, values, 300)).astype(np.float64)
    latency = times + random.integers(0, values, 300)
    assert tau(times, latency) == pytest.approx(kendalltau(times, latency).statistic, rel=1e-12)


def test_the_slope_is_that_of_scipy() -> None:
    random = np.random.default_rng(2)
    times = np.sort(random.integers(0, 100, 250)).astype(np.float64)
    values = 3 * times + random.normal(0, 50, 250)
    assert growth_per_s(times, values) == theilslopes(values, times).slope


def test_the_slope_is_not_that_of_outliers() -> None:
    times = np.arange(100.0)
    values = 5 * times
    values[90:] += 1e6
    assert growth_per_s(times, values) == pytest.approx(5, rel=0.3)


def test_a_callback_that_waits_for_itself_is_told_from_others() -> None:
    segments = rows_of(
        CHAIN_SEGMENTS,
        pd.DataFrame(
            {
                "chain_id": 0,
                "chain_instance_id": [0],
                "hop": 0,
                "message_id": [0],
                "layer": "executor wait",
                "duration_ns": [100],
            }
        ),
    )
    blockers = rows_of(
        EXECUTOR_BLOCKERS,
        pd.DataFrame(
            {
                "message_id": [0, 0],
                "callback_id": [4, 5],
                "work": "callback",
                "duration_ns": [60, 30],
            }
        ),
    )
    messages = rows_of(
        MESSAGES,
        pd.DataFrame(
            {
                "message_id": [0],
                "callback_id": pd.array([4], "Int64"),
                "topic": "/t",
                "subscription_node": "/n",
                "reader_silent": False,
                "reader_silent_ns": 0,
                "resend_ns": pd.array([None], "Int64"),
                "confidence": "exact",
            }
        ),
    )
    places = LayerPlaces.of_texts({"executor wait": ["/n"]})
    described = Coded.of([None, None, None, None, "f(int) [/t] (/n)", "g() [/u] (/n)"])
    causes = find_causes(segments, Evidence(places, messages, blockers, described))
    found = dict(zip(causes.where.texts(), causes.duration_ns, strict=True))
    assert found == {"/n": 10, f"{ITSELF}f(int) [/t] (/n)": 60, "behind g() [/u] (/n)": 30}
    assert shorten_place(f"{ITSELF}f(int) [/t] (/n)") == "behind itself, f [/t] (/n)"
