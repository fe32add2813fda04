# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Messages whose last callback has no end are in no figure of their chain, as of their hop."""

from __future__ import annotations

from message_results import MessageResults, message_results
from scene import Scene

from strata.pipeline.messages import Wanted

WORK = 5_000_000
PERIOD = 10_000_000


def results(
    thrown: int, count: int, *, called: bool = True
) -> tuple[MessageResults, dict[str, int]]:
    """A callback of 5 ms, `count` times; the first `thrown` of each ten throw at once.

    Without `called` those are taken and start no callback.
    """
    scene = Scene()
    scene.publisher("/t", node="/source", pid=1)
    scene.subscription("/t", node="/sink", pid=2, symbol="on_message")
    for number in range(count):
        at = (number + 1) * PERIOD
        scene.play(
            f"""
            {at} 1.1 rmw_publish /t {at}
            {at + 100} 2.2 execute on_message
            {at + 110} 2.2 rmw_take on_message {at}
            """
        )
        ends = number % 10 >= thrown
        if called or ends:
            scene.play(f"{at + 120} 2.2 callback_start on_message")
        if ends:
            scene.play(f"{at + 120 + WORK} 2.2 callback_end on_message")
    model = scene.model()
    found = message_results(model, Wanted())
    return found, found.findings.counts


def test_a_callback_that_throws_does_not_make_its_chain_faster() -> None:
    found, counts = results(thrown=6, count=100)
    chain, hop = (found.tables[name].iloc[0] for name in ("chains", "hops"))
    assert (hop["count"], hop["latency_count"]) == (100, 40)
    assert (chain["count"], chain["latency_count"], chain["unfinished"]) == (40, 40, 60)
    assert chain["latency_p50_ns"] == hop["latency_p50_ns"] == WORK + 120
    assert chain["latency_min_ns"] == hop["latency_min_ns"]
    assert len(found.tables["chain_instances"]) == 40
    callback = found.tables["chain_layers"].query("layer == 'callback'").iloc[0]
    assert callback["count"] == 40
    assert counts["unfinished_chains"] == 60


def test_blame_is_over_the_messages_that_ended() -> None:
    found, _ = results(thrown=6, count=100)
    blame = found.tables["blame"]
    callback = blame[blame["layer"] == "callback"].iloc[0]
    assert callback["share_p50"] == WORK / (WORK + 120)
    assert found.bottlenecks[0].layer == "callback"


def test_where_no_callback_ends_all_messages_count() -> None:
    found, counts = results(thrown=10, count=20)
    chain = found.tables["chains"].iloc[0]
    assert (chain["count"], chain["unfinished"]) == (20, 0)
    assert chain["latency_p50_ns"] == 120
    assert "unfinished_chains" not in counts


def test_what_was_taken_without_a_callback_leaves_none_unfinished() -> None:
    """As a client of an action takes feedback of another client's goals."""
    found, counts = results(thrown=6, count=100, called=False)
    chain = found.tables["chains"].iloc[0]
    assert (chain["count"], chain["unfinished"]) == (40, 0)
    assert chain["latency_p50_ns"] == WORK + 120
    assert "unfinished_chains" not in counts
