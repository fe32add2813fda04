# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The judge of `make faults`: right answers are right, and wrong ones are not."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

FAULTS = Path(__file__).resolve().parents[1] / "benchmarks/faults"
sys.path.insert(0, str(FAULTS))

from case import NS_PER_S, Answer, Expectation, Judgement, Truth  # noqa: E402
from judge import ANY, SLOWEST, Cause, Grows, Healthy, Mean, Said, StartUp  # noqa: E402
from judge_entities import Call, Goals, Lost, Proposed, Skipped, System  # noqa: E402
from magnitude import constant, mean_sending, mean_way, median_way  # noqa: E402

TRUTH = Truth(Path("/nonexistent"))
HOLD: dict[str, Any] = {
    "chain": "/a -> /b", "layer": "hold", "where": "f [/a] (/n)", "typical_ns": 5e6,
    "tail_layer": "take", "tail_where": "/n", "tail_ns": 9e6, "stands_out": True,
    "reasons": ["typical"], "text": "hold of f",
}  # fmt: skip
QUIET = HOLD | {"stands_out": False}


def verdict(expected: Expectation, text: str = "", truth: Truth = TRUTH, **document: Any) -> str:
    empty: dict[str, Any] = {
        key: []
        for key in ("chains", "bottlenecks", "quality", "hops", "services", "link_proposals")
    }
    return expected.judge(Answer(empty | document, lambda: text, Path()), truth).verdict


CAUSE = Cause("/a -> /b", ("hold",), ("/a", "/n"), constant(5))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "right"),
        ({"typical_ns": 5.24e6}, "right"),
        ({"typical_ns": 5.26e6}, "partly"),
        ({"layer": "take"}, "partly"),
        ({"where": "f [/a] (/m)"}, "partly"),
        ({"layer": "take", "where": "/m"}, "wrong"),
        ({"stands_out": False}, "wrong"),
        ({"chain": "/a"}, "wrong"),
    ],
)
def test_a_cause(changes: dict[str, Any], expected: str) -> None:
    assert verdict(CAUSE, bottlenecks=[HOLD | changes]) == expected


def test_a_cause_that_stands_out_for_another_reason() -> None:
    backlog = Cause("/a -> /b", ("hold",), ("/n",), constant(5), reason="backlog")
    assert verdict(backlog, bottlenecks=[HOLD]) == "wrong"
    assert verdict(backlog, bottlenecks=[HOLD | {"reasons": ["typical", "backlog"]}]) == "right"


def test_a_mean_is_of_its_layers_at_its_place_over_all_messages() -> None:
    every = Cause("/a -> /b", ("hold",), ("/n",), constant(7), mean=Mean(("take", "hold"), ("/n",)))
    parts = [
        {"layer": "take", "where": "/n", "mean": 2e6},
        {"layer": "take", "where": "/m", "mean": 4e6},
        {"layer": "wake-up", "where": "/n", "mean": 4e6},
        {"layer": "hold", "where": "f [/a] (/n)", "mean": 5e6},
    ]
    chain = {"name": "/a -> /b", "segments": parts}
    assert verdict(every, bottlenecks=[HOLD], chains=[chain]) == "right"
    for wrong in (parts[:3], [parts[0] | {"mean": 4e6}, *parts[1:]], []):
        chain = {"name": "/a -> /b", "segments": wrong}
        assert verdict(every, bottlenecks=[HOLD], chains=[chain]) == "partly"
    # Where nothing is said of a layer, it has no size, and not 0.
    none = replace(every, magnitude=constant(0.04))
    assert verdict(none, bottlenecks=[HOLD]) == "partly"
    slow = replace(every, group=SLOWEST, layers=("take",))
    chain = {"name": "/a -> /b", "segments": parts}
    assert verdict(slow, bottlenecks=[HOLD], chains=[chain]) == "right"
    assert verdict(slow, bottlenecks=[HOLD | {"tail_where": "/m"}], chains=[chain]) == "partly"


def test_any_is_right_when_one_group_is() -> None:
    own = Cause("/a -> /b", ("take",), ("/n",), constant(9), ANY)
    assert verdict(own, bottlenecks=[HOLD], chains=[{"name": "/a -> /b", "modes": []}]) == "right"
    off = Cause("/a -> /b", ("wake-up",), ("/m",), constant(9), ANY)
    assert verdict(off, bottlenecks=[HOLD], chains=[{"name": "/a -> /b", "modes": []}]) == "wrong"


def test_healthy() -> None:
    healthy = Healthy("/a -> /b")
    assert verdict(healthy, bottlenecks=[QUIET]) == "right"
    for wrong in (
        {"bottlenecks": [HOLD]},
        {"bottlenecks": [QUIET, HOLD | {"chain": "/c"}]},
        {"bottlenecks": []},
        {"bottlenecks": [QUIET], "system": {"stands_out": True, "text": "full", "causes": []}},
        {"bottlenecks": [QUIET], "quality": [{"severity": "loss", "text": "lost"}]},
    ):
        assert verdict(healthy, **wrong) == "wrong", wrong


def lost(
    *causes: tuple[str, int], text: str = "70 messages of /b were lost", planted: int = 70
) -> str:
    losses = [{"outcome": "lost", "cause": cause, "count": count} for cause, count in causes]
    hop = {"topic": "/b", "publisher_node": "/n", "subscription_node": "/m", "losses": losses}
    quality = [{"severity": "warning", "code": "lost_messages", "text": text, "places": text}]
    expected = Lost("/b", "/n", "/m", ("overwritten",), lambda _: planted)
    return verdict(expected, hops=[hop], quality=quality)


def test_losses() -> None:
    assert lost(("overwritten", 70)) == lost(("overwritten", 67)) == "right"
    assert lost(("overwritten", 60)) == "partly"
    assert lost(("process ended", 70)) == "partly"
    assert lost(("process ended", 40)) == lost() == "wrong"
    # The number is right in all, and for half of them another cause is told.
    assert lost(("overwritten", 36), ("process ended", 34)) != "right"
    assert lost(("overwritten", 70), text="70 messages of /other were lost") == "partly"
    with pytest.raises(ValueError, match="nothing was lost"):
        lost(planted=0)


def test_the_system() -> None:
    expected = System("executor", ("/n",), "/worker_", (0.9, 1.0), constant(480))
    full = {
        "kind": "executor",
        "where": "/n",
        "busy": 0.95,
        "text": "filled by /worker_1",
        "mean_ns": 4.7e8,
    }
    said = {"stands_out": True, "text": "filled by /worker_1, executor of /n", "causes": [full]}
    assert verdict(expected, system=said) == "right"
    for other in ({"busy": 0.5}, {"kind": "cpu"}, {"where": "/m"}, {"mean_ns": 4.5e8}):
        assert verdict(expected, system=said | {"causes": [full | other]}) == "partly", other
    assert verdict(expected, system=said | {"causes": []}) == "wrong"


def test_words_have_to_be_those_of_the_cause() -> None:
    said = Said(CAUSE, ("waiting for a CPU",))
    own = HOLD | {"text": "hold; 3 ms of it waiting for a CPU"}
    assert verdict(said, bottlenecks=[own]) == "right"
    assert verdict(said, "/other: 3 ms waiting for a CPU", bottlenecks=[HOLD]) == "partly"


def test_a_call() -> None:
    expected = Call("/s", "/c", "/n", "callback", constant(5))
    service = {"service": "/s", "client_node": "/c", "service_node": "/n", "count": 0}
    layers = [
        {"layer": "callback", "share": 0.6, "p50": 5e6},
        {"layer": "respond", "share": 0.4, "p50": 3e6},
    ]
    assert verdict(expected, services=[service | {"layers": layers}]) == "right"
    assert verdict(expected, services=[service | {"layers": layers[1:]}]) == "partly"
    assert verdict(expected, services=[service | {"layers": []}]) != "right"
    assert verdict(expected) == "wrong"


def test_goals() -> None:
    expected = Goals("/s", "/c", "/n", "execution", constant(30))
    action = {"action": "/s", "client_node": "/c", "server_node": "/n"}
    action |= dict.fromkeys(("goals", "accepted", "complete"), 0)
    phases = [
        {"phase": "execution", "share": 0.9, "p50": 3e7},
        {"phase": "result", "share": 0.1, "p50": 3e6},
    ]
    assert verdict(expected, actions=[action | {"phases": phases}]) == "right"
    for wrong in (
        {"phases": phases[1:]},
        {"phases": phases, "complete": 1},
        {"phases": [phases[0] | {"p50": 3.2e7}]},
    ):
        assert verdict(expected, actions=[action | wrong]) == "partly", wrong
    assert verdict(expected, actions=[action | {"phases": []}]) == "wrong"
    assert verdict(expected) == "wrong"


def test_skipped_periods() -> None:
    expected = Skipped("/n", 40, lambda _: 30)
    timer = {"node": "/n", "period_ns": 40_000_000, "skipped": 30, "overruns": 12}
    timer |= dict.fromkeys(("undecided", "pauses", "irregular"), 0)
    assert verdict(expected, timers=[timer]) == "right"
    for wrong in ({"overruns": 0, "undecided": 12}, {"pauses": 12}, {"skipped": 20}):
        assert verdict(expected, timers=[timer | wrong]) == "partly", wrong
    assert verdict(expected, timers=[timer | {"period_ns": 500_000_000}]) == "wrong"
    assert verdict(expected) == "wrong"
    with pytest.raises(ValueError, match="not planted"):
        verdict(Skipped("/n", 40, lambda _: 0), timers=[timer])


def test_proposals() -> None:
    expected = Proposed("/n", ("/a",), ("/b",), lambda _: 101)
    row = {"node": "/n", "probable": True, "input": "/a", "output": "/b", "new": 99}
    text = "Chains end at /n: it publishes /b. `strata links x` writes"
    assert verdict(expected, text, link_proposals=[row]) == "right"
    for wrong in ([row, row | {"input": "/wrong"}], [row | {"new": 90}]):
        assert verdict(expected, text, link_proposals=wrong) == "partly"
    assert verdict(expected, "strata links; hop /n", link_proposals=[row]) == "partly"
    assert verdict(expected, "", link_proposals=[row | {"probable": False}]) == "wrong"


def test_alike_chains_are_one_group() -> None:
    alike = Healthy("/a -> /b", alike=2)
    group = {"chains": [0, 1]}
    assert verdict(alike, bottlenecks=[QUIET], chain_groups=[group]) == "right"
    for wrong in ([group, group], [{"chains": [0]}], []):
        assert verdict(alike, bottlenecks=[QUIET], chain_groups=wrong) == "wrong"


def test_the_start_up_is_a_group_of_its_own() -> None:
    def started(planted: int = 60, **changes: Any) -> str:
        own: dict[str, Any] = {"count": 60, "said": 60, "node": "/m", "stands_out": False}
        own |= changes
        group = {"count": own["count"], "node": own["node"]}
        row = QUIET | {"start_up_count": own["said"], "stands_out": own["stands_out"]}
        return verdict(
            StartUp("/a -> /b", "/m", lambda _: planted),
            chains=[{"name": "/a -> /b", "start_up": group}],
            bottlenecks=[row],
        )

    assert started() == started(planted=62) == "right"
    assert started(planted=70) == "partly"
    assert started(node="/n") == "partly"
    assert started(stands_out=True) == "partly"
    assert started(said=0) == "wrong"
    assert started(count=0, said=0, node=None) == "wrong"
    with pytest.raises(ValueError, match="not planted"):
        started(planted=0)


def test_a_backlog_is_judged_by_its_growth() -> None:
    grows = Grows(replace(CAUSE, magnitude=None), lambda _: 2e8)
    assert verdict(grows, bottlenecks=[HOLD | {"growth_ns_per_s": 2.05e8}]) == "right"
    # A growth has no bound but 5 %.
    assert not Judgement("", True, True, 30_000, 60_000, NS_PER_S).magnitude
    assert verdict(grows, bottlenecks=[HOLD | {"growth_ns_per_s": 2.2e8}]) == "partly"
    assert verdict(grows, bottlenecks=[HOLD | {"growth_ns_per_s": None}]) == "partly"
    assert verdict(grows) == "wrong"


def test_magnitudes_of_what_the_nodes_wrote(tmp_path: Path) -> None:
    lines = ["node,what,topic,number,begin_ns,end_ns"]
    for number, (sent, returned, came) in enumerate([(100, 130, 200), (300, 700, 650)]):
        lines.append(f"n,publish,/a,{number},{sent},{returned}")
        lines.append(f"m,callback,/a,{number},{came},{came + 9}")
    # A message that never came is in no magnitude.
    lines.append("n,publish,/a,2,800,9999")
    (tmp_path / "all.csv").write_text("\n".join(lines))
    truth = Truth(tmp_path)
    assert median_way("n", "m", "/a")(truth) == mean_way("n", ("m",), "/a")(truth) == (70 - 50) / 2
    (tmp_path / "p.csv").write_text(f"{lines[0]}\np,callback,/b,1,900,910")
    assert mean_way("n", ("m",), "/a", last="p")(truth) == -50
    # What publish did when the reader had the message is no part of its way.
    assert mean_sending("n", "m", "/a")(truth) == (30 + 350) / 2
