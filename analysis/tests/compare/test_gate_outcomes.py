# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A gate holds, is broken, or is undecided; one that finds nothing to judge is broken."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from made_analysis import Relay
from made_runs import durations, hop_side, side
from scipy import stats

from strata.comparison.gates.judge import Judgement, Outcome, judge
from strata.comparison.gates.load import read_gates
from strata.comparison.parts import Part
from strata.comparison.sides import Side
from strata.comparison.values import value_of_runs
from strata.show.words.comparison import outcome_text

HOLDS, BROKEN, UNDECIDED = Outcome.HOLDS, Outcome.BROKEN, Outcome.UNDECIDED
MISSING = Outcome.MISSING


@pytest.fixture(scope="module")
def sides() -> tuple[Side, Side]:
    """B works 50 us more in /relay_2, which waits some 30 us before without it."""
    a, b = Relay(hops=3, seed=1), Relay(hops=3, seed=2, work_ns={1: 50_000})
    return side("A", a), side("B", b)


def judged(tmp_path: Path, sides: tuple[Side | None, Side], *lines: str) -> list[Judgement]:
    file = tmp_path / "gates.yaml"
    file.write_text("gates:\n" + "\n".join(f"- {line}" for line in lines))
    return judge(read_gates(file), *sides)


@pytest.mark.parametrize(
    ("gate", "outcome"),
    [
        ("chain p99 < 20 ms", HOLDS),
        ("chain p99 > 20 ms", BROKEN),
        ("chain p50 < 1 us", BROKEN),
        ("chain p50 >= 1 us", HOLDS),
        ("{gate: callback p50 not more than 5 % worse, hop: /chain_1}", BROKEN),
        ("{gate: callback p50 not more than 200 % worse, hop: /chain_1}", HOLDS),
        ("{gate: callback p50 not more than 30 us worse, hop: /chain_1}", BROKEN),
        ("{gate: callback mean not more than 60 us worse, hop: /chain_1}", HOLDS),
        ("{gate: callback p50 not more than 50 us worse, hop: /chain_1}", UNDECIDED),
        ("{gate: callback p50 not more than 20 % worse, hop: /chain_0}", HOLDS),
        ("{gate: callback p50 < 150 us, callback: /chain_1}", HOLDS),
        ("{gate: hold p50 not more than 30 us worse, chain: '*'}", BROKEN),
        ("{gate: transfer p50 not more than 100 % worse, hop: /chain_0}", HOLDS),
        ("{gate: hop max < 1 s, hop: '/relay_0 -> /relay_1'}", HOLDS),
        ("{gate: hop min < 1 ns, hop: /chain_0}", BROKEN),
    ],
)
def test_outcomes(tmp_path: Path, sides: tuple[Side, Side], gate: str, outcome: Outcome) -> None:
    found = judged(tmp_path, sides, gate)
    worst = max((one.outcome for one in found), key=[HOLDS, UNDECIDED, BROKEN].index)
    assert worst is outcome, [outcome_text(one) for one in found]
    assert any(one.broken for one in found) == (outcome is BROKEN)


def test_an_undecided_gate_fails_where_that_is_asked_for(
    tmp_path: Path, sides: tuple[Side, Side]
) -> None:
    gate = "{gate: callback p50 not more than 50 us worse, hop: /chain_1, undecided: fails}"
    (one,) = judged(tmp_path, sides, gate)
    assert (one.outcome, one.broken) == (UNDECIDED, True)
    assert "an undecided gate fails" in outcome_text(one)


def test_one_node_of_several_is_named(tmp_path: Path, sides: tuple[Side, Side]) -> None:
    found = judged(tmp_path, sides, "hold p50 not more than 30 us worse")
    assert {one.place: one.outcome for one in found} == {"/relay_1": HOLDS, "/relay_2": BROKEN}


@pytest.mark.parametrize(
    ("gate", "text"),
    [
        ("{gate: hop p50 < 1 s, hop: /none}", "no hop matches '/none'"),
        ("service p50 < 1 s", "no service matches"),
        ("serialize p50 < 1 s", "no hop has serialize as a layer of its own; it is within"),
        ("driver p50 < 1 s", "no hop has driver as a layer of its own"),
        ("{gate: loss < 1 %, service: '*'}", "no service matches"),
    ],
)
def test_what_is_not_found_is_broken(
    tmp_path: Path, sides: tuple[Side, Side], gate: str, text: str
) -> None:
    (one,) = judged(tmp_path, sides, gate)
    assert one.broken
    assert text in outcome_text(one)


def test_what_only_one_side_has_is_broken(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    a = hop_side({Part("callback"): durations(random)})
    b = hop_side({Part("callback"): durations(random), Part("take"): durations(random)})
    (one,) = judged(tmp_path, (a, b), "take p50 not more than 5 % worse")
    assert one.broken
    assert "A does not have it" in outcome_text(one)


def test_a_layer_is_put_together_of_finer_ones(tmp_path: Path) -> None:
    random = np.random.default_rng(2)
    finer = {Part(name): durations(random) for name in ("transport", "dds receive", "callback")}
    (one,) = judged(tmp_path, (None, hop_side(finer)), "transport + dds receive p50 < 1 ms")
    assert one.outcome is HOLDS
    assert one.found is not None
    together = finer[Part("transport")] + finer[Part("dds receive")]
    assert one.found.value == np.median(together)


def test_too_few_values_are_missing_data(tmp_path: Path) -> None:
    few = hop_side({Part("callback"): np.arange(1, 5, dtype=np.int64) * 1_000})
    found = judged(
        tmp_path, (few, few), "hop p99 < 1 ms", "hop p50 not more than 5 % worse", "hop max < 1 ms"
    )
    assert [one.outcome for one in found] == [MISSING, MISSING, HOLDS]
    assert [one.broken for one in found] == [True, True, False]


def test_a_gate_of_which_data_are_missing_passes_where_that_is_asked_for(tmp_path: Path) -> None:
    few = hop_side({Part("callback"): np.arange(1, 5, dtype=np.int64) * 1_000})
    (one,) = judged(tmp_path, (None, few), "{gate: hop p99 < 1 ms, missing: passes}")
    assert (one.outcome, one.broken) == (MISSING, False)
    file = tmp_path / "all.yaml"
    file.write_text("missing: passes\ngates: [hop p99 < 1 ms]")
    assert [one.broken for one in judge(read_gates(file), None, few)] == [False]


def test_what_the_reader_did_not_live_to_take_is_missing(tmp_path: Path) -> None:
    """A sink that died after a tenth: what it took is fast, and says nothing of the rest."""
    fast = {Part("callback"): durations(np.random.default_rng(3), 200)}
    died, ended = hop_side(fast, unseen=1_800), hop_side(fast, unseen=3)
    for gate in ("hop p99 < 20 ms", "hop p50 not more than 50 % worse", "hop max < 20 ms"):
        (one,) = judged(tmp_path, (hop_side(fast), died), gate)
        assert (one.outcome, one.broken) == (MISSING, True)
        assert "200 of 2,000 messages seen" in outcome_text(one)
        assert all(not one.broken for one in judged(tmp_path, (hop_side(fast), ended), gate))


def test_a_hop_that_took_nothing_is_judged_too(tmp_path: Path) -> None:
    nothing = hop_side({Part("callback"): np.empty(0, np.int64)}, unseen=258, lost=258)
    found = judged(tmp_path, (None, nothing), "hop p99 < 20 ms", "loss <= 0.1 %")
    assert [(one.outcome, one.broken) for one in found] == [(MISSING, True), (BROKEN, True)]


def test_losses_that_are_not_known(tmp_path: Path) -> None:
    values = {Part("callback"): durations(np.random.default_rng(3), 5_000)}
    unknown = hop_side(values, unknown=100, unseen=100)
    gates = ("loss <= 0.1 %", "loss <= 5 %")
    assert [one.outcome for one in judged(tmp_path, (None, unknown), *gates)] == [MISSING, HOLDS]


def test_losses(tmp_path: Path) -> None:
    values = {Part("callback"): durations(np.random.default_rng(3), 5_000)}
    kept, lossy = hop_side(values), hop_side(values, lost=50)
    gates = ("loss <= 0.1 %", "loss <= 5 %")
    assert [one.outcome for one in judged(tmp_path, (None, kept), *gates)] == [HOLDS, HOLDS]
    assert [one.outcome for one in judged(tmp_path, (None, lossy), *gates)] == [BROKEN, HOLDS]


def test_a_topic_that_b_lost_whole_breaks_a_gate_of_losses(tmp_path: Path) -> None:
    values = {Part("callback"): durations(np.random.default_rng(3), 5_000)}
    (one,) = judged(tmp_path, (hop_side(values), Side("gone", ())), "loss <= 0.1 %")
    assert one.broken
    assert "B does not have it" in outcome_text(one)


def test_a_value_at_its_bound(tmp_path: Path) -> None:
    still = hop_side({Part("callback"): np.full(50, 1_000, np.int64)})
    gates = [f"hop p50 {limit} 1 us" for limit in ("<", "<=", ">", ">=")]
    found = judged(tmp_path, (None, still), *gates)
    assert [one.outcome for one in found] == [BROKEN, HOLDS, BROKEN, HOLDS]


def test_values_of_several_runs() -> None:
    runs = [durations(np.random.default_rng(at), 2_000) for at in range(4)]
    for name, own in (("mean", np.mean), ("p99.9", lambda run: np.quantile(run, 0.999))):
        of_runs = [own(run) for run in runs]
        bounds = stats.ttest_1samp(of_runs, 0).confidence_interval(0.95)
        found = value_of_runs(runs, name)
        told = (found.value, found.low, found.high)
        assert told == pytest.approx((np.mean(of_runs), bounds.low, bounds.high))
    assert value_of_runs(runs, "min").value == min(run.min() for run in runs)
    assert value_of_runs(runs, "max").value == max(run.max() for run in runs)


def test_percent_are_of_a(tmp_path: Path) -> None:
    waits = durations(np.random.default_rng(7), 2_000)
    sides = hop_side({Part("callback"): waits}), hop_side({Part("callback"): waits * 13 // 10})
    gates = [f"hop p50 not more than {allowed} % worse" for allowed in (20, 40)]
    found = judged(tmp_path, sides, *gates)
    assert [one.outcome for one in found] == [BROKEN, HOLDS]
    values = [one.found.value for one in found if one.found is not None]
    assert values == pytest.approx([0.3, 0.3], abs=1e-3)


def test_percent_of_nothing(tmp_path: Path) -> None:
    random = np.random.default_rng(6)
    waits = durations(random)
    sides = [
        hop_side({Part("callback"): waits, Part("take"): own})
        for own in (np.zeros(300, np.int64), waits, waits * (np.arange(300) % 2))
    ]
    gate = "take p50 not more than 5 % worse"
    found = [judged(tmp_path, (sides[0], b), gate)[0] for b in sides]
    assert [one.outcome for one in found] == [HOLDS, BROKEN, UNDECIDED]
    assert all("too few" not in outcome_text(one) for one in found)


def test_with_several_runs_they_are_the_unit(tmp_path: Path) -> None:
    random = np.random.default_rng(4)
    runs = [{Part("callback"): durations(random, 2_000) + at} for at in (0, 40_000, 90_000)]
    gate = "hop p50 < 160 us"
    (pooled,) = judged(tmp_path, (None, hop_side(runs[0])), gate)
    (several,) = judged(tmp_path, (None, hop_side(*runs)), gate)
    assert (pooled.outcome, several.outcome) == (HOLDS, UNDECIDED)
