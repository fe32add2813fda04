# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Modes of distributions whose truth is known, and of a chain that nodes stamped themselves."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from strata.analysis import Analysis
from strata.stats.mode_tables import mode_rows
from strata.stats.modes import ALPHA, MAX_MODES, MIN_COUNT, MIN_SHARE, find_modes

Draw = Callable[[np.random.Generator, int], np.ndarray]


def with_outliers(values: np.ndarray, random: np.random.Generator, share: float) -> np.ndarray:
    far = random.random(len(values)) < share
    return np.where(far, values * random.uniform(3, 300, len(values)), values)


def correlated(random: np.random.Generator, count: int) -> np.ndarray:
    """Each value is close to the one before, as latencies of a busy machine are."""
    logs = np.zeros(count)
    for at, noise in enumerate(random.normal(0, 1, count)):
        logs[at] = 0.9 * logs[at - 1] + np.sqrt(1 - 0.81) * noise
    return 1e5 * np.exp(0.3 * logs)


ONE_MODE: dict[str, Draw] = {
    "normal": lambda random, count: random.normal(1e6, 1e5, count),
    "log-normal": lambda random, count: 1e5 * random.lognormal(0, 0.5, count),
    "wide log-normal": lambda random, count: 1e5 * random.lognormal(0, 2.0, count),
    "exponential": lambda random, count: random.exponential(1e5, count),
    "exponential above a floor": lambda random, count: 5e4 + random.exponential(1e5, count),
    "uniform": lambda random, count: random.uniform(1e5, 3e5, count),
    "uniform from zero": lambda random, count: random.uniform(0, 3e7, count),
    "power law": lambda random, count: 1e5 * (1 + random.pareto(1.2, count)),
    "2 % outliers": lambda random, count: with_outliers(
        1e5 * random.lognormal(0, 0.2, count), random, 0.02
    ),
    "rounded normal": lambda random, count: np.round(random.normal(10, 3, count)) * 1e4,
    "rounded exponential": lambda random, count: np.round(random.exponential(3, count)) * 1e3,
    "correlated": correlated,
}


@pytest.mark.parametrize("count", [MIN_COUNT, 300, 3_000])
@pytest.mark.parametrize("name", ONE_MODE)
def test_one_mode_is_not_taken_for_more(name: str, count: int) -> None:
    random = np.random.default_rng(20_261_121)
    drawn = [np.maximum(ONE_MODE[name](random, count), 0).astype(np.int64) for _ in range(60)]
    wrong = sum(find_modes(values).count != 1 for values in drawn)
    # The stated error rate, of which 60 draws have less than one on average.
    assert wrong <= 60 * ALPHA + 1


@pytest.mark.parametrize("count", [500, 2_000, 60_000])
@pytest.mark.parametrize("slow_share", [0.1, 0.34, 0.5, 0.9])
@pytest.mark.parametrize(("slow_ns", "slow_width"), [(3e5, 0.1), (8e5, 0.1), (3e7, 0.5)])
def test_two_modes_are_found_with_their_shares_and_medians(
    count: int, slow_share: float, slow_ns: float, slow_width: float
) -> None:
    random = np.random.default_rng(count)
    slow = random.random(count) < slow_share
    width = np.where(slow, slow_width, 0.1)
    values = np.where(slow, slow_ns, 1.5e5) * np.exp(width * random.normal(0, 1, count))
    modes = find_modes(values.astype(np.int64))
    assert modes.count == 2
    assert (modes.number(values.astype(np.int64)) == slow).mean() > 0.99
    fast, other = mode_rows(modes, values.astype(np.int64))
    assert other["share"] == pytest.approx(slow.mean(), abs=0.01)
    assert fast["p50_ns"] == pytest.approx(np.median(values[~slow]), rel=0.02)
    assert other["p50_ns"] == pytest.approx(np.median(values[slow]), rel=0.02)


def test_a_wait_behind_another_callback_is_one_wide_mode() -> None:
    # What does not wait takes 130 us; what waits, the rest of a callback of 30 ms.
    random = np.random.default_rng(3)
    fast = 1.3e5 * random.lognormal(0, 0.1, 1_700)
    waited = 1.3e5 + random.uniform(0, 3e7, 300)
    modes = find_modes(np.concatenate([fast, waited]).astype(np.int64))
    assert modes.count == 2
    assert 1.6e5 < modes.bounds_ns[0] < 2e6


def test_three_and_four_modes_are_told_apart_but_no_more() -> None:
    random = np.random.default_rng(5)
    for count in (3, 4, 6):
        centre = 1e5 * 3.0 ** random.integers(0, count, 4_000)
        values = (centre * random.lognormal(0, 0.1, 4_000)).astype(np.int64)
        assert find_modes(values).count == min(count, MAX_MODES)


@pytest.mark.parametrize(
    ("slow_ns", "slow_share", "why"),
    [(8e5, 0.8 * MIN_SHARE, "too small"), (1.2e5, 0.5, "too close"), (1.5e5, 0.5, "no valley")],
)
def test_what_is_not_worth_a_name_is_not_named(slow_ns: float, slow_share: float, why: str) -> None:
    random = np.random.default_rng(9)
    slow = random.random(30_000) < slow_share
    width = 0.13 if why == "no valley" else 0.02
    values = np.where(slow, slow_ns, 1e5) * random.lognormal(0, width, 30_000)
    modes = find_modes(values.astype(np.int64))
    assert modes.p_value is not None
    assert modes.p_value < ALPHA, "the dip alone would tell of two"
    assert modes.count == 1


def test_a_small_mode_is_found_though_the_dip_tells_nothing() -> None:
    random = np.random.default_rng(2)
    slow = random.random(1_000) < 0.08
    values = np.where(slow, 2.5e5, 1e5) * random.lognormal(0, 0.15, 1_000)
    modes = find_modes(values.astype(np.int64))
    assert modes.p_value is not None
    assert modes.p_value > ALPHA
    assert modes.count == 2
    assert (modes.number(values.astype(np.int64)) == slow).mean() > 0.99


def test_of_few_values_nothing_is_told() -> None:
    values = np.asarray([1_000] * 20 + [9_000] * (MIN_COUNT - 21))
    modes = find_modes(values)
    assert (modes.dip, modes.p_value, modes.count) == (None, None, None)
    assert mode_rows(modes, values) == []


def test_the_verdict_does_not_depend_on_the_unit_or_the_order() -> None:
    random = np.random.default_rng(1)
    values = np.where(random.random(900) < 0.3, 8e5, 1.5e5) * random.lognormal(0, 0.2, 900)
    values = values.astype(np.int64)
    once = find_modes(values)
    assert find_modes(np.sort(values)[::-1]) == once
    scaled = find_modes(values * 1_000)
    assert scaled.bounds_ns == tuple(1_000 * bound for bound in once.bounds_ns)


@given(
    st.lists(
        st.one_of(
            st.integers(0, 10**12), st.sampled_from([0, 1, 10, 1_000, 2_000, 10**6, 30 * 10**6])
        ),
        min_size=MIN_COUNT,
        max_size=400,
    )
)
def test_any_values_are_parted_without_remainder(numbers: list[int]) -> None:
    parted_without_remainder(np.asarray(numbers, np.int64))


@given(
    count=st.integers(MIN_COUNT, 5_000),
    least=st.integers(0, 10**16),
    quantum=st.sampled_from([1, 10, 1_000, 10**6]),
    levels=st.lists(st.sampled_from([0, 0, 1, 2, 3, 1_000, 10**6]), min_size=1, max_size=12),
)
@example(count=269, least=31_110, quantum=1, levels=[0])
@example(count=5_000, least=31_110, quantum=1, levels=[0])
@example(count=300, least=10**15, quantum=1, levels=[0, 0, 0, 0, 0, 1])
def test_quantised_values_are_parted_without_remainder(
    count: int, least: int, quantum: int, levels: list[int]
) -> None:
    # Few different values, or but one: of any spread of logarithms, and of none but rounding.
    parted_without_remainder(least + quantum * np.resize(np.asarray(levels, np.int64), count))


@pytest.mark.parametrize("centre", [10**5, 10**9, 10**12])
def test_nearly_equal_values_are_a_mode_beside_a_far_one(centre: int) -> None:
    # Too narrow for a grid over both: 250 values within 1 / 10 000 of each other.
    near = np.random.default_rng(1).integers(-5, 6, 300)
    values = np.where(np.arange(300) < 250, centre, 5 * centre) + near
    modes = find_modes(values)
    assert modes.count == 2
    assert np.bincount(modes.number(values)).tolist() == [250, 50]


def parted_without_remainder(values: np.ndarray) -> None:
    modes = find_modes(values)
    rows = mode_rows(modes, values)
    assert modes.count == max(len(rows), 1) <= MAX_MODES
    if rows:
        assert sum(row["count"] for row in rows) == len(values)  # type: ignore[misc]
        assert min(row["share"] for row in rows) >= MIN_SHARE  # type: ignore[type-var]
        ends = [(row["low_ns"], row["high_ns"]) for row in rows]
        assert ends == sorted(ends)
        assert all(before[1] < after[0] for before, after in pairwise(ends))


def test_the_modes_of_a_blocked_chain_are_those_that_its_nodes_stamped(
    analysis_of: Callable[[str], Analysis], sample: Callable[[str], Path]
) -> None:
    analysis = analysis_of("fast_blocked_st")
    chain = analysis.chains[analysis.chains["name"] == "/fast"].iloc[0]
    assert chain["modes"] == 2
    assert chain["dip_p"] < ALPHA
    fast, slow = analysis.modes[analysis.modes["chain_id"] == chain["chain_id"]].to_dict("records")
    rows = pd.read_csv(sample("fast_blocked_st") / "truth/subs.csv")
    own = rows[(rows["node"] == "subs/fast") & (rows["event"] == "cb_start")]
    late = (own["t_mono_ns"] - own["src_mono_ns"]) > 5_000_000
    assert (fast["count"], slow["count"]) == ((~late).sum(), late.sum())
    assert slow["layer"] == "executor wait"
    assert slow["where"].startswith("behind main::")
    assert slow["where"].endswith("[/slow] (/subs)")
    assert slow["slower_ns"] == pytest.approx(slow["p50_ns"] - fast["p50_ns"], rel=0.02)
    assert slow["cause_share"] > 0.95
    (other,) = analysis.chains.loc[analysis.chains["name"] == "/slow", "modes"]
    assert other == 1


def test_a_relay_of_one_process_has_two_modes_a_hop_and_none_over_processes(
    analysis_of: Callable[[str], Analysis],
) -> None:
    # Seen in histograms: 16 and 25 us where the executor runs warm and cold, on three hops of four.
    one = analysis_of("fast_relay1p_st").hops.set_index("topic")["modes"]
    assert [one[f"/chain_{hop}"] for hop in range(4)] == [1, 2, 2, 2]
    many = analysis_of("fast_relaymp_st").hops.set_index("topic")["modes"]
    assert [many[f"/chain_{hop}"] for hop in range(4)] == [1, 1, 1, 1]
