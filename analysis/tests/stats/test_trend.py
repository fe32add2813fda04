# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Trends: intervals hold what numpy says of them; planted changes are found, and noise is not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_analysis import BEGIN_NS, Relay, make

import strata
from strata.schema import tables
from strata.schema.rows import Coded, Floats, Ints, Rows
from strata.stats.chain_drifts import ALPHA, drift_rows
from strata.stats.segments import Segments
from strata.stats.trend import (
    MIN_SPAN_NS,
    MOST_INTERVALS,
    WIDTHS_S,
    find_intervals,
    layer_trend_rows,
    trend_rows,
)

S = 1_000_000_000
HOUR = 3_600 * S
MEDIAN_NS = 4_000_000


def instances_of(
    begin_ns: Ints,
    latency_ns: Ints,
    chain: Ints | None = None,
    start_up: Any = None,
    unsynchronised: Any = None,
) -> Rows:
    count = len(begin_ns)
    none = np.zeros(count, bool)
    return Rows(
        tables.CHAIN_INSTANCES,
        {
            "chain_instance_id": np.arange(count),
            "chain_id": np.zeros(count, np.int64) if chain is None else chain,
            "message_id": np.arange(count),
            "begin_ns": begin_ns,
            "end_ns": begin_ns + latency_ns,
            "latency_ns": latency_ns,
            "critical": ~none,
            "start_up": none if start_up is None else start_up,
            "unsynchronised": none if unsynchronised is None else unsynchronised,
        },
    )


def chains_of(medians: list[float]) -> Rows:
    filler = {"int64": 1, "float64": 1.0, "string": "x", "bool": False}
    rows = [
        {column.name: filler[column.dtype] for column in tables.CHAINS.columns}
        | {"chain_id": at, "latency_p50_ns": median}
        for at, median in enumerate(medians)
    ]
    return Rows.of_records(tables.CHAINS, rows)


def layers_of(names: list[str]) -> Rows:
    filler = {"int64": 0, "float64": 1.0, "string": "x", "bool": False}
    rows = [
        {column.name: filler[column.dtype] for column in tables.CHAIN_LAYER_STATS.columns}
        | {"position": at, "layer": name, "where": f"/{at}"}
        for at, name in enumerate(names)
    ]
    return Rows.of_records(tables.CHAIN_LAYER_STATS, rows)


def segments_of(durations: list[Ints]) -> Segments:
    count, layers = len(durations[0]), len(durations)
    position = np.tile(np.arange(layers), count)
    return Segments.of_rows(
        Rows(
            tables.CHAIN_SEGMENTS,
            {
                "chain_instance_id": np.repeat(np.arange(count), layers),
                "chain_id": np.zeros(count * layers, np.int64),
                "position": position,
                "hop": np.zeros(count * layers, np.int64),
                "message_id": np.repeat(np.arange(count), layers),
                "layer": Coded(position, tuple(f"l{at}" for at in range(layers))),
                "duration_ns": np.stack(durations, axis=1).ravel(),
            },
        )
    )


def drift_of(latency_ns: Floats, span_ns: int = 6 * HOUR) -> dict[str, Any]:
    """What is found of a chain of two layers, of which the second takes all that changes."""
    count = len(latency_ns)
    begin_ns = BEGIN_NS + np.arange(count) * (span_ns // count)
    first = np.full(count, 1_000_000)
    latency = latency_ns.astype(np.int64)
    instances = instances_of(begin_ns, latency)
    intervals = find_intervals(instances)
    trend = trend_rows(intervals, instances)
    layers = layers_of(["l0", "l1"])
    of_layers = layer_trend_rows(intervals, trend, layers, segments_of([first, latency - first]))
    rows = drift_rows(trend, of_layers, chains_of([float(np.median(latency))]), layers)
    assert len(rows) == 1
    return rows.record(0)


def noise(seed: int, count: int = 10_800) -> Floats:
    return np.asarray(MEDIAN_NS * np.random.default_rng(seed).lognormal(0, 0.3, count))


messages = st.lists(
    st.tuples(
        st.integers(0, 100 * HOUR),
        st.integers(-(10**6), 10**9),
        st.integers(0, 2),
        st.booleans(),
        st.booleans(),
    ),
    min_size=1,
    max_size=60,
)


@given(messages, st.integers(0, 10**6))
def test_every_interval_has_the_statistics_of_its_messages(
    rows: list[tuple[int, int, int, bool, bool]], begin: int
) -> None:
    begin_ns, latency, chain, early, apart = map(np.array, zip(*rows, strict=True))
    begin_ns = begin_ns + begin * S
    instances = instances_of(begin_ns, latency, chain, early, apart)
    intervals = find_intervals(instances)
    trend = trend_rows(intervals, instances)
    counted = ~early & ~apart
    span = np.ptp(begin_ns[counted]) if counted.any() else 0
    if span < MIN_SPAN_NS:
        assert len(trend) == 0
        return
    assert trend["count"].sum() == counted.sum()
    assert intervals.count <= MOST_INTERVALS
    keys = list(zip(trend["chain_id"].tolist(), trend["begin_ns"].tolist(), strict=True))
    assert keys == sorted(set(keys))
    for row in trend.records():
        own = counted & (chain == row["chain_id"])
        own &= (begin_ns >= row["begin_ns"]) & (begin_ns < row["end_ns"])
        values = latency[own]
        assert row["count"] == len(values)
        for name, value in (
            ("p50", np.median(values)),
            ("p99", np.quantile(values, 0.99)),
            ("max", values.max()),
            ("mean", values.mean()),
        ):
            assert row[f"latency_{name}_ns"] == pytest.approx(value, rel=1e-12, abs=1e-3)


@given(st.integers(0, 10**10), st.integers(MIN_SPAN_NS // S, 10**9))
def test_intervals_are_the_narrowest_that_suffice(first_s: int, span_s: int) -> None:
    begin_ns = np.array([first_s, first_s + span_s]) * S
    found = find_intervals(instances_of(begin_ns, np.ones(2, np.int64)))
    assert found.begin_ns % found.width_ns == 0
    assert found.begin_ns <= begin_ns[0] < found.begin_ns + found.width_ns
    assert begin_ns[1] // found.width_ns - begin_ns[0] // found.width_ns + 1 == found.count
    assert found.count <= MOST_INTERVALS
    narrower = [width for width in WIDTHS_S if width * S < found.width_ns]
    for width in narrower:
        assert begin_ns[1] // (width * S) - begin_ns[0] // (width * S) + 1 > MOST_INTERVALS
    assert found.width_ns // S in WIDTHS_S or found.width_ns % (WIDTHS_S[-1] * S) == 0


@pytest.mark.parametrize(("span_ns", "there"), [(MIN_SPAN_NS - 1, False), (MIN_SPAN_NS, True)])
def test_a_recording_below_two_minutes_has_no_trend(span_ns: int, there: bool) -> None:
    begin_ns = BEGIN_NS + np.array([0, span_ns])
    instances = instances_of(begin_ns, np.ones(2, np.int64))
    assert bool(len(trend_rows(find_intervals(instances), instances))) is there


def test_layers_add_up_to_the_mean_of_their_interval() -> None:
    analysis = make(Relay(hops=3, messages=2_000, period_ns=S // 2))
    trend, layers = analysis.trend, analysis.layer_trend
    sums = layers.groupby("begin_ns")["mean_ns"].sum()
    np.testing.assert_allclose(sums, trend["latency_mean_ns"], rtol=1e-12)
    assert trend["count"].sum() == 2_000
    positions = analysis.chain_layers[["position", "hop", "layer"]]
    first = layers[layers["begin_ns"] == layers["begin_ns"].min()]
    assert first[["position", "hop", "layer"]].astype(str).values.tolist() == (
        positions.astype(str).values.tolist()
    )


def test_a_message_without_a_layer_counts_with_nothing() -> None:
    begin_ns = BEGIN_NS // (10 * S) * (10 * S) + np.array([0, 1, 200 * S])
    instances = instances_of(begin_ns, np.array([10, 30, 5]))
    intervals = find_intervals(instances)
    trend = trend_rows(intervals, instances)
    segments = segments_of([np.array([10, 30, 5]), np.array([0, 10, 0])]).all()
    segments = segments.take(segments["duration_ns"] > 0)
    rows = layer_trend_rows(intervals, trend, layers_of(["l0", "l1"]), Segments.of_rows(segments))
    assert rows["mean_ns"].tolist() == [20, 5, 5, 0]


def test_the_trend_of_a_recording_is_of_all_its_chains(
    sample: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("strata.stats.trend.MIN_SPAN_NS", S)
    analysis = strata.analyze(sample("fast_fusion"))
    instances, trend = analysis.chain_instances, analysis.trend
    counted = instances[~instances["start_up"] & ~instances["unsynchronised"]]
    assert len(trend) > analysis.chains["chain_id"].nunique()
    assert trend.groupby("chain_id")["count"].sum().to_dict() == (
        counted.groupby("chain_id").size().to_dict()
    )
    sums = analysis.layer_trend.groupby(["chain_id", "begin_ns"])["mean_ns"].sum()
    means = trend.set_index(["chain_id", "begin_ns"])["latency_mean_ns"]
    np.testing.assert_allclose(sums.loc[means.index], means, rtol=1e-9)


def test_parts_of_segments_are_all_of_them() -> None:
    analysis = make(Relay(hops=2, messages=300, period_ns=S))
    rows = Segments.of_rows(analysis.rows("chain_segments"))
    assert sum(len(part) for part in rows.parts()) == len(rows.all())


@pytest.mark.parametrize("per_hour", [1_200_000, -400_000])
@pytest.mark.parametrize("seed", range(3))
def test_a_planted_drift_is_found_with_its_slope_and_layer(per_hour: int, seed: int) -> None:
    hours = np.linspace(0, 6, 10_800)
    found = drift_of(noise(seed) + per_hour * hours)
    assert (found["changed"], found["kind"], found["step_ns"]) == (True, "drift", None)
    width = found["high_ns_per_hour"] - found["low_ns_per_hour"]
    # 95 % intervals: one in twenty misses its slope, by little.
    assert abs(found["slope_ns_per_hour"] - per_hour) < width
    assert found["change_ns"] == pytest.approx(6 * per_hour, rel=0.1)
    assert found["from_ns"] == pytest.approx(MEDIAN_NS, rel=0.05)
    assert found["to_ns"] == pytest.approx(MEDIAN_NS + 6 * per_hour, rel=0.05)
    assert (found["layer"], found["where"], found["position"]) == ("l1", "/1", 1)
    assert found["layer_share"] == pytest.approx(1, abs=0.01)
    assert found["layer_slope_ns_per_hour"] == pytest.approx(per_hour, rel=0.2)


def test_intervals_of_the_slope_hold_it_as_often_as_they_say() -> None:
    hours = np.linspace(0, 6, 10_800)
    held = 0
    for seed in range(60):
        found = drift_of(noise(seed) + 500_000 * hours)
        held += found["low_ns_per_hour"] <= 500_000 <= found["high_ns_per_hour"]
    assert held >= 52


@pytest.mark.parametrize("place", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("step", [1_200_000, -1_200_000])
def test_a_planted_step_is_found_as_a_step_at_its_time(place: float, step: int) -> None:
    at = int(10_800 * place)
    found = drift_of(noise(5) + np.where(np.arange(10_800) >= at, step, 0))
    assert (found["changed"], found["kind"]) == (True, "step")
    # To the interval of 2 minutes.
    assert abs(found["step_ns"] - (BEGIN_NS + at * 2 * S)) <= 120 * S
    assert found["change_ns"] == pytest.approx(step, rel=0.1)
    assert found["share"] == pytest.approx(step / MEDIAN_NS, rel=0.15)
    assert found["layer"] == "l1"


def test_noise_is_no_change() -> None:
    found = [drift_of(noise(seed)) for seed in range(50)]
    assert sum(row["changed"] for row in found) <= 1
    assert sum(row["p"] < ALPHA for row in found) <= 2
    assert all(row["kind"] is None for row in found if not row["changed"])


@pytest.mark.parametrize("alike", [0.5, 0.9])
def test_slow_waves_of_noise_are_seldom_a_change(alike: float) -> None:
    changed = 0
    for seed in range(100):
        random = np.random.default_rng(seed)
        waves, steps = np.zeros(181), random.normal(0, 200_000, 181)
        for at in range(1, 181):
            waves[at] = alike * waves[at - 1] + steps[at]
        changed += drift_of(noise(seed) + np.repeat(waves, 60)[:10_800])["changed"]
    assert changed <= 5


def test_a_change_that_is_sure_and_does_not_matter_is_not_reported() -> None:
    # 3 % of the latency, with hardly any noise.
    found = drift_of(np.linspace(MEDIAN_NS, 1.03 * MEDIAN_NS, 10_800))
    assert found["p"] < ALPHA
    assert not found["changed"]
    assert found["layer"] is None


def test_one_slow_interval_at_the_end_is_no_step() -> None:
    latency = noise(1)
    latency[-60:] *= 20
    assert drift_of(latency)["kind"] != "step"


def test_latency_that_never_varies_does_not_change() -> None:
    found = drift_of(np.full(10_800, 4_000_000.0))
    assert not found["changed"]
    assert found["change_ns"] == pytest.approx(0, abs=1)


def test_chains_with_few_messages_are_not_judged() -> None:
    begin_ns = BEGIN_NS + np.arange(360) * 60 * S
    instances = instances_of(begin_ns, np.full(360, 1_000))
    intervals = find_intervals(instances)
    trend = trend_rows(intervals, instances)
    layers = layers_of(["l0"])
    of_layers = layer_trend_rows(intervals, trend, layers, segments_of([np.full(360, 1_000)]))
    assert trend["count"].max() < 5
    assert len(drift_rows(trend, of_layers, chains_of([1_000.0]), layers)) == 0


def test_p_is_corrected_for_the_number_of_chains() -> None:
    count, begin_ns = 5_400, BEGIN_NS + np.arange(5_400) * 4 * S
    latency = noise(3, count) + np.linspace(0, 150_000, count)

    def p(chains: int) -> float:
        values = np.concatenate([latency, *(noise(9, count) for _ in range(chains - 1))])
        chain = np.repeat(np.arange(chains), count)
        rows = instances_of(np.tile(begin_ns, chains), values.astype(np.int64), chain)
        trend = trend_rows(find_intervals(rows), rows)
        none = Rows.none(tables.LAYER_TREND), Rows.none(tables.CHAIN_LAYER_STATS)
        found = drift_rows(trend, none[0], chains_of([MEDIAN_NS] * chains), none[1])
        return float(found["p"][0])

    assert p(4) == pytest.approx(min(1.0, 4 * p(1)))
