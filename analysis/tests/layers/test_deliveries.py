# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What becomes of messages: received, lost with its cause, in flight, or not known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from intra_scene import IntraScene
from message_results import message_results
from scene import BASE, Scene

from strata.engine.windows import NO_LOSSES, Windows
from strata.pipeline.messages import Wanted

COUNTS = ("published", "received", "lost", "in_flight", "unknown")
Hop = dict[str, Any]


def hops(scene: Scene, losses: Windows = NO_LOSSES) -> tuple[list[Hop], list[Hop], dict[str, int]]:
    """Rows of hops and of their losses, and what was counted."""
    model = scene.model(losses)
    results = message_results(model, Wanted())
    tables = results.tables
    found = tables["hops"].to_dict("records")
    for hop in found:
        assert hop["published"] == sum(hop[name] for name in COUNTS[1:])
    return found, tables["hop_losses"].to_dict("records"), results.findings.counts


def counts(hop: Hop) -> tuple[int, ...]:
    return tuple(hop[name] for name in COUNTS)


def pair() -> Scene:
    scene = Scene()
    scene.publisher("/t", node="/source", pid=1)
    scene.subscription("/t", node="/sink", pid=2, symbol="on_message")
    return scene


def publish(scene: Scene, *numbers: int) -> None:
    """Publish one message each 100 ns."""
    for number in numbers:
        scene.play(f"{number * 100} 1.1 rmw_publish /t {number * 100}")


def take(scene: Scene, *numbers: int, after: int = 10) -> None:
    for number in numbers:
        at = number * 100 + after
        scene.play(
            f"""
            {at} 2.2 rmw_take on_message {number * 100}
            {at + 1} 2.2 callback_start on_message
            {at + 2} 2.2 callback_end on_message
            """
        )


def test_a_trace_without_events_of_ros_has_no_hops() -> None:
    assert hops(Scene()) == ([], [], {})


def test_nothing_was_published() -> None:
    found, losses, _ = hops(pair())
    assert (found, losses) == ([], [])


def test_all_received() -> None:
    scene = pair()
    publish(scene, *range(1, 11))
    take(scene, *range(1, 11))
    (hop,), losses, found = hops(scene)
    assert counts(hop) == (10, 10, 0, 0, 0)
    assert losses == []
    assert "lost_messages" not in found


def test_a_subscription_that_never_got_a_message_has_a_hop() -> None:
    scene = pair()
    publish(scene, *range(1, 259))
    (hop,), (loss,), found = hops(scene)
    assert (hop["topic"], hop["publisher_node"], hop["subscription_node"]) == (
        "/t",
        "/source",
        "/sink",
    )
    assert (hop["count"], *counts(hop)) == (0, 258, 0, 258, 0, 0)
    assert (loss["outcome"], loss["cause"], loss["count"]) == (
        "lost",
        "reader never took anything",
        258,
    )
    assert (loss["begin_ns"], loss["end_ns"]) == (BASE + 100, BASE + 25_800)
    assert found["lost_messages"] == 258


def test_a_process_that_ended() -> None:
    scene = pair()
    publish(scene, *range(1, 221))
    take(scene, *range(1, 101))
    (hop,), losses, _ = hops(scene)
    # The last one is as old as the longest latency allows.
    assert counts(hop) == (220, 100, 119, 1, 0)
    by_cause = {row["cause"]: row for row in losses}
    assert set(by_cause) == {"process ended", "in flight"}
    assert by_cause["process ended"]["since_ns"] == BASE + 10_012


def test_a_reader_that_went_silent_in_a_process_that_lived_on() -> None:
    scene = pair()
    publish(scene, *range(1, 221))
    take(scene, *range(1, 101))
    scene.play("22005 2.3 wait")
    (hop,), losses, _ = hops(scene)
    assert counts(hop) == (220, 100, 119, 1, 0)
    silent = next(row for row in losses if row["outcome"] == "lost")
    assert (silent["cause"], silent["since_ns"]) == ("reader went silent", BASE + 10_010)


def test_in_flight_is_only_what_is_younger_than_the_longest_latency() -> None:
    scene = pair()
    publish(scene, *range(1, 11))
    take(scene, 1, 2, 3, 4, after=250)
    scene.play("1000 2.3 wait")
    (hop,), losses, _ = hops(scene)
    # The longest latency is 252 ns: the messages of 800, 900 and 1000 may be on the way at 1000.
    assert counts(hop) == (10, 4, 3, 3, 0)
    assert {row["cause"] for row in losses} == {"in flight", "reader went silent"}


def test_missing_between_others_without_the_middlewares_events() -> None:
    scene = pair()
    publish(scene, *range(1, 11))
    take(scene, 1, 2, 5, 6, 7, 8, 9, 10)
    (hop,), (loss,), _ = hops(scene)
    assert counts(hop) == (10, 8, 2, 0, 0)
    assert loss["cause"] == "lost on the way or overwritten"


def test_takes_that_the_tracer_lost_are_not_lost_messages() -> None:
    scene = pair()
    publish(scene, *range(1, 11))
    take(scene, 1, 2, 5, 8, 9, 10)
    windows = (np.array([BASE + 305]), np.array([BASE + 420]))
    (hop,), losses, found = hops(scene, windows)
    # 3 and 4 would have been taken within the losses; 6 and 7 were lost outside of them.
    assert counts(hop) == (10, 6, 2, 0, 2)
    assert {row["cause"]: row["count"] for row in losses} == {
        "tracer lost events": 2,
        "lost on the way or overwritten": 2,
    }
    assert (found["lost_messages"], found["unknown_deliveries"]) == (2, 2)


def test_ambiguous_takes_are_not_lost_messages() -> None:
    scene = pair()
    scene.publisher("/t", node="/other", pid=1)
    publish(scene, 1, 2, 3)
    scene.play("301 1.1 rmw_publish /source/t 100\n302 1.1 rmw_publish /source/t 400")
    publish(scene, 4)
    take(scene, 1, 2, 3)
    take(scene, 4)
    found, losses, _ = hops(scene)
    unknown = {row["cause"] for row in losses if row["outcome"] == "unknown"}
    assert unknown == {"ambiguous take"}
    assert sum(hop["lost"] for hop in found) == 0


def test_what_was_published_before_the_reader_is_not_lost() -> None:
    scene = Scene()
    scene.publisher("/t", node="/source", pid=1)
    publish(scene, *range(1, 6))
    scene.clock = 550
    scene.subscription("/t", node="/sink", pid=2, symbol="on_message")
    publish(scene, *range(6, 11))
    take(scene, 8, 9, 10)
    (hop,), losses, _ = hops(scene)
    # 6 and 7 were published before the two had found each other, or lost: it cannot be known.
    assert (*counts(hop), hop["before_first"]) == (3, 3, 0, 0, 0, 2)
    assert losses == []


def test_a_late_joiner_gets_the_history() -> None:
    scene = Scene()
    scene.publisher("/t", node="/source", pid=1)
    publish(scene, 1, 2, 3)
    scene.clock = 350
    scene.subscription("/t", node="/sink", pid=2, symbol="on_message")
    publish(scene, 4)
    take(scene, 3, after=60)
    take(scene, 4)
    (hop,), _, _ = hops(scene)
    assert counts(hop) == (2, 2, 0, 0, 0)


def test_two_systems_with_the_same_topics_are_kept_apart() -> None:
    scene = Scene()
    scene.publisher("/t", node="/source2", pid=3)
    scene.publisher("/t", node="/source", pid=1)
    scene.subscription("/t", node="/sink", pid=2, symbol="on_message")
    scene.subscription("/t", node="/sink2", pid=4, symbol="on_second")
    publish(scene, 1, 2, 3)
    take(scene, 1, 2, 3)
    for at in (150, 250):
        scene.play(
            f"""
            {at} 3.3 rmw_publish /source2/t {at}
            {at + 10} 4.4 rmw_take on_second {at}
            """
        )
    found, _, _ = hops(scene)
    assert [(hop["publisher_node"], hop["subscription_node"], hop["lost"]) for hop in found] == [
        ("/source", "/sink", 0),
        ("/source2", "/sink2", 0),
    ]


def test_a_second_subscription_without_a_message_is_of_the_system() -> None:
    scene = pair()
    scene.subscription("/t", node="/strict", pid=5, symbol="on_strict")
    publish(scene, *range(1, 21))
    take(scene, *range(1, 21))
    found, _, _ = hops(scene)
    assert {hop["subscription_node"]: counts(hop) for hop in found} == {
        "/sink": (20, 20, 0, 0, 0),
        "/strict": (20, 0, 20, 0, 0),
    }


def test_internal_topics_make_no_hops_of_their_own() -> None:
    scene = Scene()
    scene.publisher("/rosout", node="/source", pid=1)
    scene.subscription("/rosout", node="/sink", pid=2, symbol="on_log")
    scene.play("100 1.1 rmw_publish /rosout 100")
    found, _, _ = hops(scene)
    assert found == []


def test_a_node_that_was_started_again_takes_over() -> None:
    scene = pair()
    publish(scene, 1, 2, 3, 4, 5)
    take(scene, 1, 2)
    scene.clock = 520
    scene.nodes.pop("/sink")
    scene.subscription("/t", node="/sink", pid=3, symbol="on_again")
    for number in (6, 7, 8):
        publish(scene, number)
        scene.play(f"{number * 100 + 10} 3.3 rmw_take on_again {number * 100}")
    found, losses, _ = hops(scene)
    by_node = {hop["subscription_node"]: counts(hop) for hop in found}
    # Until the other began: 3, 4 and 5.
    assert by_node == {"/sink (pid 2)": (5, 2, 3, 0, 0), "/sink (pid 3)": (3, 3, 0, 0, 0)}
    assert [row["cause"] for row in losses] == ["process ended"]


@pytest.mark.parametrize(
    ("lines", "cause"),
    [
        ("205 2.3 reader_notify reader=R sample=A2", "overwritten"),
        ("201 1.1 send_begin sample=A2 transport=1", "lost on the way"),
        (
            """201 1.1 send_begin sample=A2 transport=1
            202 1.1 send_end transport=1 port=7 destinations=1 result=9
            240 1.1 send_begin sample=A2 transport=1
            241 1.1 send_end transport=1 port=7 destinations=1 result=9""",
            "resend given up",
        ),
    ],
)
def test_the_middlewares_events_tell_the_cause(lines: str, cause: str) -> None:
    scene = pair()
    for number in (1, 2, 3):
        at = number * 100
        scene.play(
            f"""
            {at} 1.1 rmw_publish /t {at}
            {at} 1.1 write_begin
            {at} 1.1 writer_history_add sample=A{number} stamp={at}
            {at + 1} 1.1 write_end
            """
        )
        if number != 2:
            scene.play(f"{at + 5} 2.3 reader_notify reader=R sample=A{number}")
    scene.play(lines)
    take(scene, 1, 3)
    (hop,), (loss,), _ = hops(scene)
    assert counts(hop) == (3, 2, 1, 0, 0)
    assert loss["cause"] == cause


def test_a_full_ring_buffer_is_a_cause() -> None:
    scene = IntraScene()
    scene.publisher("/t", node="/source", pid=1)
    scene.ring("/t", node="/sink", pid=1, symbol="on_t", capacity=1)
    for at, overwrites in ((100, ""), (200, "overwritten"), (300, "overwritten")):
        scene.play(
            f"""
            {at} 1.1 rclcpp_intra_publish /t
            {at + 1} 1.1 enqueue on_t 0 1 {overwrites}
            """
        )
    scene.play("310 1.2 dequeue on_t 0 0\n312 1.2 callback_start on_t intra")
    scene.play("320 1.2 callback_end on_t")
    for at in (400, 500):
        scene.play(
            f"""
            {at} 1.1 rclcpp_intra_publish /t
            {at + 1} 1.1 enqueue on_t 0 1 {"overwritten" if at == 500 else ""}
            """
        )
    scene.play("510 1.2 dequeue on_t 0 0")
    (hop,), (loss,), _ = hops(scene)
    # A ring buffer says what it overwrites, also before the first message that is taken.
    assert (*counts(hop), hop["before_first"]) == (5, 2, 3, 0, 0, 0)
    assert loss["cause"] == "overwritten"
