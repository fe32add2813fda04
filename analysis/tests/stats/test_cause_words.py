# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What is said beside a place: what stored messages waited for, what wake-ups of rclpy hold."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from message_results import message_results
from scene import Scene

import strata
from strata.analysis import Analysis
from strata.pipeline.messages import Wanted
from strata.schema.links import MessageLink
from strata.stats.callbacks import awaited, python_nodes
from strata.symbols import shorten

FUSION = MessageLink("/fusion", ("/left", "/right"), ("/fused",), "partial_sync")


def fusion() -> Scene:
    """/left comes, 500 later /right, and in its callback /fused is published."""
    scene = Scene()
    for topic in ("/left", "/right"):
        scene.publisher(topic, node="/sources", pid=1)
        scene.subscription(topic, node="/fusion", pid=2, symbol=f"Fusion::on{topic[1:]}()")
    scene.publisher("/fused", node="/fusion", pid=2)
    scene.subscription("/fused", node="/sink", pid=3, symbol="Sink::on_fused()")
    for at in (1000, 3000, 5000):
        for begin, topic in ((at, "/left"), (at + 500, "/right")):
            callback = f"Fusion::on{topic[1:]}()"
            scene.play(
                f"""
                {begin} 1.1 rmw_publish {topic} {begin}
                {begin + 10} 2.2 rmw_take {callback} {begin}
                {begin + 20} 2.2 callback_start {callback}
                """
            )
            if topic == "/right":
                scene.play(f"{begin + 50} 2.2 rmw_publish /fused {begin + 50}")
            scene.play(f"{begin + 100} 2.2 callback_end {callback}")
        scene.play(
            f"""
            {at + 600} 3.3 rmw_take Sink::on_fused() {at + 550}
            {at + 610} 3.3 callback_start Sink::on_fused()
            {at + 650} 3.3 callback_end Sink::on_fused()
            """
        )
    return scene


def test_stored_says_what_it_waited_for() -> None:
    model = fusion().model()
    found = message_results(model, Wanted((FUSION,)))
    chains, blame = found.tables["chains"], found.tables["blame"]
    of_left = chains.loc[chains["name"] == "/left -> /fused", "chain_id"]
    blame = blame[blame["chain_id"].isin(of_left)].set_index("layer")
    assert blame.loc["stored", "where"] == "/left in /fusion until /right came"
    assert blame.loc["stored", "typical_ns"] == 420
    (bottleneck,) = (item for item in found.bottlenecks if item.chain == "/left -> /fused")
    assert "stored: /left in /fusion until /right came" in bottleneck.text


def test_messages_from_before_the_executor_spun_are_counted_and_named() -> None:
    scene = Scene()
    scene.publisher("/t", node="/source", pid=1)
    scene.subscription("/t", node="/sink", pid=2, symbol="on_t")
    for number, begin in enumerate((2_000_000, 500_000_000, 600_000_000, 700_000_000)):
        ready = 400_000_000 if not number else begin + 1000
        scene.play(
            f"""
            {begin} 1.1 rmw_publish /t {begin}
            {ready - 2000} 2.2 wait
            {ready} 2.2 ready
            {ready + 10} 2.2 execute on_t
            {ready + 20} 2.2 rmw_take on_t {begin}
            {ready + 30} 2.2 callback_start on_t
            {ready + 40} 2.2 callback_end on_t
            """
        )
    model = scene.model()
    found = message_results(model, Wanted())
    (chain,) = found.tables["chains"].to_dict("records")
    assert (chain["count"], chain["start_up"], chain["start_up_node"]) == (4, 1, "/sink")
    assert found.tables["chain_instances"]["start_up"].tolist() == [True, False, False, False]
    (bottleneck,) = found.bottlenecks
    assert bottleneck.tail_ns < 2000
    assert "Start-up: 1 message, up to 398 ms (" in bottleneck.text
    assert "before /sink was ready" in bottleneck.text


def test_what_came_is_told_by_the_callback_that_began() -> None:
    objects = pd.DataFrame(
        {
            "callback_id": [0, 1, 2, 3],
            "kind": ["subscription", "timer", "unknown", "subscription"],
            "trigger": ["/right", "50.0 ms", None, None],
        }
    )
    words = awaited(pd.Series([0, 1, 2, 3, None], dtype="Int64"), objects)
    assert words.tolist() == [" until /right came", " until the timer of 50.0 ms fired", "", "", ""]


PYTHON = (
    "relay_chain.nodes.Relay.on_message",
    "__main__.main.<locals>.<lambda>",
    "chain.main.<locals>.<lambda> (chain.py:12)",
)
CPP = (
    "void (*)(std::shared_ptr<std_msgs::msg::String>)",
    "Relay::Relay(int)::{lambda(auto)#1}",
    "on_message(int)",
    "std::_Bind<void (Node::*(Node*))()>",
)


@pytest.mark.parametrize("symbol", [*PYTHON, *CPP])
def test_nodes_of_rclpy_are_known_by_the_names_of_their_callbacks(symbol: str) -> None:
    objects = pd.DataFrame({"node": ["/n", None], "symbol": [symbol, None]})
    assert python_nodes(objects) == (frozenset({"/n"}) if symbol in PYTHON else frozenset())
    mixed = pd.DataFrame({"node": ["/n", "/n"], "symbol": [symbol, CPP[0]]})
    assert python_nodes(mixed) == frozenset()
    assert shorten(symbol)


def test_wake_up_holds_the_gil_in_rclpy_only(
    sample: Callable[[str], Path], analysis_of: Callable[[str], Analysis]
) -> None:
    inside = "(rclpy: waiting for the GIL is part of it)"
    of_rclpy = strata.analyze(sample("cell_relay"))
    assert python_nodes(of_rclpy.callback_objects) == {"/source", "/relay_0", "/sink"}
    for name in ("fast_relay1p_st", "cyc_relay1p_st", "fast_pc2"):
        of_cpp = analysis_of(name)
        assert not python_nodes(of_cpp.callback_objects)
        assert all(inside not in found.text for found in of_cpp.bottlenecks)
