# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Chains do not begin in the middle where a take is missing, and are found beyond the cap."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from message_results import MessageResults, message_results
from scene import BASE, Scene

from strata.analysis import Analysis
from strata.engine.windows import NO_LOSSES, Windows
from strata.pipeline.messages import Wanted
from strata.schema.links import MessageLink

PERIOD = 1_000


def relay(
    scene: Scene, number: int, *, take: bool = True, publish: bool = True, stamp: int = 0
) -> None:
    """One message from /source over /relay to /sink; its take or publication may be missing."""
    at = number * PERIOD
    if publish:
        scene.play(f"{at} 1.1 rmw_publish /a {at}")
    if take:
        scene.play(f"{at + 10} 2.2 rmw_take on_a {stamp or at}")
    scene.play(
        f"""
        {at + 20} 2.2 callback_start on_a
        {at + 30} 2.2 rmw_publish /b {at + 30}
        {at + 40} 2.2 callback_end on_a
        {at + 50} 3.3 rmw_take on_b {at + 30}
        {at + 60} 3.3 callback_start on_b
        {at + 70} 3.3 callback_end on_b
        """
    )


def made() -> Scene:
    scene = Scene()
    scene.publisher("/a", node="/source", pid=1)
    scene.subscription("/a", node="/relay", pid=2, symbol="on_a")
    scene.publisher("/b", node="/relay", pid=2)
    scene.subscription("/b", node="/sink", pid=3, symbol="on_b")
    return scene


def analyzed(
    scene: Scene, losses: Windows = NO_LOSSES
) -> tuple[MessageResults, dict[str, int], dict[str, dict[str, int]]]:
    model = scene.model(losses)
    found = message_results(model, Wanted())
    return found, found.findings.counts, found.findings.places


def chains(found: MessageResults) -> dict[str, int]:
    rows = found.tables["chains"]
    return dict(zip(rows["name"], rows["count"], strict=True))


def test_a_take_that_the_tracer_lost_makes_no_chain() -> None:
    scene = made()
    for number in range(1, 11):
        relay(scene, number, take=number != 5)
    window = (np.array([BASE + 5_005]), np.array([BASE + 5_015]))
    found, counts, places = analyzed(scene, window)
    assert chains(found) == {"/a -> /b": 9}
    assert counts["chains_without_begin"] == 1
    assert places["chains_without_begin"] == {"/b": 1}
    assert len(found.bottlenecks) == 1


def test_a_publication_that_the_tracer_lost_makes_no_chain() -> None:
    scene = made()
    for number in range(1, 11):
        relay(scene, number, publish=number != 5)
    window = (np.array([BASE + 4_990]), np.array([BASE + 5_005]))
    found, counts, _ = analyzed(scene, window)
    assert chains(found) == {"/a -> /b": 9}
    assert counts["chains_without_begin"] == 1


def test_an_ambiguous_take_makes_no_chain() -> None:
    scene = made()
    scene.publisher("/a", node="/other", pid=1)
    for number in range(1, 11):
        relay(scene, number)
    scene.play(f"{5_001} 1.1 rmw_publish /source/a 5000")
    found, counts, _ = analyzed(scene)
    assert chains(found) == {"/a -> /b": 9}
    assert counts["chains_without_begin"] == 1


def test_a_callback_start_that_the_tracer_lost_makes_no_chain() -> None:
    scene = made()
    for number in range(1, 11):
        relay(scene, number)
    starts = scene.rows["ros2:callback_start"]
    scene.rows["ros2:callback_start"] = [row for row in starts if row["timestamp"] != BASE + 5_020]
    window = (np.array([BASE + 5_015]), np.array([BASE + 5_025]))
    found, counts, _ = analyzed(scene, window)
    assert "/b" not in chains(found)
    assert counts["chains_without_begin"] == 1


def test_what_a_process_outside_of_the_trace_published_begins_chains() -> None:
    scene = made()
    for number in range(1, 11):
        relay(scene, number, publish=number != 5)
    found, counts, _ = analyzed(scene)
    # Nothing was lost: the fifth came from elsewhere.
    assert chains(found) == {"/a -> /b": 9, "/b": 1}
    assert "chains_without_begin" not in counts
    alone = made()
    for number in range(1, 11):
        relay(alone, number, publish=False)
    found, counts, _ = analyzed(alone)
    assert chains(found) == {"/b": 10}
    assert "chains_without_begin" not in counts


def test_a_lossy_trace_has_no_chain_that_begins_in_the_middle(
    analysis_of: Callable[[str], Analysis],
) -> None:
    analysis = analysis_of("fast_relay1p_mt_lossy")
    assert {name.split(" -> ")[0] for name in analysis.chains["name"]} == {"/chain_0"}
    quality = analysis.quality.set_index("code")
    assert quality.loc["chains_without_begin", "count"] > 0


def test_a_chain_that_is_asked_for_is_found_beyond_the_cap() -> None:
    """Ten stages of two topics each, made of both before: some thousand ways a message."""
    scene, stages = Scene(), 10
    for side in ("x", "y"):
        scene.publisher(f"/s0{side}", node=f"/n0{side}", pid=1)
    for stage in range(1, stages):
        for side in ("x", "y"):
            node = f"/n{stage}{side}"
            for before in ("x", "y"):
                symbol = f"on{stage}{side}{before}"
                scene.subscription(f"/s{stage - 1}{before}", node=node, pid=1, symbol=symbol)
            scene.publisher(f"/s{stage}{side}", node=node, pid=1)
    for side in ("x", "y"):
        scene.subscription(f"/s{stages - 1}{side}", node="/end", pid=1, symbol=f"on_end{side}")
    links = []
    at = 1_000
    for stage in range(stages):
        for side in ("x", "y"):
            scene.play(f"{at} 1.{stage + 1} rmw_publish /s{stage}{side} {at}")
            readers = (
                [f"on_end{side}"]
                if stage == stages - 1
                else [f"on{stage + 1}{one}{side}" for one in ("x", "y")]
            )
            stamp = at
            for reader in readers:
                at += 10
                scene.play(
                    f"""
                    {at} 1.{stage + 2} rmw_take {reader} {stamp}
                    {at + 1} 1.{stage + 2} callback_start {reader}
                    {at + 2} 1.{stage + 2} callback_end {reader}
                    """
                )
            at += 10
            if stage:
                inputs = (f"/s{stage - 1}x", f"/s{stage - 1}y")
                output = (f"/s{stage}{side}",)
                links.append(MessageLink(f"/n{stage}{side}", inputs, output, "periodic_async"))
    model = scene.model()
    every = message_results(model, Wanted(tuple(links)))
    assert every.findings.counts["unfollowed_links"] > 0
    rows = every.tables["chains"]
    assert rows["hop_count"].max() < stages
    assert (rows["cut_short"] == rows["count"]).all()
    way = [f"/s{stage}{'xy'[stage % 2]}" for stage in range(stages)]
    asked = message_results(model, Wanted(tuple(links), way))
    (chain,) = asked.tables["chains"].to_dict("records")
    assert (chain["name"], chain["hop_count"]) == (" -> ".join(way), stages)
    assert (chain["count"], chain["cut_short"]) == (1, 0)
