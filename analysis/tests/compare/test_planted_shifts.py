# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What was planted is found, in the layer where it was planted, and nothing else is."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from made_analysis import Relay, make
from made_runs import ONLY_HOP, durations, hop_side, side

from strata.analysis import Analysis
from strata.comparison.comparison import Comparison, Figures, Row, Verdict, compare_sides
from strata.comparison.parts import Part
from strata.comparison.runs import CALLBACK, CHAIN, HOP, measure_run
from strata.comparison.sides import Side
from strata.model.columns import NONE

PLANTED_NS = 50_000
TRIP = ("/relay_1", "/relay_2")
"""Hop 1 of the made relays."""


def found(comparison: Comparison) -> dict[tuple[str, str, str | None], Row]:
    """The rows that differ, by kind, nodes and layer."""
    return {
        (block.subject.kind, block.subject.where, row.layer): row
        for block in comparison.blocks
        for row in block.rows
        if row.verdict.found
    }


def exact(figures: Figures | None) -> Fraction:
    return Fraction(figures.sum_ns, figures.of) if figures else Fraction(0)


def check_sums(comparison: Comparison) -> None:
    """The layers' parts of the difference of the means are all of it."""
    for block in comparison.blocks:
        if block.layers:
            parts = sum(exact(row.b) - exact(row.a) for row in block.layers)
            assert parts == exact(block.whole.b) - exact(block.whole.a)
            together = sum(row.mean_ns for row in block.layers)
            assert together == pytest.approx(block.whole.mean_ns, abs=1e-3)


@pytest.mark.parametrize("seed", range(2))
def test_planted_work_is_found_in_its_callback_and_nowhere_else(seed: int) -> None:
    a = side("A", Relay(hops=3, messages=400, seed=100 + seed))
    b = side("B", Relay(hops=3, messages=400, seed=200 + seed, work_ns={1: PLANTED_NS}))
    comparison = compare_sides(a, b)
    check_sums(comparison)
    rows = found(comparison)
    hop = " -> ".join(TRIP)
    chain = comparison.blocks[0].subject.where
    callback = f"[/chain_1] ({TRIP[1]})"
    # The callback's whole time; what it held the message for; what these are part of.
    assert set(rows) == {
        (HOP, hop, "callback"),
        (HOP, hop, None),
        (CHAIN, chain, "hold"),
        (CHAIN, chain, None),
        (CALLBACK, callback, None),
    }
    for key in ((HOP, hop, "callback"), (CHAIN, chain, "hold")):
        shift = rows[key].difference
        assert shift is not None
        assert abs(shift.shift.value - PLANTED_NS) < 5_000
        assert rows[key].verdict is Verdict.SLOWER
    assert rows[(CHAIN, chain, "hold")].place == TRIP[1]


def test_what_is_less_is_faster() -> None:
    a, b = Relay(seed=1, work_ns={0: PLANTED_NS}), Relay(seed=2)
    rows = found(compare_sides(side("A", a), side("B", b)))
    assert {row.verdict for row in rows.values()} == {Verdict.FASTER}


def test_a_side_against_itself_finds_nothing() -> None:
    one = side("A", Relay(messages=300))
    comparison = compare_sides(one, one)
    assert found(comparison) == {}
    assert comparison.tests > 40
    for block in comparison.blocks:
        for row in block.rows:
            assert row.difference is not None
            assert row.difference.shift.value == 0
            assert row.mean_ns == 0
            assert (row.difference.shift.furthest or 0) > 0


def test_what_one_side_merged_is_compared_merged(analysis_of: Callable[[str], Analysis]) -> None:
    comparison = compare_sides(side("A", Relay(seed=1, merged=True)), side("B", Relay(seed=2)))
    check_sums(comparison)
    assert found(comparison) == {}
    (hop, *_) = (block for block in comparison.blocks if block.subject.kind == HOP)
    layers = {row.layer: row for row in hop.layers}
    merged = layers["middleware + executor wait + take"]
    assert merged.b is not None
    assert merged.b.layers == ("executor wait", "middleware", "take")
    assert set(layers) == {
        "middleware + executor wait + take",
        "client publish",
        "client take",
        "callback",
    }


def test_real_traces_of_two_ways_of_cutting(analysis_of: Callable[[str], Analysis]) -> None:
    names = ("fast_relay1p_st", "fast_relay1p_st_ipc")
    a, b = (Side(name, (measure_run(analysis_of(name), name),)) for name in names)
    comparison = compare_sides(a, b)
    check_sums(comparison)
    hops = [block for block in comparison.blocks if block.subject.kind == HOP]
    assert len(hops) == 4
    for block in hops:
        layers = {row.layer: row for row in block.layers}
        # Without the middleware there is no take, and the wake-up is seen.
        assert layers["take"].verdict is Verdict.ONLY_A
        merged = layers["middleware + executor wait"]
        assert merged.a is not None
        assert merged.b is not None
        assert merged.a.layers == ("executor wait", "middleware")
        assert merged.b.layers == ("executor wait", "wake-up")


@pytest.mark.parametrize("name", ["dds_kilted_shm", "dds_jazzy_udp_resends", "fast_throws"])
def test_sums_are_exact_in_real_traces(analysis_of: Callable[[str], Analysis], name: str) -> None:
    own = Side(name, (measure_run(analysis_of(name), name),))
    other = Side("st", (measure_run(analysis_of("fast_blocked_st"), "st"),))
    check_sums(compare_sides(own, own, wanted=lambda subject: True))
    comparison = compare_sides(own, other, wanted=lambda subject: True)
    check_sums(comparison)
    named = {*comparison.only_a, *(block.subject for block in comparison.blocks)}
    assert named == {subject for subject in own.subjects() if own.values(subject)}


def test_a_layer_that_few_messages_have_keeps_the_sums() -> None:
    random = np.random.default_rng(4)
    ordinary, late = durations(random), np.full(300, NONE)
    late[7] = 5_000_000
    a = hop_side({Part("transport"): ordinary, Part("callback"): ordinary})
    b = hop_side({Part("transport"): ordinary, Part("callback"): ordinary, Part("history"): late})
    comparison = compare_sides(a, b)
    check_sums(comparison)
    (block,) = comparison.blocks
    history = next(row for row in block.layers if row.layer == "history")
    assert history.verdict is Verdict.ONLY_B
    assert history.mean_ns == 5_000_000 / 300


def test_a_warm_up_is_left_out_of_every_duration() -> None:
    analysis = make(Relay(hops=2, messages=60))
    whole, warm = measure_run(analysis, "r"), measure_run(analysis, "r", 7)
    assert warm.measured.keys() == whole.measured.keys()
    for subject, one in warm.measured.items():
        every = whole.measured[subject]
        assert one.latency.tolist() == every.latency[7:].tolist()
        assert (one.published, one.lost) == (every.published, every.lost)
        if one.transfer is not None and every.transfer is not None:
            assert one.transfer.tolist() == every.transfer[7:].tolist()
    check_sums(compare_sides(Side("A", (whole,)), Side("B", (warm,))))


def test_too_few_values_are_not_tested() -> None:
    few = hop_side({Part("callback"): np.arange(4, dtype=np.int64)})
    comparison = compare_sides(few, few)
    assert comparison.tests == 1  # the loss
    assert comparison.blocks[0].whole.verdict is Verdict.TOO_FEW


def test_lost_messages_are_compared() -> None:
    random = np.random.default_rng(5)
    values = {Part("callback"): durations(random)}
    loss = compare_sides(hop_side(values), hop_side(values, lost=30)).blocks[0].loss
    assert loss is not None
    assert loss.verdict is Verdict.LOSES_MORE
    assert loss.difference is not None
    # Newcombe, "Interval estimation for the difference between independent proportions", method 10.
    assert loss.difference.share.value == pytest.approx(30 / 330)
    assert compare_sides(hop_side(values), hop_side(values)).blocks[0].subject == ONLY_HOP
