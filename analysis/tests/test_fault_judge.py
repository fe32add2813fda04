# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The judge of `make faults`: right answers are right, and wrong ones are not."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

FAULTS = Path(__file__).resolve().parents[1] / "benchmarks/faults"
sys.path.insert(0, str(FAULTS))

from case import Answer, Expectation, Truth  # noqa: E402
from judge import (  # noqa: E402
    ANY,
    EVERY,
    Call,
    Cause,
    Healthy,
    Lost,
    Proposed,
    Said,
    System,
    constant,
)

TRUTH = Truth(Path("/nonexistent"))
HOLD: dict[str, Any] = {
    "chain": "/a -> /b", "layer": "hold", "where": "f [/a] (/n)", "typical_ns": 5e6,
    "tail_layer": "take", "tail_where": "/n", "tail_ns": 9e6, "stands_out": True,
    "reasons": ["typical"], "text": "hold of f",
}  # fmt: skip
QUIET = HOLD | {"stands_out": False}


def verdict(expected: Expectation, text: str = "", **document: Any) -> str:
    empty: dict[str, Any] = {
        key: []
        for key in ("chains", "bottlenecks", "quality", "hops", "services", "link_proposals")
    }
    return expected.judge(Answer(empty | document, text, Path()), TRUTH).verdict


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


def test_of_every_message_a_layer_that_is_not_there_has_no_size() -> None:
    every = Cause("/a -> /b", ("hold",), ("/n",), constant(0.04), EVERY)
    assert verdict(every, bottlenecks=[HOLD]) == "partly"


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
    expected = System("executor", ("/n",), "/worker_", (0.9, 1.0))
    full = {"kind": "executor", "where": "/n", "busy": 0.95, "text": "filled by /worker_1"}
    said = {"stands_out": True, "text": "filled by /worker_1, executor of /n", "causes": [full]}
    assert verdict(expected, system=said) == "right"
    assert verdict(expected, system=said | {"causes": [full | {"busy": 0.5}]}) == "partly"
    for other in (full | {"kind": "cpu"}, full | {"where": "/m"}):
        assert verdict(expected, system=said | {"causes": [other]}) == "partly"
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


def test_proposals() -> None:
    expected = Proposed("/n", ("/a",), ("/b",))
    row = {"node": "/n", "probable": True, "input": "/a", "output": "/b"}
    text = "Chains end at /n: it publishes /b. `strata links x` writes"
    assert verdict(expected, text, link_proposals=[row]) == "right"
    assert verdict(expected, text, link_proposals=[row, row | {"input": "/wrong"}]) == "partly"
    assert verdict(expected, "strata links; hop /n", link_proposals=[row]) == "partly"
    assert verdict(expected, "", link_proposals=[row | {"probable": False}]) == "wrong"
